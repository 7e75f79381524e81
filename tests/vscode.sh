#!/usr/bin/env bash
# The extension for Visual Studio Code: it builds, is small, and its one script starts the server.
#
# usage: tests/vscode.sh BINARY
set -euo pipefail

binary=$(realpath "${1:?usage: tests/vscode.sh BINARY}")
root=$(realpath "$(dirname "$0")/..")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir "$work/extension"
cd "$root/editors/vscode"
cp -r package.json package-lock.json tsconfig.json .vscodeignore README.md LICENSE src "$work/extension"
cd "$work/extension"
npm ci --silent --no-audit --no-fund
npm run --silent package >"$work/log" 2>&1 || { cat "$work/log" >&2; exit 1; }
files=$(python3 -m zipfile -l synclint-*.vsix | tail -n +2 | wc -l)
[ "$files" -le 10 ] || { echo "FAILED: $files files are packed" >&2; exit 1; }
node "$root/tests/editors/vscode.js" "$PWD/out/extension.js" "$binary"
echo "vscode: packed in $files files; activated, the server answers"
