//! Programs that write to a file that an option or a later word names.

use super::row::{Does, FileRow, OperandForm, RowCondition, RowOperands, row};
use crate::effect::TouchAccess;
use crate::effect::flags::Flags;
use crate::shell::ShellWord;

const CURL: Flags = Flags::of("sSfLkiIvGgjNnpaBlqZ#0123456", "HXduAebmrxEyYzCTFUP").long(
    &[
        "silent",
        "show-error",
        "fail",
        "location",
        "insecure",
        "include",
        "head",
        "verbose",
        "get",
        "compressed",
        "http2",
        "http1.1",
        "no-buffer",
        "fail-with-body",
        "ipv4",
        "ipv6",
        "progress-bar",
        "parallel",
        "create-dirs",
        "netrc",
        "retry-connrefused",
        "no-progress-meter",
        "location-trusted",
        "globoff",
        "basic",
        "digest",
        "tlsv1.2",
    ],
    &[
        "header",
        "request",
        "data",
        "data-raw",
        "data-binary",
        "data-urlencode",
        "json",
        "user",
        "user-agent",
        "referer",
        "cookie",
        "max-time",
        "connect-timeout",
        "retry",
        "retry-delay",
        "proxy",
        "cacert",
        "cert",
        "key",
        "form",
        "upload-file",
        "range",
        "url",
        "resolve",
        "max-redirs",
        "interface",
        "limit-rate",
        "oauth2-bearer",
        "unix-socket",
        "continue-at",
        "retry-max-time",
    ],
);

const IMAGES: Flags = Flags::NONE.long(
    &["strip", "flatten", "trim", "auto-orient", "negate"],
    &[
        "quality",
        "resize",
        "size",
        "density",
        "background",
        "gravity",
        "geometry",
        "rotate",
        "crop",
        "extent",
        "fill",
        "font",
        "pointsize",
        "depth",
        "colorspace",
        "delay",
        "loop",
        "thumbnail",
        "format",
    ],
);
/// Programs that print their findings, and write only to a file that an option names.
const PRINTERS: &[&str] = &[
    "sleep",
    "yes",
    "factor",
    "numfmt",
    "expand",
    "unexpand",
    "pr",
    "tsort",
    "cal",
    "ncal",
    "bc",
    "getent",
    "getconf",
    "who",
    "w",
    "users",
    "last",
    "lsof",
    "ss",
    "netstat",
    "vmstat",
    "iostat",
    "mpstat",
    "dmesg",
    "lspci",
    "lsusb",
    "lsmod",
    "findmnt",
    "mountpoint",
    "namei",
    "pathchk",
    "pstree",
    "top",
    "htop",
    "lsns",
    "nm",
    "objdump",
    "readelf",
    "size",
    "addr2line",
    "c++filt",
    "gettext",
    "ngettext",
    "envsubst",
    "tput",
    "stty",
    "clear",
    "reset",
    "whereis",
    "locate",
    "apropos",
    "whatis",
    "info",
    "lsb_release",
    "hostid",
    "cloc",
    "tokei",
    "scc",
    "ag",
    "ack",
    "exa",
    "eza",
    "lsd",
    "bat",
    "delta",
    "difft",
    "wdiff",
    "colordiff",
    "diffstat",
    "diff3",
    "look",
    "figlet",
    "cowsay",
    "ts",
    "pv",
    "uuidgen",
    "b3sum",
    "tldr",
    "lsipc",
    "pmap",
    "pwdx",
    "lsattr",
    "getfacl",
    "getcap",
    "runlevel",
    "zipinfo",
    "identify",
    "ffprobe",
    "mediainfo",
    "pdfinfo",
    "hexyl",
];

pub(super) const ROWS: &[FileRow] = &[
    row(PRINTERS, RowOperands::Each(TouchAccess::Read))
        .lenient()
        .with(&[
            (&["o", "output", "out", "output-file", "logfile", "LogFile"], Does::Writes),
            (&["pager"], Does::Runs),
        ])
        .reads(&[
            "nm x.o",
            "objdump -d x.o",
            "readelf -h x.o",
            "size x.o",
            "sleep 0",
            "expand a.txt",
            "pr a.txt",
            "factor 6",
            "yes | head -n 1",
            "numfmt 1000",
            "unexpand a.txt",
            "printf 'a b\\n' | tsort",
            "getent passwd root",
            "getconf PATH",
            "getfacl a.txt",
            "who",
            "w",
            "users",
            "vmstat",
            "top -b -n 1",
            "findmnt /",
            "mountpoint /",
            "namei dir/c.txt",
            "pathchk a.txt",
            "lsns",
            "lsipc",
            "addr2line -e x.o 0",
            "c++filt _Z1fv",
            "tput -T xterm cols",
            "TERM=xterm clear",
            "whereis ls",
            "hostid",
            "diff3 a.txt a.txt a.txt",
            "echo x | ts",
            "zipinfo t.zip",
        ]),
    row(&["http", "https", "xh", "xhs"], RowOperands::Text)
        .lenient()
        .with(&[(&["o", "output"], Does::Writes), (&["d", "download"], Does::Here)])
        .untried(&["http --download -o new https://example.org"]),
    row(&["pip", "pip3"], RowOperands::Text)
        .lenient()
        .with(&[
            (&["t", "target", "prefix", "root", "d", "dest", "w", "wheel-dir"], Does::WritesWithin),
            (&["log", "report"], Does::Writes),
        ])
        .untried(&["pip install --target dir x"]),
    row(&["aria2c"], RowOperands::Members)
        .lenient()
        .with(&[
            (&["o", "out", "l", "log", "save-session"], Does::WritesBeside),
            (&["d", "dir"], Does::WritesWithin),
        ])
        .untried(&["aria2c -d dir https://example.org"]),
    row(&["sort"], RowOperands::Each(TouchAccess::Read))
        .flags(Flags::of("nrufbdghiMRVszcCm", "ktS").long(
            &[
                "numeric-sort",
                "reverse",
                "unique",
                "ignore-case",
                "general-numeric-sort",
                "human-numeric-sort",
                "version-sort",
                "stable",
                "zero-terminated",
                "check",
                "merge",
                "random-sort",
            ],
            &["key", "field-separator", "buffer-size", "parallel", "batch-size"],
        ))
        .with(&[
            (&["o", "output"], Does::Writes),
            (&["T", "temporary-directory"], Does::WritesWithin),
            (&["compress-program"], Does::Runs),
        ])
        .changes(&[
            "sort -o new a.txt",
            "sort a.txt -o a.txt -r",
            "sort --output=b.txt a.txt",
            "sort -ro new a.txt",
            "sort --out new a.txt",
        ])
        .reads(&["sort a.txt", "sort -rn -k 1 a.txt"]),
    row(&["ptx"], RowOperands::InOut)
        .when(RowCondition::Option(&["G", "traditional"]))
        .flags(Flags::of("Gfrt", "FMSWbgiow"))
        .changes(&["ptx -G a.txt new", "ptx --trad a.txt b.txt"]),
    row(&["ptx"], RowOperands::Each(TouchAccess::Read))
        .flags(Flags::of("AORTfrt", "FMSWbgiow"))
        .reads(&["ptx a.txt"]),
    row(&["uniq"], RowOperands::InOut)
        .flags(
            Flags::of("cdDiuz", "fsw")
                .long(&["count", "repeated", "unique", "ignore-case"], &["skip-fields", "skip-chars"]),
        )
        .changes(&["uniq a.txt new", "uniq -c a.txt b.txt"])
        .reads(&["uniq a.txt"]),
    row(&["shuf"], RowOperands::Each(TouchAccess::Read))
        .flags(
            Flags::of("erz", "in").long(&["echo", "repeat"], &["input-range", "head-count", "random-source"]),
        )
        .with(&[(&["o", "output"], Does::Writes)])
        .changes(&["shuf a.txt -o new", "shuf --output=b.txt a.txt"])
        .reads(&["shuf -n 1 a.txt", "shuf -i 1-3"]),
    row(&["base64", "base32"], RowOperands::Each(TouchAccess::Read))
        .flags(Flags::of("diD", "wb").long(&["decode", "ignore-garbage"], &["wrap"]))
        .with(&[(&["o", "output"], Does::Writes)])
        .reads(&["base64 a.txt", "base64 -w 0 a.txt", "base32 a.txt"]),
    row(&["tree"], RowOperands::Each(TouchAccess::Read))
        .flags(Flags::of("adfisphuDFqNQCnJX", "LIP"))
        .with(&[(&["o"], Does::Writes)])
        .changes(&["tree -o new"])
        .reads(&["tree dir"]),
    row(&["xxd"], RowOperands::InOut)
        .form(OperandForm::Single)
        .flags(
            Flags::of("EabdeiprRuC", "cglnos")
                .long(&["ps", "plain", "revert", "postscript"], &["seek", "len", "cols"]),
        )
        .changes(&["xxd a.txt new", "xxd -r hex.txt new", "xxd -p a.txt b.txt"])
        .reads(&["xxd a.txt", "xxd -l 4 a.txt"]),
    row(&["iconv"], RowOperands::Each(TouchAccess::Read))
        .flags(Flags::of("cls", "ft").long(&["list", "silent"], &["from-code", "to-code"]))
        .with(&[(&["o", "output"], Does::Writes)])
        .changes(&["iconv -f utf8 -t latin1 -o new a.txt", "iconv -t utf16 --output=b.txt a.txt"])
        .reads(&["iconv -f utf8 -t utf16 a.txt"]),
    row(&["sdiff"], RowOperands::Each(TouchAccess::Read))
        .flags(Flags::of("lswbBiat", "w"))
        .with(&[(&["o", "output"], Does::Writes)])
        .reads(&["sdiff -s a.txt a.txt"]),
    row(&["file"], RowOperands::Each(TouchAccess::Read))
        .flags(Flags::of("bhikLN0zZsSprdEnlv", "FePm").long(
            &["brief", "mime", "mime-type", "mime-encoding", "dereference", "no-pad", "keep-going", "raw"],
            &["separator", "exclude", "magic-file", "files-from", "parameter"],
        ))
        .with(&[(&["C", "compile"], Does::Here)])
        .changes(&["printf '0 string x y\\n' > home/magic; file -C -m home/magic"])
        .reads(&["file a.txt", "file --mime-type -b t.tar"]),
    row(&["curl"], RowOperands::Text)
        .flags(CURL)
        .with(&[
            (
                &[
                    "o",
                    "output",
                    "D",
                    "dump-header",
                    "c",
                    "cookie-jar",
                    "trace",
                    "trace-ascii",
                    "stderr",
                    "libcurl",
                    "etag-save",
                    "hsts",
                    "alt-svc",
                ],
                Does::Writes,
            ),
            (&["O", "remote-name", "remote-name-all", "J", "remote-header-name"], Does::Here),
            (&["output-dir"], Does::WritesWithin),
            (&["K", "config"], Does::Runs),
        ])
        .check(writes_out)
        .changes(&[
            "curl -s -o new file://{here}/a.txt",
            "curl -sO file://{here}/dir/c.txt",
            "curl -s --output b.txt file://{here}/a.txt",
            "curl -sS --output-dir empty -O file://{here}/a.txt",
            "curl -so new file://{here}/a.txt",
        ])
        .reads(&["curl -s file://{here}/a.txt"]),
    row(&["wget"], RowOperands::Members)
        .flags(Flags::of("qvcNbSrkpHLxnd46E", "TtUlwQADRIXei").long(
            &[
                "quiet",
                "no-verbose",
                "continue",
                "timestamping",
                "server-response",
                "recursive",
                "no-check-certificate",
                "mirror",
                "no-parent",
                "page-requisites",
                "convert-links",
                "show-progress",
                "no-clobber",
                "content-disposition",
            ],
            &[
                "timeout",
                "tries",
                "user-agent",
                "header",
                "level",
                "wait",
                "user",
                "password",
                "post-data",
                "accept",
                "reject",
                "input-file",
                "method",
                "progress",
            ],
        ))
        .with(&[
            (&["O", "output-document"], Does::Writes),
            (&["P", "directory-prefix"], Does::WritesWithin),
            (
                &[
                    "o",
                    "output-file",
                    "a",
                    "append-output",
                    "save-cookies",
                    "warc-file",
                    "rejected-log",
                    "hsts-file",
                ],
                Does::WritesBeside,
            ),
            (&["spider"], Does::OnlyReads),
            (&["execute", "use-askpass", "config"], Does::Runs),
        ])
        .untried(&["wget -P dir https://example.org"]),
    row(&["openssl"], RowOperands::Text)
        .form(OperandForm::Single)
        .lenient()
        .with(&[
            (
                &[
                    "out",
                    "keyout",
                    "writerand",
                    "CAserial",
                    "certsout",
                    "keylogfile",
                    "sess_out",
                    "msgfile",
                    "key2out",
                    "sigfileout",
                ],
                Does::Writes,
            ),
            (&["outdir"], Does::WritesWithin),
            (&["CAcreateserial", "create_serial", "selfsign"], Does::Here),
            (&["engine", "provider-path"], Does::Runs),
        ])
        .check(keeps_a_register)
        .changes(&[
            "openssl rand -out new 8",
            "openssl base64 -in a.txt -out b.txt",
            "openssl enc -aes-256-cbc -pbkdf2 -pass pass:x -in a.txt -out new",
            "openssl req -x509 -newkey rsa:2048 -nodes -subj /CN=x -keyout new.key -out new.crt",
        ])
        .reads(&["openssl version", "openssl dgst -sha256 a.txt", "openssl rand -hex 8"]),
    row(&["ffmpeg"], RowOperands::Each(TouchAccess::Write))
        .form(OperandForm::Single)
        .lenient()
        .flags(Flags::NONE.long(&["y", "n"], &["i"]))
        .untried(&["ffmpeg -i a.mp4 new.mp4"]),
    row(&["convert", "magick", "composite", "montage"], RowOperands::AfterFirst(TouchAccess::Write))
        .form(OperandForm::Single)
        .lenient()
        .flags(IMAGES)
        .with(&[(&["write"], Does::Writes)])
        .check(image_scripts)
        .untried(&["convert a.png new.png"]),
    row(&["mogrify"], RowOperands::Each(TouchAccess::Write))
        .form(OperandForm::Single)
        .lenient()
        .with(&[(&["path"], Does::WritesWithin)])
        .check(image_scripts)
        .untried(&["mogrify -resize 10 a.png"]),
    row(&["pandoc"], RowOperands::Each(TouchAccess::Read))
        .lenient()
        .flags(Flags::of("s", "ftVMHABc"))
        .with(&[
            (&["o", "output", "log"], Does::Writes),
            (&["extract-media"], Does::WritesWithin),
            (&["F", "filter", "L", "lua-filter", "pdf-engine"], Does::Runs),
        ])
        .untried(&["pandoc a.md -o new.html"]),
    row(&["sqlite3"], RowOperands::First(TouchAccess::Write))
        .form(OperandForm::Single)
        .lenient()
        .flags(Flags::NONE.long(&[], &["separator", "newline", "nullvalue", "init", "cmd"]))
        .with(&[(&["readonly"], Does::OnlyReads), (&["init", "cmd"], Does::Runs), (&["bail"], Does::Backs)])
        .check(sqlite_scripts)
        .changes(&[
            "sqlite3 data.db 'insert into t values(2)'",
            "sqlite3 new.db 'create table u(x)'",
            "sqlite3 data.db 'drop table t'",
        ])
        .reads(&["sqlite3 data.db 'select * from t'"]),
    row(&["psql", "mysql", "mariadb"], RowOperands::Text)
        .lenient()
        .flags(Flags::of("", "hUpFRPuD").long(&[], &["host", "username", "port", "user", "password"]))
        .with(&[(&["o", "output", "L", "log-file"], Does::Writes)])
        .check(changes_data)
        .untried(&["psql -c 'select 1'"]),
    row(&["redis-cli"], RowOperands::Text)
        .lenient()
        .flags(Flags::of("", "hpan"))
        .check(changes_keys)
        .untried(&["redis-cli get x"]),
    row(&["pg_dump", "mysqldump"], RowOperands::Text)
        .lenient()
        .with(&[(&["f", "file", "r", "result-file"], Does::Writes)])
        .untried(&["pg_dump -f new.sql x"]),
    row(&["gpg", "gpg2"], RowOperands::Beside)
        .lenient()
        .with(&[(&["o", "output"], Does::Writes)])
        .untried(&["gpg -c a.txt"]),
    row(&["yq"], RowOperands::AfterFirst(TouchAccess::Read))
        .lenient()
        .with(&[(&["i", "in-place", "inplace"], Does::InPlace), (&["s", "split-exp"], Does::Here)])
        .untried(&["yq -i .a=1 a.yml"]),
    row(&["xmllint", "xsltproc"], RowOperands::Each(TouchAccess::Read))
        .lenient()
        .with(&[(&["o", "output"], Does::Writes)])
        .untried(&["xmllint --output new a.xml"]),
    row(&["ctags", "etags"], RowOperands::Here)
        .lenient()
        .with(&[(&["f", "o"], Does::Writes)])
        .untried(&["ctags -f new x.c"]),
    row(&["msgfmt"], RowOperands::Here)
        .lenient()
        .with(&[(&["o", "output-file"], Does::Writes)])
        .untried(&["msgfmt -o new.mo a.po"]),
    row(&["rustfmt"], RowOperands::Each(TouchAccess::Write))
        .lenient()
        .with(&[(&["check"], Does::OnlyReads)])
        .untried(&["rustfmt a.rs"]),
    row(&["gofmt", "goimports", "clang-format", "shfmt"], RowOperands::Each(TouchAccess::Read))
        .lenient()
        .with(&[(&["w", "i", "in-place"], Does::InPlace)])
        .untried(&["gofmt -w a.go"]),
    row(&["fd", "fdfind"], RowOperands::AfterFirst(TouchAccess::Read))
        .lenient()
        .with(&[(&["x", "exec", "X", "exec-batch"], Does::Runs)])
        .untried(&["fd x dir"]),
    row(&["cargo"], RowOperands::Fixed(TouchAccess::Delete, &["target"]))
        .when(RowCondition::Word(&["clean"]))
        .lenient()
        .with(&[(&["target-dir"], Does::Removes), (&["n", "dry-run"], Does::Keeps)])
        .untried(&["cargo clean"]),
    row(&["npm", "pnpm", "yarn"], RowOperands::Fixed(TouchAccess::Delete, &["node_modules"]))
        .when(RowCondition::Word(&["ci", "prune"]))
        .lenient()
        .with(&[(&["prefix", "C", "dir", "cwd"], Does::WritesWithin)])
        .untried(&["npm ci"]),
    row(&["npm", "pnpm", "yarn"], RowOperands::Fixed(TouchAccess::Write, &["package.json", "node_modules"]))
        .when(RowCondition::Word(&[
            "install",
            "i",
            "add",
            "uninstall",
            "remove",
            "rm",
            "un",
            "update",
            "upgrade",
        ]))
        .lenient()
        .with(&[(&["prefix", "C", "dir", "cwd"], Does::WritesWithin), (&["g", "global"], Does::Anywhere)])
        .untried(&["npm install x"]),
];

pub(super) fn texts(operands: &[ShellWord]) -> impl Iterator<Item = Option<String>> {
    operands.iter().map(|word| word.literal().map(str::to_ascii_lowercase))
}

/// A format of `curl` can name a file that the rest of it is written to.
fn writes_out(operands: &[ShellWord], _: &[String]) -> Option<&'static str> {
    let writes =
        |text: Option<String>| text.is_some_and(|text| text.contains("%output{") || text.starts_with('@'));
    texts(operands).any(writes).then_some("its output format is not understood")
}

fn keeps_a_register(operands: &[ShellWord], _: &[String]) -> Option<&'static str> {
    let first = texts(operands).next().flatten();
    first
        .is_some_and(|first| matches!(first.as_str(), "ca" | "rehash" | "srp" | "tsget"))
        .then_some("it changes files that its words do not name")
}

fn image_scripts(operands: &[ShellWord], _: &[String]) -> Option<&'static str> {
    let is_script = |text: &str| {
        ["ephemeral:", "msl:", "@", "|", "https:", "http:"].iter().any(|start| text.starts_with(start))
    };
    texts(operands)
        .flatten()
        .any(|text| is_script(&text))
        .then_some("a name makes it run a script or remove its input")
}

/// Words of SQL and commands of the program that reach beyond the database.
fn sqlite_scripts(operands: &[ShellWord], _: &[String]) -> Option<&'static str> {
    const BEYOND: &[&str] =
        &["attach", "writefile", "readfile", "edit(", "load_extension", "vacuum into", "fts3_tokenizer"];
    let reaches = |text: Option<String>| {
        text.is_none_or(|text| {
            text.split(['\n', ';']).any(|line| line.trim_start().starts_with('.'))
                || BEYOND.iter().any(|word| text.contains(word))
        })
    };
    let (_, statements) = operands.split_first()?;
    if statements.is_empty() {
        return Some("it runs the statements and commands that it reads");
    }
    texts(statements).any(reaches).then_some("what the statements do outside the database is not known")
}

const DATA: &str = "it can change data that buddy cannot bring back";

/// Statements that do more than read: their changes in a database cannot be undone here.
fn changes_data(operands: &[ShellWord], names: &[String]) -> Option<&'static str> {
    const LOOKS: &[&str] = &["select", "show", "explain", "describe", "\\d", "\\l"];
    let is_look = |text: &str| {
        let is_one = !text.trim_end().trim_end_matches(';').contains(';') && text.matches('\\').count() <= 1;
        is_one
            && LOOKS.iter().any(|start| text.starts_with(start))
            && !text.contains(" into ")
            && !text.contains("analyze")
    };
    let is_statement =
        |text: &str| text.contains(char::is_whitespace) || text.starts_with('\\') || text.ends_with(';');
    let Some(all) = texts(operands).collect::<Option<Vec<String>>>() else { return Some(DATA) };
    let statements: Vec<String> = all.into_iter().filter(|text| is_statement(text)).collect();
    let asks_nothing =
        names.iter().any(|name| matches!(name.as_str(), "version" | "help" | "V" | "l" | "list"));
    let only_looks = !statements.is_empty() && statements.iter().all(|text| is_look(text));
    (!only_looks && !asks_nothing).then_some(DATA)
}

fn changes_keys(operands: &[ShellWord], _: &[String]) -> Option<&'static str> {
    const LOOKS: &[&str] = &[
        "get", "mget", "ping", "info", "keys", "scan", "ttl", "type", "exists", "llen", "lrange", "hget",
        "hgetall", "smembers", "dbsize", "strlen",
    ];
    let verb = texts(operands).next().flatten();
    (!verb.is_some_and(|verb| LOOKS.contains(&verb.as_str()))).then_some(DATA)
}
