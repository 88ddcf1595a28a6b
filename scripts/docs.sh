#!/usr/bin/env bash
# docs.sh: writes the generated pages of docs/ anew, from the definitions that the program itself uses.
set -euo pipefail
cd "$(dirname "$0")/.."
bin/wstream docs docs
git status --short -- docs
