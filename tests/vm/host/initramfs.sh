# shellcheck shell=bash
# Builds the guest's root. Sourced by run; needs common.sh and $KERNEL_DIR.

# Copies a library to where it really is, with the link that its users look for: the real name tells
# the version.
install_library() {
  local root=$1 library=$2 real
  [[ ! -e $root$library ]] || return 0
  real=$(realpath "$library")
  [[ -e $root$real ]] || install -D "$real" "$root$real"
  mkdir -p "$root$(dirname "$library")"
  [[ -e $root$library ]] || ln -s "$real" "$root$library"
}

# Copies a program with the libraries that ldd names, at the paths they have here.
install_binary() {
  local root=$1 binary=$2 target=$3 library
  install -D "$binary" "$root$target"
  # A static program has none, which ldd calls an error.
  { ldd "$binary" 2>/dev/null | grep -oE '/[^ ]+' || true; } | while read -r library; do
    install_library "$root" "$library"
  done
}

# build_initramfs OUT GUEST_DIR NICMON CASES
build_initramfs() {
  local out=$1 guest=$2 nicmon=$3 cases=$4 root tool path file
  root=$(mktemp -d "$(dirname "$out")/root.XXXXXX")
  chmod 755 "$root"  # it becomes the guest's /, for unprivileged users too
  mkdir -p "$root"/{dev,proc,sys,tmp,run,root,etc,var/lib,modules,usr/bin,usr/lib,usr/lib64}
  ln -s usr/bin "$root/bin"
  ln -s usr/bin "$root/sbin"
  ln -s bin "$root/usr/sbin"
  ln -s usr/lib "$root/lib"
  ln -s usr/lib64 "$root/lib64"
  install_binary "$root" "$(type -P busybox)" /usr/bin/busybox
  for tool in ip rdma ethtool ibv_devinfo ibv_rc_pingpong curl setpriv; do
    path=$(PATH="$PATH:/usr/sbin:/sbin" type -P "$tool")
    install_binary "$root" "$path" "/usr/bin/$tool"
  done
  install_binary "$root" "$nicmon" /usr/bin/nicmon
  # Debug information would be most of the guest; -g keeps the symbols for a sanitizer's report.
  strip -g "$root/usr/bin/nicmon"
  # nicmon opens libibverbs with dlopen, which ldd does not see; ibv_devinfo links it. The providers
  # are found through /etc/libibverbs.d.
  local lib=/usr/lib/x86_64-linux-gnu
  mkdir -p "$root/etc/libibverbs.d" "$root$lib/libibverbs"
  cp /etc/libibverbs.d/{rxe,mlx5}.driver "$root/etc/libibverbs.d/"
  for file in "$lib"/libibverbs/lib{rxe,mlx5}-*.so; do
    install_library "$root" "$file"
  done
  if [[ -d $KERNEL_DIR/overlay ]]; then
    rm -rf "$root$lib/libibverbs"
    cp -a --remove-destination "$KERNEL_DIR/overlay/." "$root/"
  fi
  cp "$KERNEL_DIR"/modules/*.ko "$KERNEL_DIR/modules.order" "$root/modules/"
  echo 'root:x:0:0:root:/root:/bin/sh' >"$root/etc/passwd"
  echo 'root:x:0:' >"$root/etc/group"
  printf '%s: files\n' passwd group hosts services >"$root/etc/nsswitch.conf"
  echo '127.0.0.1 localhost' >"$root/etc/hosts"
  mkdir -p "$root/test"
  cp "$guest"/*.sh "$guest"/*.awk "$root/test/"
  install "$guest/init" "$root/init"
  echo "$cases" >"$root/test/only"
  (cd "$root" && find . | cpio --quiet -o -H newc -R 0:0 | gzip -1) >"$out"
  rm -rf "$root"
}
