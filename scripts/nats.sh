#!/usr/bin/env bash
# nats.sh start [DIR] [PORT] | stop [DIR] | address [DIR]: a throw-away NATS server with JetStream on loopback.
#
# Everything lies in DIR (default ${TMPDIR:-/tmp}/wstream-nats) and outlives a stop. PORT 0 takes a free port. `start`
# prints the address as a nats:// URL, also when the server already runs; `stop` of a stopped server does nothing.
# NATS_VERSION may be set.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
. "$here/lib.sh"

dir=${2:-${TMPDIR:-/tmp}/wstream-nats}
pid=$dir/nats.pid

start() {
  local port=${1:-14222} program
  if alive "$pid"; then cat "$dir/address"; return; fi
  "$here/install.sh" nats
  program=${HOME:-/tmp}/.cache/wstream/nats-${NATS_VERSION:-2.15.3}/nats-server
  [ "$port" != 0 ] || port=$(free_port)
  ! listens 127.0.0.1 "$port" || die "port $port is taken by something else; 0 takes a free one"
  mkdir -p "$dir"
  cat >"$dir/nats.conf" <<X
host: 127.0.0.1
port: $port
jetstream { store_dir: "$dir/data", sync_interval: always }
X
  nohup "$program" -c "$dir/nats.conf" >"$dir/nats.log" 2>&1 </dev/null &
  echo $! >"$pid"
  wait_port "$port" "$pid" "$dir/nats.log" 30
  echo "nats://127.0.0.1:$port" | tee "$dir/address"
}

case ${1:-} in
start) start "${3:-}" ;;
stop) stop_pid "$pid" ;;
address) alive "$pid" && cat "$dir/address" ;;
*) say "usage: nats.sh start [DIR] [PORT] | stop [DIR] | address [DIR]"; exit 2 ;;
esac
