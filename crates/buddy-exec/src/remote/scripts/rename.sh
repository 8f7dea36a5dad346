same "${1%/*}"
same "${2%/*}"
[ -L "$1" ] && exit 53
need_file "$1"
{ [ -e "$2" ] || [ -L "$2" ]; } && exit 49
d=${2%/*}
mkdir -p -- "${d:-/}" || exit 41
if ln -- "$1" "$2" 2>/dev/null; then rm -f -- "$1"; else mv -n -- "$1" "$2"; fi || exit 44
[ -e "$1" ] && exit 49
exit 0
