//! Compressors: most of them put another file in the place of the one that they read.

use super::row::{Does, FileRow, RowOperands, row};
use crate::effect::TouchAccess;
use crate::effect::flags::Flags;

const LEVELS: &str = "0123456789fqvrnNaiF";
const LONG: &[&str] = &[
    "force",
    "quiet",
    "verbose",
    "best",
    "fast",
    "recursive",
    "name",
    "no-name",
    "extreme",
    "decompress",
    "uncompress",
    "rsyncable",
];
const LONG_VALUE: &[&str] = &["threads", "suffix", "format", "check", "memlimit", "processes", "blocksize"];
const REPLACING: Flags = Flags::of("0123456789fqvrnNaideszF", "TSMbp").long(LONG, LONG_VALUE);
const REPLACING_OPTIONS: &[(&[&str], Does)] = &[
    (&["c", "stdout", "to-stdout"], Does::OnlyReads),
    (&["k", "keep"], Does::Keeps),
    (&["t", "test", "l", "list"], Does::OnlyReads),
];
const KEEPING: Flags = Flags::of(LEVELS, "TMDwBqS").long(
    &[
        "force",
        "quiet",
        "verbose",
        "ultra",
        "fast",
        "adaptive",
        "long",
        "decompress",
        "compress",
        "best",
        "keep",
        "no-progress",
        "no-check",
        "threads",
    ],
    &["threads", "quality", "memory", "lgwin", "suffix"],
);

pub(super) const ROWS: &[FileRow] = &[
    row(&["gzip", "pigz", "compress", "lzip", "plzip"], RowOperands::Replaced)
        .flags(REPLACING)
        .with(REPLACING_OPTIONS)
        .changes(&[
            "gzip a.txt",
            "gzip -9 a.txt b.txt",
            "gzip -r dir",
            "gzip -k a.txt",
            "gzip --keep --best a.txt",
            "gzip -d g.gz",
            "gzip -S .zzz a.txt",
            "pigz a.txt",
            "pigz -k b.txt",
            "lzip a.txt",
            "lzip -k b.txt",
            "plzip a.txt",
        ])
        .reads(&[
            "gzip -c a.txt",
            "gzip -l g.gz",
            "gzip -t g.gz",
            "gzip -dc g.gz",
            "pigz -c a.txt",
            "lzip -c a.txt",
            "plzip -c a.txt",
        ]),
    row(&["gunzip", "uncompress", "unpigz"], RowOperands::Replaced)
        .flags(REPLACING)
        .with(REPLACING_OPTIONS)
        .changes(&["gunzip g.gz", "gunzip -k g.gz", "unpigz g.gz", "uncompress g.gz"])
        .reads(&["gunzip -c g.gz"]),
    row(&["bzip2", "bunzip2", "pbzip2", "lbzip2"], RowOperands::Replaced)
        .flags(REPLACING)
        .with(REPLACING_OPTIONS)
        .changes(&[
            "bzip2 a.txt",
            "bzip2 -k b.txt",
            "bunzip2 h.bz2",
            "bzip2 -dk h.bz2",
            "pbzip2 -q a.txt",
            "lbzip2 b.txt",
        ])
        .reads(&["bzip2 -t h.bz2", "bzip2 -dc h.bz2"]),
    row(&["xz", "unxz", "lzma", "unlzma"], RowOperands::Replaced)
        .flags(REPLACING)
        .with(REPLACING_OPTIONS)
        .changes(&[
            "xz a.txt",
            "xz -T 1 -9 b.txt",
            "unxz i.xz",
            "xz -dk i.xz",
            "lzma a.txt",
            "lzma a.txt && mv a.txt.lzma z.lzma && lzcat z.lzma && unlzma z.lzma",
        ])
        .reads(&["xz -l i.xz", "xz -dc i.xz"]),
    row(&["lzop"], RowOperands::Beside)
        .flags(KEEPING)
        .with(&[
            (&["U", "unlink", "delete"], Does::Takes),
            (&["c", "stdout", "t", "test"], Does::OnlyReads),
            (&["o", "output"], Does::Writes),
            (&["p", "path"], Does::WritesWithin),
        ])
        .changes(&["lzop a.txt", "lzop -U b.txt"])
        .reads(&["lzop -c a.txt"]),
    row(&["zstd", "unzstd", "pzstd", "zstdmt"], RowOperands::Beside)
        .flags(KEEPING)
        .with(&[
            (&["rm"], Does::Takes),
            (&["o"], Does::Writes),
            (&["output-dir-flat", "output-dir-mirror"], Does::WritesWithin),
            (&["c", "stdout", "t", "test", "l", "list"], Does::OnlyReads),
            (&["d", "k", "z"], Does::Keeps),
        ])
        .changes(&[
            "zstd a.txt",
            "zstd --rm a.txt",
            "zstd -q a.txt -o new.zst",
            "zstd -d j.zst",
            "unzstd j.zst",
            "zstd --rm -19 b.txt",
            "zstdmt a.txt",
            "pzstd a.txt",
            "zstd -q --output-dir-flat=empty a.txt",
        ])
        .reads(&["zstd -c a.txt", "zstd -t j.zst"]),
    row(&["lz4", "unlz4"], RowOperands::InOut)
        .flags(Flags::of("0123456789fqvzdkm", "BD").long(&["force", "quiet", "keep", "best", "fast"], &[]))
        .with(&[
            (&["rm"], Does::Takes),
            (&["c", "stdout", "t", "test", "list"], Does::OnlyReads),
            (&["m", "multiple", "r"], Does::Here),
        ])
        .changes(&[
            "lz4 -q a.txt new.lz4",
            "lz4 -q --rm a.txt new.lz4",
            "lz4 -q -d k.lz4 new",
            "unlz4 -q k.lz4 new",
            "lz4 -c --rm a.txt",
        ])
        .reads(&["lz4 -c a.txt", "lz4 -t k.lz4"]),
    row(&["brotli", "unbrotli"], RowOperands::Beside)
        .flags(KEEPING)
        .with(&[
            (&["j", "rm"], Does::Takes),
            (&["o", "output"], Does::Writes),
            (&["c", "stdout", "t", "test"], Does::OnlyReads),
            (&["d", "k"], Does::Keeps),
        ])
        .changes(&[
            "brotli a.txt",
            "brotli -j a.txt",
            "brotli --rm b.txt",
            "brotli -c --rm b.txt",
            "brotli -cj a.txt",
            "brotli -d l.br",
            "brotli a.txt -o new.br",
        ])
        .reads(&["brotli -c a.txt", "brotli -t l.br"]),
    row(
        &["zcat", "bzcat", "xzcat", "lzcat", "zstdcat", "lz4cat", "gzcat"],
        RowOperands::Each(TouchAccess::Read),
    )
    .flags(REPLACING)
    .reads(&["zcat g.gz", "bzcat h.bz2", "xzcat i.xz", "zstdcat j.zst", "lz4cat k.lz4"]),
    row(&["zgrep", "bzgrep", "xzgrep", "zdiff", "zcmp"], RowOperands::AfterFirst(TouchAccess::Read))
        .lenient()
        .reads(&["zgrep g g.gz", "bzgrep h h.bz2", "xzgrep i i.xz", "zdiff g.gz g.gz", "zcmp g.gz g.gz"]),
];
