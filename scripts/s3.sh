#!/usr/bin/env bash
# s3.sh start [DIR] [PORT] | stop [DIR] | address [DIR]: a throw-away server with the S3 API on loopback, versitygw over a folder.
#
# Everything lies in DIR (default ${TMPDIR:-/tmp}/wstream-s3) and outlives a stop. PORT 0 takes a free port. `start` prints
# the endpoint, also when the server already runs; there is one bucket, `checkpoints`, and the key `test` with the secret `secret`.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
. "$here/lib.sh"

dir=${2:-${TMPDIR:-/tmp}/wstream-s3}
pid=$dir/server.pid

start() {
  local port=${1:-17070}
  if alive "$pid"; then cat "$dir/address"; return; fi
  "$here/install.sh" s3
  local server=${VERSITYGW:-${HOME:-/tmp}/.cache/wstream/bin/versitygw}
  [ "$port" != 0 ] || port=$(free_port)
  ! listens 127.0.0.1 "$port" || die "port $port is taken by something else; 0 takes a free one"
  mkdir -p "$dir/data" "$dir/meta"
  # Entity tags lie beside the data: not every file system has extended attributes.
  ROOT_ACCESS_KEY=test ROOT_SECRET_KEY=secret "$server" --port "127.0.0.1:$port" --quiet posix --sidecar "$dir/meta" "$dir/data" \
    >"$dir/log" 2>&1 </dev/null &
  echo $! >"$pid"
  wait_port "$port" "$pid" "$dir/log" 30
  [ -d "$dir/data/checkpoints" ] || "$server" admin --access test --secret secret --endpoint-url "http://127.0.0.1:$port" \
    create-bucket --owner test --bucket checkpoints >&2
  echo "http://127.0.0.1:$port" | tee "$dir/address"
}

case ${1:-} in
start) start "${3:-}" ;;
stop) stop_pid "$pid" ;;
address) alive "$pid" && cat "$dir/address" ;;
*) say "usage: s3.sh start [DIR] [PORT] | stop [DIR] | address [DIR]"; exit 2 ;;
esac
