//! The page about commands agrees with the tables.

use buddy_policy::command_reference;

const PAGE: &str = include_str!("../../../../docs/reference/commands.md");

#[test]
fn the_page_about_commands_is_up_to_date() {
    let (_, rest) = PAGE.split_once("<!-- commands -->\n").expect("the page has a beginning mark");
    let (block, _) = rest.split_once("<!-- /commands -->").expect("the page has an end mark");
    assert!(
        block == command_reference(),
        "docs/reference/commands.md is out of date: run `cargo xtask codegen`"
    );
}
