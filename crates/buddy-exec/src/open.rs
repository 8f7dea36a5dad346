//! Opening a page in the user's own browser. Not a command of an agent: it is let go of, and outlives this
//! process.

use std::io;
use std::os::unix::process::CommandExt;
use std::process::{Command, Stdio};

/// Starts a program with the address of a page as its one argument, without a shell, and lets go of it.
///
/// It gets no more than these variables, nothing to read, and a process group of its own, so that an interrupt from
/// the keyboard does not close the browser. An address that is not one of the web could be taken for an option or a
/// file, so it is refused.
#[expect(clippy::disallowed_methods, reason = "this crate starts processes")]
pub fn open_page(program: &str, url: &str, env: &[(String, String)]) -> io::Result<()> {
    if !url.starts_with("https://") && !url.starts_with("http://") {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "not the address of a page"));
    }
    let mut command = Command::new(program);
    command.arg(url).env_clear().envs(env.iter().map(|(name, value)| (name, value)));
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).process_group(0);
    command.spawn().map(drop)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_pages_are_opened() {
        for url in ["--version", "file:///etc/passwd", "$(X)", "", "javascript:x"] {
            assert_eq!(open_page("true", url, &[]).unwrap_err().kind(), io::ErrorKind::InvalidInput, "{url}");
        }
        assert!(open_page("/nowhere/browser", "https://example.com", &[]).is_err());
    }
}
