#!/usr/bin/env bash
# The hook with the real pre-commit in a fresh repository: a bad commit is stopped with a message that helps, a good one
# passes, and a change in a header alone is seen in the kernel that calls into it.
#
# usage: tests/pre-commit.sh BINARY      the hook that takes the program on the PATH
#        tests/pre-commit.sh --build     the one that builds it with cargo, from a clone of what is committed here
set -euo pipefail

what=${1:?usage: tests/pre-commit.sh BINARY | --build}
root=$(realpath "$(dirname "$0")/..")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# The hooks' repository, as pre-commit would clone it.
export GIT_CONFIG_GLOBAL="$work/gitconfig" GIT_CONFIG_SYSTEM=/dev/null PRE_COMMIT_HOME="$work/cache"
git config --global user.name test
git config --global user.email test@example.invalid
git config --global init.defaultBranch main
if [ "$what" = --build ]; then
  hook=synclint
  git clone -q "$root" "$work/hooks"
else
  hook=synclint-system
  mkdir "$work/bin"
  ln -s "$(realpath "$what")" "$work/bin/synclint"
  export PATH="$work/bin:$PATH"
  git init -q "$work/hooks"
  cp "$root/.pre-commit-hooks.yaml" "$work/hooks/"
  git -C "$work/hooks" add -A
  git -C "$work/hooks" commit -qm "Hooks"
fi

if command -v pre-commit >/dev/null; then
  pre_commit=pre-commit
else
  python3 -m venv "$work/venv"
  "$work/venv/bin/pip" install --quiet pre-commit
  pre_commit="$work/venv/bin/pre-commit"
fi

mkdir "$work/project"
cd "$work/project"
git init -q
cat > .pre-commit-config.yaml <<YAML
repos:
  - repo: file://$work/hooks
    rev: $(git -C "$work/hooks" rev-parse HEAD)
    hooks:
      - id: $hook
YAML
"$pre_commit" install >/dev/null
cat > tile.cuh <<'CUDA'
__device__ inline void store(float *s, float v) {
    s[threadIdx.x] = v;
}
CUDA
cat > kernel.cu <<'CUDA'
#include "tile.cuh"

__global__ void k(float *out, int n) {
    __shared__ float s[256];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        store(s, out[i]);
    }
    __syncthreads();
    out[i] = s[threadIdx.x ^ 1];
}
CUDA
git add -A

fail() { echo "FAILED: $1" >&2; cat "$work/log" >&2; exit 1; }

git commit -m "A good commit" >"$work/log" 2>&1 || fail "a good commit is stopped"
grep -q "synclint.*Passed" "$work/log" || fail "the hook did not run"

sed -i 's/s\[threadIdx.x\] = v;/s[threadIdx.x] = v;\n    __syncthreads();/' tile.cuh
git add -A
git commit -m "A bad header" >"$work/log" 2>&1 && fail "a header that makes a kernel diverge passes"
grep -q "kernel.cu:7" "$work/log" || fail "the message does not name the call"
grep -q "divergent-branch" "$work/log" || fail "the message does not name the rule"
git checkout -q HEAD -- tile.cuh

sed -i 's/store(s, out\[i\]);/store(s, out[i]);\n        __syncthreads();/' kernel.cu
git add -A
git commit -m "A bad kernel" >"$work/log" 2>&1 && fail "a bad kernel passes"
grep -q "kernel.cu:8" "$work/log" || fail "the message does not name the barrier"
git checkout -q HEAD -- kernel.cu

# No types of pre-commit's know these.
for name in odd.hip odd.inc odd.CL; do
  printf '__global__ void odd(int *v) {\n    if (threadIdx.x < 7) __syncthreads();\n}\n' > "$name"
  git add -A
  git commit -m "A bad $name" >"$work/log" 2>&1 && fail "a bad $name passes"
  grep -q "$name:2" "$work/log" || fail "the message does not name $name"
  git rm -qf "$name"
done

echo "int main() { return 0; }" > main.cpp
echo "no code" > notes.txt
git add -A
git commit -m "Nothing to do with CUDA" >"$work/log" 2>&1 || fail "a commit without CUDA is stopped"
echo "pre-commit ($hook): a good commit passes, a bad kernel and a bad header are stopped"
