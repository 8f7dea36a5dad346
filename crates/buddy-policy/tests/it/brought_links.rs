//! Production: a line that brings a link to a place and changes something through it asks.

use std::path::PathBuf;

use buddy_policy::{Carried, Mode, Now, Verdict, carried, decide};
use buddy_protocol::ApprovalPolicy;

use crate::stage::{check, policy, run};

/// The verdict where `/w/lf` and `/w/d` are or hold links.
fn verdict(line: &str) -> Verdict {
    let policy = policy(Mode::Production);
    let is_linking = |one: &Carried| match one {
        Carried::Named(path) => [PathBuf::from("/w/lf"), PathBuf::from("/w/d")].contains(path),
        Carried::Matched(path) => path == &PathBuf::from("/w/d"),
    };
    let carried: Vec<Carried> = carried(&run(line), &policy).into_iter().filter(is_linking).collect();
    let now = Now { carried: &carried, ..Now::with(ApprovalPolicy::Ask) };
    decide(&run(line), &policy, &now).verdict
}

#[test]
fn a_change_where_a_link_was_brought_asks() {
    let lines = [
        "mv lf g && echo x > g",
        "mv lf g; echo x >> ./g",
        "mv -t sub lf && echo x > sub/lf",
        "mv lf sub/ && tee sub/lf",
        "mv d e && rm e/out/f",
        "mv d e && rm e/out/*",
        "mv d e; cd e/out; rm f",
        "mv d/* e && echo x > e/f",
        "mv lf g && shred g",
        "mv lf g && sort -o g a",
        "mv lf g && bash -c 'echo x > g'",
        "bash -c 'mv lf g' && dd if=a of=g",
        "timeout 5 mv lf g && cp a g",
        "mv lf a && mv a b && cp x b",
        "mv lf a && cp -a a b && cp x b",
        "mv lf a && ln -s a b && cp x b",
        "cp -a lf g && echo x > g",
        "cp -P lf g && echo x > g",
        "cp --no-dereference lf g && echo x > g",
        "cp --arch lf g && echo x > g",
        "cp -R d e && cp x e/out/f",
        "cp -r d e && cp -r x/. e",
        "cp -l lf g && echo x > g",
        "rsync -a d/ e && echo x > e/f",
        "rsync -a host:d/ e && echo x > e/f",
        "ln lf g && echo x > g",
        "link lf g && echo x > g",
        "git mv lf g && echo x > g",
        "mv lf g & echo x > g",
        "{ sleep 1; echo x > g; } & mv lf g",
        "setsid -f sh -c 'sleep 1; echo x > g'; mv lf g",
        "(sleep 1; echo x > g) | mv lf g",
        "for i in 1 2; do echo x > g; mv lf g; done",
        "while read x; do sh -c 'echo x > g; mv lf g'; done < a",
        "mv lf g && { echo x; echo y; } > g",
        "echo $(mv lf g) > g",
        "rename s/lf/g/ lf && echo x > g",
        "find . -name a -exec mv lf g \\; -exec tee g \\;",
        "ls d | xargs -I{} mv d/{} e; echo x > e/f",
        "cp -a \"$x\" g; echo x > g",
        "ln -s ../x sub/l && echo x > sub/l",
        "cd sub && ln -s x ../l && echo x > ../l",
        "tar xf a.tar && tee out/f",
        "tar xf a.tar && echo x > f",
        "tar -C sub -xf a.tar && rm sub/out/f",
        "tar xf a.tar && tar xf b.tar",
        "for t in a b; do tar xf a.tar; done",
        "ls *.tar | xargs -n 1 tar xf",
        "curl -s https://example.org/ | tar xz && cp a out/f",
        "bsdtar xf a.tar && cp a out/f",
        "unzip a.zip && cp a out/f",
        "unzip a.zip -d sub && mkdir sub/out/new",
        "7z x a.7z && cp a out/f",
        "cpio -id --no-absolute-filenames < a && cp a out/f",
        "dpkg-deb -x a.deb sub && cp a sub/out/f",
        "python3 -m tarfile -e a.tar && cp a out/f",
        "patch -p1 < a.diff && cp a out/f",
        "git checkout B && cp a out/f",
        "cd sub && git checkout B && cp a ../out/f",
        "git -C sub checkout B && cp a out/f",
        "git checkout -b new B && cp a out/f",
        "git checkout -bnew B && cp a out/f",
        "git switch B; sed -i s/a/b/ f",
        "git stash pop && echo x > f",
        "git stash apply && chmod +x f",
        "git apply a.diff && cp a out/f",
        "git am a.patch && cp a out/f",
        "git merge B && cp a out/f",
        "git pull && cp a out/f",
        "git reset --keep B && cp a out/f",
        "git cherry-pick B && cp a out/f",
        "git rebase B && cp a out/f",
        "git worktree add wt B && cp a wt/out/f",
        "git clone ../x y && cp a y/out/f",
        "tar xf a.tar && git -C out init",
        "tar xf a.tar && git -C out add .",
        "tar xf a.tar && git format-patch -o out -1",
        "tar xf a.tar && git archive -o out/x.tar HEAD",
        "tar xf a.tar && find . -fprint out/f",
        "tar xf a.tar && openssl rand -out out/k 8",
        "tar cf - d | tar xf - -C e; echo x > e/out/f",
        "busybox mv lf g; echo x > g",
        "find . -name lf -execdir mv {} g \\; ; echo x > g",
        "git submodule update --init; echo x > lib/f",
        "git subtree pull --prefix=a ../x B; echo x > a/out/f",
    ];
    let unasked: Vec<&&str> = lines.iter().filter(|line| verdict(line) != Verdict::Ask).collect();
    assert!(unasked.is_empty(), "{unasked:#?}");
}

#[test]
fn lines_that_bring_no_link_or_change_nothing_there_run() {
    let lines = [
        "mv lf g",
        "mv lf g && cat g",
        "mv lf g && rm g",
        "mv lf g && echo x > h",
        "echo x > g && mv lf g",
        "mv a g && echo x > g",
        "mv a.tmp a && chmod +x a",
        "cp lf g && echo x > g",
        "cp -r src app && sed -i s/a/b/ app/f",
        "mv d e && make -C e",
        "mkdir -p sub && tar xf a.tar -C sub",
        "mkdir -p sub && tar xf a.tar -C sub | tee log",
        "tar xf a.tar > log.txt 2>&1",
        "{ tar xf a.tar; ls; } > log.txt",
        "tar xf a.tar && ls -la && make",
        "tar tf a.tar > list.txt",
        "tar cf a.tar d && mv a.tar b.tar",
        "unzip -l a.zip > list.txt",
        "git checkout -b new && echo x > f",
        "git switch -c new && echo x > f",
        "git stash && git checkout main && git stash pop",
        "git checkout main && git merge new && make test",
        "git reset && echo x > f",
        "git restore --staged f && echo x > f",
        "git add f && git commit -m x && echo x > f",
        "git apply --check a.diff && echo x > f",
        "git diff > a.diff && git apply a.diff",
        "git -C sub stash && git -C sub checkout main && git -C sub stash pop",
        "cd sub && git pull && git add -A && git commit -m x",
        "cp --preserve=all lf g; echo x > g",
        "jar xf a.jar; echo x > out/f",
        "gunzip a.gz; echo x > a",
        "ln -s /w/src near && cp a near/f",
        "ln -s src link && cp a link/f",
    ];
    let asked: Vec<&&str> = lines.iter().filter(|line| verdict(line) != Verdict::Allow).collect();
    assert!(asked.is_empty(), "{asked:#?}");
    // A jail holds them elsewhere.
    check(Mode::Development, "mv lf g && echo x > g", Verdict::Ask);
    let auto = Now::with(ApprovalPolicy::Auto);
    assert_eq!(
        decide(&run("tar xf a.tar && cp a out/f"), &policy(Mode::Development), &auto).verdict,
        Verdict::Allow
    );
}

#[test]
fn the_host_is_asked_about_what_is_moved_and_changed_afterwards() {
    let asked = |line: &str| carried(&run(line), &policy(Mode::Production));
    assert_eq!(asked("mv a b"), []);
    assert_eq!(asked("mv a b; echo x > c"), []);
    assert_eq!(asked("mv a b; echo x > b"), [Carried::Named("/w/a".into())]);
    assert_eq!(asked("mv d/* b; echo x > b/f"), [Carried::Matched("/w/d".into())]);
    assert_eq!(
        asked("cp -a a b; mv b c; echo x > c"),
        [Carried::Named("/w/b".into()), Carried::Named("/w/a".into())]
    );
}
