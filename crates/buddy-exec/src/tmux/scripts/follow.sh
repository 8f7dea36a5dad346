# Prints the stream of a pane from its spool, and continues as it grows. Arguments: the spool, the number of a file, the
# number of its bytes that are known already, a mark, and the seconds between two checks whether a client still follows. The
# mark with the number of the next file stands between two files, and with the word `end` after the last.
cd -- "$1" || exit 1
at=$2
known=$3
mark=$4
turn=0
own=bell.$mark
mkfifo "$own" || exit 1
exec 5<>"$own"
# While the pane is silent, nothing shows that the process that started this or the spool is gone: so a timer checks them.
(
  trap 'kill "$nap"; exit 0' TERM
  while sleep "$5" & nap=$!; wait "$nap"; do
    kill -0 "$$" || exit 0
    kill -0 "$PPID" && [ -p "$own" ] || break
  done
  kill "$$"
) </dev/null >/dev/null 2>&1 5<&- &
looker=$!
trap 'kill "$looker" 2>/dev/null' EXIT
read -r old rest <waiting
echo "$own 0" >waiting
# An old follower, though its host does not know that yet, sees that another one has replaced it.
if [ -p "$old" ]; then
  echo 1<>"$old"
  rm -f "$old"
fi
# Opens the next file; the oldest that is left if that one is gone.
next() {
  at=$((at + 1))
  while [ ! -e "$at" ] && [ "$at" -lt "$newest" ]; do at=$((at + 1)); done
  printf '%s %s\n' "$mark" "$at"
  exec 4<"$at"
}
newest=$at
read -r newest <at
if [ -e "$at" ]; then
  exec 4<"$at"
  [ "$known" = 0 ] || dd bs=1 count=0 skip="$known" <&4 >/dev/null 2>&1
else
  next
fi
while :; do
  turn=$((turn + 1))
  echo "$own $turn" >waiting
  over=
  [ -e end ] && over=1
  read -r newest <at || newest=$at
  # It continues where the last one stopped, as both have the same open file.
  cat <&4
  if [ "$newest" -gt "$at" ]; then
    next
  elif [ "$over" ]; then
    printf '%s end\n' "$mark"
    exit 0
  else
    read -r rest <&5
    read -r bell rest <waiting
    [ "$bell" = "$own" ] || exit 0
  fi
done
