#!/usr/bin/env bash
# fuzz.sh TIME [PATTERN]: runs every fuzz test of the module (or those whose name matches PATTERN) for TIME each.
#
# Ends with exit code 1 when one found something; its input lies under the package's testdata/fuzz then, to be kept.
set -uo pipefail
cd "$(dirname "$0")/.."
time=${1:-30s} pattern=${2:-.} found=0 ran=0 failed=0

while read -r package dir; do
  for name in $(grep -hoE '^func Fuzz[A-Za-z0-9_]*' "$dir"/*_test.go 2>/dev/null | cut -c6- | sort -u | grep -E -- "$pattern"); do
    found=1
    printf '== %s %s\n' "$package" "$name"
    if go test -run '^$' -fuzz "^$name\$" -fuzztime "$time" "$package"; then ran=$((ran + 1)); else failed=$((failed + 1)); fi
  done
done < <(go list -f '{{.ImportPath}} {{.Dir}}' ./...)

[ "$found" = 1 ] || printf 'no fuzz test matches %s\n' "$pattern"
printf '%d passed, %d failed\n' "$ran" "$failed"
[ "$failed" = 0 ]
