//! `cargo xtask tidy`: the project rules that the compiler does not check.
//!
//! Every rule is a function from the tree to its offences, so that each can be tested on a small made-up
//! tree.

mod cycles;
mod edges;
mod files;
mod names;
mod offence;
mod text;
mod tree;

use anyhow::{Result, bail};

use crate::place;
use offence::Offence;
use tree::Tree;

const RULES: &[fn(&Tree) -> Vec<Offence>] = &[
    cycles::module_cycles,
    edges::unknown_edges,
    files::long_without_reason,
    files::missing_module_docs,
    files::empty_names,
    names::shared_type_names,
    text::loose_wire_types,
    text::machine_paths,
    text::nameless_todos,
    text::comments_without_subject,
];

/// Checks the project.
pub(crate) fn tidy() -> Result<()> {
    let tree = Tree::read(place::root())?;
    let offences: Vec<Offence> = RULES.iter().flat_map(|rule| rule(&tree)).collect();
    for offence in &offences {
        eprintln!("tidy: {offence}");
    }
    match offences.len() {
        0 => Ok(()),
        count => bail!("{count} breaches of the project's rules"),
    }
}
