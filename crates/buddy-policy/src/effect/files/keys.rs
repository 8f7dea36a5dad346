//! Programs that make keys, certificates and files of passwords.

use super::row::{Does, FileRow, OperandForm, RowCondition, RowOperands, row};
use crate::effect::TouchAccess;
use crate::effect::flags::Flags;
use crate::shell::ShellWord;

/// Options of `ssh-keygen` that only steer.
const SSH: Flags = Flags::of("cghHkopqQuUvXABeilLy", "aCbEFImnNOPrRtTVWzZ");
/// Options that load a library, and one that brings keys into this directory.
const SSH_LIBRARIES: (&[&str], Does) = (&["D", "w"], Does::Runs);
const SSH_RESIDENT: (&[&str], Does) = (&["K"], Does::Here);

pub(super) const ROWS: &[FileRow] = &[
    row(&["ssh-keygen"], RowOperands::Each(TouchAccess::Read))
        .when(RowCondition::Option(&["y", "l", "B", "L", "e", "i", "F", "Q"]))
        .flags(Flags { short_value: "aCbEfFImnNOPrRtTVWzZ", ..SSH })
        .with(&[SSH_LIBRARIES, SSH_RESIDENT])
        .changes(&[])
        .reads(&["ssh-keygen -l -f ssh.pub", "ssh-keygen -y -P '' -f ssh"]),
    // The signature or the certificate is beside each file.
    row(&["ssh-keygen"], RowOperands::Beside)
        .when(RowCondition::Option(&["s", "Y", "M"]))
        .flags(Flags { short_value: "aCbEFfIMmnNOPrRsTVWYzZ", ..SSH })
        .with(&[SSH_LIBRARIES, SSH_RESIDENT])
        .changes(&["ssh-keygen -q -s ssh -I x ssh.pub", "ssh-keygen -q -Y sign -n file -f ssh a.txt"]),
    row(&["ssh-keygen"], RowOperands::Each(TouchAccess::Read))
        .flags(SSH)
        .with(&[(&["f"], Does::WritesBeside), SSH_LIBRARIES, SSH_RESIDENT])
        .check(makes_keys_of_the_account)
        .changes(&[
            "ssh-keygen -q -t ed25519 -N '' -f new",
            "ssh-keygen -qf dir/new -ted25519 -N ''",
            "ssh-keygen -p -q -P '' -N secret -f ssh",
        ]),
    row(&["age", "rage", "age-keygen"], RowOperands::Each(TouchAccess::Read))
        .lenient()
        .with(&[(&["o", "output"], Does::Writes)])
        .changes(&["age-keygen -o new", "age -R ssh.pub -o new a.txt"]),
    row(&["htpasswd"], RowOperands::First(TouchAccess::Write))
        .flags(Flags::of("cbimB2d5sprDv", "C"))
        .changes(&["htpasswd -cbB new name word"]),
    row(&["mkcert"], RowOperands::Here)
        .lenient()
        .with(&[(&["cert-file", "key-file", "p12-file"], Does::Writes)])
        .untried(&["mkcert example.org"]),
    row(&["keytool"], RowOperands::Text)
        .form(OperandForm::Single)
        .lenient()
        .with(&[(&["keystore", "file", "destkeystore", "outfile"], Does::Writes)])
        .untried(&["keytool -genkeypair -keystore new"]),
];

/// Without a file it makes keys where the account or the machine keeps them.
fn makes_keys_of_the_account(_: &[ShellWord], names: &[String]) -> Option<&'static str> {
    let is_named = names.iter().any(|name| name == "f");
    (!is_named || names.iter().any(|name| name == "A"))
        .then_some("it makes keys where the account or the machine keeps its own")
}
