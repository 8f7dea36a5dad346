//! The scripts that run on the target around panes: for any POSIX shell, with their inputs as arguments.
//!
//! Text from a user or a model is never put into a script: it comes as an argument or as stdin.
//!
//! A pane inherits the options of its session, so `@buddy_owner` alone says too little; `@buddy_pane` stands
//! at panes only. Any program at the server can set them, so the scripts always check the very server and the
//! very ids of buddy's record too. A *seal* in the arguments is the session's name, `@`, and the process and
//! start of the server.

use crate::quote;

/// Removes the files of panes that are gone. Argument: the socket. The files are listed before the panes are,
/// so that the files of a pane that is being made stay. Files of jails have other names.
pub(super) const FORGET: &str = r#"
forget() (
  cd -- "${1%/*}" || exit 0
  socket=$1
  set -- [0-9]*.*
  said=$(tmux -S "$socket" list-panes -a -F '#{pane_id}' 2>&1) || case $said in
    *"no server running"*|*"No such file or directory"*) said= ;;
    *) exit 0 ;;
  esac
  for file; do
    case ${file#*.} in
      command|command.stop|setup) ;;
      spool.????????????????????????????????) ;;
      *) continue ;;
    esac
    printf '%s\n' "$said" | grep -qx "%${file%%.*}" || rm -rf "./$file"
  done
)
"#;

/// Finds or makes a session. A pane has the history that is set when it is made, so that is set before.
/// Arguments: directory, socket, session, most sessions, a name for the bounds, the identity of the session
/// that buddy made, then the shell's words.
///
/// Prints `foreign`, `many` or `private` when it does not, and else `found`, or `made` with the server, the
/// session and the pane.
pub(super) const SESSION: &str = r#"
dir=$1 socket=$2 session=$3 most=$4 bounds=$5 identity=$6; shift 6
mask=$(umask)
umask 077
mkdir -p "$dir" || exit 1
if [ -L "$dir" ] || [ ! -O "$dir" ]; then echo private; exit 0; fi
chmod 700 "$dir" || exit 1
# What the panes make has the user's own mask; the socket stands in a directory of theirs alone.
umask "$mask"
t() { tmux -S "$socket" -f /dev/null "$@"; }
if t has-session -t "=$session" 2>/dev/null; then
  if [ "$(t display-message -p -t "=$session:" '#{pid}.#{start_time}.#{session_id}' 2>/dev/null)" = "$identity" ]; then echo found; else echo foreign; fi
  exit 0
fi
count=0
for owner in $(t list-sessions -F '#{@buddy_owner}' 2>/dev/null); do count=$((count + 1)); done
if [ "$count" -ge "$most" ]; then echo many; exit 0; fi
t start-server \; set-option -g history-limit 20000 \; \
  new-session -d -s "$session" -n shared -x 200 -y 50 -- "$@" || exit 1
t set-option -t "=$session:" @buddy_managed 1 \; \
  set-option -t "=$session:" @buddy_owner "$session" \; \
  set-option -p -t "=$session:" @buddy_managed 1 \; \
  set-option -p -t "=$session:" @buddy_owner "$session" \; \
  set-option -p -t "=$session:" @buddy_pane shared \; \
  set-option -p -t "=$session:" @buddy_bounds "$bounds" \; \
  set-option -p -t "=$session:" remain-on-exit on \; \
  set-option -w -t "=$session:" allow-rename off \; \
  set-option -w -t "=$session:" automatic-rename off \; \
  select-pane -t "=$session:" -T shared || exit 1
t display-message -p -t "=$session:" 'made #{pid}.#{start_time} #{session_id} #{pane_id}'
"#;

/// Finds or makes a pane in a session. Arguments: socket, session, pane, most panes, `make` or `find`, a name
/// for the bounds, the identity of the session and the id of the pane that buddy made, then the shell's
/// words. Prints `foreign`, `missing`, `many`, or `made`/`found` with the pane's id, process, whether it is
/// dead, and `b` with the name of its bounds.
pub(super) const PANE: &str = r#"
socket=$1 session=$2 name=$3 most=$4 wish=$5 bounds=$6 identity=$7 known=$8; shift 8
t() { tmux -S "$socket" -f /dev/null "$@"; }
list() { t list-panes -s -t "=$session" -F '#{pane_id} #{pane_pid} #{pane_dead} #{@buddy_owner} #{@buddy_pane} b#{@buddy_bounds}'; }
find() {
  list | while read -r id pid dead owner pane has; do
    if [ "$id" = "$known" ] && [ "$owner" = "$session" ] && [ "$pane" = "$name" ]; then echo "$1 $id $pid $dead $has"; break; fi
  done
}
if t has-session -t "=$session" 2>/dev/null &&
  [ "$(t display-message -p -t "=$session:" '#{pid}.#{start_time}.#{session_id}')" != "$identity" ]; then
  echo foreign; exit 0
fi
found=$(find found) || exit 1
if [ -n "$found" ]; then echo "$found"; exit 0; fi
if [ "$wish" != make ]; then echo missing; exit 0; fi
count=$(list | grep -c .)
if [ "$count" -ge "$most" ]; then echo many; exit 0; fi
known=$(t split-window -d -t "=$session:" -P -F '#{pane_id}' -- "$@") || exit 1
t set-option -p -t "$known" @buddy_managed 1 \; \
  set-option -p -t "$known" @buddy_owner "$session" \; \
  set-option -p -t "$known" @buddy_pane "$name" \; \
  set-option -p -t "$known" @buddy_bounds "$bounds" \; \
  set-option -p -t "$known" remain-on-exit on \; \
  select-pane -t "$known" -T "$name" \; \
  select-layout -t "$known" tiled || exit 1
find made
"#;

/// Leads a pane's stream into a new spool, and removes the spools that it had before, and the files of panes
/// that are gone. Comes after `FORGET`. Arguments: socket, pane, seal, the spool, and the prefix of all
/// spools of this pane; stdin is the script that takes the stream in.
pub(super) const STREAM: &str = r##"
umask 077
mkdir "$4" && cat > "$4/relay" && : > "$4/0" && : > "$4/waiting" && echo 0 > "$4/at" || exit 1
tmux -S "$1" if-shell -F -t "$2" "#{&&:#{==:#{@buddy_owner}@#{pid}.#{start_time},$3},#{==:#{pane_id},$2}}" \
  "pipe-pane -t $2 'exec sh \"$4/relay\" \"$4\"' ; set-hook -p -t $2 pane-died 'run-shell -b \"sh \\\"$4/relay\\\" \\\"$4\\\" died\"'" \
  "display-message -p refused" || exit 1
for old in "$5."*; do [ "$old" = "$4" ] || rm -rf "$old"; done
forget "$1"
exit 0
"##;

/// Takes a command back that did not seem to begin. Arguments: its file, the spool, its nonce. Prints `begun`
/// if it has begun all the same, and nothing if it never will.
pub(super) const TAKE_BACK: &str = r#"
: > "$1" || exit 1
sleep 0.3 2>/dev/null || sleep 1
LC_ALL=C grep -qs "133;C;$3" "$2"/[0-9]* && echo begun
exit 0
"#;

/// Restarts the shell of a pane. Arguments: socket, pane, seal, a name for the bounds, then the shell's
/// words. Prints the new process. The bounds noted at the pane are never wider than those of its shell.
pub(super) const RESPAWN: &str = r#"
socket=$1 pane=$2 seal=$3 bounds=$4; shift 4
t() { tmux -S "$socket" "$@"; }
[ "$(t display-message -p -t "$pane" '#{@buddy_owner}@#{pid}.#{start_time}' 2>/dev/null)" = "$seal" ] || { echo refused; exit 0; }
t set-option -p -t "$pane" @buddy_bounds none || exit 1
t respawn-pane -k -t "$pane" -- "$@" || exit 1
t set-option -p -t "$pane" @buddy_bounds "$bounds" || exit 1
t display-message -p -t "$pane" '#{pane_pid}'
"#;

/// Writes the files that a jailed shell needs. Arguments: directory, the warden's task, the file for its
/// reports, the directory that the shell can read; stdin becomes the task. Prints `private` when the
/// directory is not private.
pub(super) const CELL: &str = r#"
umask 077
mkdir -p "$1" || exit 1
if [ -L "$1" ] || [ ! -O "$1" ]; then echo private; exit 0; fi
chmod 700 "$1" || exit 1
rm -rf "$3" "$4" && mkdir "$4" || exit 1
exec cat > "$2"
"#;

/// Prints the report of the warden of a pane. Arguments: the file, the warden. Waits for it while the warden
/// is at work.
pub(super) const TOLD: &str = r#"
i=0
while [ ! -s "$1" ] && [ -d "/proc/$2" ] && [ $i -lt 500 ]; do i=$((i + 1)); sleep 0.02 || sleep 1; done
cat "$1" 2>/dev/null
exit 0
"#;

/// Makes the warden of a pane sweep, and prints its notes, a report a line. Arguments: the files for the request, for the
/// answer and for the end, the warden, and a word if its shell has ended: then it sweeps by itself, and the end tells the notes.
pub(super) const SWEPT: &str = r#"
rm -f "$2"
if [ -n "$5" ]; then
  answer=$3
else
  answer=$2
  if [ -p "$1" ] && [ -d "/proc/$4" ]; then echo > "$1"; fi
fi
i=0
while [ ! -s "$answer" ] && [ -d "/proc/$4" ] && [ $i -lt 500 ]; do i=$((i + 1)); sleep 0.02 || sleep 1; done
cat "$2" 2>/dev/null
echo
cat "$3" 2>/dev/null
exit 0
"#;

/// Finds the program in the foreground of a pane. Arguments: the process of its shell, the number of retries.
/// Prints `busy` with the program, or nothing when the shell waits or has ended.
pub(super) const FOREGROUND: &str = r#"
pid=$1 again=$2
while :; do
  read -r stat 2>/dev/null < "/proc/$pid/stat" || exit 0
  set -- ${stat##*) }
  case $1 in Z|X) exit 0;; esac
  if [ "$6" = "$pid" ]; then exit 0; fi
  if [ "$again" -le 0 ]; then break; fi
  again=$((again - 1)); sleep 0.02 || sleep 1
done
program=; read -r program 2>/dev/null < "/proc/$6/comm"
echo "busy $program"
"#;

/// Ends the remaining processes of a command. Arguments: the process of the shell, the tag of the command,
/// the file that told the shell of the stop. Asks first, kills then, and prints how many are left.
pub(super) const SWEEP: &str = r#"
shell=$1 tag=$2
rm -f "$3"
living() {
  found=
  for file in $(grep -ls "^Max file locks  *$tag " /proc/[0-9]*/limits 2>/dev/null); do
    file=${file#/proc/}; file=${file%/limits}
    if [ "$file" = "$shell" ] || ! read -r stat 2>/dev/null < "/proc/$file/stat"; then continue; fi
    case ${stat##*) } in Z*|X*) ;; *) found="$found $file";; esac
  done
}
linger() { i=0; while living; [ "$found" ] && [ $i -lt "$1" ]; do i=$((i + 1)); sleep 0.02 || sleep 1; done; }
living
if [ "$found" ]; then kill -s TERM $found 2>/dev/null; kill -s CONT $found 2>/dev/null; linger 10; fi
round=0
while [ "$found" ] && [ $round -lt 50 ]; do round=$((round + 1)); kill -s KILL $found 2>/dev/null; linger 2; done
set -- $found
echo $#
"#;

/// Types a line into a pane if its shell waits for one. Arguments: socket, pane, seal, process of the shell,
/// line, file, directory, process of the pane; stdin becomes the file. Prints `dead`, `busy` with the
/// program, `cwd`, `refused`, or nothing.
///
/// Text that a user typed and did not send is cleared first. `{line}` holds no quote and no foreign text.
pub(super) const TYPE: &str = r##"
socket=$1 pane=$2 seal=$3 pid=$4 line=$5 file=$6 cwd=$7 owner=$8
read -r stat 2>/dev/null < "/proc/$pid/stat" || { echo dead; exit 0; }
set -- ${stat##*) }
case $1 in Z|X) echo dead; exit 0;; esac
if [ "$6" != "$pid" ]; then
  program=; read -r program 2>/dev/null < "/proc/$6/comm"
  echo "busy $program"; exit 0
fi
if [ ! -d "$cwd" ] || [ ! -x "$cwd" ]; then echo cwd; exit 0; fi
umask 077
cat > "$file" || exit 1
exec tmux -S "$socket" if-shell -F -t "$pane" \
  "#{&&:#{&&:#{&&:#{==:#{@buddy_owner}@#{pid}.#{start_time},$seal},#{!=:#{@buddy_pane},}},#{==:#{pane_id},$pane}},#{&&:#{==:#{pane_pid},$owner},#{==:#{pane_synchronized},0}}}" \
  "copy-mode -q -t $pane ; send-keys -t $pane C-e C-u ; send-keys -t $pane -l -- '$line' ; send-keys -t $pane Enter" \
  "display-message -p refused"
"##;

/// Types keys into a pane. Arguments: socket, pane, seal, tmux commands that send them, a name for the
/// buffer, process of the pane; stdin becomes the buffer. Prints `refused` or nothing.
pub(super) const KEYS: &str = r##"
if [ -n "$5" ]; then tmux -S "$1" load-buffer -b "$5" - || exit 1; fi
exec tmux -S "$1" if-shell -F -t "$2" \
  "#{&&:#{&&:#{==:#{@buddy_owner}@#{pid}.#{start_time},$3},#{!=:#{@buddy_pane},}},#{&&:#{==:#{pane_id},$2},#{&&:#{==:#{pane_pid},$6},#{==:#{pane_synchronized},0}}}}" \
  "copy-mode -q -t $2 ; $4" "display-message -p refused"
"##;

/// Signals the program in the foreground of a pane. Arguments: socket, pane, seal, process of the shell,
/// signal, process of the pane, and a file that tells the shell to mend the terminal before its next prompt,
/// or nothing.
///
/// Only a group whose leader is in the session of the pane is signalled. If the shell itself is in the
/// foreground, the leader of the group is gone, or a program in it runs with the rights of another account
/// (`sudo`), the key makes the terminal do it.
pub(super) const SIGNAL: &str = r##"
socket=$1 pane=$2 seal=$3 pid=$4 signal=$5 owner=$6
if [ -n "$7" ]; then : > "$7"; fi
all_ours() {
  for file in /proc/[0-9]*/stat; do
    read -r stat 2>/dev/null < "$file" || continue
    member=${file#/proc/}; set -- ${stat##*) }
    if [ "$3" = "$group" ] && ! kill -s 0 "${member%/stat}" 2>/dev/null; then return 1; fi
  done
}
read -r stat 2>/dev/null < "/proc/$pid/stat" || exit 0
set -- ${stat##*) }
group=$6
case $group in ''|*[!0-9]*|0|1) exit 0;; esac
if [ "$group" != "$pid" ] && read -r stat 2>/dev/null < "/proc/$group/stat"; then
  set -- ${stat##*) }
  if [ "$4" = "$owner" ] && [ "$3" = "$group" ]; then
    if [ "$signal" != INT ] || all_ours; then kill -s "$signal" -- "-$group"; exit 0; fi
  fi
fi
exec tmux -S "$socket" if-shell -F -t "$pane" \
  "#{&&:#{&&:#{==:#{@buddy_owner}@#{pid}.#{start_time},$seal},#{!=:#{@buddy_pane},}},#{&&:#{==:#{pane_pid},$owner},#{==:#{pane_synchronized},0}}}" \
  "copy-mode -q -t $pane ; send-keys -t $pane C-c" "display-message -p refused"
"##;

/// Finds the state of a pane. Arguments: socket, pane, session, process, seconds, the number of the last
/// setup. Prints `gone`, `closed`, `dead` with status and signal, `replaced` or `alive`, and on a second line
/// how many clients typed within those seconds.
pub(super) const PROBE: &str = r#"
socket=$1 pane=$2 session=$3 pid=$4 seconds=$5 setup=$6
said=$(tmux -S "$socket" display-message -p -t "$pane" '#{pane_id} #{pane_dead} s#{pane_dead_status} g#{pane_dead_signal}' 2>&1) || {
  case $said in *"can't find"*) echo closed;; *) echo gone;; esac; exit 0; }
set -- $said
if [ "$1" != "$pane" ]; then echo closed; exit 0; fi
if [ "$2" = 1 ]; then echo "dead $3 $4"; exit 0; fi
if tr '\0' '\n' 2>/dev/null < "/proc/$pid/environ" | grep -qx "BUDDY_PANE=$setup"; then echo replaced; else echo alive; fi
now=$(date +%s); typed=0
for active in $(tmux -S "$socket" list-clients -t "=$session" -F '#{client_activity}' 2>/dev/null); do
  if [ "$active" -ge "$((now - seconds))" ]; then typed=$((typed + 1)); fi
done
echo "$typed"
"#;

/// The variable in the environment of every program that the shell of a pane starts.
pub const PANE_VARIABLE: &str = "BUDDY_PANE";

/// The setup that makes a shell of a pane report where commands begin and end.
///
/// It works in bash, zsh, dash and the ash of busybox. The variable that it exports, with a number of this
/// setup, shows in the process table whether the shell was replaced by another program since. Marks go to the
/// terminal itself, even if the output of the shell goes elsewhere. The shell also reports its own end, as
/// tmux does not always learn its status. After a stop it restores the terminal: a killed editor leaves it
/// without echo, without line ends, and on its own screen.
///
/// `__buddy_l` runs a command. The prompt is restored afterwards.
const SETUP: &str = r#"{ BUDDY_PANE=$__buddy_u; export BUDDY_PANE; __buddy_n=${__buddy_n-}; } 2>/dev/null
__buddy_m() {
  stty sane iutf8 </dev/tty || stty sane </dev/tty
  printf '\033[?1049l\0337\033[r\0338\033[?1l\033>\033[?25h\033[?1000l\033[?1002l\033[?1003l\033[?1006l\033[0m\033(B\017' >/dev/tty
}
__buddy_p() { __buddy_s=$?; if [ -e "$__buddy.stop" ]; then __buddy_m; fi; printf '\033]133;D;%s;%s\007' "$__buddy_n" "$__buddy_s" >/dev/tty; return "$__buddy_s"; }
__buddy_i() {
  if [ -n "${BASH_VERSION-}" ]; then
    case ${PROMPT_COMMAND-} in
      *__buddy_p*) ;;
      *) PROMPT_COMMAND="{ __buddy_p; } 2>/dev/null${PROMPT_COMMAND:+; $PROMPT_COMMAND}";;
    esac
  elif [ -n "${ZSH_VERSION-}" ]; then
    eval 'precmd_functions=(__buddy_p ${precmd_functions:#__buddy_p}); unsetopt PROMPT_SP PROMPT_CR'
  else
    case ${PS1-} in
      *__buddy_p*) ;;
      *) PS1='$(__buddy_p 2>/dev/null)'"${PS1-}";;
    esac
  fi
}
__buddy_r() { __buddy_s=$?; __buddy_i; return "$__buddy_s"; }
__buddy_h() {
  __buddy_d=$1
  case $1 in "${HOME:-.}"|"${HOME:-.}"/*) __buddy_d="~${1#"$HOME"}";; esac
  printf '\033[A\r\033[2K%s $ \033[2m%s\033[0m\n' "$__buddy_d" "$2"
}
if [ -n "${BASH_VERSION-}" ]; then PS1='\w \$ '; elif [ -n "${ZSH_VERSION-}" ]; then PS1='%~ %# '; else PS1='$PWD \$ '; fi
__buddy_l='eval " $__buddy_t"
{ __buddy_r; } 2>/dev/null'
__buddy_i
trap '__buddy_s=$?; printf "\033]133;E;%s;%s\007" "$__buddy_n" "$__buddy_s" >/dev/tty' EXIT
"#;

/// The setup of one pane, with the mark that says that it was carried out. The line that was typed for it goes from the screen.
pub(super) fn setup(command_file: &str, nonce: &str) -> String {
    let file = quote(command_file);
    format!(
        "__buddy={file} __buddy_u={nonce}\n{SETUP}printf '\\033[A\\r\\033[2K\\033]133;S;%s\\007' {nonce} >/dev/tty\n"
    )
}

/// The line that is typed to set a shell up. The path has no quote in it.
pub(super) fn setup_line(file: &str) -> String {
    format!(" . \"{file}\"")
}

/// The line that is typed for every command. `__buddy_h` puts the directory and the command in its place on the screen, so that a user
/// reads what runs and not how. The command runs outside of the file that it is read from: bash reads beyond the end
/// of a file when a `$(` without an end was evaluated in it, and what that does to its memory ends it a little later.
pub(super) const COMMAND_LINE: &str = " . \"$__buddy\" && \\eval \"$__buddy_l\"";

/// The file of one command: the nonce, the tag that all its processes inherit, the text that people see, the
/// mark, the directory, and the command itself byte for byte.
pub(super) fn command(text: &str, shown: &str, cwd: &str, nonce: &str, tag: u32) -> Vec<u8> {
    let (text, shown, cwd) = (quote(text), quote(shown), quote(cwd));
    format!(
        r"{{ \ulimit -S -w {tag} || \ulimit -S -x {tag} || :; }} >/dev/null 2>&1
{{ __buddy_n={nonce}; __buddy_t={text}; {{ __buddy_h {cwd} {shown}; printf '\033]133;C;%s\007' {nonce}; }} >/dev/tty; }} 2>/dev/null
\cd -- {cwd} >/dev/null || return 126
"
    )
    .into_bytes()
}

/// A text as one word of tmux's own language, which has the same single quotes and no other way to leave
/// them.
pub(super) fn quoted_for_tmux(text: &str) -> String {
    format!("'{}'", text.replace('\'', r#"'"'"'"#))
}
