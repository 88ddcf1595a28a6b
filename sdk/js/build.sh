#!/bin/sh
# build.sh QUICKJS [ZIG]: builds the runtime of guests in JavaScript, runtime.wasm.gz, of QuickJS's sources (quickjs-ng 0.16.2,
# as they are in the folder "quickjs" of the crate rquickjs-sys 0.14.0) with Zig 0.15.2 (PyPI's ziglang).
set -eu
quickjs=$(cd "$1" && pwd)
zig=${2:-${HOME:-/tmp}/.cache/wstream/zig/ziglang/zig}
cd "$(dirname "$0")"
work=${WORK:-$(mktemp -d)}
{
  printf '#include <stddef.h>\nconst char prelude[] = {'
  od -An -v -tu1 prelude.js | tr -s ' \n' ',,' | sed 's/^,//; s/,$//'
  printf ',0};\nconst unsigned int prelude_length = sizeof prelude - 1;\n'
} >"$work/prelude.c"
flags="-target wasm32-wasi -O2 -DNDEBUG -D_GNU_SOURCE -fno-sanitize=all -w -I$quickjs -ffile-prefix-map=$quickjs=quickjs -ffile-prefix-map=$PWD=."
for f in quickjs libregexp libunicode dtoa; do
  [ -f "$work/$f.o" ] || "$zig" cc $flags -c "$quickjs/$f.c" -o "$work/$f.o"
done
"$zig" cc $flags -mexec-model=reactor -Wl,--export=wstream_script -Wl,--strip-debug -Wl,-z,stack-size=524288 \
  -o "$work/runtime.wasm" runtime.c "$work/prelude.c" "$work/quickjs.o" "$work/libregexp.o" "$work/libunicode.o" "$work/dtoa.o"
gzip -9 -n -c "$work/runtime.wasm" >runtime.wasm.gz
ls -l "$work/runtime.wasm" runtime.wasm.gz
