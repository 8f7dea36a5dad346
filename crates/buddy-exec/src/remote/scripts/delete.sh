same "${1%/*}"
{ [ -e "$1" ] || [ -L "$1" ]; } || miss "$1"
if [ -L "$1" ] || [ ! -d "$1" ]; then
  rm -f -- "$1" || exit 41
  printf '1\n'
  exit 0
fi
real=$(readlink -f -- "$1") || exit 44
keep=$(readlink -f -- "$3")
case $keep/ in "$real"/*) exit 54 ;; esac
if [ "$2" = single ]; then
  [ "$(ls -A -- "$1" | head -n 1)" ] && exit 55
  rmdir -- "$1" || exit 44
  printf '1\n'
  exit 0
fi
while read -r a b c e point rest; do
  case $point in *\\*) point=$(printf '%b' "$point") ;; esac
  case $point/ in "$real"/*) exit 56 ;; esac
done </proc/self/mountinfo
count=$(($(find "$real" -print0 | tr -dc '\000' | wc -c)))
[ "$count" -gt 200001 ] && exit 57
rm -rf -- "$real" || exit 44
printf '%s\n' "$count"
