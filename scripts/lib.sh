# Functions shared by the scripts of this folder; sourced, never run.
# shellcheck shell=bash

# say prints a line to standard error, so that a script's standard output stays its result.
say() { printf '%s\n' "$*" >&2; }

# die prints a line to standard error and ends the script with exit code 3: the environment is at fault.
die() { say "${0##*/}: $*"; exit 3; }

# have tells whether a command is on the PATH.
have() { command -v "$1" >/dev/null 2>&1; }

# listens HOST PORT: something accepts connections there.
listens() { (exec 3<>"/dev/tcp/$1/$2") 2>/dev/null; }

# free_port [STEP]: a loopback port on which nothing listens, nor on the one STEP above it. The range lies below the
# kernel's ephemeral ports, so that no outgoing connection takes it before the service does.
free_port() {
  local step=${1:-0} port i
  for ((i = 0; i < 200; i++)); do
    port=$((20000 + RANDOM % 12000))
    if ! listens 127.0.0.1 "$port" && { [ "$step" = 0 ] || ! listens 127.0.0.1 $((port + step)); }; then
      echo "$port"
      return
    fi
  done
  die "no free port between 20000 and 32000"
}

# alive PIDFILE: the process named there runs.
alive() { [ -s "$1" ] && kill -0 "$(cat "$1")" 2>/dev/null; }

# stop_pid PIDFILE [SIGNAL]: asks the process named there to end, waits 20 s, then kills it; the file goes away. Safe to
# repeat.
stop_pid() {
  local file=$1 signal=${2:-TERM} pid i
  [ -s "$file" ] || { rm -f "$file"; return 0; }
  pid=$(cat "$file")
  if kill -s "$signal" "$pid" 2>/dev/null; then
    for ((i = 0; i < 200; i++)); do
      kill -0 "$pid" 2>/dev/null || break
      sleep 0.1
    done
    kill -s KILL "$pid" 2>/dev/null || true
  fi
  rm -f "$file"
}

# wait_port PORT PIDFILE LOG SECONDS: waits until 127.0.0.1:PORT answers; fails at once with the log's end when the
# process dies.
wait_port() {
  local port=$1 file=$2 log=$3 seconds=$4 i
  for ((i = 0; i < seconds * 10; i++)); do
    listens 127.0.0.1 "$port" && return 0
    if ! alive "$file"; then
      tail -n 20 "$log" >&2
      die "the server died while starting; the last lines of $log are above"
    fi
    sleep 0.1
  done
  tail -n 20 "$log" >&2
  die "nothing answers on port $port after $seconds s; the last lines of $log are above"
}

# as USER COMMAND…: runs a command as USER when we are root, else as ourselves.
as() {
  local user=$1
  shift
  if [ "$(id -u)" = 0 ]; then (cd / && runuser -u "$user" -- "$@"); else "$@"; fi
}

# need_user USER: makes a system user without a home when we are root and it is missing.
need_user() {
  if [ "$(id -u)" = 0 ] && ! id "$1" >/dev/null 2>&1; then useradd --system --no-create-home "$1"; fi
}
