#!/usr/bin/env bash
# clang-tidy 14 with the short list of .clang-tidy over src/, two files at a time: tidy.sh BUILD_DIR.
# Skipped (77) where version 14 is missing.
set -euo pipefail
# shellcheck source=tests/testing/skip.sh
. "$(dirname "${BASH_SOURCE[0]}")/../testing/skip.sh"
build=$(realpath "$1")
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
type -P clang-tidy-14 >/dev/null || skip "no clang-tidy-14"
mapfile -t files < <(find src -name '*.cc' | sort)
((${#files[@]} > 0))
printf '%s\0' "${files[@]}" |
  xargs -0 -n 4 -P "$(nproc)" clang-tidy-14 --quiet -p "$build" --warnings-as-errors='*'
echo "${#files[@]} files clean"
