#!/usr/bin/env bash
# Every source file is as clang-format 14 would have it. Other versions differ in details, so where 14
# is missing the check is skipped (77).
set -euo pipefail
# shellcheck source=tests/testing/skip.sh
. "$(dirname "${BASH_SOURCE[0]}")/../testing/skip.sh"
cd "${1:-$(dirname "${BASH_SOURCE[0]}")/../..}"
type -P clang-format-14 >/dev/null || skip "no clang-format-14"
mapfile -t files < <(find include src tests -name '*.h' -o -name '*.cc' | sort)
((${#files[@]} > 0))
clang-format-14 --dry-run --Werror "${files[@]}"
echo "${#files[@]} files formatted"
