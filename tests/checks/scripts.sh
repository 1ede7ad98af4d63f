#!/usr/bin/env bash
# Every shell script of the tree parses, and shellcheck (where installed) has nothing to say.
set -euo pipefail
cd "${1:-$(dirname "${BASH_SOURCE[0]}")/../..}"
tracked() { git ls-files 2>/dev/null || find . -type f -not -path './build*' -not -path './.git/*'; }
bash_scripts=()
guest_scripts=()
while read -r file; do
  [[ -f $file ]] || continue
  first=$(head -c 200 "$file" | tr -d '\0' | head -n 1)
  case $file:$first in
    *:'#!'*bash* | *.sh:*shell=bash*) bash_scripts+=("$file") ;;
    *:'#!'*sh | *.sh:*) guest_scripts+=("$file") ;;
  esac
done < <(tracked)
((${#bash_scripts[@]} > 0))
rc=0
for file in "${bash_scripts[@]}"; do bash -n "$file" || rc=1; done
for file in ${guest_scripts[@]+"${guest_scripts[@]}"}; do sh -n "$file" || rc=1; done
if type -P shellcheck >/dev/null; then
  shellcheck -x "${bash_scripts[@]}" ${guest_scripts[@]+"${guest_scripts[@]}"} || rc=1
else
  echo "shellcheck is not installed: syntax only"
fi
echo "$((${#bash_scripts[@]} + ${#guest_scripts[@]})) scripts"
exit "$rc"
