#!/usr/bin/env bash
# The language server under real clients: pygls, and Neovim and Emacs where they are installed.
#
# usage: tests/editors.sh BINARY
set -euo pipefail

binary=$(realpath "${1:?usage: tests/editors.sh BINARY}")
here=$(realpath "$(dirname "$0")")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir "$work/bin" "$work/home"
ln -s "$binary" "$work/bin/synclint"
export PATH="$work/bin:$PATH"

python3 -m venv "$work/venv"
"$work/venv/bin/pip" install --quiet --disable-pip-version-check 'pygls>=2,<3'
"$work/venv/bin/python" "$here/editors/client.py" "$binary"

project() {
  mkdir "$work/$1"
  cd "$work/$1"
  git init -q
  cat > kernel.cu <<'CUDA'
__global__ void k(float *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        out[i] = 1;
        __syncthreads();
    }
}
CUDA
}

if command -v nvim >/dev/null; then
  project neovim
  mkdir -p "$work/home/.config/nvim/plugin"
  cp "$here/../editors/neovim/synclint.lua" "$work/home/.config/nvim/plugin/"
  HOME="$work/home" XDG_CONFIG_HOME="$work/home/.config" timeout 300 nvim --headless -c "luafile $here/editors/neovim.lua"
else
  echo "neovim: not installed, not tried"
fi
if command -v emacs >/dev/null; then
  project emacs
  HOME="$work/home" timeout 300 emacs --batch -q -l "$here/editors/emacs.el"
else
  echo "emacs: not installed, not tried"
fi
