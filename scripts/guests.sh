#!/usr/bin/env bash
# guests.sh build | check: the example guests. `build` runs guests/build.sh, which compiles each into testdata/guests;
# `check` holds every module there against the ABI, and builds them again with the compilers that are here, for the same
# bytes. With REQUIRE set, a compiler that is missing is a failure.
set -uo pipefail
cd "$(dirname "$0")/.."
. scripts/lib.sh

check() {
  local failed=0 ok=0 module
  while IFS= read -r module; do
    if bin/wstream module check -q "$module"; then ok=$((ok + 1)); else
      printf 'FAILED %s\n' "$module"
      failed=$((failed + 1))
    fi
  done < <(git ls-files -co --exclude-standard -- 'testdata/guests/*.wasm' 'testdata/guests/**/*.wasm' | sort -u)
  printf 'guests: %d passed, %d failed\n' "$ok" "$failed"
  [ "$failed" = 0 ]
}

case ${1:-} in
build) [ -x guests/build.sh ] || die "there is no guests/build.sh"; guests/build.sh ;;
check) check && make --no-print-directory -C guests check REQUIRE="${REQUIRE:-}" ;;
*) say "usage: guests.sh build | check"; exit 2 ;;
esac
