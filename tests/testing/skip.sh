# shellcheck shell=bash
# How a test says that it cannot run here. Sourced, never run.

# skip WHY: ends the test with 77, which ctest calls skipped. On CI that would hide what the test is there
# to show, so there it is a failure, unless the caller set NICMON_MAY_SKIP=1.
skip() {
  echo "SKIPPED: $*"
  if [[ ${CI:-} == true && ${NICMON_MAY_SKIP:-0} != 1 ]]; then
    echo "CI=true: what is skipped has failed" >&2
    exit 1
  fi
  exit 77
}
