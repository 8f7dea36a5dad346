//! Compilers, assemblers and linkers, with the options that write files.

use super::outputs::texts;
use super::row::{Does, FileRow, OperandForm, RowOperands, row};
use crate::effect::TouchAccess;
use crate::effect::flags::Flags;
use crate::shell::ShellWord;

const CC: &[&str] = &["gcc", "cc", "g++", "c++", "clang", "clang++", "tcc", "gfortran"];

pub(super) const ROWS: &[FileRow] = &[
    row(CC, RowOperands::Here)
        .form(OperandForm::Single)
        .lenient()
        .check(passes_options)
        .flags(Flags::of("IlLDUWfmOgswcSEpMvx", "ILDUx"))
        .with(&[
            (&["o"], Does::Writes),
            (
                &["MF", "MJ", "aux-info", "ftime-trace", "serialize-diagnostics", "dependency-file"],
                Does::AlsoWrites,
            ),
            (&["fcrash-diagnostics-dir", "fmodules-cache-path", "index-store-path"], Does::WritesWithin),
            (&["foptimization-record-file", "fprofile-instr-generate"], Does::WritesJoined),
            (&["dumpdir", "dumpbase"], Does::WritesBeside),
            (&["MD", "MMD", "save-temps", "gsplit-dwarf", "coverage"], Does::Backs),
            (&["wrapper", "fplugin", "specs", "B"], Does::Runs),
        ])
        .changes(&[
            "gcc x.c",
            "gcc -O2 -Wall -o prog x.c",
            "cc -c x.c",
            "gcc -c x.c -o empty/x.o",
            "gcc -MMD -c x.c -o empty/x.o",
            "gcc -oprog x.c",
            "gcc -MD -MF deps -c x.c",
            "g++ x.c",
            "gcc -aux-info list x.c",
            "c++ -o prog x.c",
        ])
        .reads(&["gcc -E x.c", "gcc --version", "gcc -fsyntax-only x.c"]),
    row(&["ld", "ld.lld", "mold", "ld.gold"], RowOperands::Here)
        .form(OperandForm::Single)
        .lenient()
        .check(passes_options)
        .with(&[
            (&["o", "output"], Does::Writes),
            (
                &[
                    "Map",
                    "dependency-file",
                    "out-implib",
                    "output-def",
                    "reproduce",
                    "time-trace",
                    "lto-obj-path",
                    "why-extract",
                    "print-archive-stats",
                    "print-symbol-order",
                    "opt-remarks-filename",
                ],
                Does::AlsoWrites,
            ),
            (&["plugin"], Does::Runs),
        ])
        .changes(&[
            "ld -r -o new.o x.o",
            "ld -r -Map map -o new.o x.o",
            "ld -r --dependency-file=deps -o new.o x.o",
            "ld.gold -r -o new.o x.o",
            "ld -r -Map map x.o",
        ]),
    row(&["as"], RowOperands::Here)
        .form(OperandForm::Single)
        .lenient()
        .check(passes_options)
        .with(&[(&["o"], Does::Writes), (&["MD"], Does::AlsoWrites), (&["a"], Does::WritesJoined)])
        .changes(&[
            "as -o new.o x.s",
            "as x.s",
            "as -a=list -o new.o x.s",
            "as -aln=list -o empty/x.o x.s",
            "as --MD deps -o new.o x.s",
            "as --MD deps x.s",
        ]),
    // Its output is beside the source.
    row(&["nasm"], RowOperands::Beside)
        .form(OperandForm::Single)
        .lenient()
        .check(passes_options)
        .with(&[(&["o"], Does::Writes), (&["l", "MF", "MD", "Z"], Does::AlsoWrites)])
        .changes(&[
            "printf 'nop\n' > x.asm; nasm -l list x.asm",
            "printf 'nop\n' > dir/x.asm; nasm dir/x.asm",
            "printf 'nop\n' > x.asm; nasm -o new x.asm",
        ]),
    row(&["yasm"], RowOperands::Here)
        .form(OperandForm::Single)
        .lenient()
        .check(passes_options)
        .with(&[(&["o"], Does::Writes), (&["l", "MF", "MD", "Z", "E"], Does::AlsoWrites)])
        .changes(&[
            "printf 'nop\n' > x.asm; yasm -o new x.asm",
            "printf 'nop\n' > dir/x.asm; yasm -f elf dir/x.asm",
            "printf 'nop\n' > x.asm; yasm -l list x.asm",
        ]),
    row(&["protoc"], RowOperands::Text)
        .lenient()
        .with(&[
            (
                &[
                    "cpp_out",
                    "python_out",
                    "pyi_out",
                    "go_out",
                    "go-grpc_out",
                    "java_out",
                    "kotlin_out",
                    "js_out",
                    "ts_out",
                    "csharp_out",
                    "objc_out",
                    "php_out",
                    "ruby_out",
                    "rust_out",
                    "dart_out",
                    "swift_out",
                    "grpc_out",
                    "grpc_python_out",
                    "es_out",
                    "grpc-web_out",
                ],
                Does::WritesWithin,
            ),
            (&["o", "descriptor_set_out", "dependency_out"], Does::Writes),
        ])
        .untried(&["protoc --python_out=dir a.proto"]),
    row(&["strip", "ranlib", "objcopy"], RowOperands::Each(TouchAccess::Write))
        .lenient()
        .with(&[(&["o", "output"], Does::Writes), (&["dump-section"], Does::Anywhere)])
        .changes(&["strip -g x.o", "objcopy -g x.o new.o", "strip -o new.o -g x.o", "ranlib lib.a"]),
    row(&["javac"], RowOperands::Beside)
        .form(OperandForm::Single)
        .lenient()
        .with(&[(&["d", "s", "h"], Does::WritesWithin)])
        .untried(&["javac -d dir A.java"]),
    row(&["rustc"], RowOperands::Here)
        .lenient()
        .with(&[(&["o"], Does::Writes), (&["out-dir"], Does::WritesWithin)])
        .untried(&["rustc -o prog a.rs"]),
];

/// Options of a compiler in a file, or for programs that it runs, can name any output.
fn passes_options(operands: &[ShellWord], names: &[String]) -> Option<&'static str> {
    const OUTPUTS: &[&str] =
        &["Map", "-o", "output", "plugin", "-MD", "-MMD", "dependency-file", "reproduce", "-a", "implib"];
    let is_passed = |name: &String| {
        ["Wl,", "Wa,", "Wp,"].iter().any(|start| name.starts_with(start))
            && OUTPUTS.iter().any(|part| name.contains(part) && (*part != "-a" || name.starts_with("Wa,")))
            || ["Xlinker", "Xassembler", "Xpreprocessor", "fdump-", "fopt-info", "fdiagnostics-add-output"]
                .iter()
                .any(|start| name.starts_with(start))
    };
    let is_file = |text: Option<String>| text.is_some_and(|text| text.starts_with('@'));
    (names.iter().any(is_passed) || texts(operands).any(is_file))
        .then_some("it passes on options that can write files")
}
