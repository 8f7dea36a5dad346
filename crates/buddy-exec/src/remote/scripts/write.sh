f=$1
[ -L "$f" ] && [ "$strict" ] && exit 46
[ -L "$f" ] && { f=$(readlink -f -- "$f") || exit 40; }
d=${f%/*}
d=${d:-/}
same "$f"
mkdir -p -- "$d" || { [ -e "$d" ] && [ ! -d "$d" ] && exit 43; exit 41; }
same "$f"
if [ -e "$f" ]; then
  need_file "$f"
  [ -w "$f" ] || exit 41
  mode=$(stat -c %a -- "$f")
  owner=$(stat -c %u:%g -- "$f")
  size=$(stat -c %s -- "$f")
  if [ -r "$f" ] && [ "$size" -le "$3" ]; then
    printf 'replaced %s\n' "$size"
    head -c "$size" <"$f"
  else
    printf 'replaced -\n'
  fi
else
  mode=$(printf %o $((0666 & ~0$(umask))))
  owner=
  printf 'created -\n'
fi
t=$(mktemp "$d/.buddy.XXXXXXXXXX") || exit 41
trap 'rm -f -- "$t"' EXIT
cat >"$t" || exit 47
[ "$(($(wc -c <"$t")))" = "$2" ] || exit 48
[ "$owner" ] && { chown "$owner" "$t" || :; } 2>/dev/null
chmod "$mode" "$t" || exit 44
sync "$t" 2>/dev/null || :
mv -f -- "$t" "$f" || exit 44
trap - EXIT
sync "$d" 2>/dev/null || :
