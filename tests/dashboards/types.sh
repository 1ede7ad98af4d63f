#!/usr/bin/env bash
# The dashboards against Grafana's own types: types.sh BUILD_DIR. npm's packages are kept in BUILD_DIR.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
build=$1/dashboard-types

"$here/../testing/npm_packages" "$here/types" "$build"
node "$here/types/check.mjs" "$build/node_modules" "$build/scratch" "$here"/../../dashboards/*.json
