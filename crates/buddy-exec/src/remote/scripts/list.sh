[ -e "$1" ] || miss "$1"
[ -d "$1" ] || exit 43
same "$1"
cd -- "$1" || exit 41
[ -r . ] || exit 41
if stat --printf= . 2>/dev/null; then
  find . -mindepth 1 -maxdepth "$2" -exec stat --printf '%f %s %.3Y %n\0' -- {} +
else
  find . -mindepth 1 -maxdepth "$2" -exec stat -c '%f %s %Y %n' -- {} + | tr '\n' '\000'
fi | head -c "$3"
