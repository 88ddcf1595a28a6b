#!/bin/sh
# Assembles the hostile modules with wat2wasm of npm's wabt: build.sh WAT2WASM [OUT]. A file is the body of a module that
# begins with prelude.wat, or, where its first line says ";; kinds", with kinds.wat, unless that says ";; whole module".
set -e
wat2wasm=$1 out=${2:-.}
cd "$(dirname "$0")"
tmp=$(mktemp)
for f in *.wat; do
  case $f in prelude.wat | kinds.wat) continue ;; esac
  prelude=prelude.wat
  if head -1 "$f" | grep -q '^;; kinds'; then prelude=kinds.wat; fi
  if head -1 "$f" | grep -q '^;; whole module'; then
    cp "$f" "$tmp"
  else # imports come first in a module
    { echo "(module"; grep '(import ' "$f" || true; cat "$prelude"; grep -v '(import ' "$f"; echo ")"; } > "$tmp"
  fi
  "$wat2wasm" --debug-names --enable-threads --enable-tail-call --enable-exceptions "$tmp" -o "$out/${f%.wat}.wasm" || { echo "$f"; exit 1; }
done
rm -f "$tmp"
