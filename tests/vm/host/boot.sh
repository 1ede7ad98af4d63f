# shellcheck shell=bash
# Boots the guest and reads what it reports. Sourced by run; needs common.sh and $KERNEL_DIR.

# boot ACCEL INITRAMFS LOGS SECONDS: runs qemu once. Results come over a serial port of their own, so
# that kernel messages cannot tear them. Whether the guest's own script was reached.
boot() {
  local accel=$1 initramfs=$2 logs=$3 seconds=$4 pid waited=0 patience=240 cpu=qemu64
  # With kvm a boot takes a few seconds or, where it is only half there (nested), for ever.
  [[ $accel != kvm ]] || { patience=24; cpu=host; }
  rm -f "$logs/results" "$logs/console"
  timeout --kill-after=5 "$seconds" qemu-system-x86_64 -accel "$accel" -cpu "$cpu" -m 1536 -smp 2 \
    -display none -monitor none -no-reboot -nic none -kernel "$KERNEL_DIR/vmlinuz" -initrd "$initramfs" \
    -append "console=ttyS0 quiet panic=-1 net.ifnames=0" \
    -netdev user,id=n0,restrict=on -device virtio-net-pci,netdev=n0,romfile= \
    -serial "file:$logs/console" -serial "file:$logs/results" \
    </dev/null >"$logs/qemu" 2>&1 9>&- &
  pid=$!
  # An early panic or an accelerator that does not work shows as a guest that prints nothing.
  while kill -0 "$pid" 2>/dev/null && ! grep -qs '^booted' "$logs/results"; do
    sleep 0.5
    if ((++waited > patience)); then
      kill "$pid"
      break
    fi
  done
  wait "$pid" || true
  grep -qs '^booted' "$logs/results"
}

# boot_retrying INITRAMFS LOGS SECONDS: kvm where it can be used, else (or when kvm boots nothing)
# software emulation, three times at most.
boot_retrying() {
  local initramfs=$1 logs=$2 seconds=$3 accel attempts=()
  local useless="${logs%/*}/kvm-boots-nothing"  # remembered with the cached kernels
  if [[ -r /dev/kvm && -w /dev/kvm && ${NICMON_VM_ACCEL:-kvm} == kvm && ! -e $useless ]]; then
    attempts+=(kvm)
  fi
  local soft='tcg,thread=multi'
  attempts+=("$soft" "$soft" "$soft")
  for accel in "${attempts[@]}"; do
    if boot "$accel" "$initramfs" "$logs" "$seconds"; then
      note "booted with -accel $accel"
      return 0
    fi
    note "nothing came from a boot with -accel $accel"
    [[ $accel != kvm ]] || touch "$useless"
    tail -n 5 "$logs/qemu" "$logs/console" 2>/dev/null | sed 's/^/#   /'
  done
  return 1
}

# report RESULTS: one line a case, then the count. Whether all passed and the guest got to its end.
report() {
  local results=$1 passed failed
  tr -d '\r' <"$results" | grep -vE '^(booted|finished)$' || true
  passed=$(grep -c '^ok ' "$results" || true)
  failed=$(grep -c '^not ok ' "$results" || true)
  if ! tr -d '\r' <"$results" | grep -qx finished; then
    echo "not ok guest: it stopped before its end"
    failed=$((failed + 1))
  fi
  echo "$passed passed, $failed failed"
  ((failed == 0 && passed > 0))
}
