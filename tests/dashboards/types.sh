#!/usr/bin/env bash
# The dashboards against Grafana's own types: types.sh BUILD_DIR. npm's packages are kept in BUILD_DIR.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
build=$1/dashboard-types

skip() {
  echo "SKIPPED: $*"
  if [[ ${CI:-} == true ]]; then exit 1; fi
  exit 77
}

if ! type -P node >/dev/null || ! type -P npm >/dev/null; then skip "node and npm are missing"; fi
mkdir -p "$build"
if ! cmp -s "$here/types/package-lock.json" "$build/node_modules/installed-lock.json"; then
  cp "$here/types/package.json" "$here/types/package-lock.json" "$build"
  if ! (cd "$build" && npm ci --ignore-scripts --no-audit --no-fund --loglevel=error); then
    skip "npm cannot get Grafana's types"
  fi
  cp "$here/types/package-lock.json" "$build/node_modules/installed-lock.json"
fi
node "$here/types/check.mjs" "$build/node_modules" "$build/scratch" "$here"/../../dashboards/*.json
