#!/usr/bin/env bash
# postgres.sh start [DIR] [PORT] | stop [DIR] | address [DIR]: a throw-away PostgreSQL on loopback.
#
# Everything lies in DIR (default ${TMPDIR:-/tmp}/wstream-postgres) and outlives a stop. PORT 0 takes a free port. `start`
# prints the address as a postgres:// URL, also when the server already runs; `stop` of a stopped server does nothing.
# The server runs as user postgres when we are root, since it refuses root. PGFSYNC=off makes it faster and less safe.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
. "$here/lib.sh"

dir=${2:-${TMPDIR:-/tmp}/wstream-postgres}
data=$dir/data
user=postgres

# programs: the folder of the newest server that is installed.
programs() { local all=(/usr/lib/postgresql/*/bin); printf '%s\n' "${PGBIN:-$(printf '%s\n' "${all[@]}" | sort -V | tail -n 1)}"; }

running() { [ -s "$data/postmaster.pid" ] && kill -0 "$(head -n 1 "$data/postmaster.pid")" 2>/dev/null; }

start() {
  local port=${1:-15432} bin
  if running; then cat "$dir/address"; return; fi
  "$here/install.sh" postgres
  bin=$(programs)
  [ "$port" != 0 ] || port=$(free_port)
  ! listens 127.0.0.1 "$port" || die "port $port is taken by something else; 0 takes a free one"
  need_user "$user"
  mkdir -p "$data"
  chmod 755 "$dir"
  chmod 700 "$data"
  [ "$(id -u)" != 0 ] || chown "$user" "$data"
  [ -f "$data/PG_VERSION" ] || as "$user" "$bin/initdb" -D "$data" -U postgres -A trust -E UTF8 --locale=C -N >/dev/null
  as "$user" "$bin/pg_ctl" -D "$data" -w -t 60 -l "$data/log" -o "-p $port -c listen_addresses=127.0.0.1 \
    -c unix_socket_directories='' -c fsync=${PGFSYNC:-on} -c shared_buffers=128MB" start >/dev/null </dev/null ||
    { tail -n 20 "$data/log" >&2; die "PostgreSQL did not start"; }
  echo "postgres://postgres@127.0.0.1:$port/postgres?sslmode=disable" | tee "$dir/address"
}

stop() {
  ! running || as "$user" "$(programs)/pg_ctl" -D "$data" -m fast -w stop >/dev/null
}

case ${1:-} in
start) start "${3:-}" ;;
stop) stop ;;
address) running && cat "$dir/address" ;;
*) say "usage: postgres.sh start [DIR] [PORT] | stop [DIR] | address [DIR]"; exit 2 ;;
esac
