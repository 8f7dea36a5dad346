# Ends with the reason why nothing is at a path.
miss() {
  p=${1%/*}
  while [ "$p" ] && [ ! -e "$p" ]; do p=${p%/*}; done
  [ -d "${p:-/}" ] || exit 43
  [ -x "${p:-/}" ] || exit 41
  exit 40
}
# Ends with the reason unless a path is a regular file.
need_file() {
  [ -e "$1" ] || miss "$1"
  [ -d "$1" ] && exit 42
  [ -p "$1" ] && exit 50
  [ -S "$1" ] && exit 51
  { [ -b "$1" ] || [ -c "$1" ]; } && exit 52
  [ -f "$1" ] || exit 53
}
# Ends unless a path within bounds is still where it was when the bounds were checked.
same() {
  [ "$strict" ] || return 0
  p=$1
  while [ "$p" ] && [ ! -e "$p" ] && [ ! -L "$p" ]; do p=${p%/*}; done
  [ "$(readlink -f -- "${p:-/}")" = "${p:-/}" ] || exit 45
}
strict=$1
shift
