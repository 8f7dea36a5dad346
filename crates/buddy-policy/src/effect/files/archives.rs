//! Archivers: the files that they pack, and the directories that they unpack to. Names in an archive are not
//! known, so everything beneath counts.

use super::row::{Does, FileRow, OperandForm, RowCondition, RowOperands, row};
use crate::effect::TouchAccess;
use crate::effect::flags::Flags;
use crate::shell::ShellWord;

const TAR: Flags = Flags::of("vzjJhpkmSlwaBoUW", "fCbTXKLHNV").long(
    &[
        "verbose",
        "gzip",
        "bzip2",
        "xz",
        "zstd",
        "auto-compress",
        "preserve-permissions",
        "same-owner",
        "no-same-owner",
        "no-same-permissions",
        "keep-old-files",
        "skip-old-files",
        "overwrite",
        "touch",
        "dereference",
        "one-file-system",
        "numeric-owner",
        "wildcards",
        "no-recursion",
        "totals",
        "exclude-vcs",
        "sparse",
        "ignore-failed-read",
        "unlink-first",
        "recursive-unlink",
        "null",
    ],
    &[
        "file",
        "directory",
        "exclude",
        "exclude-from",
        "strip-components",
        "format",
        "owner",
        "group",
        "mode",
        "mtime",
        "files-from",
        "sort",
        "label",
    ],
);
const RUNS: &[&str] =
    &["I", "use-compress-program", "to-command", "checkpoint-action", "F", "info-script", "rsh-command"];
const ZIP: Flags = Flags::of("rqvyXjDlouefFdg0123456789", "nxPbtsZ").long(
    &["recurse-paths", "quiet", "symlinks", "junk-paths", "update", "freshen"],
    &["exclude", "include", "password"],
);
const DEB: &[&str] = &["dpkg", "dpkg-deb"];
const SEVEN: &[&str] = &["7z", "7za", "7zr", "7zz"];

pub(super) const ROWS: &[FileRow] = &[
    row(&["tar", "gtar", "bsdtar"], RowOperands::Each(TouchAccess::Read))
        .when(RowCondition::Option(&[
            "c",
            "create",
            "r",
            "append",
            "u",
            "update",
            "A",
            "catenate",
            "concatenate",
            "delete",
        ]))
        .form(OperandForm::Bundled)
        .flags(TAR)
        .with(&[
            (&["f", "file"], Does::Writes),
            (&["C", "directory"], Does::Base),
            (&["remove-files"], Does::Takes),
            (RUNS, Does::Runs),
            (&["index-file", "g", "listed-incremental"], Does::Writes),
        ])
        .check(listed_removal)
        .changes(&[
            "tar cf new.tar a.txt dir",
            "tar -czf new.tgz dir",
            "tar -cf new.tar --remove-files a.txt",
            "tar cf new.tar -C dir c.txt",
            "tar -C dir --remove-files -cf new.tar c.txt",
            "tar --create --file=new.tar --remove-f a.txt b.txt",
            "tar rf t.tar a.txt",
            "tar --delete -f t.tar m/one.txt",
            "tar -c -C dir -f new.tar sub --remove-files",
            "bsdtar -cf new.tar a.txt",
        ]),
    row(&["tar", "gtar", "bsdtar"], RowOperands::Members)
        .when(RowCondition::Option(&["x", "extract", "get"]))
        .form(OperandForm::Bundled)
        .flags(TAR)
        .with(&[
            (&["C", "directory"], Does::Base),
            (&["P", "absolute-names", "transform", "xform", "s"], Does::Anywhere),
            (&["O", "to-stdout"], Does::OnlyReads),
            (&["index-file"], Does::AlsoWrites),
            (RUNS, Does::Runs),
        ])
        .brings_links()
        .changes(&[
            "tar xf t.tar",
            "tar -xf t.tar -C empty",
            "tar -xvf t.tar m/one.txt",
            "tar --extract --file t.tar --directory=dir",
            "tar xfC t.tar empty",
            "bsdtar -xf t.tar -C dir",
            "bsdtar -xf t.zip",
            "tar xvf t.tar --index-file=list",
        ])
        .reads(&["tar xOf t.tar", "tar -xf t.tar --to-stdout m/one.txt"]),
    row(&["tar", "gtar", "bsdtar"], RowOperands::Members)
        .when(RowCondition::Option(&["t", "list", "d", "diff", "compare"]))
        .form(OperandForm::Bundled)
        .flags(TAR)
        .with(&[
            (&["t", "list", "d", "diff", "compare"], Does::OnlyReads),
            (&["index-file"], Does::Writes),
            (RUNS, Does::Runs),
        ])
        .reads(&["tar tf t.tar", "tar -tvf t.tar", "bsdtar -tf t.zip", "tar --list --file=t.tar"]),
    row(&["zip"], RowOperands::Pack)
        .flags(ZIP)
        .with(&[
            (&["m", "move"], Does::Takes),
            (&["O", "out", "output-file", "lf", "log-file-path"], Does::Writes),
            (&["T", "TT", "unzip-command"], Does::Runs),
            (&["@"], Does::Anywhere),
            (&["i"], Does::Keeps),
        ])
        .changes(&[
            "zip new.zip a.txt",
            "zip -r new.zip dir",
            "zip -m new.zip a.txt",
            "zip -qrm new.zip dir",
            "zip --move new.zip b.txt",
            "zip -d t.zip m/one.txt",
        ]),
    row(&["unzip"], RowOperands::Unpack)
        .flags(Flags::of("oqnjCLaXKVM", "Px"))
        .with(&[
            (&["d"], Does::WritesWithin),
            (&[":"], Does::Anywhere),
            (&["l", "t", "v", "p", "c", "z", "Z"], Does::OnlyReads),
        ])
        .brings_links()
        .changes(&[
            "unzip -q t.zip",
            "unzip -o t.zip -d empty",
            "unzip -qo t.zip m/one.txt",
            "unzip -d dir t.zip",
        ])
        .reads(&["unzip -l t.zip", "unzip -t t.zip", "unzip -p t.zip"]),
    row(DEB, RowOperands::UnpackTo)
        .when(RowCondition::Option(&["x", "extract", "X", "vextract", "R", "raw-extract", "e", "control"]))
        .flags(
            Flags::of("xXRe", "").long(&["extract", "vextract", "raw-extract", "control", "no-check"], &[]),
        )
        .brings_links()
        .changes(&[
            "dpkg-deb -x t.deb empty",
            "dpkg -x t.deb new",
            "dpkg-deb --raw-extract t.deb new",
            "dpkg -e t.deb",
        ]),
    row(DEB, RowOperands::UnpackTo)
        .when(RowCondition::Option(&["b", "build"]))
        .flags(
            Flags::of("b", "zZS").long(&["build", "root-owner-group", "nocheck", "uniform-compression"], &[]),
        )
        .changes(&["mkdir -m 755 p p/DEBIAN; printf 'Package: x\nVersion: 1\nArchitecture: all\nMaintainer: x <a@b>\nDescription: x\n' > p/DEBIAN/control; dpkg-deb -b p new.deb"]),
    row(DEB, RowOperands::Each(TouchAccess::Read))
        .when(RowCondition::Option(&[
            "c",
            "contents",
            "I",
            "info",
            "f",
            "field",
            "fsys-tarfile",
            "ctrl-tarfile",
        ]))
        .flags(Flags::of("cIf", "").long(&["contents", "info", "field", "fsys-tarfile", "ctrl-tarfile"], &[]))
        .reads(&["dpkg-deb -c t.deb", "dpkg -I t.deb", "dpkg-deb --fsys-tarfile t.deb"]),
    row(SEVEN, RowOperands::Pack)
        .when(RowCondition::Word(&["a", "d", "u", "rn"]))
        .form(OperandForm::Single)
        .flags(Flags::of("tmpyrbsxiuwav", "").long(&["bd", "y", "r"], &[]))
        .with(&[(&["sdel"], Does::Takes), (&["w"], Does::Here)])
        .changes(&["7zz a new.7z a.txt", "7zz a new.7z a.txt -sdel", "7zz d t.zip m/one.txt"]),
    row(SEVEN, RowOperands::Unpack)
        .when(RowCondition::Word(&["x", "e"]))
        .form(OperandForm::Single)
        .flags(Flags::of("tmpyrbsxia", "").long(&["bd", "y", "r"], &[]))
        .with(&[(&["o"], Does::WritesWithin), (&["so"], Does::OnlyReads), (&["spf"], Does::Anywhere)])
        .brings_links()
        .changes(&["7zz x t.zip", "7zz x -oempty -y t.zip", "7zz e t.zip -odir"])
        .reads(&["7zz x -so t.zip"]),
    row(SEVEN, RowOperands::Each(TouchAccess::Read))
        .when(RowCondition::Word(&["l", "t", "h", "i"]))
        .form(OperandForm::Single)
        .flags(Flags::of("tmpyrbsxia", "").long(&["slt"], &[]))
        .reads(&["7zz l t.zip", "7zz t t.zip"]),
    row(&["cpio"], RowOperands::Text)
        .when(RowCondition::Option(&["o", "create"]))
        .flags(Flags::of("0aABcLvV", "CHM").long(&["quiet", "null", "verbose"], &["format", "owner"]))
        .with(&[(&["F", "file", "O"], Does::Writes)])
        .changes(&["echo a.txt | cpio -o -F new.cpio", "echo a.txt | cpio -oO new.cpio"])
        .reads(&["echo a.txt | cpio -o"]),
    row(&["cpio"], RowOperands::Members)
        .when(RowCondition::Option(&["i", "extract"]))
        .flags(Flags::of("bBcdfmnrsSuvV0", "CEFHIMR").long(
            &[
                "quiet",
                "make-directories",
                "preserve-modification-time",
                "unconditional",
                "no-absolute-filenames",
            ],
            &["file", "format"],
        ))
        .with(&[
            (&["t", "list"], Does::OnlyReads),
            (&["D", "directory"], Does::Base),
            (&["absolute-filenames"], Does::Anywhere),
        ])
        .check(absolute_names)
        .brings_links()
        .changes(&["cpio -id < t.cpio", "cpio -id -F t.cpio", "cpio -idD empty < t.cpio"])
        .reads(&["cpio -it < t.cpio"]),
    row(&["cpio"], RowOperands::Each(TouchAccess::Write))
        .when(RowCondition::Option(&["p", "pass-through"]))
        .flags(Flags::of("0adlLmuvV", "R"))
        .with(&[(&["D", "directory"], Does::Base)])
        .brings_links()
        .changes(&["echo a.txt | cpio -p empty", "echo dir/c.txt | cpio -pd empty"]),
    row(&["ar"], RowOperands::Pack).when(RowCondition::Letters("rqdms")).flags(Flags::of("", "")).changes(&[
        "ar rcs new.a a.txt",
        "ar -q lib.a b.txt",
        "ar d lib.a a.txt",
    ]),
    row(&["ar"], RowOperands::Unpack).when(RowCondition::Letters("x")).changes(&["rm a.txt; ar x lib.a"]),
    row(&["ar"], RowOperands::Each(TouchAccess::Read))
        .when(RowCondition::Letters("tp"))
        .reads(&["ar t lib.a", "ar p lib.a"]),
    row(&["jar"], RowOperands::Pack)
        .when(RowCondition::Letters("cui"))
        .flags(Flags::of("", "C"))
        .untried(&["jar cf new.jar dir"]),
    row(&["jar"], RowOperands::Unpack).when(RowCondition::Letters("x")).untried(&["jar xf a.jar"]),
    row(&["jar"], RowOperands::Each(TouchAccess::Read))
        .when(RowCondition::Letters("t"))
        .untried(&["jar tf a.jar"]),
    row(&["jar"], RowOperands::Here)
        .flags(
            Flags::of("cuxtvmeM0", "C")
                .long(&["create", "update", "extract", "list", "verbose"], &["main-class"]),
        )
        .with(&[(&["f", "file"], Does::Writes), (&["dir"], Does::WritesWithin)])
        .untried(&["jar --update --file=new.jar dir"]),
];

/// Names from a list are not seen, so the removed files are not known.
fn listed_removal(_: &[ShellWord], names: &[String]) -> Option<&'static str> {
    let has = |wanted: &str| names.iter().any(|name| name.len() > 1 && wanted.starts_with(name.as_str()));
    let is_listed = names.iter().any(|name| name == "T") || has("files-from");
    (is_listed && has("remove-files")).then_some("it removes files that a list names")
}

/// `cpio` takes absolute names in an archive as they are, unless it is told not to.
fn absolute_names(_: &[ShellWord], names: &[String]) -> Option<&'static str> {
    let is_safe = |name: &String| matches!(name.as_str(), "no-absolute-filenames" | "t" | "list");
    (!names.iter().any(is_safe)).then_some("the archive can name any file, and `cpio` writes it")
}
