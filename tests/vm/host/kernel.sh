# shellcheck shell=bash
# Fetches a Debian kernel (and, for "newer", the user space that goes with it) without installing
# anything. Sourced by run; needs common.sh and scripts/lib.sh.
#
# own    linux-image-amd64 of this machine's own suite
# newer  the same of a newer suite, with that suite's libibverbs and C library in overlay/
#
# The result, $KERNEL_DIR, holds: vmlinuz, version, modules/*.ko, modules.order (one file name per
# line, in the order to load) and for newer overlay/ (files laid over the guest's root).

# An apt of its own under $1: nothing of the machine's state is read or written.
private_apt() {
  local dir=$1 own=$2 suite=$3
  mkdir -p "$dir/lists/partial" "$dir/cache/archives/partial"
  : >"$dir/status"
  rewrite_sources "$dir/sources" "$own" "$suite" || return 1
  cat >"$dir/apt.conf" <<CONF
Dir::Etc::sourcelist "/dev/null";
Dir::Etc::sourceparts "$dir/sources";
Dir::State::lists "$dir/lists";
Dir::State::status "$dir/status";
Dir::Cache "$dir/cache";
APT::Sandbox::User "";
Acquire::Retries "3";
CONF
  APT_CONFIG="$dir/apt.conf" apt-get -qq update
}

depends_of() {
  apt-cache depends --no-recommends --no-suggests --no-conflicts --no-breaks --no-replaces \
    --no-enhances "$@" | awk '$1 ~ /Depends:/ { print $2 }'
}

# Name of the package with the kernel proper, and of those it is split into in newer suites.
kernel_packages() {
  local image
  image=$(depends_of linux-image-amd64 | grep -m1 -E '^linux-image-[0-9]') || return 1
  echo "$image"
  depends_of "$image" | grep -E '^linux-(base|binary|modules)-[0-9]' || true
}

# Unpacks the .deb files of $1 and keeps of them what the guest needs, in $2.
unpack_kernel() {
  local debs=$1 out=$2 tree version module line file
  tree=$(mktemp -d "$out/tree.XXXXXX")
  for file in "$debs"/linux-*.deb; do dpkg -x "$file" "$tree"; done
  if [[ -d $tree/usr/lib/modules && ! -d $tree/lib ]]; then ln -s usr/lib "$tree/lib"; fi
  version=$(basename "$(echo "$tree"/lib/modules/*)")
  cp "$tree"/boot/vmlinuz-* "$out/vmlinuz" 2>/dev/null ||
    cp "$tree/lib/modules/$version/vmlinuz" "$out/vmlinuz"
  echo "$version" >"$out/version"
  depmod -b "$tree" "$version"
  mkdir -p "$out/modules"
  # crc32_generic: rdma_rxe asks the crypto API for crc32 and fails without it (6.1); in newer
  # kernels it is gone. The rest must be there, built in or as a module.
  for module in crc32_generic virtio_pci virtio_net rdma_rxe ib_uverbs veth dummy; do
    modprobe -d "$tree" -S "$version" --show-depends "$module" 2>"$out/modprobe.err" ||
      [[ $module == crc32_generic ]] || { cat "$out/modprobe.err" >&2; return 1; }
  done | awk '$1 == "insmod" && !seen[$2]++ { print $2 }' | while read -r line; do
    file=$(basename "$line")
    case $file in
      *.xz) xz -dc "$line" >"$out/modules/${file%.xz}" ;;
      *.zst) zstd -qdc "$line" >"$out/modules/${file%.zst}" ;;
      *) cp "$line" "$out/modules/" ;;
    esac
    file=${file%.xz}
    echo "${file%.zst}"
  done >"$out/modules.order"
  rm -rf "$tree"
  grep -qx rdma_rxe.ko "$out/modules.order"
}

# libibverbs of the newer suite needs that suite's C library; a newer C library runs older binaries,
# so everything else in the guest stays this machine's. (ibv_devinfo uses private symbols of its own
# version.)
readonly NEWER_PACKAGES=(libc6 libgcc-s1 libstdc++6 libibverbs1 ibverbs-providers ibverbs-utils
  libnl-3-200 libnl-route-3-200)

unpack_overlay() {
  local debs=$1 out=$2 tree file
  tree=$(mktemp -d "$out/tree.XXXXXX")
  for file in "$debs"/*.deb; do
    case $(basename "$file") in linux-*) ;; *) dpkg -x "$file" "$tree" ;; esac
  done
  mkdir -p "$out/overlay"
  if [[ -d $tree/lib && ! -L $tree/lib ]]; then cp -a "$tree/lib/." "$tree/usr/lib/"; fi
  (cd "$tree" && find usr/lib usr/lib64 -path '*gconv*' -prune -o \( -name '*.so*' -print \)) |
    cpio --quiet -pdm -D "$tree" "$out/overlay"
  install -D "$tree/usr/bin/ibv_devinfo" "$out/overlay/usr/bin/ibv_devinfo"
  mkdir -p "$out/overlay/etc"
  cp -a "$tree/etc/libibverbs.d" "$out/overlay/etc/"
  rm -rf "$tree"
}

# fetch_kernel own|newer CACHE: sets KERNEL_DIR or skips. What is cached is used without asking apt.
fetch_kernel() {
  local flavour=$1 cache=$2 codename suite packages work
  KERNEL_DIR="$cache/$flavour"
  mkdir -p "$cache"
  exec 9>"$cache/lock"
  flock 9
  if [[ ! -e $KERNEL_DIR/complete ]]; then
    rm -rf "$KERNEL_DIR"
    codename=$(debian_codename)
    [[ -n $codename ]] || skip "this is no Debian release: no kernel to fetch"
    local suites=("$codename")
    [[ $flavour == own ]] || read -ra suites <<<"${NICMON_VM_NEWER_SUITES:-sid trixie}"
    for suite in "${suites[@]}"; do
      [[ $flavour == own || $suite != "$codename" ]] || continue
      work=$(mktemp -d "$cache/$flavour.XXXXXX")
      # Not as a condition: bash ignores errexit in there.
      set +e
      (
        set -e
        fetch_from "$flavour" "$codename" "$suite" "$work"
      ) >"$work/log" 2>&1
      set -e
      if [[ -e $work/complete ]]; then
        rm -rf "$work/apt" "$work/debs"
        mv "$work" "$KERNEL_DIR"
        break
      fi
      note "no kernel from suite $suite:"
      tail -n 5 "$work/log" | sed 's/^/#   /'
      rm -rf "$work"
    done
  fi
  flock -u 9
  exec 9>&-
  [[ -e $KERNEL_DIR/complete ]] || skip "no $flavour Debian kernel can be fetched with apt"
}

fetch_from() {
  local flavour=$1 codename=$2 suite=$3 work=$4 packages
  private_apt "$work/apt" "$codename" "$suite"
  export APT_CONFIG="$work/apt/apt.conf"
  packages=$(kernel_packages)
  [[ $flavour == own ]] || packages+=" ${NEWER_PACKAGES[*]}"
  mkdir "$work/debs"
  # shellcheck disable=SC2086  # package names, to be split
  (cd "$work/debs" && apt-get -qq download $packages)
  unpack_kernel "$work/debs" "$work"
  [[ $flavour == own ]] || unpack_overlay "$work/debs" "$work"
  echo "$suite" >"$work/complete"
}
