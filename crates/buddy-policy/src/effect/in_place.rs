//! Programs that open the file that they write and leave its directory alone. A jail can open one file to them.
//! Others make a new file and rename it, or remove the old one first, for which they need the directory.

use crate::shell::ShellWord;

/// Programs that write in place with every option that the table of files knows.
const IN_PLACE: &[&str] = &["chmod", "curl", "dd", "sort", "tee", "touch", "truncate", "wget"];

/// Options of `cp` with which it opens its target: no directory, no link, no backup, no test whether the target exists.
const PLAIN_COPY: &str = "fpvL";

/// Whether a program writes each file that its words name in place.
pub(crate) fn writes_in_place(program: &str, arguments: &[ShellWord]) -> bool {
    let is_plain = |word: &ShellWord| {
        let text = word.unexpanded();
        let Some(letters) = text.strip_prefix('-') else { return true };
        letters.chars().all(|letter| PLAIN_COPY.contains(letter))
    };
    IN_PLACE.contains(&program) && !has_no_clobber(arguments)
        || program == "cp" && arguments.iter().all(is_plain)
}

/// Whether an option keeps a program from writing a file that exists: one that buddy makes for it does.
fn has_no_clobber(arguments: &[ShellWord]) -> bool {
    let is_no_clobber = |word: &ShellWord| {
        let text = word.unexpanded();
        text.starts_with("--no-cl") || text.starts_with("--no-create") || text == "-nc"
    };
    arguments.iter().any(is_no_clobber)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(line: &str, expected: bool) {
        let mut words = line.split(' ').map(|word| ShellWord::Literal(word.to_owned()));
        let program = words.next().unwrap().unexpanded();
        let arguments: Vec<ShellWord> = words.collect();
        assert_eq!(writes_in_place(&program, &arguments), expected, "{line}");
    }

    #[test]
    fn programs_that_need_the_directory_are_told_apart() {
        for line in ["tee /x", "cp a /x", "cp -fv a /x", "curl -o /x h", "dd of=/x", "touch /x"] {
            check(line, true);
        }
        for line in
            ["mv a /x", "cp -r a /x", "cp --backup a /x", "cp -n a /x", "mkdir /x", "sed -i s/a/b/ /x"]
        {
            check(line, false);
        }
        check("curl --no-clobber -o /x h", false);
        check("wget -nc -O /x h", false);
    }
}
