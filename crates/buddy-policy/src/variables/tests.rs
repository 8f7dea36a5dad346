//! The tables against names and values that people have.

use super::*;

fn withheld(name: &str, value: &str) -> Option<Withheld> {
    VariableRules::default().withheld(name, value)
}

#[test]
fn ordinary_variables_are_passed_on() {
    for name in [
        "PATH",
        "HOME",
        "LANG",
        "LC_ALL",
        "TERM",
        "TZ",
        "TMPDIR",
        "NODE_ENV",
        "NODE_OPTIONS",
        "PYTHONPATH",
        "RUST_LOG",
        "CI",
        "CC",
        "CFLAGS",
        "CARGO_HOME",
        "GOPATH",
        "GOFLAGS",
        "JAVA_HOME",
        "JAVA_TOOL_OPTIONS",
        "MAVEN_OPTS",
        "VIRTUAL_ENV",
        "NVM_DIR",
        "NIX_PATH",
        "XDG_CONFIG_HOME",
        "http_proxy",
        "HTTPS_PROXY",
        "NO_PROXY",
        "SSL_CERT_FILE",
        "NODE_EXTRA_CA_CERTS",
        "GIT_SSL_CAINFO",
        "GIT_AUTHOR_NAME",
        "TOKENIZERS_PARALLELISM",
        "KEYTIMEOUT",
        "KUBECONFIG",
        "AWS_PROFILE",
        "PGHOST",
        "COMPASS",
        "AUTHOR",
    ] {
        assert_eq!(withheld(name, "given"), None, "{name}");
    }
    assert_eq!(withheld("DATABASE_URL", "postgres://ann@localhost/shop"), None);
    assert_eq!(withheld("DATABASE_URL", "sqlite:///tmp/a.db"), None);
    assert_eq!(withheld("PIP_INDEX_URL", "https://mirror.example/simple"), None);
}

#[test]
fn secrets_are_known_by_their_names() {
    for name in [
        "ANTHROPIC_API_KEY",
        "GITHUB_TOKEN",
        "AWS_SECRET_ACCESS_KEY",
        "AWS_ACCESS_KEY_ID",
        "PGPASSWORD",
        "MYSQL_PWD",
        "npm_config_token",
        "XDG_api_key",
        "LC_Secret",
        "GOOGLE_APPLICATION_CREDENTIALS",
        "CARGO_REGISTRIES_ACME_TOKEN",
        "SMTP_PASS",
        "SENTRY_DSN",
        "SLACK_WEBHOOK_URL",
        "SSH_KEY",
        "BORG_PASSPHRASE",
        "NPM_AUTH",
    ] {
        assert_eq!(withheld(name, "x"), Some(Withheld::SecretName), "{name}");
    }
}

#[test]
fn secrets_are_known_by_their_values() {
    for value in [
        "postgres://ann:pw@db.example/shop",
        "redis://:pw@localhost:6379",
        "https://0123456789abcdef0123456789@github.com/acme/x",
        "Server=db;User Id=ann;Password=pw;",
        "jdbc:postgresql://db/shop?user=ann&password=pw",
        "ghp_0123456789abcdefghijABCDEFGHIJ012345",
        "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2lnbmF0dXJl",
        "-----BEGIN OPENSSH PRIVATE KEY-----\nabc",
        "first,http://ann:pw@proxy:8080",
    ] {
        assert_eq!(withheld("ANYTHING", value), Some(Withheld::SecretValue), "{value}");
    }
}

#[test]
fn orders_and_ways_are_withheld() {
    let why = |name: &str| withheld(name, "/x");
    for name in [
        "LD_PRELOAD",
        "LD_LIBRARY_PATH",
        "BASH_ENV",
        "ENV",
        "PROMPT_COMMAND",
        "GIT_DIR",
        "GIT_SSH_COMMAND",
        "GIT_CONFIG_COUNT",
        "GIT_EXEC_PATH",
        "SSH_ASKPASS",
        "PYTHONSTARTUP",
    ] {
        assert_eq!(why(name), Some(Withheld::Orders), "{name}");
    }
    for name in ["TMUX", "TMUX_PANE", "STY", "DISPLAY", "DBUS_SESSION_BUS_ADDRESS", "XDG_RUNTIME_DIR"] {
        assert_eq!(why(name), Some(Withheld::Session), "{name}");
    }
    for (name, expected) in session_variables() {
        assert_eq!(why(name), Some(expected), "{name}");
    }
    assert_eq!(why("SSH_AUTH_SOCK"), Some(Withheld::Service));
    assert_eq!(why("EDITOR"), Some(Withheld::Terminal));
    assert_eq!(why("BUDDY_HOME"), Some(Withheld::Own));
    for name in ["", "BASH_FUNC_ls%%", "a b", "1A", "A=B"] {
        assert_eq!(why(name), Some(Withheld::Name), "{name}");
    }
}

#[test]
fn patterns_pass_and_hide_variables() {
    let rules = VariableRules {
        pass: ["database_url", "STRIPE_*", "LD_LIBRARY_PATH", "*"].map(str::to_owned).to_vec(),
        hide: ["STRIPE_LIVE_*", "ci"].map(str::to_owned).to_vec(),
    };
    let withheld = |name: &str| rules.withheld(name, "postgres://ann:pw@db/shop");
    for name in ["DATABASE_URL", "STRIPE_TEST_KEY", "LD_LIBRARY_PATH"] {
        assert_eq!(withheld(name), None, "{name}");
    }
    assert_eq!(withheld("STRIPE_LIVE_KEY"), Some(Withheld::Hidden));
    assert_eq!(withheld("CI"), Some(Withheld::Hidden));
    assert_eq!(withheld("TMUX"), Some(Withheld::Session));
    assert_eq!(withheld("BUDDY_HOME"), Some(Withheld::Own));
}

#[test]
fn patterns_take_any_characters_in_the_place_of_stars() {
    for (pattern, name, expected) in [
        ("A*B", "AB", true),
        ("A*B", "AxxB", true),
        ("A*B", "A", false),
        ("*", "", true),
        ("A*A", "A", false),
        ("*KEY_*", "MY_KEY_ID", true),
        ("a*b*c", "A1B2C", true),
        ("a*b*c", "A1C", false),
        ("ab", "ABC", false),
    ] {
        assert_eq!(fits(pattern, name), expected, "{pattern} {name}");
    }
}
