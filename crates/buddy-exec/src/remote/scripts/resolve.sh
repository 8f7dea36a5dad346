for p; do
  rest=
  while [ "$p" ] && [ ! -e "$p" ] && [ ! -L "$p" ]; do
    rest=/${p##*/}$rest
    p=${p%/*}
  done
  p=$(readlink -f -- "${p:-/}") || exit 44
  [ "$p" = / ] && p=
  printf '%s\n' "${p}${rest:-}"
done
