# Takes the stream of a pane from stdin into the files of a spool. Arguments: the spool; with a second one it only adds the
# hint that the shell has ended, with the last part of the name of the spool.
#
# Files are numbered, and no other name begins with a digit. `at` has the number of the file being written, and a missing
# number means that a part was lost. A follower that has nothing to read says so in `waiting`, and is woken by the pipe that
# it names there.
cd -- "$1" || exit 0
LC_ALL=C
export LC_ALL
last=
ring() {
  read -r bell turn <waiting
  [ "$bell $turn" = "$last" ] && return
  last="$bell $turn"
  [ -p "$bell" ] && echo 1<>"$bell"
}
exec 2>/dev/null
if [ "$2" ]; then
  read -r at <at && printf '\033]133;X;%s\007' "${1##*.}" >>"$at"
  ring
  exit 0
fi
at=0
count=0
move() {
  at=$((at + $1))
  count=0
  : >"$at"
  echo "$at" >at
  rm -f "$((at - 8))" "$((at - 9))"
}
while :; do
  if said=$(dd bs=65536 count=1 2>&1 >>"$at"); then
    case $said in 0+0*) break ;; esac
    count=$((count + 1))
    if [ $count -ge 64 ]; then
      count=0
      [ "$(($(wc -c <"$at")))" -ge 4194304 ] && move 1
    fi
  else
    move 2
  fi
  ring
done
: >end
ring
