need_file "$1"
[ -r "$1" ] || exit 41
same "$1"
size=$(stat -L -c %s -- "$1") || exit 44
probe=$(($(head -c 8192 <"$1" | wc -c)))
text=$(($(head -c 8192 <"$1" | tr -d '\000' | wc -c)))
[ "$probe" = "$text" ] || { printf '%s binary -\n' "$size"; exit 0; }
total=-
if [ "$size" -le 16777216 ]; then
  total=$(($(wc -l <"$1")))
  [ "$probe" != 0 ] && [ "$(tail -c 1 <"$1" | wc -l)" -eq 0 ] && total=$((total + 1))
fi
printf '%s text %s\n' "$size" "$total"
tail -n "+$2" <"$1" | head -n "$3" | head -c "$4"
