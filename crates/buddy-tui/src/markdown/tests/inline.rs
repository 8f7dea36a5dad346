//! The inside of a paragraph.

use super::{check, colored, rows, shown};
use crate::text::{Colors, TerminalLook};

#[test]
fn signs_stay_where_there_are_no_styles() {
    check("*a* _b_ **c** ~~d~~ `e` ``f`g`` \\*h\\*", 80, &["*a* *b* **c** ~~d~~ `e` ``f`g`` *h*"]);
    assert_eq!(shown("*a* **c** ~~d~~ `e`", &colored(Colors::Sixteen), 80), "a c d e");
}

#[test]
fn breaks_are_kept_where_they_are_meant() {
    check("a\nb  \nc\\\nd<br>e", 80, &["a b", "c", "d", "e"]);
    check("<br>a<br><br><br>b<br>\n\nc", 80, &["a", "", "b", "", "c"]);
}

#[test]
fn an_address_is_said_unless_the_terminal_leads_there() {
    let with_links = colored(Colors::None);
    let check = |source: &str, without: &str, with: &str| {
        assert_eq!(shown(source, &TerminalLook::plain(), 80), without);
        assert_eq!(shown(source, &with_links, 80), with);
    };
    check("[a](https://b.test/)", "a (https://b.test/)", "a");
    check("<https://b.test/>", "https://b.test/", "https://b.test/");
    check("<a@b.test>", "a@b.test", "a@b.test");
    check("![](https://b.test/c.png)", "https://b.test/c.png", "https://b.test/c.png");
    check("[main](src/main.rs)", "main (src/main.rs)", "main (src/main.rs)");
    check("[a](javascript:b)", "a (javascript:b)", "a (javascript:b)");
}

#[test]
fn a_text_that_names_another_address_is_found_out() {
    let source = "[https://bank.test/](https://thief.test/)";
    assert_eq!(shown(source, &colored(Colors::None), 80), "https://bank.test/ (https://thief.test/)");
}

#[test]
fn links_lead_where_they_say_in_every_row() {
    let rows = rows("[one two three](https://a.test/)", &colored(Colors::None), 8);
    assert_eq!(rows.len(), 2);
    for row in rows {
        assert_eq!(row.spans()[0].link(), Some("https://a.test/"));
    }
}

#[test]
fn definitions_of_links_are_shown() {
    check(
        "[a][x]\n\n[x]: https://a.test/\n[y]: https://b.test/",
        80,
        &["[a][x]", "", "[x]: https://a.test/", "[y]: https://b.test/"],
    );
}

#[test]
fn footnotes_are_plain() {
    check("a[^n] b\n\n[^n]: the *note*", 80, &["a[^n] b", "", "[^n]: the *note*"]);
}

#[test]
fn styles_lie_on_top_of_each_other() {
    let rows = rows("> **a *b***", &colored(Colors::True), 80);
    let style = rows[0].spans().last().unwrap().style();
    assert_eq!(style, anstyle::Style::new().bold().italic());
    let style = super::rows("# `a`", &colored(Colors::True), 80)[0].spans()[0].style();
    assert!(style.get_effects().contains(anstyle::Effects::BOLD | anstyle::Effects::UNDERLINE));
}
