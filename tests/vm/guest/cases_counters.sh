# shellcheck shell=dash disable=SC3043,SC1091,SC2034,SC2153
# What the kernel counts, and what nicmon shows of it.

COUNTERS=/sys/class/infiniband/rxe_v0/ports/1/hw_counters

# Two processes exchange 1,000 messages over the device's own loopback.
pingpong() {
  ibv_rc_pingpong -d rxe_v0 -g 1 >/tmp/nicmon.server 2>&1 &
  wait_for 10 "the pingpong's server listens" sh -c 'netstat -ltn | grep -q :18515'
  ibv_rc_pingpong -d rxe_v0 -g 1 127.0.0.1 >/tmp/nicmon.client 2>&1 ||
    fail "pingpong: $(tail -n 1 /tmp/nicmon.client) / $(tail -n 1 /tmp/nicmon.server)"
  wait $!
}

# A counter of the page fetched last: under a metric of its own where it has one, else under its name.
shown() {
  case $1 in
    duplicate_request) paged_metric nicmon_port_duplicate_requests_packets_total ;;
    link_downed) paged_metric nicmon_port_link_downed_total ;;
    *) paged_metric nicmon_port_driver_stat "stat=\"$1\"" ;;
  esac
}

# Every file of hw_counters shows with its value; DIFFERENT says which does not.
all_as_in_sysfs() {
  local file value page
  get /metrics >/tmp/page
  DIFFERENT=
  for file in "$COUNTERS"/*; do
    [ "${file##*/}" != lifespan ] || continue
    read -r value <"$file"
    page=$(shown "${file##*/}")
    [ "$page" = "$value" ] || DIFFERENT="${file##*/}: $value, shown $page"
  done
  [ -z "$DIFFERENT" ]
}

case_counters() {
  local sent
  add_veth v0
  ip addr add 10.99.0.5/24 dev v0
  start_nicmon --counters-interval 1s --metrics-profile full
  wait_for 5 "it serves" is_serving rxe_v0
  wait_for 10 "hw_counters are there" metric_is 1 nicmon_port_stats_available 'family="hw_counters"'
  equal "is lifespan a counter" absent "$(paged_metric nicmon_port_driver_stat 'stat="lifespan"')"
  sent=$(shown sent_pkts)
  pingpong
  wait_for 10 "the packets show" metric_above "$((sent + 999))" nicmon_port_driver_stat 'stat="sent_pkts"'
  wait_for 10 "all are as in sysfs ($DIFFERENT)" all_as_in_sysfs
  equal "unreadable files" 0 "$(paged_metric nicmon_sysfs_read_errors_total 'device="rxe_v0"')"
}

case_link_downed() {
  add_veth v0
  start_nicmon --counters-interval 1s
  wait_for 5 "it serves" is_serving rxe_v0
  wait_for 10 "the counter is there" metric_is 0 nicmon_port_link_downed_total 'device="rxe_v0"'
  ip link set v0p down
  wait_for 10 "the loss is counted by the kernel" metric_above 0 nicmon_port_link_downed_total \
    'device="rxe_v0"'
  ip link set v0p up
  wait_for 5 "it serves again" is_serving rxe_v0
  wait_for 10 "the netdev counts too" metric_above 1 nicmon_port_netdev_carrier_changes_total \
    'device="rxe_v0"'
}

socket_get() { curl -sS -m 10 --unix-socket "$SOCKET" "http://localhost$1" >/tmp/page 2>/dev/null; }
socket_metric_is() {
  local expected=$1
  shift
  socket_get /metrics && [ "$(paged_metric "$@")" = "$expected" ]
}

# In a network namespace of its own with a /sys of its own, as in a container without hostNetwork, the
# kernel shows the device but none of its counters. The port is watched all the same, and somebody is told
# what to do.
case_other_network_namespace() {
  add_veth v0
  unshare -n -m sh -c 'mount -t sysfs sysfs /sys && exec /usr/bin/nicmon "$@"' nicmon \
    --listen 127.0.0.1:0 --counters-interval 1s >"$LOG" 2>&1 &
  PID=$!
  echo "$PID" >/tmp/nicmon.pid
  wait_for 30 "the port is watched" socket_metric_is 1 nicmon_port_up 'device="rxe_v0"'
  wait_for 10 "the counters are missed" \
    socket_metric_is 0 nicmon_port_stats_available 'device="rxe_v0"' 'family="hw_counters"'
  equal "a counter" absent "$(paged_metric nicmon_port_link_downed_total 'device="rxe_v0"')"
  check "the log says what to do" grep -q hostNetwork "$LOG"
  equal "said once" 1 "$(grep -c hostNetwork "$LOG")"
  # No counter is no reason to miss an event.
  ip link set v0p down
  wait_for 10 "the lost link is seen" socket_metric_is 0 nicmon_port_serving 'device="rxe_v0"'
}
