#!/usr/bin/env bash
# kafka.sh start [DIR] [PORT] | stop [DIR] | address [DIR]: one Kafka broker (KRaft) on loopback.
#
# Data, log and pid lie in DIR (default ${TMPDIR:-/tmp}/wstream-kafka) and outlive a stop. PORT 0 takes a free port. The
# controller listens on PORT+1. `start` prints the bootstrap address, also when the broker already runs; `stop` of a
# stopped broker does nothing. KAFKA_VERSION, KAFKA_LIB and KAFKA_HEAP (512m) may be set, and KAFKA_PROPERTIES to a file of
# settings that come behind the script's own, which they replace; @PORT@ in it is the port.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
. "$here/lib.sh"

dir=${2:-${TMPDIR:-/tmp}/wstream-kafka}
pid=$dir/kafka.pid

start() {
  local port=${1:-19092}
  if alive "$pid"; then cat "$dir/address"; return; fi
  "$here/install.sh" kafka
  [ "$port" != 0 ] || port=$(free_port 1)
  ! listens 127.0.0.1 "$port" || die "port $port is taken by something else; 0 takes a free one"
  local lib=${KAFKA_LIB:-${HOME:-/tmp}/.cache/wstream/kafka-${KAFKA_VERSION:-3.9.1}} heap=${KAFKA_HEAP:-512m}
  mkdir -p "$dir"
  cat >"$dir/server.properties" <<X
process.roles=broker,controller
node.id=1
controller.quorum.voters=1@127.0.0.1:$((port + 1))
listeners=PLAINTEXT://127.0.0.1:$port,CONTROLLER://127.0.0.1:$((port + 1))
advertised.listeners=PLAINTEXT://127.0.0.1:$port
controller.listener.names=CONTROLLER
listener.security.protocol.map=CONTROLLER:PLAINTEXT,PLAINTEXT:PLAINTEXT
inter.broker.listener.name=PLAINTEXT
log.dirs=$dir/data
num.partitions=1
offsets.topic.replication.factor=1
offsets.topic.num.partitions=4
transaction.state.log.replication.factor=1
transaction.state.log.min.isr=1
transaction.state.log.num.partitions=4
transaction.max.timeout.ms=3600000
group.initial.rebalance.delay.ms=0
log.retention.ms=-1
auto.create.topics.enable=false
X
  [ -z "${KAFKA_PROPERTIES:-}" ] || sed "s/@PORT@/$port/g" "$KAFKA_PROPERTIES" >>"$dir/server.properties"
  local java=(java "-Xms$heap" "-Xmx$heap" -XX:+UseG1GC -Djava.net.preferIPv4Stack=true
    -Dorg.slf4j.simpleLogger.defaultLogLevel=warn -cp "$lib/*")
  if [ ! -f "$dir/data/meta.properties" ]; then
    local id
    id=$("${java[@]}" kafka.tools.StorageTool random-uuid 2>/dev/null)
    "${java[@]}" kafka.tools.StorageTool format -t "$id" -c "$dir/server.properties" >"$dir/format.log" 2>&1 ||
      { tail -n 20 "$dir/format.log" >&2; die "could not format $dir/data"; }
  fi
  nohup "${java[@]}" kafka.Kafka "$dir/server.properties" >"$dir/kafka.log" 2>&1 </dev/null &
  echo $! >"$pid"
  wait_port "$port" "$pid" "$dir/kafka.log" 120
  echo "127.0.0.1:$port" | tee "$dir/address"
}

case ${1:-} in
start) start "${3:-}" ;;
stop) stop_pid "$pid" ;;
address) alive "$pid" && cat "$dir/address" ;;
*) say "usage: kafka.sh start [DIR] [PORT] | stop [DIR] | address [DIR]"; exit 2 ;;
esac
