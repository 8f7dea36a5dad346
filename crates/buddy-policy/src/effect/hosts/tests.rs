use super::*;

/// The hosts of a command, with `?` for those that are not known.
fn hosts(line: &str) -> Vec<String> {
    let script = crate::shell::read(line).unwrap();
    let words = &script.commands[0].words;
    let found = destinations(words[0].literal().unwrap(), words);
    found.into_iter().map(|one| one.host.unwrap_or_else(|| "?".to_owned())).collect()
}

#[track_caller]
fn check(line: &str, expected: &[&str]) {
    assert_eq!(hosts(line), expected, "{line}");
}

#[test]
fn hosts_are_read_off_the_words_of_each_program() {
    for (line, host) in [
        ("curl https://a.test/x?k=1", "a.test"),
        ("curl -sS -X POST -H 'X: y' -d @file a.test:8080/x", "a.test"),
        ("curl --url https://a.test", "a.test"),
        ("curl --data=x https://A.test./", "a.test"),
        ("curl -H \"Authorization: $TOKEN\" https://a.test/", "a.test"),
        ("curl \"https://a.test/$path\"", "a.test"),
        ("wget -qO- http://a.test/", "a.test"),
        ("wget --post-file=x http://a.test/", "a.test"),
        ("ssh -p 22 -i key me@a.test ls -l", "a.test"),
        ("scp file me@a.test:/tmp/", "a.test"),
        ("rsync -av ./ a.test:/srv", "a.test"),
        ("rsync rsync://a.test/x .", "a.test"),
        ("nc -w 3 a.test 80", "a.test"),
        ("ping -c 1 a.test", "a.test"),
        ("dig +short secret.a.test TXT", "secret.a.test"),
        ("nslookup a.test", "a.test"),
        ("host a.test", "a.test"),
        ("telnet a.test 25", "a.test"),
        ("ftp a.test", "a.test"),
        ("socat - TCP:a.test:80", "a.test"),
        ("git clone --depth 1 https://a.test/x.git", "a.test"),
        ("git clone git@a.test:owner/name", "a.test"),
        ("git -C dir push https://a.test/x main:main", "a.test"),
        ("git ls-remote https://a.test/x", "a.test"),
        ("git remote add evil https://a.test/x", "a.test"),
        ("git push a.test:x", "a.test"),
        ("pip install git+https://a.test/x", "a.test"),
        ("npm install https://a.test/x.tgz", "a.test"),
        ("http POST https://a.test/ k=v", "a.test"),
        ("openssl s_client -connect a.test:443", "a.test"),
        ("mail -s hello ann@a.test", "a.test"),
    ] {
        check(line, &[host]);
    }
    check("dig @ns.test a.test", &["ns.test", "a.test"]);
    check("curl -x proxy.test:80 https://a.test/", &["proxy.test", "a.test"]);
    check("curl https://a.test https://b.test", &["a.test", "b.test"]);
    check("ssh -J jump.test,two.test a.test", &["jump.test", "two.test", "a.test"]);
}

#[test]
fn a_host_that_cannot_be_read_is_unknown() {
    for line in [
        "curl $URL",
        "curl \"$URL\"",
        "curl https://$host/x",
        "curl \"https://a.test$rest\"",
        "wget -i list",
        "ssh \"$host\"",
        "git clone \"$url\"",
        "scp x \"$where\"",
        "ping \"$x.a.test\"",
    ] {
        check(line, &["?"]);
    }
    check("curl -K file https://a.test/", &["?", "a.test"]);
    check("curl -H $x https://a.test/", &["?", "a.test"]);
}

#[test]
fn what_reaches_no_host_has_none() {
    for line in [
        "git status",
        "git push",
        "git push origin main:main",
        "git fetch --all",
        "git commit -m 'see https://a.test/'",
        "git clone ../other",
        "cargo build",
        "npm ci",
        "curl --version",
        "rsync -a src/ dst/",
        "scp a b",
        "socat TCP-LISTEN:80 -",
        "echo https://a.test/",
    ] {
        check(line, &[]);
    }
}

#[test]
fn a_body_is_seen_and_a_socket_of_the_shell_too() {
    let has_body = |line: &str| {
        let script = crate::shell::read(line).unwrap();
        destinations("curl", &script.commands[0].words)[0].has_body
    };
    assert!(has_body("curl -d @x https://a.test") && has_body("curl -sTx https://a.test"));
    assert!(!has_body("curl -s https://a.test"));
    assert_eq!(socket(Path::new("/dev/tcp/a.test/80")), Some(Destination::host("a.test".to_owned())));
    assert_eq!(socket(Path::new("/dev/null")), None);
}
