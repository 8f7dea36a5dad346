# Prints the stream of a pane from its spool, and goes on as it grows. Arguments: the spool, the number of a file, how many of
# its bytes are known already, a mark, and how many seconds lie between two looks whether anybody still follows. The mark
# with the number of the next file stands between two files, and with the word `end` after the last.
cd -- "$1" || exit 1
at=$2
known=$3
mark=$4
turn=0
own=bell.$mark
mkfifo "$own" || exit 1
exec 5<>"$own"
# While the pane is silent nothing tells that whoever started this is gone, or the spool: so somebody looks now and then.
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
# One that follows no more, though its host does not know that yet, sees that it is not meant any longer.
if [ -p "$old" ]; then
  echo 1<>"$old"
  rm -f "$old"
fi
# Opens the file that follows; the oldest that is left where that one is gone.
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
  # It goes on where the last one stopped, as both have the same open file.
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
