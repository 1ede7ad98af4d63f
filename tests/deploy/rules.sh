#!/usr/bin/env bash
# Prometheus rules are valid and do what their tests say; none goes without a test.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# shellcheck source=tests/testing/skip.sh
. "$here/../testing/skip.sh"
cd "$here/../../deploy/prometheus"

type -P promtool >/dev/null || skip "promtool is missing (Debian package prometheus)"
for rules in *.rules.yml; do
  promtool check rules "$rules"
  promtool test rules "${rules%.rules.yml}.test.yml"
done
python3 "$here/rules_check.py"

# The alerts hold however often a site evaluates them: 30 s above, Prometheus' default of a minute here, and
# every 15 s in the live test.
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cp nicmon.rules.yml "$work"
sed 's/^evaluation_interval: 30s$/evaluation_interval: 1m/' nicmon.test.yml >"$work/nicmon.test.yml"
grep -q '^evaluation_interval: 1m$' "$work/nicmon.test.yml"
promtool test rules "$work/nicmon.test.yml"
