# Completion of svc for bash, as 'svc completion bash' prints it.

_svc() {
  local answer how value
  COMPREPLY=()
  compopt +o default 2>/dev/null
  answer=$(command svc __complete bash "$2" "${COMP_LINE:0:COMP_POINT}" </dev/null 2>/dev/null) || return 0
  {
    read -r how
    while IFS= read -r value; do
      COMPREPLY+=("$value")
    done
  } <<<"$answer"
  case $how in
    files*) compopt -o default 2>/dev/null ;;
    directories*) compopt -o dirnames 2>/dev/null ;;
    *nospace*) compopt -o nospace 2>/dev/null ;;
  esac
  compopt -o nosort 2>/dev/null
  return 0
}

complete -o default -F _svc svc
