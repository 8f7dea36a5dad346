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

/// Lines that reach one host.
const ONE_HOST: &[(&str, &str)] = &[
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
    ("psql -h a.test -c 'select 1'", "a.test"),
    ("psql --host=a.test", "a.test"),
    ("psql postgres://u:p@a.test/db", "a.test"),
    ("psql 'host=a.test dbname=x'", "a.test"),
    ("pg_dump -d postgresql://a.test/x", "a.test"),
    ("mysql -ha.test -e 'select 1'", "a.test"),
    ("mysql --host a.test", "a.test"),
    ("mongosh mongodb://a.test/x", "a.test"),
    ("mongosh --host a.test", "a.test"),
    ("redis-cli -h a.test get x", "a.test"),
    ("redis-cli -u redis://a.test", "a.test"),
    ("gpg --keyserver a.test --recv-keys x", "a.test"),
    ("gpg --keyserver hkps://a.test --send-keys x", "a.test"),
    ("npx https://a.test/x.tgz", "a.test"),
    ("npm exec https://a.test/x.tgz", "a.test"),
    ("npm install git+ssh://git@a.test/x", "a.test"),
    ("npm i owner/name", "github.com"),
    ("npm i github:owner/name", "github.com"),
    ("npm --registry https://a.test install x", "a.test"),
    ("npm install --registry=https://a.test x", "a.test"),
    ("pip install -i https://a.test/simple x", "a.test"),
    ("pip install -ihttps://a.test/simple x", "a.test"),
    ("pip install --index-url=https://a.test x", "a.test"),
    ("pip install --extra-index-url https://a.test x", "a.test"),
    ("pip install 'x @ git+https://a.test/x'", "a.test"),
    ("uv add git+https://a.test/x", "a.test"),
    ("uv pip install --index-url https://a.test x", "a.test"),
    ("uvx --from git+https://a.test/x y", "a.test"),
    ("cargo install --git https://a.test/x", "a.test"),
    ("git archive --remote=https://a.test/x HEAD", "a.test"),
    ("git remote set-url origin https://a.test/x", "a.test"),
    ("git remote set-url origin a.test:x", "a.test"),
    ("git remote add x a.test:y", "a.test"),
    ("git -c remote.x.url=https://a.test/x push x", "a.test"),
    ("git -c url.https://a.test/.insteadOf=https://b push", "a.test"),
    ("git config remote.origin.url https://a.test/x", "a.test"),
    ("git submodule add https://a.test/x", "a.test"),
    ("git fetch-pack https://a.test/x", "a.test"),
    ("git clone -c http.proxy=https://a.test ../x", "a.test"),
    ("tar cf a.test:x .", "a.test"),
    ("tar czf a.test:x .", "a.test"),
    ("tar -cf me@a.test:/x .", "a.test"),
    ("tar --file=a.test:x -c .", "a.test"),
    ("tar -c -f a.test:x .", "a.test"),
    ("go get a.test/x@latest", "a.test"),
    ("go run a.test/x@v1", "a.test"),
    ("go install a.test/x/y@latest", "a.test"),
    ("docker pull a.test/x/y:1", "a.test"),
    ("docker push a.test:5000/x", "a.test"),
    ("docker login a.test", "a.test"),
    ("podman run --rm a.test/x sh", "a.test"),
    ("docker -H tcp://a.test:2375 ps", "a.test"),
    ("docker pull alpine", "docker.io"),
    ("gdb -ex 'target remote a.test:1234'", "a.test"),
    ("systemctl -H me@a.test status", "a.test"),
    ("systemctl --host=a.test status", "a.test"),
    ("logger -n a.test x", "a.test"),
    ("logger --server a.test x", "a.test"),
    ("ldapsearch -H ldap://a.test -x", "a.test"),
    ("ldapsearch -h a.test", "a.test"),
    ("smbclient //a.test/share", "a.test"),
    ("smbclient -L a.test", "a.test"),
    ("kubectl --server=https://a.test get pods", "a.test"),
    ("kubectl -s https://a.test get pods", "a.test"),
    ("aws --endpoint-url https://a.test s3 ls", "a.test"),
    ("nmap -p 80 a.test", "a.test"),
    ("openssl s_client a.test:443", "a.test"),
    ("lftp a.test", "a.test"),
    ("sftp me@a.test:/x", "a.test"),
    ("rsync -a x a.test::module", "a.test"),
    ("aria2c https://a.test/x", "a.test"),
    ("yt-dlp https://a.test/x", "a.test"),
    ("http a.test/x k=v", "a.test"),
    ("http POST a.test k=v", "a.test"),
    ("https a.test", "a.test"),
    ("ab -n 10 http://a.test/", "a.test"),
    ("wrk -t2 -c4 http://a.test/", "a.test"),
    ("mosquitto_pub -h a.test -t x -m y", "a.test"),
    ("iperf3 -c a.test", "a.test"),
    ("svn co https://a.test/x", "a.test"),
    ("hg clone ssh://me@a.test/x", "a.test"),
];

#[test]
fn hosts_are_read_off_the_words_of_each_program() {
    for (line, host) in ONE_HOST {
        check(line, &[host]);
    }
    check("whois -h ns.test a.test", &["ns.test", "a.test"]);
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
        "psql -h \"$h\"",
        "gpg --recv-keys x",
        "gpg --refresh-keys",
        "lftp -c 'open a.test'",
        "mysql --defaults-file=x",
        "ngrok http 80",
        "croc send x",
        "ansible all -m ping",
        "git submodule update --init",
        "docker login \"$h\"",
    ] {
        check(line, &["?"]);
    }
    check("curl -K file https://a.test/", &["?", "a.test"]);
    check("curl -H $x https://a.test/", &["?", "a.test"]);
}

#[test]
fn local_commands_have_no_host() {
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
        "psql -c 'select 1'",
        "psql db",
        "psql -c \"select 'a@b.test: x', 'https://c.test'\"",
        "journalctl -u $unit",
        "tar --exclude=$x -czf x.tgz .",
        "npm -w $pkg run build",
        "mysql -u root -e 'select 1'",
        "redis-cli get x",
        "gpg -c file",
        "gpg --verify x.sig",
        "npm install left-pad",
        "npm install @scope/name",
        "npm install ./vendor/pad.tgz",
        "npm i foo@npm:bar@1",
        "npm run build",
        "npx eslint src/app",
        "go test ./...",
        "go run main.go",
        "go run ./cmd/x",
        "go build example.test/me/x",
        "tar cf x.tar .",
        "tar xzf /tmp/a:b.tgz -C x",
        "tar --force-local -cf a:b .",
        "gdb -ex run x",
        "gdb -ex 'target remote :1234' x",
        "systemctl status x",
        "logger hello",
        "getent passwd root",
        "docker ps",
        "git remote update",
        "git remote -v",
        "git config user.name x",
        "uv run pytest",
        "pip install requests==2.0",
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
    let reached = |path: &str| socket(&TouchReach::Path(path.into()));
    assert_eq!(reached("/dev/tcp/a.test/80"), Some(Destination::host("a.test".to_owned())));
    assert_eq!(reached("/dev/null"), None);
    assert_eq!(socket(&TouchReach::Unknown("/dev/tcp/$h/80".to_owned())), Some(Destination::unknown()));
}
