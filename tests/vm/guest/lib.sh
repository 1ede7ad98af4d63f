# shellcheck shell=dash disable=SC3043,SC1091,SC2034,SC2153
# What the cases are written with. Sourced by all.sh in the guest's busybox shell.

# The shell would prefer its own applets of these names.
ip() { /usr/bin/ip "$@"; }
setpriv() { /usr/bin/setpriv "$@"; }
rdma() { /usr/bin/rdma "$@"; }

SOCKET=/run/nicmon/admin.sock
LOG=/tmp/nicmon.log
PID=

fail() {
  echo "$*" >/tmp/why
  exit 1
}

# Monotonic time in milliseconds (in steps of ten).
now_ms() {
  local up rest
  read -r up rest </proc/uptime
  echo "${up%.*}${up#*.}0"
}

# wait_for SECONDS WHAT COMMAND...: runs COMMAND in a tight loop until it succeeds; ELAPSED is then the
# time in ms, LONGEST that of the slowest try. Fails the case when the time is over and the command had
# a fair number of tries: on a busy host the whole guest may stand still for seconds.
wait_for() {
  local limit=$(($1 * 1000)) what=$2 start now last tries=0
  shift 2
  start=$(now_ms)
  last=$start
  LONGEST=0
  while :; do
    if "$@"; then break; fi
    tries=$((tries + 1))
    now=$(now_ms)
    [ "$((now - last))" -le "$LONGEST" ] || LONGEST=$((now - last))
    last=$now
    ELAPSED=$((now - start))
    [ "$ELAPSED" -lt "$limit" ] || [ "$tries" -lt 20 ] || fail "after $ELAPSED ms still not: $what"
  done
  now=$(now_ms)
  [ "$((now - last))" -le "$LONGEST" ] || LONGEST=$((now - last))
  ELAPSED=$((now - start))
}

# Time limits are for a processor of its own. Asking nicmon once takes some 30 ms on an emulated one
# and ten times as much when the host is busy; the limits grow with that. A sanitizer build is here for
# its reports: how long it takes is shown and judged by nobody.
SLACK=0
LONGEST=0
calibrate() {
  local start
  start=$(now_ms)
  readyz
  readyz
  SLACK=$((2 * ($(now_ms) - start)))
}

sanitized() { ls /usr/lib/*/lib[au]*san.so.* >/dev/null 2>&1; }

# within MS WHAT: the last wait_for took no longer.
within() {
  local slack=$SLACK
  if sanitized; then
    info "$2: $ELAPSED ms (a sanitizer build)"
    return
  fi
  [ "$slack" -ge "$((2 * LONGEST))" ] || slack=$((2 * LONGEST))
  [ "$slack" -le 2000 ] || slack=2000
  [ "$ELAPSED" -le "$(($1 + slack))" ] || fail "$2 took $ELAPSED ms, more than $1 + $slack"
  info "$2: $ELAPSED ms (+ $slack allowed)"
}

info() { echo "# $CASE: $*"; }

check() {
  local what=$1
  shift
  "$@" || fail "not so: $what"
}

# equal WHAT EXPECTED ACTUAL
equal() { [ "$2" = "$3" ] || fail "$1: expected '$2', got '$3'"; }

# ---- devices

# A pair of connected NICs, the first with RDMA: add_veth NAME → NAME (with RDMA device rxe_NAME) and
# NAMEp, its peer.
add_veth() {
  ip link add "$1" type veth peer name "${1}p"
  ip link set "${1}p" up
  ip link set "$1" up
  rdma link add "rxe_$1" type rxe netdev "$1"
}

# The virtio NIC at 25 Gb/s, with RDMA.
add_virtio() {
  ip link set eth0 up
  ethtool -s eth0 speed 25000 duplex full
  rdma link add rxe_eth0 type rxe netdev eth0
}

# Everything that a case may have made.
clean_up() {
  local name
  for name in /sys/class/infiniband/*; do
    [ ! -e "$name" ] || rdma link del "${name##*/}"
  done
  for name in /sys/class/net/*; do
    name=${name##*/}
    case $name in
      v*p) ;;
      v*) ip link del "$name" ;;
    esac
  done
  ip addr flush dev eth0
  ip link set eth0 down
  rm -rf /run/nicmon /tmp/nicmon.* /tmp/page
}

# ---- nicmon

# start_nicmon [WRAPPER... --] [FLAGS...]: in the background; returns when the first discovery pass is
# over and every device was tried.
start_nicmon() {
  local wrapper=
  case " $* " in
    *" -- "*)
      while [ "$1" != -- ]; do
        wrapper="$wrapper $1"
        shift
      done
      shift
      ;;
  esac
  $wrapper /usr/bin/nicmon --listen 127.0.0.1:9879 --log-level debug "$@" >"$LOG" 2>&1 &
  PID=$!
  echo "$PID" >/tmp/nicmon.pid
  wait_for 30 "nicmon answers /readyz" readyz
  wait_for 10 "no device is still opening" none_opening
  calibrate
}

readyz() {
  [ -d "/proc/$PID" ] || fail "nicmon ended: $(tail -n 1 "$LOG")"
  get /readyz >/dev/null
}
none_opening() { get /api/v1/devices >/tmp/page && ! grep -q '"opening"' /tmp/page; }

# stop_nicmon: TERM must end it with exit code 0 within two seconds, with nothing to say for the
# sanitizers.
stop_nicmon() {
  local start rc
  start=$(now_ms)
  kill -TERM "$PID"
  wait "$PID"
  rc=$?
  ELAPSED=$(($(now_ms) - start)) LONGEST=0
  rm -f /tmp/nicmon.pid
  equal "exit code after TERM" 0 "$rc"
  within 2000 "TERM to exit"
  sanitizers_silent
}

sanitizers_silent() {
  if grep -qE 'ERROR: (Address|Leak)Sanitizer|runtime error:|terminate called' "$LOG"; then
    fail "$(grep -m1 -E 'ERROR: (Address|Leak)Sanitizer|runtime error:|terminate called' "$LOG")"
  fi
}

# ---- asking nicmon

# The body of a GET; fails unless the answer is 200. nc because a client that starts in an instant is
# what the tight loops need.
get() {
  printf 'GET %s HTTP/1.0\r\nHost: localhost\r\n\r\n' "$1" | nc -w 5 127.0.0.1 9879 | tr -d '\r' >/tmp/answer
  read -r _ STATUS _ </tmp/answer
  sed '1,/^$/d' /tmp/answer
  [ "$STATUS" = 200 ]
}
flat() { awk -f /test/json.awk; }
# pick PATH: the value at that path of the flattened document on stdin.
pick() { awk -F '\t' -v path="$1" '$1 == path { print $2; found = 1 } END { if (!found) print "none" }'; }
port() { get "/api/v1/ports/$1/1"; }
# port_field DEVICE PATH
port_field() { port "$1" | flat | pick "$2"; }
device_field() { get "/api/v1/devices/$1" | flat | pick "$2"; }
# The reasons that pause a port, sorted.
port_paused() { port "$1" | flat | sed -n 's/^paused\.[0-9]*\.reason\t//p' | sort | tr '\n' ' ' | sed 's/ $//'; }
# post PATH [CURL ARGS...]: over the admin socket; the body in /tmp/post, the status in STATUS.
post() {
  local path=$1
  shift
  STATUS=$(curl -sS -m 10 --unix-socket "$SOCKET" -o /tmp/post -w '%{http_code}' -X POST "$@" \
    "http://localhost$path")
}
post_field() { flat </tmp/post | pick "$1"; }

# metric NAME [LABEL="VALUE"...]: the value of the one series that has all these labels, "absent"
# when there is none. Asks once for the page.
metric() {
  get /metrics >/tmp/page
  paged_metric "$@"
}
# The same from the page fetched last.
paged_metric() {
  local name=$1 label lines
  shift
  lines=$(grep -E "^$name(\{| )" /tmp/page)
  for label in "$@"; do
    lines=$(echo "$lines" | grep -F "$label")
  done
  case $(echo "$lines" | grep -c .) in
    0) echo absent ;;
    1) echo "${lines##* }" ;;
    *) echo "several" ;;
  esac
}
metric_is() {
  local expected=$1
  shift
  [ "$(metric "$@")" = "$expected" ]
}
# more_than NUMBER NAME LABELS...
metric_above() {
  local floor=$1 value
  shift
  value=$(metric "$@")
  [ "$value" != absent ] && [ "$value" -gt "$floor" ]
}

# Cheap predicates for the tight loops.
port_has() { port "$1" | tr -d ' \n' | grep -qF "$2"; }
is_serving() { port_has "$1" '"serving":true'; }
not_serving() { port_has "$1" '"serving":false'; }
is_state() { port_has "$1" "\"state\":\"$2\""; }
device_is() { get "/api/v1/devices/$1" | tr -d ' \n' | grep -qF "\"status\":\"$2\""; }
