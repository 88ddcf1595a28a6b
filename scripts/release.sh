#!/usr/bin/env bash
# release.sh [VERSION]: archives for linux and darwin on amd64 and arm64, with their checksums, in dist/.
#
# VERSION is the newest tag, else the commit. An archive holds the binary, the manual page, completions for
# bash, zsh and fish, the licence, the change log and the README. Two runs at one commit give the same bytes: times and owners in the archives
# are those of the commit.
set -euo pipefail
cd "$(dirname "$0")/.."
. scripts/lib.sh
version=${1:-$(git describe --tags --always --dirty)}
when=@$(git log -1 --format=%ct)

rm -rf dist
mkdir -p dist/.own
CGO_ENABLED=0 scripts/alive.sh "building for this machine" go build -trimpath -ldflags '-s -w' -o dist/.own/wstream ./cmd/wstream
for target in linux/amd64 linux/arm64 darwin/amd64 darwin/arm64; do
  name=wstream-$version-${target/\//-}
  mkdir -p "dist/$name"
  CGO_ENABLED=0 GOOS=${target%/*} GOARCH=${target#*/} scripts/alive.sh "building $name" \
    go build -trimpath -ldflags '-s -w' -o "dist/$name/wstream" ./cmd/wstream
  mkdir -p "dist/$name/man" "dist/$name/completions"
  dist/.own/wstream completion man >"dist/$name/man/wstream.1"
  dist/.own/wstream completion bash >"dist/$name/completions/wstream.bash"
  dist/.own/wstream completion zsh >"dist/$name/completions/_wstream"
  dist/.own/wstream completion fish >"dist/$name/completions/wstream.fish"
  for f in LICENSE CHANGELOG.md README.md; do [ ! -f "$f" ] || cp "$f" "dist/$name/"; done
  tar -C dist --sort=name --owner=0 --group=0 --numeric-owner --mtime="$when" -cf - "$name" | gzip -n9 >"dist/$name.tar.gz"
  rm -r "dist/$name"
done
rm -r dist/.own
(cd dist && sha256sum ./*.tar.gz | sed 's|\./||' >SHA256SUMS && cat SHA256SUMS)
