//! Programs that only read, with the options that keep them so.
//!
//! A program that is not in this table is not known to only read. Git is not here: its configuration, which a
//! repository brings along, names programs that it runs, so it has a table of its own for jailed commands.
//! Programs that reach the network are not here either: a name that is looked up reveals data to its owner.

use super::flags::Flags;

/// The operands of a program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ReaderOperands {
    /// Files and directories that it reads.
    Paths,
    /// One file that it reads; a second one would be written.
    OnePath,
    /// A pattern or program text, then files.
    TextThenPaths,
    /// Text.
    Text,
    /// Formats, each with a plus before it.
    Formats,
    /// Anything: there are no options that matter.
    Anything,
    /// As for `printf`: anything after a first word that is no option.
    AnythingAfterFormat,
    /// These words and no others.
    OneOf(&'static [&'static str]),
    /// A pause that a call can wait for: one number of seconds or minutes.
    Pause,
    /// There are none.
    None,
}

/// A program that only reads.
#[derive(Debug)]
pub(crate) struct ReaderProgram {
    pub(crate) names: &'static [&'static str],
    pub(crate) flags: Flags,
    pub(crate) operands: ReaderOperands,
}

const fn reader(names: &'static [&'static str], flags: Flags, operands: ReaderOperands) -> ReaderProgram {
    ReaderProgram { names, flags, operands }
}

const GREP: Flags = Flags::of("EFGPivwxcnHhlLoqsrRabyzZUT0123456789", "emABC").long(
    &[
        "extended-regexp",
        "fixed-strings",
        "basic-regexp",
        "perl-regexp",
        "ignore-case",
        "no-ignore-case",
        "invert-match",
        "word-regexp",
        "line-regexp",
        "count",
        "line-number",
        "with-filename",
        "no-filename",
        "files-with-matches",
        "files-without-match",
        "only-matching",
        "quiet",
        "silent",
        "no-messages",
        "recursive",
        "dereference-recursive",
        "text",
        "byte-offset",
        "null",
        "null-data",
        "color",
        "initial-tab",
    ],
    &[
        "regexp",
        "max-count",
        "after-context",
        "before-context",
        "context",
        "include",
        "exclude",
        "exclude-dir",
        "color",
    ],
);
const RIPGREP: Flags = Flags::of("FPivwxcnNHIlLoqsUuaSp0.", "egtTmABCMdjE").long(
    &[
        "fixed-strings",
        "pcre2",
        "ignore-case",
        "case-sensitive",
        "smart-case",
        "invert-match",
        "word-regexp",
        "line-regexp",
        "count",
        "count-matches",
        "line-number",
        "no-line-number",
        "with-filename",
        "no-filename",
        "files-with-matches",
        "files-without-match",
        "only-matching",
        "quiet",
        "multiline",
        "unrestricted",
        "text",
        "pretty",
        "null",
        "hidden",
        "no-ignore",
        "no-ignore-vcs",
        "no-ignore-parent",
        "files",
        "heading",
        "no-heading",
        "json",
        "stats",
        "trim",
        "vimgrep",
        "column",
        "no-config",
        "type-list",
        "no-messages",
        "passthru",
        "glob-case-insensitive",
    ],
    &[
        "regexp",
        "glob",
        "iglob",
        "type",
        "type-not",
        "max-count",
        "after-context",
        "before-context",
        "context",
        "max-columns",
        "max-depth",
        "max-filesize",
        "threads",
        "encoding",
        "color",
        "sort",
        "sortr",
        "replace",
    ],
);
const LS: Flags = Flags::of("aAlhrtSRd1FGginopsUXxCmNQqkLHvBbcfuZ", "IwT").long(
    &[
        "all",
        "almost-all",
        "human-readable",
        "reverse",
        "recursive",
        "directory",
        "classify",
        "size",
        "inode",
        "numeric-uid-gid",
        "no-group",
        "full-time",
        "group-directories-first",
        "si",
        "color",
        "dereference",
    ],
    &["color", "sort", "time", "time-style", "ignore", "hide", "format", "width"],
);
const SORT: Flags = Flags::of("nrufbdghiMRVszcCm", "kt").long(
    &[
        "numeric-sort",
        "reverse",
        "unique",
        "ignore-case",
        "ignore-leading-blanks",
        "dictionary-order",
        "general-numeric-sort",
        "human-numeric-sort",
        "version-sort",
        "stable",
        "zero-terminated",
        "check",
    ],
    &["key", "field-separator"],
);
const DIFF: Flags = Flags::of("uqrNyswbBiaEZtTdpc0123456789", "UCxW").long(
    &[
        "unified",
        "brief",
        "recursive",
        "new-file",
        "side-by-side",
        "report-identical-files",
        "ignore-all-space",
        "ignore-space-change",
        "ignore-blank-lines",
        "ignore-case",
        "text",
        "minimal",
        "color",
        "normal",
        "suppress-common-lines",
    ],
    &["unified", "exclude", "width", "color", "label"],
);
const STAT: Flags =
    Flags::of("Lft", "c").long(&["dereference", "file-system", "terse"], &["format", "printf"]);
const DU: Flags = Flags::of("shackmxSLHPb0", "dt").long(
    &["summarize", "human-readable", "all", "total", "apparent-size", "one-file-system", "si", "bytes"],
    &["max-depth", "exclude", "threshold", "block-size"],
);
const DF: Flags = Flags::of("hHkmTialP", "tx")
    .long(&["human-readable", "inodes", "print-type", "local", "output"], &["output"]);
const SUMS: Flags = Flags::of("bctwz", "").long(&["check", "quiet", "status", "strict", "tag"], &[]);
const PS: Flags = Flags::of("AaeflFLjHTuxwcMNdrhSvmy", "opCUtqks")
    .long(&["forest", "no-headers"], &["pid", "ppid", "sort", "format"]);

/// The table.
pub(crate) const READERS: &[ReaderProgram] = &[
    reader(&["ls", "dir", "vdir"], LS, ReaderOperands::Paths),
    reader(&["cat"], Flags::of("nbsvETAetu", "").long(&["number", "show-all"], &[]), ReaderOperands::Paths),
    reader(
        &["head"],
        Flags::of("qvz0123456789", "nc").long(&["quiet"], &["lines", "bytes"]),
        ReaderOperands::Paths,
    ),
    reader(
        &["tail"],
        Flags::of("qvz0123456789", "nc").long(&["quiet"], &["lines", "bytes"]),
        ReaderOperands::Paths,
    ),
    reader(
        &["wc"],
        Flags::of("lwcmL", "").long(&["lines", "words", "bytes", "chars"], &[]),
        ReaderOperands::Paths,
    ),
    reader(&["grep", "egrep", "fgrep"], GREP, ReaderOperands::TextThenPaths),
    reader(&["rg"], RIPGREP, ReaderOperands::TextThenPaths),
    reader(&["stat"], STAT, ReaderOperands::Paths),
    reader(
        &["file"],
        Flags::of("bhikLN0", "F").long(&["brief", "mime", "mime-type"], &[]),
        ReaderOperands::Paths,
    ),
    reader(&["du"], DU, ReaderOperands::Paths),
    reader(&["df"], DF, ReaderOperands::Paths),
    reader(&["sort"], SORT, ReaderOperands::Paths),
    reader(
        &["uniq"],
        Flags::of("cdDiuz", "fsw").long(&["count", "repeated", "unique"], &[]),
        ReaderOperands::OnePath,
    ),
    reader(
        &["cut"],
        Flags::of("snz", "bcdf").long(&["complement"], &["delimiter", "fields"]),
        ReaderOperands::Paths,
    ),
    reader(&["tr"], Flags::of("cCdst", "").long(&["delete", "complement"], &[]), ReaderOperands::Text),
    reader(&["diff"], DIFF, ReaderOperands::Paths),
    reader(&["cmp"], Flags::of("bls", "n"), ReaderOperands::Paths),
    reader(&["comm"], Flags::of("123iz", ""), ReaderOperands::Paths),
    reader(&["paste"], Flags::of("sz", "d"), ReaderOperands::Paths),
    reader(&["join"], Flags::of("iz", "12aejtov"), ReaderOperands::Paths),
    reader(&["nl"], Flags::of("p", "bhfnwsv"), ReaderOperands::Paths),
    reader(&["tac", "rev"], Flags::NONE, ReaderOperands::Paths),
    reader(&["fold", "fmt"], Flags::of("bs", "w"), ReaderOperands::Paths),
    reader(&["column"], Flags::of("tx", "scNo"), ReaderOperands::Paths),
    reader(&["od"], Flags::of("abcdfilosxvC", "AjNtw"), ReaderOperands::Paths),
    reader(&["hexdump", "hd"], Flags::of("bcCdovx", "ns"), ReaderOperands::Paths),
    reader(&["xxd"], Flags::of("bpuie", "cgls"), ReaderOperands::OnePath),
    reader(&["strings"], Flags::of("af", "nte"), ReaderOperands::Paths),
    reader(
        &["base64", "base32"],
        Flags::of("di", "w").long(&["decode", "ignore-garbage"], &["wrap"]),
        ReaderOperands::Paths,
    ),
    reader(&["cksum", "sum"], Flags::NONE, ReaderOperands::Paths),
    reader(
        &["md5sum", "sha1sum", "sha224sum", "sha256sum", "sha384sum", "sha512sum", "b2sum"],
        SUMS,
        ReaderOperands::Paths,
    ),
    reader(&["tree"], Flags::of("adfisphuDFqNQCnJX", "LIP").long(&[], &["filelimit"]), ReaderOperands::Paths),
    reader(
        &["basename"],
        Flags::of("az", "s").long(&["multiple", "zero"], &["suffix"]),
        ReaderOperands::Text,
    ),
    reader(&["dirname"], Flags::of("z", "").long(&["zero"], &[]), ReaderOperands::Text),
    reader(
        &["realpath", "readlink"],
        Flags::of("efmnqsz", "").long(&["canonicalize"], &[]),
        ReaderOperands::Paths,
    ),
    reader(
        &["jq"],
        Flags::of("rcesnSMCaj", "").long(&["raw-output", "compact-output"], &[]),
        ReaderOperands::TextThenPaths,
    ),
    reader(&["echo"], Flags::NONE, ReaderOperands::Anything),
    reader(&["printf"], Flags::NONE, ReaderOperands::AnythingAfterFormat),
    reader(&["true", "false", ":", "test", "["], Flags::NONE, ReaderOperands::Anything),
    reader(&["pwd"], Flags::of("LP", ""), ReaderOperands::None),
    reader(&["cd"], Flags::of("LP", ""), ReaderOperands::Paths),
    reader(&["which"], Flags::of("as", ""), ReaderOperands::Text),
    reader(&["type"], Flags::of("aftpP", ""), ReaderOperands::Text),
    reader(&["whoami", "nproc", "arch", "tty", "logname", "hostname"], Flags::NONE, ReaderOperands::None),
    reader(&["uname"], Flags::of("asnrvmpio", "").long(&["all"], &[]), ReaderOperands::None),
    reader(&["id", "groups"], Flags::of("ugGnrz", ""), ReaderOperands::Text),
    reader(
        &["date"],
        Flags::of("uRI", "d").long(&["utc", "universal", "iso-8601"], &["date"]),
        ReaderOperands::Formats,
    ),
    reader(&["ps"], PS, ReaderOperands::OneOf(&["aux", "auxf", "auxww", "ax", "axf"])),
    reader(&["free"], Flags::of("bkmghltwv", "").long(&["human"], &[]), ReaderOperands::None),
    reader(&["uptime"], Flags::of("ps", ""), ReaderOperands::None),
    reader(&["printenv"], Flags::of("0", ""), ReaderOperands::Text),
    reader(&["seq"], Flags::of("w", "fs"), ReaderOperands::Text),
    reader(&["sleep"], Flags::NONE, ReaderOperands::Pause),
    reader(&["lscpu", "lsblk", "locale", "pgrep", "pidof"], Flags::of("aflnxpo", "u"), ReaderOperands::Text),
];

/// The entry of a program.
pub(crate) fn reader_of(name: &str) -> Option<&'static ReaderProgram> {
    READERS.iter().find(|reader| reader.names.contains(&name))
}
