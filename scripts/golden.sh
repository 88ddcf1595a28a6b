#!/usr/bin/env bash
# golden.sh: writes all golden files anew, from what the code does now. Read the difference before you commit it.
#
# Three kinds: data-driven files (flag -rewrite), files of tests with an -update flag, and pipeline tests.
set -uo pipefail
cd "$(dirname "$0")/.."
failed=0

# packages PATTERN: those whose tests contain it.
packages() { git ls-files -co --exclude-standard -- '*_test.go' | xargs -r grep -lE -- "$1" | xargs -r -n 1 dirname | sort -u | sed 's|^|./|'; }

for dir in $(packages 'cockroachdb/datadriven"'); do go test -count=1 "$dir" -rewrite || failed=1; done
for dir in $(packages 'flag\.Bool\("update"'); do go test -count=1 "$dir" -update || failed=1; done
if git ls-files -co --exclude-standard -- 'testdata/*_test.yaml' 'testdata/**/*_test.yaml' | grep -q .; then
  bin/wstream test --update testdata || failed=1
fi
git status --short
[ "$failed" = 0 ]
