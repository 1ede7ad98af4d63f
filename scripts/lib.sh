# shellcheck shell=bash disable=SC2034
# Shared by scripts/ and the parts of tests/ that need Debian packages. Sourced, never run.

repo=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)

say() { printf '\n==> %s\n' "$*"; }

die() {
  echo "$*" >&2
  exit 1
}

as_root() {
  if [[ $(id -u) == 0 ]]; then
    "$@"
  elif type -P sudo >/dev/null; then
    sudo "$@"
  else
    echo "this needs root or sudo: $*" >&2
    return 1
  fi
}

readonly BUILD_PACKAGES=(g++ cmake ninja-build pkg-config libspdlog-dev prometheus-cpp-dev
  libcpp-httplib-dev nlohmann-json3-dev libcli11-dev libssl-dev libsqlite3-dev zlib1g-dev
  libyaml-cpp-dev libcrypt-dev libibverbs-dev ibverbs-providers)

readonly UNIT_TEST_PACKAGES=(libgtest-dev libgmock-dev libbenchmark-dev ccache python3)

missing_packages() {
  local package
  for package in "$@"; do
    [[ $(dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null) == installed ]] ||
      echo "$package"
  done
}

# install_packages PACKAGE...: those that are not there yet. An apt source that cannot be updated is no
# error as long as the packages can be installed.
install_packages() {
  local missing
  mapfile -t missing < <(missing_packages "$@")
  ((${#missing[@]} > 0)) || return 0
  say "installing ${missing[*]}"
  local apt=(env DEBIAN_FRONTEND=noninteractive apt-get -qq -y -o DPkg::Lock::Timeout=500
    -o Dpkg::Use-Pty=0)
  as_root "${apt[@]}" update || echo "some apt sources could not be updated; going on with the rest"
  as_root "${apt[@]}" install --no-install-recommends "${missing[@]}"
}

# unpack_program PACKAGE PROGRAM: has it on PATH without installing the package, which would start a
# service. Says so when it cannot be had.
unpack_program() {
  local package=$1 program=$2 tools=$repo/build/tools
  type -P "$program" >/dev/null && return
  if [[ ! -x $tools/usr/bin/$program ]]; then
    say "unpacking $program"
    mkdir -p "$tools"
    (cd "$tools" &&
      { apt-get -qq download "$package" || { as_root apt-get -qq update &&
        apt-get -qq download "$package"; }; } &&
      dpkg -x "$package"_*.deb . && rm -f "$package"_*.deb) || echo "$program cannot be had"
  fi
  PATH="$PATH:$tools/usr/bin"
}

# rewrite_sources DIR OWN SUITE: this machine's Debian entry, so that its mirror is used, with the
# suite OWN replaced by SUITE; written to DIR/main.{list,sources}.
rewrite_sources() {
  local out=$1 own=$2 suite=$3 file
  mkdir -p "$out"
  for file in /etc/apt/sources.list /etc/apt/sources.list.d/*.list; do
    [[ -r $file ]] || continue
    awk -v own="$own" -v suite="$suite" '
      $1 == "deb" {
        for (i = 2; i <= NF; i++) if ($i == own || $i == "stable") { $i = suite; print; next }
      }' "$file"
  done >"$out/main.list"
  for file in /etc/apt/sources.list.d/*.sources; do
    [[ -r $file ]] || continue
    grep -v '^#' "$file" | awk -v own="$own" -v suite="$suite" '
      BEGIN { RS = ""; FS = "\n" }
      {
        hit = 0; text = ""
        for (i = 1; i <= NF; i++) {
          line = $i
          if (line ~ /^Suites:/) {
            n = split(line, words, /[ \t]+/)
            for (j = 2; j <= n; j++) if (words[j] == own || words[j] == "stable") hit = 1
            line = "Suites: " suite
          }
          if (line ~ /^Types:/) line = "Types: deb"
          text = text line "\n"
        }
        if (hit) print text
      }'
  done >"$out/main.sources"
  local empty
  for empty in "$out"/main.*; do [[ -s $empty ]] || rm -f "$empty"; done
  [[ -e $out/main.list || -e $out/main.sources ]]
}

debian_codename() (. /etc/os-release && echo "${VERSION_CODENAME:-}")
