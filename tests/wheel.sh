#!/usr/bin/env bash
# The wheel, built by pip and installed into a fresh environment: the program in it runs.
#
# usage: tests/wheel.sh
set -euo pipefail
cd "$(dirname "$0")/.."

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
pip="$work/venv/bin/pip"
"$pip" wheel --quiet --disable-pip-version-check --no-deps --wheel-dir "$work/wheels" .
"$pip" install --quiet --disable-pip-version-check "$work"/wheels/synclint-*.whl
"$work/venv/bin/synclint" --version
printf '__global__ void k() { if (threadIdx.x < 7) __syncthreads(); }\n' > "$work/k.cu"
code=0
"$work/venv/bin/synclint" check --isolated --format concise "$work/k.cu" || code=$?
[ "$code" = 1 ] || { echo "FAILED: exit code $code" >&2; exit 1; }
echo "wheel: $(basename "$work"/wheels/synclint-*.whl) is built, installed and runs"
