//! The screen of a pane.

use super::link::Link;
use crate::{CaptureOptions, PaneError, Screen, Stdin, TargetError};

/// Captures a pane. Without an alternate screen, the usual one is taken.
pub(super) async fn capture(link: &Link, options: &CaptureOptions) -> Result<Screen, TargetError> {
    for place in [&options.start, &options.end].into_iter().flatten() {
        if place != "-" && place.parse::<i32>().is_err() {
            return Err(PaneError::BadName { name: place.clone() }.into());
        }
    }
    let (socket, id) = (link.host.socket(), &link.id);
    let mut arguments = vec![socket.as_str(), id.as_str(), &link.seal];
    let alternate = if options.include_alternate_screen { "-a" } else { "" };
    arguments.push(alternate);
    let flags = [
        (options.join_wrapped_lines, "-J"),
        (options.preserve_trailing_spaces, "-N"),
        (options.include_escape_sequences, "-e"),
        (options.escape_non_printable, "-C"),
    ];
    arguments.extend(flags.iter().filter(|(is_set, _)| *is_set).map(|(_, flag)| *flag));
    for (flag, place) in [("-S", &options.start), ("-E", &options.end)] {
        if let Some(place) = place {
            arguments.extend([flag, place]);
        }
    }
    let said = link.host.run(CAPTURE, &arguments, Stdin::Null).await?;
    let (first, text) = said.text.split_once('\n').unwrap_or((&said.text, ""));
    let mut words = first.split_ascii_whitespace();
    if words.next() != Some(&link.seal) {
        return Err(link.refused());
    }
    let mut number = || words.next().and_then(|word| word.parse().ok()).unwrap_or(0);
    let cursor = (number(), number());
    let program = words.collect::<Vec<_>>().join(" ");
    let text = text.trim_end_matches('\n').to_owned();
    let last = link.captured().replace((options.clone(), text.clone()));
    let is_unchanged = last.is_some_and(|last| last == (options.clone(), text.clone()));
    Ok(Screen { text, is_unchanged, program, cursor, note: link.take_news() })
}

/// Arguments: socket, pane, seal, `-a` or nothing, then more options. For a pane that is not buddy's it
/// prints nothing else.
const CAPTURE: &str = r#"
socket=$1 pane=$2 seal=$3 alternate=$4; shift 4
head=$(tmux -S "$socket" display-message -p -t "$pane" '#{@buddy_owner}@#{pid}.#{start_time} #{cursor_x} #{cursor_y} #{pane_current_command}') || exit 1
printf '%s\n' "$head"
case $head in "$seal "*) ;; *) exit 0;; esac
if [ -n "$alternate" ] && tmux -S "$socket" capture-pane -p -t "$pane" -a "$@" 2>/dev/null; then exit 0; fi
exec tmux -S "$socket" capture-pane -p -t "$pane" "$@"
"#;
