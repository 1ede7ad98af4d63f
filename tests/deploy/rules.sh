#!/usr/bin/env bash
# Prometheus rules are valid and do what their tests say; none goes without a test.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../../deploy/prometheus"

if ! command -v promtool >/dev/null; then
  echo "SKIPPED: promtool is missing (Debian package prometheus)"
  if [[ ${CI:-} == true ]]; then exit 1; fi
  exit 77
fi
for rules in *.rules.yml; do
  promtool check rules "$rules"
  promtool test rules "${rules%.rules.yml}.test.yml"
done
