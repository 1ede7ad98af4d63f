# shellcheck shell=bash
# Shared by the host side of the guest test. Sourced, never run.

# A thing that cannot be had ends the run with 77, which ctest calls skipped. On CI a missing guest
# would hide what the guest is there to show, so there it is a failure, unless the caller set
# NICMON_VM_MAY_SKIP=1 (the second, newer guest).
skip() {
  echo "SKIPPED: $*"
  if [[ "${CI:-}" == true && "${NICMON_VM_MAY_SKIP:-0}" != 1 ]]; then
    echo "CI=true: a skipped guest counts as a failure" >&2
    exit 1
  fi
  exit 77
}

note() { echo "# $*"; }

need_tools() {
  local tool missing=()
  for tool in "$@"; do
    PATH="$PATH:/usr/sbin:/sbin" type -P "$tool" >/dev/null || missing+=("$tool")
  done
  ((${#missing[@]} == 0)) || skip "not installed: ${missing[*]}"
}
