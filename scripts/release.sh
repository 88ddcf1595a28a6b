#!/usr/bin/env bash
# release.sh [VERSION]: archives for linux and darwin on amd64 and arm64, with their checksums, in dist/.
#
# VERSION is the newest tag, else the commit. An archive holds the binary, the licence, the change log and the README. Two
# runs at one commit give the same bytes: times and owners in the archives are those of the commit.
set -euo pipefail
cd "$(dirname "$0")/.."
. scripts/lib.sh
version=${1:-$(git describe --tags --always --dirty)}
when=@$(git log -1 --format=%ct)

rm -rf dist
mkdir -p dist
for target in linux/amd64 linux/arm64 darwin/amd64 darwin/arm64; do
  name=wstream-$version-${target/\//-}
  mkdir -p "dist/$name"
  CGO_ENABLED=0 GOOS=${target%/*} GOARCH=${target#*/} scripts/alive.sh "building $name" \
    go build -trimpath -ldflags '-s -w' -o "dist/$name/wstream" ./cmd/wstream
  for f in LICENSE CHANGELOG.md README.md; do [ ! -f "$f" ] || cp "$f" "dist/$name/"; done
  tar -C dist --sort=name --owner=0 --group=0 --numeric-owner --mtime="$when" -cf - "$name" | gzip -n9 >"dist/$name.tar.gz"
  rm -r "dist/$name"
done
(cd dist && sha256sum ./*.tar.gz | sed 's|\./||' >SHA256SUMS && cat SHA256SUMS)
