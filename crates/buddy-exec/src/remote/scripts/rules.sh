cd -- "$1" || exit 43
show() {
  [ -f "$1" ] && [ ! -L "$1" ] || return 0
  printf '%s\000' "$1"
  head -c 262144 <"$1" | tr -d '\000'
  printf '\000'
}
up=.
above=
top=$(pwd -P)
while [ ! -e "$up/.git" ] && [ "$top" != / ] && [ "$top" ]; do
  top=${top%/*}
  up=$up/..
  above="$up $above"
done
if [ -e "$up/.git" ]; then
  for d in $above; do
    for name in .git/info/exclude .gitignore .ignore; do show "$d/$name"; done
  done
fi
show ./.git/info/exclude
find . -maxdepth "$2" -name .git -prune -o \( -name .gitignore -o -name .ignore \) -type f -print 2>/dev/null |
  head -n 500 | while IFS= read -r f; do show "$f"; done
