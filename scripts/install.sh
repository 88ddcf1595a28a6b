#!/usr/bin/env bash
# install.sh PART…: installs what the tests and benchmarks need beyond Go. A part that is there already costs nothing.
#
#   kafka      Apache Kafka's jars by Maven, and a JDK
#   postgres   PostgreSQL's server
#   nats       NATS' server, built by Go
#   mysql      MariaDB's server
#   s3         versitygw, a server with the S3 API over a folder
#   readers    Spark and deltalake in a Python environment, and the jars with which Spark reads Avro and Delta
#   guests     clang and lld, Rust with its wasm32 library, and AssemblyScript, for building guests
#   services   kafka, postgres, mysql, nats and s3
#   all        everything
#
# Packages come from Debian, by apt-get, which needs root. No system service is started.
# KAFKA_VERSION (3.9.1), NATS_VERSION (2.15.3), KAFKA_LIB (the folder of its jars), VERSITYGW (the program) and READERS (the folder of the Python
# environment) may be set.
set -euo pipefail
cd "$(dirname "$0")"
. ./lib.sh

updated=
# packages NAME…: installs those that are missing.
packages() {
  local missing=() name
  for name in "$@"; do
    dpkg-query -W -f '${db:Status-Status}' "$name" 2>/dev/null | grep -qx installed || missing+=("$name")
  done
  [ ${#missing[@]} -gt 0 ] || return 0
  have apt-get || die "needs the packages ${missing[*]}, and there is no apt-get here"
  [ "$(id -u)" = 0 ] || die "needs root to install ${missing[*]}"
  say "install: ${missing[*]}"
  export DEBIAN_FRONTEND=noninteractive
  if [ -z "$updated" ]; then
    apt-get update -qq >/dev/null || say "install: apt-get update failed; going on with the lists that are there"
    updated=1
  fi
  # A package that ships a daemon must not start it: the tests start servers of their own.
  local policy=/usr/sbin/policy-rc.d ours=
  if [ ! -e "$policy" ]; then
    printf '#!/bin/sh\nexit 101\n' >"$policy"
    chmod 755 "$policy"
    ours=1
  fi
  local log status=0
  log=$(mktemp)
  apt-get install -y -qq --no-install-recommends "${missing[@]}" </dev/null >"$log" 2>&1 || status=$?
  [ -z "$ours" ] || rm -f "$policy"
  if [ "$status" != 0 ]; then
    tail -n 20 "$log" >&2
    rm -f "$log"
    die "apt-get install ${missing[*]}: exit $status"
  fi
  rm -f "$log"
}

# known NAME: the package lists hold it.
known() {
  if [ -z "$updated" ] && have apt-get && [ "$(id -u)" = 0 ] && ! apt-cache show "$1" >/dev/null 2>&1; then
    apt-get update -qq >/dev/null 2>&1 || true
    updated=1
  fi
  apt-cache show "$1" >/dev/null 2>&1
}

kafka() {
  local version=${KAFKA_VERSION:-3.9.1}
  local lib=${KAFKA_LIB:-${HOME:-/tmp}/.cache/wstream/kafka-$version}
  have java || packages openjdk-17-jre-headless
  [ ! -f "$lib/.complete" ] || return 0
  have mvn || packages maven
  say "install: Kafka $version into $lib"
  mkdir -p "$lib"
  local work
  work=$(mktemp -d)
  cat >"$work/pom.xml" <<X
<project xmlns="http://maven.apache.org/POM/4.0.0"><modelVersion>4.0.0</modelVersion>
<groupId>local</groupId><artifactId>kafka</artifactId><version>1</version><packaging>pom</packaging><dependencies>
<dependency><groupId>org.apache.kafka</groupId><artifactId>kafka_2.13</artifactId><version>$version</version></dependency>
<dependency><groupId>org.slf4j</groupId><artifactId>slf4j-simple</artifactId><version>1.7.36</version></dependency>
</dependencies></project>
X
  local try status=1
  for try in 1 2 3; do
    if mvn -q -B -f "$work/pom.xml" dependency:copy-dependencies -DoutputDirectory="$lib" -DincludeScope=runtime \
      </dev/null >"$work/log" 2>&1; then
      status=0
      break
    fi
    say "install: Maven failed, try $try of 3"
  done
  if [ "$status" != 0 ]; then
    tail -n 20 "$work/log" >&2
    rm -r "$work"
    die "Maven could not fetch Kafka $version"
  fi
  # One logging back end is enough; two make Kafka complain at every start.
  rm -f "$lib"/slf4j-reload4j*.jar "$lib"/slf4j-log4j12*.jar
  rm -r "$work"
  touch "$lib/.complete"
}

postgres() { compgen -G '/usr/lib/postgresql/*/bin/initdb' >/dev/null || packages postgresql; }

s3() {
  local program=${VERSITYGW:-${HOME:-/tmp}/.cache/wstream/bin/versitygw}
  [ ! -x "$program" ] || return 0
  say "install: versitygw into ${program%/*}"
  GOBIN=${program%/*} CGO_ENABLED=0 GOFLAGS=-mod=mod go install github.com/versity/versitygw/cmd/versitygw@v1.8.0 >&2
}

# The server is a program of its own: its modules are none of ours.
nats() {
  local version=${NATS_VERSION:-2.15.3} home
  home=${HOME:-/tmp}/.cache/wstream/nats-$version
  [ ! -x "$home/nats-server" ] || return 0
  have go || die "needs Go to build nats-server"
  say "install: nats-server $version into $home"
  (cd / && GOBIN=$home GOFLAGS='' CGO_ENABLED=0 go install "github.com/nats-io/nats-server/v2@v$version" </dev/null >&2) ||
    die "Go could not build nats-server $version"
}

mysql() { have mariadbd || [ -x /usr/sbin/mariadbd ] || packages mariadb-server; }

guests() {
  if known clang-22; then packages clang-22 lld-22; else packages clang-14 lld-14; fi
  packages rustc-web cargo-web rust-web-src rust-web-llvm
  assemblyscript
}

assemblyscript() {
  local home=${ASSEMBLYSCRIPT:-${HOME:-/tmp}/.cache/wstream/assemblyscript}
  [ ! -x "$home/node_modules/.bin/asc" ] || return 0
  have npm || packages nodejs npm
  say "install: AssemblyScript into $home"
  mkdir -p "$home"
  npm install --prefix "$home" --no-audit --no-fund --silent assemblyscript@0.28.20 </dev/null >&2
}

readers() {
  local home=${READERS:-${HOME:-/tmp}/.cache/wstream/readers} jar
  [ ! -f "$home/.complete" ] || return 0
  have java || packages openjdk-17-jre-headless
  have mvn || packages maven
  python3 -c 'import ensurepip, venv' 2>/dev/null || packages python3-venv
  say "install: Spark 4.2.0 and deltalake into $home"
  python3 -m venv "$home"
  "$home/bin/pip" install -q --disable-pip-version-check pyspark==4.2.0 deltalake==1.6.6 pyarrow==26.0.1 >&2
  mkdir -p "$home/jars"
  for jar in org.apache.spark:spark-avro_2.13:4.2.0 org.tukaani:xz:1.10 io.delta:delta-spark_2.13:4.2.0 io.delta:delta-storage:4.2.0; do
    mvn -q -B dependency:copy -Dartifact="$jar" -DoutputDirectory="$home/jars" </dev/null >&2
  done
  touch "$home/.complete"
}

services() { kafka; postgres; mysql; nats; s3; }
all() { services; readers; guests; }

[ $# -gt 0 ] || { sed -n '2,17s/^# \{0,1\}//p' install.sh >&2; exit 2; }
for part in "$@"; do
  case $part in
  kafka | postgres | mysql | nats | s3 | readers | guests | services | all) "$part" ;;
  *) say "install.sh: no part \"$part\"; there are kafka, postgres, mysql, nats, s3, readers, guests, services and all"; exit 2 ;;
  esac
done
