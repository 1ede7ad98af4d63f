# shellcheck shell=dash disable=SC3043,SC1091,SC2034,SC2153
# Bytes through a real queue pair.

probe() {
  post "/api/v1/ports/$1/1/probe"
  equal "status of the probe" 200 "$STATUS"
}
descriptors() { find "/proc/$PID/fd" -type l | wc -l; }
not_up() { port_has "$1" '"up":false'; }

case_probe() {
  local sent held
  add_veth v0
  ip addr add 10.99.0.6/24 dev v0
  start_nicmon
  wait_for 5 "it serves" is_serving rxe_v0
  held=$(descriptors)
  sent=$(cat /sys/class/infiniband/rxe_v0/ports/1/hw_counters/sent_pkts)
  probe rxe_v0
  equal "result ($(post_field error))" ok "$(post_field result)"
  info "$(post_field duration_ms) ms in all, open $(post_field steps.0.duration_ms)"
  equal "GID's netdev" v0 "$(post_field gid.netdev)"
  check "packets were sent" [ "$(cat /sys/class/infiniband/rxe_v0/ports/1/hw_counters/sent_pkts)" -gt "$sent" ]
  equal "descriptors afterwards" "$held" "$(descriptors)"
  equal "kept data path" null "$(device_field rxe_v0 data_path.ready)"
  # Held by an operator it can be probed all the same, without a link it cannot.
  post /api/v1/ports/rxe_v0/1/pause -d reason=cable
  probe rxe_v0
  equal "result while held" ok "$(post_field result)"
  ip link set v0p down
  wait_for 5 "it is down" not_up rxe_v0
  probe rxe_v0
  equal "result without a link" failed "$(post_field result)"
  equal "failed step" query_port "$(post_field failed_step)"
}

case_probe_without_locked_memory() {
  add_veth v0
  ip addr add 10.99.0.7/24 dev v0
  printf '#!/usr/bin/busybox sh\nulimit -l 0\nexec "$@"\n' >/tmp/nicmon.limited
  mkdir -p /run/nicmon
  chown 1000:1000 /run/nicmon
  # shellcheck disable=SC2046  # words of a command
  start_nicmon $(as_user) /usr/bin/busybox sh /tmp/nicmon.limited -- --state-dir none
  wait_for 5 "it serves" is_serving rxe_v0
  probe rxe_v0
  equal "result" failed "$(post_field result)"
  equal "failed step" reg_mr "$(post_field failed_step)"
  info "$(post_field error)"
  check "the remedy is named" grep -q LimitMEMLOCK /tmp/post
}

case_probe_with_a_data_path_that_is_kept() {
  add_veth v0
  ip addr add 10.99.0.8/24 dev v0
  start_nicmon --data-path always
  wait_for 5 "it serves" is_serving rxe_v0
  equal "kept data path" true "$(device_field rxe_v0 data_path.ready)"
  probe rxe_v0
  equal "result ($(post_field error))" ok "$(post_field result)"
  equal "first step" query_port "$(post_field steps.0.step)"
  probe rxe_v0
  equal "and again" ok "$(post_field result)"
  # A context that stays open would block the removal.
  timed 2000 "rdma link del" timeout 20 /usr/bin/rdma link del rxe_v0
  rdma link add rxe_v0 type rxe netdev v0
  wait_for 10 "it serves again" is_serving rxe_v0
  equal "kept anew" true "$(device_field rxe_v0 data_path.ready)"
  probe rxe_v0
  equal "result of the new one" ok "$(post_field result)"
}
