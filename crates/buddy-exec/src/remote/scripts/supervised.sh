# Functions only, so that a shell can read them before there is a command. `supervise` runs it.
# Sets P to the living processes of the command among the files in "$@".
living() {
  P=
  for f in $(grep -ls "$locks" "$@"); do
    f=${f#/proc/}
    f=${f%/limits}
    read -r s </proc/$f/stat || continue
    s=${s##*) }
    case $s in Z*|X*) ;; *) P="$P $f" ;; esac
  done
}
tree() { living /proc/[0-9]*/limits; }
# The same, looking only at processes that are as young as the command, when these are few.
young() {
  read -r a b c d last </proc/loadavg
  if [ "$last" -lt "$first" ] || [ $((last - first)) -gt 300 ]; then tree; return; fi
  young=
  while [ "$first" -lt "$last" ]; do
    first=$((first + 1))
    [ -e /proc/$first/limits ] && young="$young /proc/$first/limits"
  done
  P=
  [ "$young" ] && living $young
}
# Waits up to $1 times 20 ms until no process is left.
linger() {
  i=0
  while tree; [ "$P" ] && [ $i -lt $1 ]; do
    i=$((i + 1))
    sleep 0.02 || sleep 1
  done
}
slay() {
  i=0
  while tree; [ "$P" ] && [ $i -lt 150 ]; do
    kill -KILL $P
    i=$((i + 1))
    sleep 0.02 || sleep 1
  done
}
# Listens for the order to stop; the end of the stream is the order to kill, also during the grace. The end of the command
# ends it by a TERM, unless it is at work already.
control() {
  read -r order <&8
  trap '' TERM
  if [ "$order" = t ]; then
    { read -r order <&8; slay; } &
    tree
    kill -TERM $P
    linger "$G"
    kill -KILL $!
  fi
  slay
  exit 0
}
# The whole work of a second connection, whose first one is the stdin of the command and nothing else. A command that was just
# about to start is found by the second look.
listen() {
  exec 8<&0 4>&2 </dev/null 2>/dev/null
  locks="Max file locks  *$T "
  printf '%sstarted 0\n' "$K" >&4
  exec 4>&-
  (control)
  sleep 1
  slay
}
# Reports on the private line why nothing was started, and ends.
refuse() {
  printf '%s%s\n' "$K" "$1" >&4
  exit 0
}
# Whether the program exists, by the PATH that the command gets.
find_program() {
  case $X in
  */*) [ -f "$X" ] && [ -x "$X" ]; return ;;
  esac
  IFS=:
  set -f
  for d in $Q; do
    [ -f "${d:-.}/$X" ] && [ -x "${d:-.}/$X" ] && { unset IFS; set +f; return 0; }
  done
  unset IFS
  set +f
  return 1
}
run='(
  ulimit -S -w "$T" || ulimit -S -x "$T" || {
    printf "%ssupervision no limit can be set by which processes are recognised\n" "$K" >&4
    exit 1
  }
  read -r pid s </proc/self/stat
  printf "%sstarted 0\n" "$K"
  printf "%sstarted %s\n" "$K" "$pid" >&4
  exec setsid env -i -- "$@" 2>&4 4>&-
) 2>/dev/null <&5 >&3 3>&- 5<&-
printf "%s\n" "$?"'
# Runs the command in "$@" and reports how it ended.
supervise() {
  exec 3>&1 4>&2 2>/dev/null
  locks="Max file locks  *$T "
  exec 5</dev/null
  patience=10
  if [ "$N" = piped ]; then
    exec 5<&0 </dev/null
    # The second connection may be stopping all of them.
    patience=$G
  elif [ "$N" ]; then
    f=$(umask 077; mktemp "${TMPDIR:-/tmp}/buddy.XXXXXXXXXX") || refuse "input no temporary file can be made"
    exec 6>"$f" 5<"$f" 7<"$f"
    rm -f "$f"
    head -c "$N" >&6
    exec 6>&-
    [ "$(($(wc -c <&7)))" = "$N" ] || refuse "input it did not fit or did not arrive"
    exec 7<&-
  fi
  [ -e "$D" ] || refuse "directory missing"
  [ -d "$D" ] || refuse "directory file"
  cd -- "$D" || refuse "directory denied"
  find_program || refuse "program missing"
  command -v setsid >/dev/null || refuse "supervision there is no setsid"
  if [ "$N" != piped ]; then
    # A shell may take away the stdin of background jobs, but no other descriptor.
    exec 8<&0 </dev/null
    control 3>&- 4>&- 5<&- &
    listener=$!
    exec 8<&-
  fi
  read -r a b c d first </proc/loadavg
  if [ "$BASH_VERSION" ]; then
    said=$(exec 2>&1; K=$K T=$T "$BASH" -c "$run" sh "$@")
  else
    said=$(exec 2>&1; eval "$run")
  fi
  status=${said##*
}
  was_stopped=1
  if [ "$N" != piped ]; then
    kill -TERM "$listener"
    wait "$listener"
    was_stopped=$?
  fi
  left=0
  if [ $was_stopped != 0 ]; then
    young
    if [ "$P" ]; then
      linger 15
      if [ "$P" ]; then
        left=$(set -- $P; printf %s $#)
        kill -TERM $P
        linger "$patience"
      fi
    fi
  fi
  [ $was_stopped = 0 ] && tree
  [ "$P" ] && slay
  survivors=0
  for s in $P; do survivors=$((survivors + 1)); done
  # A shell tells a signal from an exit code above 128 only by its message about it.
  signal=0
  [ "$said" != "$status" ] && [ "$status" -gt 128 ] && signal=$((status - 128))
  stopped=0
  [ $was_stopped = 0 ] && stopped=1
  printf '%sexited 0 0 0 0 0\n' "$Z" >&3
  printf '%sexited %s %s %s %s %s\n' "$Z" "$status" "$signal" "$left" "$survivors" "$stopped" >&4
  # An engine that cannot deliver bytes which are still on the way may drop the last words, so they are taken.
  [ "$N" = piped ] && cat <&5 >/dev/null
}
