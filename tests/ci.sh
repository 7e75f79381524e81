#!/usr/bin/env bash
# What docs/ci.md says of CMake and CTest, and the steps of action.yml as a runner would run them.
#
# usage: tests/ci.sh BINARY
set -euo pipefail

binary=$(realpath "${1:?usage: tests/ci.sh BINARY}")
root=$(realpath "$(dirname "$0")/..")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir "$work/bin"
ln -s "$binary" "$work/bin/synclint"
export PATH="$work/bin:$PATH"
fail() { echo "FAILED: $1" >&2; cat "$work/log" >&2; exit 1; }

mkdir "$work/project"
cd "$work/project"
bad='__global__ void k() { if (threadIdx.x < 7) __syncthreads(); }'
good='__global__ void k() { __syncthreads(); }'

if command -v cmake >/dev/null; then
  {
    echo 'cmake_minimum_required(VERSION 3.18)
project(demo LANGUAGES CXX)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
add_executable(demo main.cpp)'
    sed -n '/^```cmake$/,/^```$/p' "$root/docs/ci.md" | grep -v '^```'
  } > CMakeLists.txt
  echo 'int main() {}' > main.cpp
  cmake -S . -B build >"$work/log" 2>&1 || fail "CMake does not take the lines"
  for what in "cmake --build build --target synclint" "ctest --test-dir build --output-on-failure"; do
    echo "$bad" > k.cu
    $what >"$work/log" 2>&1 && fail "$what passes"
    grep -q 'k.cu:1:44' "$work/log" || fail "$what does not name the place"
    echo "$good" > k.cu
    $what >"$work/log" 2>&1 || fail "$what fails"
  done
  rm -rf build CMakeLists.txt main.cpp
  echo "cmake: the target and the test stop a bad kernel and let a good one pass"
else
  echo "cmake: not installed, not tried"
fi

# The scripts behind `run: |`, one file each.
awk -v out="$work/step" '
  /^      run: \|/ { n++; body = 1; next }
  body && /^        / { print substr($0, 9) > (out n) ; next }
  body && NF { body = 0 }' "$root/action.yml"
export GITHUB_ACTIONS=true RUNNER_TEMP="$work" GITHUB_WORKSPACE="$PWD" GITHUB_PATH="$work/path" GITHUB_STEP_SUMMARY="$work/summary"
step() { bash --noprofile --norc -eo pipefail "$work/step$1" >"$work/log" 2>&1; }
echo "$bad" > k.cu
# With a synclint on the PATH nothing is built.
ACTION="$root" step 1 || fail "the action's first step"
PATHS=. ARGS="--fail-on error" SARIF=out.sarif step 2 && fail "the action lets a bad kernel pass"
grep -q '^::error file=k.cu,line=1' "$work/log" || fail "the action makes no annotation"
grep -q 'k.cu:1' "$work/summary" || fail "the action writes no summary"
grep -q '"2.1.0"' out.sarif || fail "the action writes no SARIF"
echo "$good" > k.cu
PATHS=k.cu ARGS="" SARIF="" step 2 || fail "the action stops a good kernel"
echo "action: a bad kernel is annotated and stopped, a good one passes"
