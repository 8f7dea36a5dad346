//! Programs that make, copy, move and remove files.

use super::row::{Does, FileRow, OperandForm, RowOperands, row};
use crate::effect::TouchAccess;
use crate::effect::flags::Flags;
use crate::shell::ShellWord;

const COPY: Flags = Flags::of("adfilnpPrRsuvxHLTZc", "S").long(
    &[
        "archive",
        "recursive",
        "force",
        "interactive",
        "no-clobber",
        "no-target-directory",
        "verbose",
        "update",
        "preserve",
        "no-dereference",
        "dereference",
        "remove-destination",
        "parents",
        "one-file-system",
        "link",
        "symbolic-link",
        "reflink",
        "sparse",
        "symbolic",
        "relative",
        "logical",
        "physical",
        "strip-trailing-slashes",
    ],
    &["suffix"],
);
const COPIES_OR_LINKS: &[(&[&str], Does)] = &[
    (&["t", "target-directory"], Does::Into),
    (&["b", "backup"], Does::Backs),
    (&["s", "symbolic-link", "l", "link"], Does::Links),
];
const INTO: &[(&[&str], Does)] = &[(&["t", "target-directory"], Does::Into), (&["b", "backup"], Does::Backs)];
const RSYNC: Flags = Flags::of("acghilmnopqrtuvxzCDHAWSPKLOXEIRNy0", "fB@").long(
    &[
        "archive",
        "verbose",
        "quiet",
        "recursive",
        "compress",
        "progress",
        "stats",
        "human-readable",
        "update",
        "checksum",
        "partial",
        "links",
        "perms",
        "times",
        "owner",
        "group",
        "itemize-changes",
        "one-file-system",
        "ignore-existing",
        "existing",
        "numeric-ids",
        "cvs-exclude",
        "prune-empty-dirs",
        "no-perms",
        "no-owner",
        "no-group",
        "inplace",
        "size-only",
        "mkpath",
    ],
    &[
        "exclude",
        "include",
        "exclude-from",
        "include-from",
        "filter",
        "bwlimit",
        "timeout",
        "max-size",
        "min-size",
        "chmod",
        "info",
        "port",
        "files-from",
    ],
);

pub(super) const ROWS: &[FileRow] = &[
    row(&["rm", "srm"], RowOperands::Each(TouchAccess::Delete))
        .keeps_targets()
        .flags(Flags::of("rfivdRI", "").long(
            &[
                "recursive",
                "force",
                "interactive",
                "verbose",
                "dir",
                "one-file-system",
                "preserve-root",
                "no-preserve-root",
            ],
            &[],
        ))
        .changes(&[
            "rm a.txt",
            "rm -rf dir",
            "rm -- b.txt",
            "rm a.* b.txt",
            "rm -d empty",
            "\\rm -v a.txt",
            "rm dir/sub/*.txt",
        ]),
    row(&["rmdir"], RowOperands::Each(TouchAccess::Delete))
        .flags(Flags::of("v", "").long(&["verbose", "ignore-fail-on-non-empty"], &[]))
        .with(&[(&["p", "parents"], Does::Parents)])
        .keeps_targets()
        .changes(&["rmdir empty", "rmdir -p nest/in/most", "rmdir --parents nest/in/most"]),
    row(&["unlink"], RowOperands::Each(TouchAccess::Delete))
        .keeps_targets()
        .changes(&["unlink a.txt", "unlink link"]),
    row(&["shred"], RowOperands::Each(TouchAccess::Delete))
        .flags(
            Flags::of("fuvxz", "ns").long(
                &["force", "verbose", "exact", "zero", "remove"],
                &["iterations", "size", "random-source"],
            ),
        )
        .changes(&["shred a.txt", "shred -u a.txt", "shred -n 1 --remove b.txt"]),
    row(&["mkdir"], RowOperands::Each(TouchAccess::Write))
        .flags(Flags::of("pvZ", "m").long(&["parents", "verbose"], &["mode", "context"]))
        .changes(&["mkdir new", "mkdir -p new/a/b", "mkdir -m 700 new"]),
    row(&["touch"], RowOperands::Each(TouchAccess::Write))
        .flags(
            Flags::of("acmhf", "dtr").long(&["no-create", "no-dereference"], &["date", "reference", "time"]),
        )
        .changes(&["touch new", "touch a.txt", "touch -r x.o a.txt", "touch -d 2001-01-01 b.txt"]),
    row(&["truncate"], RowOperands::Each(TouchAccess::Write))
        .flags(Flags::of("co", "sr").long(&["no-create", "io-blocks"], &["size", "reference"]))
        .changes(&["truncate -s 0 a.txt", "truncate --size=9 new", "truncate -s0 a.txt b.txt"]),
    row(&["fallocate"], RowOperands::Each(TouchAccess::Write))
        .flags(Flags::of("cdinpvzx", "lo").long(&[], &["length", "offset"]))
        .changes(&["fallocate -l 10 new"]),
    row(&["tee", "sponge"], RowOperands::Each(TouchAccess::Write))
        .flags(Flags::of("aip", "").long(&["append", "ignore-interrupts", "output-error"], &[]))
        .changes(&["echo x | tee a.txt", "echo x | tee -a b.txt new", "sort a.txt | sponge a.txt"]),
    row(&["mkfifo"], RowOperands::Each(TouchAccess::Write))
        .flags(Flags::of("Z", "m").long(&[], &["mode"]))
        .changes(&["mkfifo pipe"]),
    row(&["mknod"], RowOperands::First(TouchAccess::Write))
        .flags(Flags::of("Z", "m").long(&[], &["mode"]))
        .changes(&["mknod pipe p"]),
    row(&["mktemp"], RowOperands::Beside)
        .flags(Flags::of("dqut", "").long(&["directory", "quiet", "dry-run"], &["suffix"]))
        .with(&[(&["p", "tmpdir"], Does::WritesWithin)])
        .changes(&["mktemp ./x.XXXXXX", "mktemp -d dir/x.XXXX", "mktemp -p dir x.XXXXXX"])
        .reads(&["mktemp -u ./x.XXXXXX"]),
    row(&["chmod", "chown", "chgrp", "chattr"], RowOperands::AfterFirst(TouchAccess::Write))
        .flags(Flags::of("Rvcfh", "").long(&["recursive", "verbose", "changes", "silent"], &[]))
        .changes(&[
            "chmod 600 a.txt",
            "chmod -R go-rwx dir",
            "chmod -x run.sh",
            "chmod --reference=run.sh a.txt",
        ]),
    row(&["setfacl"], RowOperands::Each(TouchAccess::Write))
        .flags(Flags::of("bkRdn", "mxMX"))
        .changes(&["setfacl -m u:0:rwx a.txt"]),
    row(&["cp"], RowOperands::CopyTo).flags(COPY).with(COPIES_OR_LINKS).changes(&[
        "cp a.txt new",
        "cp a.txt b.txt dir",
        "cp -r dir copy",
        "cp -t empty a.txt b.txt",
        "cp --target-directory=empty a.txt",
        "cp a.txt --target-dir empty",
        "cp -b a.txt b.txt",
        "cp -S .old --backup a.txt b.txt",
        "cp a.txt b.txt -v",
        "cp --parents dir/c.txt empty",
    ]),
    row(&["install"], RowOperands::CopyTo)
        .flags(Flags::of("cCDpsvT", "gmoS").long(
            &["compare", "preserve-timestamps", "strip", "verbose", "no-target-directory"],
            &["group", "mode", "owner", "suffix"],
        ))
        .with(&[
            (&["t", "target-directory"], Does::Into),
            (&["b", "backup"], Does::Backs),
            (&["d", "directory"], Does::InPlace),
            (&["strip-program"], Does::Runs),
        ])
        .changes(&[
            "install a.txt new",
            "install -m 600 a.txt b.txt",
            "install -d one two",
            "install -D a.txt x/y/z",
            "install -t empty a.txt",
        ]),
    row(&["ln"], RowOperands::LinkTo).flags(COPY).with(INTO).changes(&[
        "ln a.txt hard",
        "ln -s a.txt soft",
        "ln -sf b.txt link",
        "ln -s dir/c.txt",
        "ln -st empty ../a.txt",
    ]),
    row(&["link"], RowOperands::LinkTo).changes(&["link a.txt hard"]),
    row(&["mv"], RowOperands::MoveTo).keeps_targets().flags(COPY).with(INTO).changes(&[
        "mv a.txt new",
        "mv a.txt b.txt dir",
        "mv -t empty a.txt",
        "mv -b a.txt b.txt",
        "mv dir moved",
        "mv -f a.txt b.txt",
    ]),
    row(&["rename", "prename", "file-rename"], RowOperands::Patterns)
        .flags(Flags::of("vfn", "").long(&["verbose", "force", "nono"], &[]))
        .check(plain_expression)
        .changes(&[
            "rename s/txt/md/ a.txt",
            "rename -v 's/a/z/' a.txt dir/c.txt b.txt",
            "prename s/txt/md/ a.txt",
            "file-rename s/txt/md/ b.txt",
        ]),
    row(&["mmv", "mcp"], RowOperands::Patterns)
        .flags(Flags::of("hdptgvnmrc", ""))
        .changes(&["mmv '*.txt' '#1.md'", "mcp '*.txt' '#1.md'"]),
    row(&["dd"], RowOperands::Text)
        .form(OperandForm::Assigned)
        .with(&[(&["of"], Does::Writes)])
        .changes(&["dd if=a.txt of=new", "dd of=b.txt if=a.txt bs=1 count=2"])
        .reads(&["dd if=a.txt"]),
    row(&["split"], RowOperands::Prefix)
        .flags(Flags::of("deuxz", "abClntC").long(
            &["verbose", "numeric-suffixes", "hex-suffixes", "elide-empty-files"],
            &["lines", "bytes", "line-bytes", "number", "suffix-length", "additional-suffix", "separator"],
        ))
        .with(&[(&["filter"], Does::Runs)])
        .changes(&["split -l 1 a.txt", "split -b 2 a.txt dir/part-", "split -n 2 a.txt p"]),
    row(&["csplit"], RowOperands::Here)
        .flags(
            Flags::of("kqsz", "nb")
                .long(&["keep-files", "quiet", "silent", "elide-empty-files"], &["digits", "suffix-format"]),
        )
        .with(&[(&["f", "prefix"], Does::WritesBeside)])
        .changes(&["csplit a.txt 2", "csplit -f dir/q a.txt 2"]),
    row(&["patch"], RowOperands::First(TouchAccess::Write))
        .flags(Flags::of("nNflRsuEcZt", "piFVgz").long(
            &["forward", "force", "reverse", "silent", "quiet", "unified", "batch", "verbose", "merge"],
            &["strip", "input", "fuzz"],
        ))
        .with(&[
            (&["o", "output"], Does::Writes),
            (&["r", "reject-file"], Does::AlsoWrites),
            (&["d", "directory"], Does::WritesWithin),
            (&["b", "backup"], Does::Here),
            (&["B", "prefix"], Does::WritesBeside),
            (&["Y", "basename-prefix"], Does::WritesBeside),
            (&["dry-run"], Does::OnlyReads),
        ])
        .brings_links()
        .changes(&[
            "patch a.txt p.patch",
            "patch -o new a.txt p.patch",
            "patch -p0 < p.patch",
            "patch -r rejected -p0 < p.patch",
            "patch -b a.txt p.patch",
            "patch -d dir -i ../c.patch",
        ])
        .reads(&["patch --dry-run a.txt p.patch"]),
    row(&["rsync"], RowOperands::CopyTo)
        .flags(RSYNC)
        .with(&[
            (
                &[
                    "delete",
                    "delete-before",
                    "delete-during",
                    "delete-after",
                    "delete-delay",
                    "delete-excluded",
                    "del",
                ],
                Does::Prunes,
            ),
            (&["remove-source-files"], Does::Takes),
            (&["b", "backup"], Does::Backs),
            (&["backup-dir", "partial-dir", "T", "temp-dir"], Does::WritesWithin),
            (&["log-file", "write-batch", "only-write-batch"], Does::Writes),
            (&["e", "rsh", "rsync-path"], Does::Runs),
        ])
        .changes(&[
            "rsync -a dir/ copy/",
            "rsync -a --delete empty/ dir",
            "rsync -a --remove-source-files dir/ copy",
            "rsync -a --del empty/ dir",
            "rsync --log-file=log -a a.txt copy",
            "rsync -ab a.txt b.txt dir",
        ])
        .reads(&["rsync -an --delete empty/ dir"]),
    row(&["scp"], RowOperands::CopyTo)
        .flags(Flags::of("346ABCOpqRrTv", "cDFiJlP"))
        .with(&[(&["S", "o"], Does::Runs)])
        .changes(&["scp -q a.txt new"]),
    row(&["dos2unix", "unix2dos"], RowOperands::Each(TouchAccess::Write))
        .flags(Flags::of("kfqsv", ""))
        .changes(&["unix2dos a.txt", "dos2unix -q crlf.txt"]),
];

/// The first word of `rename` is Perl, which can run anything. A plain substitution cannot.
fn plain_expression(operands: &[ShellWord], _: &[String]) -> Option<&'static str> {
    let is_plain = |text: &str| {
        let parts: Vec<&str> = text.split('/').collect();
        let is_word = |part: &str| {
            part.chars().all(|letter| letter.is_ascii_alphanumeric() || " ._^*+-".contains(letter))
        };
        matches!(parts.as_slice(), ["s" | "y" | "tr", from, to, "" | "g" | "i" | "gi"] if is_word(from) && is_word(to))
    };
    let first = operands.first().and_then(ShellWord::literal).unwrap_or_default();
    (!is_plain(first)).then_some("its first word is a program in Perl")
}
