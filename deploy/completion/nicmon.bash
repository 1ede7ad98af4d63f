# shellcheck shell=bash
# Completion for nicmon in bash. What there is to complete is asked of the program itself, so it
# cannot be out of date: flags and commands of --help, ports and devices of the nicmon that runs.

# Rows of a help page: words at the beginning of a line, after two blanks.
_nicmon_rows() { "$@" --help 2>/dev/null | awk '/^  [-a-z]/ { sub(/\[.*/, "", $1); print $1 }'; }

# Whether a flag takes a value, by its row: "  --socket PATH  …".
_nicmon_takes_value() {
  local flag=$1
  shift
  "$@" --help 2>/dev/null | grep -qE "^  $flag [A-Z]"
}

_nicmon_first_column() { "$@" 2>/dev/null | awk 'NR > 1 { print $1 }'; }

_nicmon_files() {
  compopt -o filenames 2>/dev/null
  mapfile -t COMPREPLY < <(compgen -f -- "$1")
}

# The value of a flag of ctl.
_nicmon_value() {
  local flag=$1 current=$2 words=
  shift 2
  case $flag in
    --socket | --token-file | --password-file | --ca-file | --cert | --key) _nicmon_files "$current" && return ;;
    --format) words='nccl ucx' ;;
    --sort) words='pci estimate' ;;
    --type) words='link speed gid lid device mismatch hold' ;;
    --device) words=$(_nicmon_first_column "$@" devices) ;;
  esac
  mapfile -t COMPREPLY < <(compgen -W "$words" -- "$current")
}

_nicmon_ctl() {
  local program=$1 current=$2 command='' flag='' word words ask=("$1" ctl) i
  for ((i = 2; i < COMP_CWORD; i++)); do
    word=${COMP_WORDS[i]}
    if [[ $word == '=' ]]; then continue; fi
    if [[ -n $flag ]]; then
      case $flag in
        --socket | --url | --token-file | --user | --password-file | --ca-file | --cert | --key)
          ask+=("$flag" "$word")
          ;;
      esac
      flag=''
    elif [[ $word == --insecure ]]; then
      ask+=("$word")
    elif [[ $word == --* ]]; then
      # What the command itself takes is not known before the command.
      # shellcheck disable=SC2086
      if _nicmon_takes_value "$word" "$program" ctl $command; then flag=$word; fi
    elif [[ -z $command ]]; then
      command=$word
    fi
  done
  if [[ $current == '=' ]]; then current=''; fi
  if [[ -n $flag ]]; then
    _nicmon_value "$flag" "$current" "${ask[@]}"
    return
  fi
  if [[ $current == -* ]]; then
    # shellcheck disable=SC2086
    words=$(_nicmon_rows "$program" ctl $command | grep '^-')
  elif [[ -z $command ]]; then
    words=$(_nicmon_rows "$program" ctl | grep -v '^-')
  else
    case $command in
      ports | probe | pause | resume | accept-speed | forget) words=$(_nicmon_first_column "${ask[@]}" ports) ;;
      requery) words=$(_nicmon_first_column "${ask[@]}" ports; _nicmon_first_column "${ask[@]}" devices) ;;
      delete-hold) words=$(_nicmon_first_column "${ask[@]}" holds) ;;
      log-level) words='debug info warning error' ;;
      devices | release | reopen) words=$(_nicmon_first_column "${ask[@]}" devices) ;;
    esac
  fi
  mapfile -t COMPREPLY < <(compgen -W "$words" -- "$current")
}

_nicmon() {
  local current=${COMP_WORDS[COMP_CWORD]}
  COMPREPLY=()
  if [[ ${COMP_WORDS[1]} == ctl ]] && ((COMP_CWORD > 1)); then
    _nicmon_ctl "$1" "$current"
  elif [[ $current == -* ]]; then
    mapfile -t COMPREPLY < <(compgen -W "$(_nicmon_rows "$1")" -- "$current")
  elif ((COMP_CWORD == 1)); then
    mapfile -t COMPREPLY < <(compgen -W ctl -- "$current")
  else
    _nicmon_files "$current"
  fi
}

complete -F _nicmon nicmon
