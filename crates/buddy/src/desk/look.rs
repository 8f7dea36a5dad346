//! How things look: what the terminal says it can, and what the user wants.

use buddy_tui::{Colors, Details, Pictures, TerminalLook, Theme};

use crate::config::{DisplaySection, ImageChoice, ThemeChoice};
use crate::environment::Environment;

/// The look of the terminal that buddy runs in.
pub(crate) fn look(environment: &Environment, display: &DisplaySection) -> TerminalLook {
    TerminalLook {
        colors: colors(environment, display),
        theme: theme(environment, display),
        is_ascii: !is_utf8(environment),
        has_links: has_links(environment),
        pictures: pictures(environment, display),
        cuts_rows: cuts_rows(environment),
        has_motion: display.motion,
        details: details(display),
        is_read_aloud: display.screen_reader,
        home: environment.get("HOME").unwrap_or_default().trim_end_matches('/').to_owned(),
    }
}

/// The look of a list, which is printed without asking the terminal for its ground: where nothing tells it, the sixteen colours
/// of the terminal are readable on any.
pub(crate) fn list_look(environment: &Environment, display: &DisplaySection) -> TerminalLook {
    let look = look(environment, display);
    if follows_ground(environment, display) { TerminalLook { theme: Theme::Terminal, ..look } } else { look }
}

/// How much is told of what goes on.
pub(crate) fn details(display: &DisplaySection) -> Details {
    Details { has_tokens: display.show_tokens, has_calls: display.show_tool_calls }
}

fn colors(environment: &Environment, display: &DisplaySection) -> Colors {
    let term = environment.get("TERM").unwrap_or("dumb");
    let says_all = matches!(environment.get("COLORTERM"), Some("truecolor" | "24bit"));
    match term {
        "dumb" => Colors::None,
        _ if !display.color => Colors::Mono,
        _ if says_all || term.ends_with("-direct") => Colors::True,
        _ if term.contains("256color") || term.contains("kitty") => Colors::Palette,
        _ => Colors::Sixteen,
    }
}

/// Whether the terminal is to be asked for its ground: nobody chose the colours, and no variable says it.
pub(crate) fn follows_ground(environment: &Environment, display: &DisplaySection) -> bool {
    let is_open = display.theme == ThemeChoice::Auto && environment.get("COLORFGBG").is_none();
    // The console of Linux has one ground and knows no such question.
    let may_answer = environment.get("TERM") != Some("linux");
    is_open && may_answer && colors(environment, display) > Colors::Mono
}

/// The user's choice, or a theme that fits the ground that the terminal tells of.
fn theme(environment: &Environment, display: &DisplaySection) -> Theme {
    match display.theme {
        ThemeChoice::Auto => {}
        ThemeChoice::Dark => return Theme::Dark,
        ThemeChoice::Light => return Theme::Light,
        ThemeChoice::Terminal => return Theme::Terminal,
    }
    let ground =
        environment.get("COLORFGBG").and_then(|colors| colors.rsplit(';').next()?.parse::<u8>().ok());
    match ground {
        Some(7 | 9..=15) => Theme::Light,
        _ => Theme::Dark,
    }
}

fn is_utf8(environment: &Environment) -> bool {
    let locale = ["LC_ALL", "LC_CTYPE", "LANG"].into_iter().find_map(|name| environment.get(name));
    let locale = locale.unwrap_or_default().to_lowercase();
    locale.contains("utf-8") || locale.contains("utf8")
}

/// How the terminal takes images, as far as it is known to. One of tmux's or screen's does not pass them on.
fn pictures(environment: &Environment, display: &DisplaySection) -> Pictures {
    let is_set = |name: &str| environment.get(name).is_some();
    let (term, program) =
        (environment.get("TERM").unwrap_or_default(), environment.get("TERM_PROGRAM").unwrap_or_default());
    let is_passed_on = !is_set("TMUX") && !is_set("STY") && !is_set("ZELLIJ");
    let is_like_kitty = is_set("KITTY_WINDOW_ID")
        || is_set("KONSOLE_VERSION")
        || program == "ghostty"
        || ["xterm-kitty", "xterm-ghostty"].contains(&term);
    match display.images {
        ImageChoice::Kitty => Pictures::Kitty,
        ImageChoice::Iterm => Pictures::Iterm,
        ImageChoice::Auto if is_passed_on && ["iTerm.app", "WezTerm"].contains(&program) => Pictures::Iterm,
        ImageChoice::Auto if is_passed_on && is_like_kitty => Pictures::Kitty,
        ImageChoice::Auto | ImageChoice::Off => Pictures::None,
    }
}

/// Whether the terminal is one of those that are known to make links.
fn has_links(environment: &Environment) -> bool {
    let is_set = |name: &str| environment.get(name).is_some();
    let program = environment.get("TERM_PROGRAM").unwrap_or_default();
    let known = ["iTerm.app", "WezTerm", "ghostty", "vscode", "Hyper"].contains(&program);
    let vte = environment.get("VTE_VERSION").and_then(|version| version.parse::<u32>().ok());
    known || is_set("KITTY_WINDOW_ID") || is_set("WT_SESSION") || vte.is_some_and(|version| version >= 5000)
}

/// Whether the terminal is one of the few that are known to cut rows when they get narrower. A multiplexer in it breaks them.
fn cuts_rows(environment: &Environment) -> bool {
    let is_simple = environment.get("TERM").is_some_and(|term| term == "st" || term.starts_with("st-"));
    let is_between = ["TMUX", "STY"].iter().any(|name| environment.get(name).is_some());
    !is_between && (is_simple || environment.get("XTERM_VERSION").is_some())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn look_of(variables: &[(&str, &str)]) -> TerminalLook {
        let variables = variables.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
        let home = ("HOME".to_owned(), "/nowhere".to_owned());
        let environment = Environment::of(variables.chain([home]).collect()).unwrap();
        look(&environment, &DisplaySection::default())
    }

    #[test]
    fn colours_are_those_that_the_terminal_has() {
        let check = |variables: &[(&str, &str)], colors| assert_eq!(look_of(variables).colors, colors);
        check(&[("TERM", "xterm")], Colors::Sixteen);
        check(&[("TERM", "tmux-256color")], Colors::Palette);
        check(&[("TERM", "xterm-256color"), ("COLORTERM", "truecolor")], Colors::True);
        check(&[("TERM", "dumb")], Colors::None);
        check(&[], Colors::None);
    }

    #[test]
    fn images_are_shown_where_the_terminal_is_known_to() {
        let check = |variables: &[(&str, &str)], pictures| assert_eq!(look_of(variables).pictures, pictures);
        check(&[("TERM", "xterm-256color")], Pictures::None);
        check(&[("TERM", "xterm-kitty")], Pictures::Kitty);
        check(&[("TERM_PROGRAM", "ghostty")], Pictures::Kitty);
        check(&[("TERM_PROGRAM", "WezTerm")], Pictures::Iterm);
        check(&[("KITTY_WINDOW_ID", "1"), ("TMUX", "/tmp/x,1,0")], Pictures::None);
    }

    #[test]
    fn terminals_that_cut_rows_are_known() {
        let cuts = |variables: &[(&str, &str)]| look_of(variables).cuts_rows;
        assert!(cuts(&[("TERM", "xterm-256color"), ("XTERM_VERSION", "XTerm(379)")]));
        assert!(cuts(&[("TERM", "st-256color")]));
        assert!(!cuts(&[("TERM", "xterm-256color")]), "many say so");
        assert!(!cuts(&[("XTERM_VERSION", "XTerm(379)"), ("TMUX", "/tmp/tmux-0/default,1,0")]));
    }

    #[test]
    fn signs_and_ground_follow_the_variables() {
        assert!(look_of(&[("LANG", "C")]).is_ascii && !look_of(&[("LANG", "de_DE.UTF-8")]).is_ascii);
        assert!(look_of(&[("LC_ALL", "C"), ("LANG", "de_DE.UTF-8")]).is_ascii);
        assert_eq!(look_of(&[("COLORFGBG", "0;15")]).theme, Theme::Light);
        assert_eq!(look_of(&[("COLORFGBG", "15;0")]).theme, Theme::Dark);
        assert!(
            look_of(&[("VTE_VERSION", "7003")]).has_links && !look_of(&[("VTE_VERSION", "4000")]).has_links
        );
    }
}
