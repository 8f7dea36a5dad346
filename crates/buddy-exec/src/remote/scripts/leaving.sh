# Reports on the private line why nothing was started, and ends.
refuse() {
  printf '%s%s\n' "$K" "$1" >&2
  exit 0
}
[ -e "$D" ] || refuse "directory missing"
[ -d "$D" ] || refuse "directory file"
cd -- "$D" || refuse "directory denied"
[ "$N" ] || exec </dev/null
printf '%sstarted 0\n' "$K"
printf '%sstarted 0\n' "$K" >&2
(exec setsid env -i -- "$@")
status=$?
printf '%sexited 0 0 0 0 0\n' "$Z"
printf '%sexited %s 0 0 0 0\n' "$Z" "$status" >&2
