# shellcheck shell=bash
# Shared by the host side of the guest test. Sourced, never run.

note() { echo "# $*"; }

need_tools() {
  local tool missing=()
  for tool in "$@"; do
    PATH="$PATH:/usr/sbin:/sbin" type -P "$tool" >/dev/null || missing+=("$tool")
  done
  ((${#missing[@]} == 0)) || skip "not installed: ${missing[*]}"
}
