# shellcheck shell=dash disable=SC3043,SC1091,SC2034,SC2153
# What happens to a device: removal, renaming, arrival, release, denial.

device_up_is() { metric_is "$2" nicmon_device_up "device=\"$1\""; }

# timed LIMIT_MS WHAT COMMAND...
timed() {
  local limit=$1 what=$2 start took
  shift 2
  start=$(now_ms)
  "$@" || fail "$what: exit code $?"
  took=$(($(now_ms) - start))
  ELAPSED=$took LONGEST=0
  within "$limit" "$what"
}

# The kernel's removal waits for every holder of the device: a monitor that does not let go by itself
# blocks driver maintenance.
case_removal() {
  add_veth v0
  add_virtio
  start_nicmon
  wait_for 5 "it serves" is_serving rxe_v0
  timed 2000 "rdma link del" timeout 20 /usr/bin/rdma link del rxe_v0
  wait_for 5 "device_up is 0" device_up_is rxe_v0 0
  equal "absent" 1 "$(paged_metric nicmon_device_not_open 'device="rxe_v0"' 'reason="absent"')"
  equal "status" absent "$(device_field rxe_v0 status)"
  equal "not serving" 0 "$(paged_metric nicmon_port_serving 'device="rxe_v0"')"
  check "the other one serves" is_serving rxe_eth0
  rdma link add rxe_v0 type rxe netdev v0
  wait_for 10 "it is open again" device_up_is rxe_v0 1
  info "link add to open: $ELAPSED ms"
  equal "no longer absent" absent "$(paged_metric nicmon_device_not_open 'device="rxe_v0"')"
  wait_for 5 "it serves again" is_serving rxe_v0
  ip link set v0 down
  wait_for 5 "its events arrive" not_serving rxe_v0
  ip link set v0 up
  wait_for 5 "and again" is_serving rxe_v0
  # The same with the netdev taken away below it.
  timed 2000 "ip link del" timeout 20 /usr/bin/ip link del v0
  wait_for 5 "device_up is 0" device_up_is rxe_v0 0
}

# A new name on the same netdev right after a removal: neither is mistaken for the other.
case_replaced_under_another_name() {
  add_veth v0
  start_nicmon
  wait_for 5 "it serves" is_serving rxe_v0
  timed 2000 "rdma link del" timeout 20 /usr/bin/rdma link del rxe_v0
  rdma link add other type rxe netdev v0
  wait_for 10 "the new one serves" is_serving other
  wait_for 5 "its events arrive" device_up_is other 1
}

case_rename() {
  local errs opens
  add_veth v0
  start_nicmon
  wait_for 5 "it serves" is_serving rxe_v0
  ip link set v0 down
  wait_for 5 "down" not_serving rxe_v0
  ip link set v0 up
  wait_for 5 "up" is_serving rxe_v0
  errs=$(metric nicmon_port_events_total 'device="rxe_v0"' 'event="port_err"')
  opens=$(paged_metric nicmon_device_opens_total 'device="rxe_v0"' 'result="ok"')
  rdma dev set rxe_v0 name fresh
  wait_for 5 "the new name serves" is_serving fresh
  equal "old name in metrics" absent "$(metric nicmon_device_up 'device="rxe_v0"')"
  equal "old events in metrics" absent \
    "$(paged_metric nicmon_port_events_total 'device="rxe_v0"' 'event="port_err"')"
  equal "events continue" "$errs" \
    "$(paged_metric nicmon_port_events_total 'device="fresh"' 'event="port_err"')"
  equal "flaps continue" 1 "$(paged_metric nicmon_port_flaps_total 'device="fresh"')"
  equal "it was not opened again" "$opens" \
    "$(paged_metric nicmon_device_opens_total 'device="fresh"' 'result="ok"')"
  equal "nicmon_devices" 1 "$(paged_metric nicmon_devices)"
  ip link set v0 down
  wait_for 5 "events arrive under the new name" not_serving fresh
}

case_added_at_run_time() {
  start_nicmon
  equal "no device yet" 0 "$(metric nicmon_devices)"
  add_veth v0
  wait_for 5 "it serves" is_serving rxe_v0
  info "link add to serving: $ELAPSED ms"
  ip link set v0 down
  wait_for 5 "its events arrive" not_serving rxe_v0
  check "PORT_ERR is counted" metric_above 0 nicmon_port_events_total 'device="rxe_v0"' 'event="port_err"'
}

# Device nodes that nicmon holds open, and async event files.
open_nodes() {
  local fd
  for fd in /proc/"$PID"/fd/*; do readlink "$fd"; done | grep -cE '/dev/infiniband/uverbs|infinibandevent'
}

case_release() {
  local before
  add_veth v0
  add_virtio
  start_nicmon
  wait_for 5 "it serves" is_serving rxe_v0
  before=$(open_nodes)
  equal "files of two devices" 4 "$before"
  post /api/v1/devices/rxe_v0/release -d reason=driver -d ttl=10m
  equal "release" 200 "$STATUS"
  equal "files of one device" 2 "$(open_nodes)"
  check "status" device_is rxe_v0 released
  equal "released in metrics" 1 "$(metric nicmon_device_not_open 'device="rxe_v0"' 'reason="released"')"
  equal "no state while released" absent "$(paged_metric nicmon_port_up 'device="rxe_v0"')"
  timed 1000 "rdma link del" timeout 20 /usr/bin/rdma link del rxe_v0
  rdma link add rxe_v0 type rxe netdev v0
  wait_for 10 "three more ticks" metric_above \
    "$(($(metric nicmon_port_queries_total 'device="rxe_eth0"' 'result="ok"') + 3))" \
    nicmon_port_queries_total 'device="rxe_eth0"' 'result="ok"'
  equal "it stays closed" 2 "$(open_nodes)"
  check "still released" device_is rxe_v0 released
  post /api/v1/devices/rxe_v0/reopen
  equal "reopen" 200 "$STATUS"
  wait_for 5 "it is open" device_is rxe_v0 open
  wait_for 5 "it serves" is_serving rxe_v0
  equal "files of two devices again" 4 "$(open_nodes)"
}

as_user() { echo "/usr/bin/setpriv --reuid 1000 --regid 1000 --clear-groups"; }

case_unprivileged() {
  add_veth v0
  mkdir -p /tmp/nicmon.user
  chown 1000:1000 /tmp/nicmon.user
  # shellcheck disable=SC2046  # words of a command
  start_nicmon env XDG_RUNTIME_DIR=/tmp/nicmon.user $(as_user) --
  equal "runs as" 1000 "$(stat -c %u "/proc/$PID")"
  wait_for 5 "it serves" is_serving rxe_v0
  equal "open" 1 "$(metric nicmon_device_up 'device="rxe_v0"')"
  ip link set v0 down
  wait_for 5 "its events arrive" not_serving rxe_v0
  check "PORT_ERR is counted" metric_above 0 nicmon_port_events_total 'device="rxe_v0"' 'event="port_err"'
  SOCKET=/tmp/nicmon.user/nicmon/admin.sock
  post /api/v1/ports/rxe_v0/1/requery
  equal "operator routes on the socket of its own" 200 "$STATUS"
}

node_of() {
  local dir
  for dir in /sys/class/infiniband_verbs/uverbs*; do
    [ "$(cat "$dir/ibdev")" != "$1" ] || echo "/dev/infiniband/${dir##*/}"
  done
}

# The link of a device that cannot be opened is followed in sysfs.
denied_is_watched() {
  wait_for 20 "it is denied" metric_is 1 nicmon_device_not_open 'device="rxe_v0"' 'reason="denied"'
  equal "status" denied "$(device_field rxe_v0 status)"
  info "detail: $(device_field rxe_v0 detail)"
  check "there is a detail" [ "$(device_field rxe_v0 detail)" != null ]
  wait_for 5 "the state is read all the same" is_state rxe_v0 active
  equal "up" 1 "$(metric nicmon_port_up 'device="rxe_v0"')"
  equal "not open" 0 "$(paged_metric nicmon_device_up 'device="rxe_v0"')"
  wait_for 5 "the other one serves" is_serving rxe_eth0
  ip link set v0 down
  wait_for 10 "down is seen" is_state rxe_v0 down
  info "down seen after $ELAPSED ms"
  ip link set v0 up
  wait_for 10 "up is seen" is_state rxe_v0 active
}

case_denied() {
  add_veth v0
  add_virtio
  chmod 000 "$(node_of rxe_v0)"
  # With /dev/char present the library waits five seconds for a node it may not open.
  mkdir -p /dev/char
  # shellcheck disable=SC2046  # words of a command
  start_nicmon $(as_user) -- --admin-socket none
  denied_is_watched
  chmod 666 "$(node_of rxe_v0)"
  wait_for 60 "it opens when it may" device_is rxe_v0 open
}

case_node_missing() {
  add_veth v0
  add_virtio
  rm -f "$(node_of rxe_v0)"
  start_nicmon
  denied_is_watched
}
