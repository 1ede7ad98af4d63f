# shellcheck shell=dash disable=SC3043,SC1091,SC2034,SC2153
# What happens to a port: link, speed, addresses, the operator's hold.

# The guest itself, without nicmon: two RDMA devices, both up.
case_guest() {
  info "kernel $(uname -r), $(readlink -f /usr/lib/x86_64-linux-gnu/libibverbs.so.1)"
  add_veth v0
  add_virtio
  wait_for 5 "ibv_devinfo sees two active ports" two_active
}
two_active() { [ "$(ibv_devinfo 2>&1 | tee /tmp/page | grep -c PORT_ACTIVE)" = 2 ]; }

case_two_devices() {
  add_veth v0
  add_virtio
  start_nicmon
  equal "devices" "rxe_eth0 rxe_v0 none" \
    "$(get /api/v1/devices | flat >/tmp/page; for i in 0 1 2; do pick devices.$i.device </tmp/page; done | xargs)"
  for name in rxe_v0 rxe_eth0; do
    wait_for 5 "$name serves" is_serving "$name"
    port $name | flat >/tmp/port
    equal "$name state" active "$(pick state </tmp/port)"
    equal "$name state's number" 4 "$(pick state_id </tmp/port)"
    equal "$name physical state" link_up "$(pick physical_state </tmp/port)"
    equal "$name physical state's number" 5 "$(pick physical_state_id </tmp/port)"
    equal "$name up" true "$(pick up </tmp/port)"
    equal "$name paused by nothing" none "$(pick paused.0.reason </tmp/port)"
    equal "$name up in metrics" 1 "$(metric nicmon_port_up "device=\"$name\"")"
    equal "$name state in metrics" 4 "$(paged_metric nicmon_port_state_id "device=\"$name\"")"
    equal "$name open" 1 "$(paged_metric nicmon_device_up "device=\"$name\"")"
  done
  equal "veth speed" 10 "$(port_field rxe_v0 effective_speed_gbps)"
  equal "virtio speed" 25 "$(port_field rxe_eth0 effective_speed_gbps)"
  equal "veth speed in metrics" 1250000000 \
    "$(metric nicmon_port_effective_speed_bytes_per_second 'device="rxe_v0"')"
  equal "virtio speed in metrics" 3125000000 \
    "$(paged_metric nicmon_port_effective_speed_bytes_per_second 'device="rxe_eth0"')"
  equal "netdevs" "v0 eth0" "$(port_field rxe_v0 netdev) $(port_field rxe_eth0 netdev)"
  equal "nothing is simulated" 0 "$(metric nicmon_simulated)"
}

# The kernel delivers a carrier change up to a second late; what counts is how long nicmon takes from
# there. With a tick of ten seconds nothing but the event can explain an answer within one.
kernel_says() {
  local value
  read -r value <"/sys/class/infiniband/$1/ports/1/state"
  [ "$value" = "$2" ]
}

# link_cycle DOWN UP: commands that take the link of v0 away and give it back.
link_cycle() {
  add_veth v0
  start_nicmon --tick 10s
  wait_for 5 "it serves" is_serving rxe_v0
  equal "paused by link before" 0 "$(metric nicmon_port_paused 'device="rxe_v0"' 'reason="link"')"
  $1
  wait_for 5 "the kernel says DOWN" kernel_says rxe_v0 "1: DOWN"
  wait_for 5 "it does not serve" not_serving rxe_v0
  within 500 "event to not serving"
  wait_for 5 "the state is down" is_state rxe_v0 down
  equal "paused" link "$(port_paused rxe_v0)"
  equal "no speed while down" null "$(port_field rxe_v0 effective_speed_gbps)"
  equal "up in metrics" 0 "$(metric nicmon_port_up 'device="rxe_v0"')"
  equal "serving in metrics" 0 "$(paged_metric nicmon_port_serving 'device="rxe_v0"')"
  equal "paused by link" 1 "$(paged_metric nicmon_port_paused 'device="rxe_v0"' 'reason="link"')"
  equal "pauses" 1 "$(paged_metric nicmon_port_pauses_total 'device="rxe_v0"' 'reason="link"')"
  equal "flaps so far" 0 "$(paged_metric nicmon_port_flaps_total 'device="rxe_v0"')"
  equal "speed while down" absent \
    "$(paged_metric nicmon_port_effective_speed_bytes_per_second 'device="rxe_v0"')"
  check "PORT_ERR is counted" metric_above 0 nicmon_port_events_total 'device="rxe_v0"' 'event="port_err"'
  $2
  wait_for 5 "the kernel says ACTIVE" kernel_says rxe_v0 "4: ACTIVE"
  wait_for 5 "it serves again" is_serving rxe_v0
  within 500 "event to serving"
  equal "recovered by the event" 1 \
    "$(metric nicmon_port_recoveries_total 'device="rxe_v0"' 'source="event"')"
  equal "recovered by the tick" 0 \
    "$(paged_metric nicmon_port_recoveries_total 'device="rxe_v0"' 'source="tick"')"
  equal "flaps" 1 "$(paged_metric nicmon_port_flaps_total 'device="rxe_v0"')"
  equal "pauses after all" 1 "$(paged_metric nicmon_port_pauses_total 'device="rxe_v0"' 'reason="link"')"
  equal "missed events" 0 \
    "$(paged_metric nicmon_reconcile_mismatches_total 'device="rxe_v0"' 'kind="missed_event"')"
  check "PORT_ACTIVE is counted" metric_above 0 nicmon_port_events_total 'device="rxe_v0"' \
    'event="port_active"'
  equal "speed" 10 "$(port_field rxe_v0 effective_speed_gbps)"
}

case_carrier_loss() { link_cycle "ip link set v0p down" "ip link set v0p up"; }

case_admin_down() { link_cycle "ip link set v0 down" "ip link set v0 up"; }

# A flap while nicmon does not run at all: the events wait in the kernel and none may be lost.
case_flap_while_stopped() {
  add_veth v0
  start_nicmon
  wait_for 5 "it serves" is_serving rxe_v0
  kill -STOP "$PID"
  ip link set v0 down
  ip link set v0 up
  kill -CONT "$PID"
  wait_for 5 "the flap is counted" metric_is 1 nicmon_port_flaps_total 'device="rxe_v0"'
  wait_for 5 "it serves again" is_serving rxe_v0
  equal "pauses" 1 "$(metric nicmon_port_pauses_total 'device="rxe_v0"' 'reason="link"')"
}

# No event at all tells of a new speed here: only the tick can see it.
case_speed_change() {
  add_virtio
  start_nicmon
  wait_for 5 "25 Gb/s" port_has rxe_eth0 '"effective_speed_gbps":25'
  equal "speed changes before" 0 "$(metric nicmon_port_speed_changes_total 'device="rxe_eth0"')"
  ethtool -s eth0 speed 100000 duplex full
  wait_for 5 "100 Gb/s" port_has rxe_eth0 '"effective_speed_gbps":100'
  within 2500 "speed change to new speed"
  wait_for 5 "it is counted" metric_is 1 nicmon_port_speed_changes_total 'device="rxe_eth0"'
  ethtool -s eth0 speed 40000 duplex full
  wait_for 5 "40 Gb/s" port_has rxe_eth0 '"effective_speed_gbps":40'
  wait_for 5 "it is counted too" metric_is 2 nicmon_port_speed_changes_total 'device="rxe_eth0"'
  equal "in bytes" 5000000000 \
    "$(metric nicmon_port_effective_speed_bytes_per_second 'device="rxe_eth0"')"
  equal "no flap" 0 "$(paged_metric nicmon_port_flaps_total 'device="rxe_eth0"')"
  check "still serving" is_serving rxe_eth0
}

# Older kernels encode every rate above 40 Gb/s as 100; the netdev knows better.
case_speed_beyond_the_encoding() {
  ip link set eth0 up
  ethtool -s eth0 speed 200000 duplex full
  rdma link add rxe_eth0 type rxe netdev eth0
  start_nicmon
  wait_for 5 "200 Gb/s" port_has rxe_eth0 '"effective_speed_gbps":200'
  info "source: $(port_field rxe_eth0 speed_source)"
}

# GIDs in full, as the kernel writes them.
readonly PRIVATE_GID=0000:0000:0000:0000:0000:ffff:0a63:0005
readonly ROUTABLE_GID=2001:0db8:0000:0000:0000:0000:0000:0005
gid_is() { port_has rxe_v0 "\"gid\":\"$1"; }

case_gid_change() {
  local before changes
  add_veth v0
  start_nicmon
  # The only addresses at first are link-local.
  wait_for 15 "a link-local GID" gid_is fe80:
  before=$(metric nicmon_port_events_total 'device="rxe_v0"' 'event="gid_change"')
  changes=$(paged_metric nicmon_port_gid_changes_total 'device="rxe_v0"')
  ip addr add 10.99.0.5/24 dev v0
  wait_for 5 "the GID is the new address" gid_is $PRIVATE_GID
  info "address to GID: $ELAPSED ms"
  check "GID_CHANGE is counted" metric_above "$before" nicmon_port_events_total 'device="rxe_v0"' \
    'event="gid_change"'
  check "the change is counted" metric_above "$changes" nicmon_port_gid_changes_total 'device="rxe_v0"'
  ip addr add 2001:db8::5/64 dev v0 nodad
  wait_for 5 "a routable address wins" gid_is $ROUTABLE_GID
  ip addr del 2001:db8::5/64 dev v0
  wait_for 5 "back to the private one" gid_is $PRIVATE_GID
  ip addr del 10.99.0.5/24 dev v0
  wait_for 5 "back to link-local" gid_is fe80:
  check "it served all the time" metric_is 0 nicmon_port_pauses_total 'device="rxe_v0"' 'reason="link"'
}

paused_by() { [ "$(port_paused rxe_v0)" = "$1" ]; }
queried_more_than() { metric_above "$1" nicmon_port_queries_total 'device="rxe_v0"' 'result="ok"'; }

# A hold outlives everything the hardware does; only resume lifts it.
case_hold() {
  add_veth v0
  start_nicmon
  wait_for 5 "it serves" is_serving rxe_v0
  post /api/v1/ports/rxe_v0/1/pause -d reason='bad cable' -d ttl=1h -d by=vm
  equal "pause" 200 "$STATUS"
  check "held" paused_by admin
  check "not serving" not_serving rxe_v0
  equal "the port itself is up" true "$(port_field rxe_v0 up)"
  equal "the reason is told" "bad cable" "$(port_field rxe_v0 paused.0.note)"
  post /api/v1/ports/rxe_v0/1/pause -d reason=again
  equal "a second pause" 409 "$STATUS"
  ip link set v0 down
  wait_for 5 "held and down" paused_by "admin link"
  ip link set v0 up
  wait_for 5 "up and still held" paused_by admin
  ip link set v0p down
  wait_for 5 "held and without carrier" paused_by "admin link"
  ip link set v0p up
  wait_for 5 "up and still held" paused_by admin
  wait_for 10 "three more ticks" queried_more_than \
    "$(($(metric nicmon_port_queries_total 'device="rxe_v0"' 'result="ok"') + 3))"
  check "still held after them" paused_by admin
  check "still not serving" not_serving rxe_v0
  equal "held in metrics" 1 "$(metric nicmon_port_paused 'device="rxe_v0"' 'reason="admin"')"
  post /api/v1/ports/rxe_v0/1/requery
  equal "requery" 200 "$STATUS"
  check "a requery does not lift it" paused_by admin
  post /api/v1/ports/rxe_v0/1/resume
  equal "resume" "200 true" "$STATUS $(post_field changed)"
  check "serves again" is_serving rxe_v0
  post /api/v1/ports/rxe_v0/1/resume
  equal "a second resume" "200 false" "$STATUS $(post_field changed)"
}
