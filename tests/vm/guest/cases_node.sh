# shellcheck shell=dash disable=SC3043,SC1091,SC2034,SC2153
# What concerns the whole process.

all_sixteen_up() {
  get /metrics >/tmp/page
  [ "$(grep -c '^nicmon_port_serving{.*} 1$' /tmp/page)" = 16 ]
}

case_sixteen_devices() {
  local start i=0
  while [ "$i" -lt 16 ]; do
    add_veth "v$i"
    i=$((i + 1))
  done
  start=$(now_ms)
  start_nicmon
  wait_for 20 "all sixteen serve" all_sixteen_up
  ELAPSED=$(($(now_ms) - start))
  within 5000 "start to first complete scrape"
  equal "nicmon_ports_serving" 16 "$(metric nicmon_ports_serving)"
  i=0
  while [ "$i" -lt 16 ]; do
    ip link set "v$i" down
    i=$((i + 1))
  done
  wait_for 5 "none serves" metric_is 0 nicmon_ports_serving
  info "all down: $ELAPSED ms after the last"
  equal "every one of them is counted" 16 \
    "$(grep -c '^nicmon_port_pauses_total{.*reason="link".*} 1$' /tmp/page)"
}

# stop_nicmon checks the exit code and the two seconds; here somebody is connected meanwhile.
case_term() {
  add_veth v0
  start_nicmon
  check "the admin socket is there" [ -S "$SOCKET" ]
  sleep 8 | nc 127.0.0.1 9879 >/dev/null 2>&1 &
  (printf 'GET /metrics HTTP/1.1\r\nHost:'; sleep 8) | nc 127.0.0.1 9879 >/dev/null 2>&1 &
  wait_for 5 "both are connected" metric_above 1 nicmon_http_connections
  stop_nicmon
  check "the socket is gone" [ ! -e "$SOCKET" ]
  timed 1000 "rdma link del afterwards" timeout 20 /usr/bin/rdma link del rxe_v0
}

case_int() {
  add_veth v0
  start_nicmon
  local start rc
  start=$(now_ms)
  kill -INT "$PID"
  wait "$PID"
  rc=$?
  rm -f /tmp/nicmon.pid
  equal "exit code after INT" 0 "$rc"
  ELAPSED=$(($(now_ms) - start)) LONGEST=0
  within 2000 "INT to exit"
}
