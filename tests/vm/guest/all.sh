# shellcheck shell=dash disable=SC3043,SC1091,SC2034,SC2153
# Runs every case whose name matches /test/only, each in a shell of its own, from a clean slate.
. /test/lib.sh
. /test/cases_link.sh
. /test/cases_device.sh
. /test/cases_node.sh
. /test/cases_counters.sh
. /test/cases_probe.sh

run_case() {
  CASE=$1
  rm -f /tmp/why
  (
    "case_$CASE"
    [ ! -e /tmp/nicmon.pid ] || stop_nicmon
  )
  rc=$?
  if [ "$rc" = 0 ]; then
    echo "ok $CASE"
  else
    echo "not ok $CASE: $(cat /tmp/why 2>/dev/null || echo "exit code $rc")"
    [ ! -e /tmp/page ] || { echo "---- last page of $CASE"; tail -n 60 /tmp/page; } >&2
    [ ! -e "$LOG" ] || { echo "---- log of $CASE"; tail -n 60 "$LOG"; } >&2
  fi
  # Whatever a failed case left running must not stand in the way of the next one.
  if [ -e /tmp/nicmon.pid ]; then
    kill -KILL "$(cat /tmp/nicmon.pid)" 2>/dev/null
    rm -f /tmp/nicmon.pid
  fi
  clean_up
}

ip link set lo up
cat /test/cases_*.sh |
  sed -n 's/^case_\([a-z0-9_]*\)() {.*/\1/p' | grep -E "$(cat /test/only)" >/tmp/names
while read -r name <&3; do run_case "$name"; done 3</tmp/names
