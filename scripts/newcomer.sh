#!/usr/bin/env bash
# Everything that the README and the book tell a new user to do outside of the program itself, done with the real tools in
# fresh folders: what is not installed is said. What the program itself prints stands in docs/tour.md, held by a test.
#
# usage: scripts/newcomer.sh [--build]      --build: also what builds synclint anew (pre-commit's own build, the wheel)
set -uo pipefail
cd "$(dirname "$0")/.."

have() { command -v "$1" >/dev/null || { echo "$1: not installed, not tried"; false; }; }
failed=0
try() { "$@" || { echo "FAILED: $*" >&2; failed=1; }; }

cargo build --locked --quiet || exit 1
binary=target/debug/synclint
try tests/pre-commit.sh "$binary"
try tests/ci.sh "$binary"
try tests/editors.sh "$binary"
have npm && try tests/vscode.sh "$binary"
have mdbook && try mdbook build docs
if [ "${1:-}" = --build ]; then
  try tests/wheel.sh
  try tests/pre-commit.sh --build
fi
exit $failed
