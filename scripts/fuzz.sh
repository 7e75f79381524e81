#!/usr/bin/env bash
# Fuzzes one target, or each in turn: lexer, expander, check, configuration, lsp.
#
#     cargo install --locked cargo-fuzz && rustup toolchain install nightly
#     scripts/fuzz.sh TARGET|all [SECONDS]
#
# The seeds are the fixtures (and the folders in SEEDS), joined to what earlier runs kept in fuzz/corpus. What breaks is
# left in fuzz/artifacts/TARGET, and the run goes on. Not part of CI.
set -euo pipefail
cd "$(dirname "$0")/.."
target=${1:?TARGET or all}
seconds=${2:-600}

if [ "$target" = all ]; then
  for each in lexer expander check configuration lsp; do "$0" "$each" "$seconds"; done
  exit
fi

corpus=fuzz/corpus/$target
mkdir -p "$corpus" "fuzz/artifacts/$target"
number=0
keep() { number=$((number + 1)); cp "$1" "$corpus/seed-$number"; }
case $target in
  lexer | expander | check)
    while IFS= read -r file; do keep "$file"; done < <(find fixtures fuzz/seeds/files ${SEEDS:-} -type f -size -24k \
      \( -name '*.cu' -o -name '*.cuh' -o -name '*.h' -o -name '*.hpp' -o -name '*.txt' \) | sort)
    ;;
  *) for file in fuzz/seeds/"$target"/*; do keep "$file"; done ;;
esac
dictionary=fuzz/dictionaries/cuda.txt
[ -f "fuzz/dictionaries/$target.txt" ] && dictionary=fuzz/dictionaries/$target.txt

# Without a sanitizer: there is no unsafe code of our own, and so it is several times as fast.
cargo +nightly fuzz build --sanitizer none --codegen-units 16 "$target"
exec "fuzz/target/$(rustc +nightly -vV | sed -n 's/^host: //p')/release/$target" \
  -fork=1 -ignore_crashes=1 -ignore_timeouts=1 -ignore_ooms=1 -timeout=20 -rss_limit_mb=2048 -max_len=16384 \
  -max_total_time="$seconds" -dict="$dictionary" -artifact_prefix="fuzz/artifacts/$target/" "$corpus"
