//! Modules that settings of git run with `python -m`, as the files that Python loads them from.

/// The files that `python -m MODULE` loads, below a directory in which it looks for modules.
pub(super) fn files_of_module(module: &str) -> Vec<String> {
    let parts: Vec<&str> = module.split('.').collect();
    // A package without a file of its own gives way to a module of its name.
    let names = (1..=parts.len()).filter_map(|count| Some(parts.get(..count)?.join("/")));
    let names = names.flat_map(|name| [format!("{name}/__init__"), name]);
    names.chain([format!("{}/__main__", parts.join("/"))]).flat_map(|name| forms_of_module(&name)).collect()
}

/// The minor versions of Python 3 that a compiled module can be for.
const PYTHON_MINORS: std::ops::RangeInclusive<u8> = 8..=16;

/// The files from which Python loads a module of this path: compiled ones count before its source. Those for `python -O` are left out, because the
/// number of names is bounded.
pub(super) fn forms_of_module(name: &str) -> Vec<String> {
    let (directory, stem) = match name.rsplit_once('/') {
        Some((above, stem)) => (format!("{above}/"), stem),
        None => (String::new(), name),
    };
    let machine = std::env::consts::ARCH;
    let compiled = PYTHON_MINORS.flat_map(|minor| {
        [
            format!("{directory}__pycache__/{stem}.cpython-3{minor}.pyc"),
            format!("{name}.cpython-3{minor}-{machine}-linux-gnu.so"),
        ]
    });
    let plain = [".py", ".pyc", ".so", ".abi3.so"].map(|end| format!("{name}{end}"));
    plain.into_iter().chain(compiled).collect()
}

/// The modules that commands run with Python's option `-m`, which other options can precede, as in `-Im`.
pub(super) fn modules_run<'a>(words: impl Iterator<Item = &'a str>) -> Vec<&'a str> {
    let mut words = words.peekable();
    let (mut is_python, mut modules) = (false, Vec::new());
    while let Some(word) = words.next() {
        let program = word.rsplit('/').next().unwrap_or_default().to_ascii_lowercase();
        if program == "py" || program.starts_with("python") || program.starts_with("pypy") {
            is_python = true;
            continue;
        }
        let options = word.strip_prefix('-').filter(|options| is_python && !options.starts_with('-'));
        let Some((_, rest)) = options.and_then(|options| options.split_once('m')) else { continue };
        let module = if rest.is_empty() { words.peek().copied() } else { Some(rest) };
        let is_name = |module: &&str| {
            module.split('.').all(|name| {
                !name.is_empty() && name.chars().all(|letter| letter.is_alphanumeric() || letter == '_')
            })
        };
        modules.extend(module.filter(is_name));
    }
    modules
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn compiled_modules_count_before_their_source() {
        let forms = forms_of_module("tools/x");
        let library = format!("tools/x.cpython-311-{}-linux-gnu.so", std::env::consts::ARCH);
        for name in
            ["tools/x.py", "tools/x.pyc", "tools/x.so", "tools/__pycache__/x.cpython-311.pyc", &library]
        {
            assert!(forms.iter().any(|form| form == name), "{name}");
        }
        assert!(forms_of_module("x").iter().any(|form| form == "__pycache__/x.cpython-312.pyc"));
    }
}
