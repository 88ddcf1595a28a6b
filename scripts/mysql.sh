#!/usr/bin/env bash
# mysql.sh start [DIR] [PORT] | stop [DIR] | address [DIR]: a throw-away MariaDB on loopback.
#
# Everything lies in DIR (default ${TMPDIR:-/tmp}/wstream-mysql) and outlives a stop. PORT 0 takes a free port. `start`
# prints the address as the Go driver writes it, also when the server already runs; `stop` of a stopped server does
# nothing. There is one database, `wstream`, and one user, `wstream`, without a password.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
. "$here/lib.sh"
PATH=$PATH:/usr/sbin

dir=${2:-${TMPDIR:-/tmp}/wstream-mysql}
data=$dir/data
pid=$dir/mysql.pid
user=mysql

start() {
  local port=${1:-13306}
  if alive "$pid"; then cat "$dir/address"; return; fi
  "$here/install.sh" mysql
  [ "$port" != 0 ] || port=$(free_port)
  ! listens 127.0.0.1 "$port" || die "port $port is taken by something else; 0 takes a free one"
  need_user "$user"
  mkdir -p "$data"
  chmod 755 "$dir"
  [ "$(id -u)" != 0 ] || chown "$user" "$data"
  if [ ! -d "$data/mysql" ]; then
    as "$user" mariadb-install-db --no-defaults --datadir="$data" --auth-root-authentication-method=normal \
      --skip-test-db >"$dir/install.log" 2>&1 || { tail -n 20 "$dir/install.log" >&2; die "mariadb-install-db failed"; }
  fi
  cat >"$dir/init.sql" <<'X'
CREATE DATABASE IF NOT EXISTS wstream CHARACTER SET utf8mb4;
CREATE USER IF NOT EXISTS 'wstream'@'127.0.0.1';
GRANT ALL PRIVILEGES ON *.* TO 'wstream'@'127.0.0.1';
X
  local server=(mariadbd --no-defaults --datadir="$data" --port="$port" --bind-address=127.0.0.1 --skip-name-resolve
    --socket="$data/mysql.sock" --pid-file="$data/mysqld.pid" --init-file="$dir/init.sql"
    --innodb-buffer-pool-size=128M --character-set-server=utf8mb4)
  [ "$(id -u)" != 0 ] || server+=(--user="$user")
  nohup "${server[@]}" >"$dir/mysql.log" 2>&1 </dev/null &
  echo $! >"$pid"
  wait_port "$port" "$pid" "$dir/mysql.log" 60
  echo "wstream@tcp(127.0.0.1:$port)/wstream" | tee "$dir/address"
}

case ${1:-} in
start) start "${3:-}" ;;
stop) stop_pid "$pid" ;;
address) alive "$pid" && cat "$dir/address" ;;
*) say "usage: mysql.sh start [DIR] [PORT] | stop [DIR] | address [DIR]"; exit 2 ;;
esac
