#!/usr/bin/env bash
# clang-tidy 14 with the short list of .clang-tidy over src/, two files at a time: tidy.sh BUILD_DIR.
# Skipped (77) where version 14 is missing.
set -euo pipefail
build=$(realpath "$1")
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
if ! type -P clang-tidy-14 >/dev/null; then
  echo "SKIPPED: no clang-tidy-14"
  exit 77
fi
mapfile -t files < <(find src -name '*.cc' | sort)
((${#files[@]} > 0))
printf '%s\0' "${files[@]}" |
  xargs -0 -n 4 -P "$(nproc)" clang-tidy-14 --quiet -p "$build" --warnings-as-errors='*'
echo "${#files[@]} files clean"
