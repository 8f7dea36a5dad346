f=$1
[ -L "$f" ] && [ "$3" = through ] && { f=$(readlink -f -- "$f") || exit 40; }
same "${f%/*}"
n=0
d=${f%/*}
while [ "$d" ] && [ ! -e "$d" ]; do
  n=$((n + 1))
  d=${d%/*}
done
say() { printf '%s %s %s %s\n%s' "$1" "$2" "$n" "$(($(printf %s "$f" | wc -c)))" "$f"; }
if [ -L "$f" ]; then
  say link -
  readlink -n -- "$f"
elif [ ! -e "$f" ]; then
  say absent "$(printf %o $((0666 & ~0$(umask))))"
elif [ -d "$f" ]; then
  say directory "$(stat -c %a -- "$f")"
elif [ -f "$f" ]; then
  [ -r "$f" ] || exit 41
  size=$(stat -c %s -- "$f")
  if [ "$size" -gt "$2" ]; then
    say large "$size"
  else
    say file "$(stat -c %a -- "$f")"
    head -c "$size" <"$f"
  fi
else
  say other -
fi
exit 0
