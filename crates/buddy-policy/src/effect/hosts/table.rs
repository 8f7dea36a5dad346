//! The table: for each program that speaks to a network, the places of hosts in its words.

/// The way to read the hosts of a program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum HostReading {
    /// Operands are addresses, with or without a scheme.
    Addresses,
    /// The first operand is a host, `user@host` or an address; so are all if there are several.
    Hosts,
    /// Operands are `host:path`, addresses, or paths of this machine.
    Copies,
    /// Operands are names to look up; the server is `@name`.
    Lookups,
    /// Operands are `TYPE:host:port`.
    Sockets,
    /// A subcommand with an address or `host:path`.
    Git,
    /// Only words that are whole addresses count: the rest are names of packages and files.
    Links,
    /// The value of one option is `host:port`.
    Connects,
    /// Options name the host; operands count if they are whole addresses or settings such as `host=a`.
    /// Without any it is a server of this machine, or one that the user configured.
    Options,
    /// As before, and some of its uses reach a server that the words need not name.
    Keys,
    /// Packages: whole addresses, `user@host:path`, and short forms for repositories of well-known hosts.
    Packages,
    /// Modules of Go, whose names begin with a host.
    Modules,
    /// Images, whose names may begin with a host.
    Images,
    /// The archive may be `host:file`.
    Archive,
    /// A command of a debugger names the host.
    Debugger,
    /// An address after an optional method: `POST a.test/x k=v`.
    Request,
    /// Words that choose among connections: `@name`, or the word after `dst` or `src`. A name is looked up.
    Peers,
    /// Operands such as `//host/share`.
    Shares,
    /// It reaches hosts that its words do not name.
    Anywhere,
}

impl HostReading {
    /// Whether a value that the shell could make several words of can hold a host. Other programs have too many other values.
    pub(super) fn takes_hosts_anywhere(self) -> bool {
        matches!(
            self,
            Self::Addresses
                | Self::Hosts
                | Self::Copies
                | Self::Lookups
                | Self::Sockets
                | Self::Git
                | Self::Links
                | Self::Connects
                | Self::Request
        )
    }
}

/// The syntax of one program.
pub(super) struct Sender {
    pub(super) programs: &'static [&'static str],
    pub(super) reading: HostReading,
    /// Options that take a value, short and long. A value that is not listed is read as an operand, which asks.
    pub(super) short: &'static str,
    pub(super) long: &'static [&'static str],
    /// Options whose value is a host or an address.
    pub(super) hosts: &'static [&'static str],
    /// Options that take hosts from a file, or from words that are not read here.
    pub(super) unknown: &'static [&'static str],
    /// Options with a body.
    pub(super) bodies: &'static [&'static str],
}

const PLAIN: Sender = Sender {
    programs: &[],
    reading: HostReading::Hosts,
    short: "",
    long: &[],
    hosts: &[],
    unknown: &[],
    bodies: &[],
};

pub(super) const SENDERS: &[Sender] = &[
    Sender {
        programs: &["curl"],
        reading: HostReading::Addresses,
        short: "AbcCdDeEFhHKmoPQrtTuUwxXyYz",
        long: &[
            "user-agent",
            "cookie",
            "cookie-jar",
            "continue-at",
            "data",
            "data-raw",
            "data-binary",
            "data-ascii",
            "data-urlencode",
            "url-query",
            "dump-header",
            "referer",
            "cert",
            "cert-type",
            "form",
            "form-string",
            "header",
            "config",
            "max-time",
            "connect-timeout",
            "output",
            "output-dir",
            "range",
            "upload-file",
            "user",
            "proxy-user",
            "write-out",
            "proxy",
            "preproxy",
            "request",
            "retry",
            "retry-delay",
            "retry-max-time",
            "json",
            "url",
            "cacert",
            "capath",
            "key",
            "key-type",
            "pass",
            "ciphers",
            "limit-rate",
            "max-redirs",
            "max-filesize",
            "interface",
            "resolve",
            "connect-to",
            "doh-url",
            "dns-servers",
            "netrc-file",
            "oauth2-bearer",
            "proto",
            "proto-redir",
            "socks4",
            "socks4a",
            "socks5",
            "socks5-hostname",
            "stderr",
            "trace",
            "trace-ascii",
            "unix-socket",
            "variable",
            "aws-sigv4",
            "parallel-max",
            "speed-limit",
            "speed-time",
            "time-cond",
            "tls-max",
            "local-port",
            "mail-from",
            "mail-rcpt",
            "quote",
        ],
        hosts: &[
            "url",
            "x",
            "proxy",
            "preproxy",
            "socks4",
            "socks4a",
            "socks5",
            "socks5-hostname",
            "doh-url",
        ],
        unknown: &["K", "config", "connect-to", "resolve", "dns-servers", "variable"],
        bodies: &[
            "d",
            "data",
            "data-raw",
            "data-binary",
            "data-ascii",
            "data-urlencode",
            "F",
            "form",
            "form-string",
            "json",
            "T",
            "upload-file",
        ],
    },
    Sender {
        programs: &["wget", "wget2"],
        reading: HostReading::Addresses,
        short: "oaOitTwQPUADRIXlBe",
        long: &[
            "output-document",
            "output-file",
            "append-output",
            "input-file",
            "tries",
            "timeout",
            "wait",
            "quota",
            "directory-prefix",
            "user-agent",
            "header",
            "post-data",
            "post-file",
            "body-data",
            "body-file",
            "method",
            "referer",
            "user",
            "password",
            "http-user",
            "http-password",
            "execute",
            "config",
            "base",
            "accept",
            "reject",
            "domains",
            "level",
            "load-cookies",
            "save-cookies",
            "ca-certificate",
            "limit-rate",
        ],
        hosts: &[],
        unknown: &["i", "input-file", "e", "execute", "config", "B", "base"],
        bodies: &["post-data", "post-file", "body-data", "body-file"],
    },
    Sender {
        programs: &["http", "https", "xh", "xhs", "curlie"],
        reading: HostReading::Request,
        short: "oabApmvhs",
        long: &[
            "output",
            "auth",
            "auth-type",
            "session",
            "proxy",
            "verify",
            "timeout",
            "body",
            "style",
            "print",
        ],
        hosts: &["proxy"],
        ..PLAIN
    },
    Sender {
        programs: &[
            "aria2c", "axel", "lynx", "w3m", "links", "elinks", "fetch", "wsc", "websocat", "grpcurl",
            "httrack",
        ],
        reading: HostReading::Addresses,
        short: "diosxn",
        unknown: &["i", "input-file"],
        ..PLAIN
    },
    Sender {
        programs: &["ssh", "sshfs", "mosh", "autossh"],
        short: "BbcDEeFIiJLlmOopQRSWw",
        hosts: &["J", "W"],
        unknown: &["F", "o"],
        ..PLAIN
    },
    Sender {
        programs: &["ftp", "tftp", "sftp", "telnet", "ncftp", "ncftpput", "rlogin", "rsh", "rexec", "finger"],
        short: "BbcDFiJlmoPRSuep",
        hosts: &["J"],
        unknown: &["F", "o", "f"],
        ..PLAIN
    },
    Sender { programs: &["lftp"], short: "ecfupsd", unknown: &["e", "c", "f"], ..PLAIN },
    Sender {
        programs: &["vncviewer", "rdesktop", "cqlsh", "ntpdate", "sntp", "rdate", "nmblookup"],
        short: "ugpdkKtxPf",
        ..PLAIN
    },
    Sender { programs: &["snmpget", "snmpwalk", "snmpset", "snmpbulkwalk"], short: "vcluaAxXnrtO", ..PLAIN },
    Sender {
        programs: &["nmap", "zmap", "masscan", "nping", "arping"],
        short: "pTgeSDxIwc",
        long: &["source-port", "top-ports", "script", "script-args", "exclude", "rate", "dns-servers"],
        unknown: &["i", "iL", "iR", "includefile"],
        ..PLAIN
    },
    Sender { programs: &["whois"], short: "hpTt", long: &["host", "port"], hosts: &["h", "host"], ..PLAIN },
    Sender {
        programs: &["ab", "wrk", "wrk2", "hey", "siege", "bombardier"],
        reading: HostReading::Addresses,
        short: "ntcbpuTCHAPXegswmdRzqoaDxrflk",
        long: &[
            "connections",
            "duration",
            "threads",
            "script",
            "header",
            "timeout",
            "latency",
            "method",
            "body",
        ],
        unknown: &["f", "script"],
        ..PLAIN
    },
    Sender {
        programs: &["yt-dlp", "youtube-dl", "gallery-dl", "you-get"],
        reading: HostReading::Addresses,
        short: "ofSNRrPIFaup",
        long: &["output", "format", "proxy", "paths", "batch-file", "cookies", "username", "password"],
        hosts: &["proxy"],
        unknown: &["a", "batch-file"],
        ..PLAIN
    },
    Sender {
        programs: &["ssh-copy-id", "ssh-keyscan"],
        short: "ipoFtTf",
        unknown: &["F", "o", "f"],
        ..PLAIN
    },
    Sender {
        programs: &["nc", "ncat", "netcat"],
        short: "cegGiIkmMOopPqsTVwWxX",
        hosts: &["x", "proxy"],
        long: &["proxy"],
        ..PLAIN
    },
    Sender {
        programs: &["ping", "ping6", "traceroute", "traceroute6", "tracepath", "mtr", "fping", "hping3"],
        short: "ciIlmMpQsStTwWfgqhn",
        ..PLAIN
    },
    Sender { programs: &["mail", "mailx", "mutt", "sendmail", "msmtp"], short: "sabcrqFfxeHi", ..PLAIN },
    Sender {
        programs: &["scp", "rsync", "rclone"],
        reading: HostReading::Copies,
        short: "cDFiJloPSXefTBM",
        long: &[
            "rsh",
            "exclude",
            "include",
            "exclude-from",
            "include-from",
            "files-from",
            "log-file",
            "port",
            "bwlimit",
        ],
        hosts: &["J"],
        unknown: &["F", "o"],
        ..PLAIN
    },
    Sender { programs: &["lsof", "ss"], reading: HostReading::Peers, ..PLAIN },
    Sender {
        programs: &["dig", "drill", "kdig", "host", "nslookup", "delv", "resolvectl", "getent"],
        reading: HostReading::Lookups,
        short: "bcfkpqtyxDmNRTW",
        hosts: &["q", "x"],
        unknown: &["f"],
        ..PLAIN
    },
    Sender { programs: &["socat"], reading: HostReading::Sockets, short: "bdDLlrRtTW", ..PLAIN },
    Sender { programs: &["git"], reading: HostReading::Git, ..PLAIN },
    Sender {
        programs: &["npm", "npx", "pnpm", "pnpx", "yarn", "bun", "bunx"],
        reading: HostReading::Packages,
        short: "wC",
        long: &[
            "prefix",
            "workspace",
            "registry",
            "cache",
            "loglevel",
            "tag",
            "omit",
            "include",
            "proxy",
            "https-proxy",
            "filter",
            "dir",
            "cwd",
        ],
        hosts: &["proxy", "https-proxy"],
        ..PLAIN
    },
    Sender {
        programs: &[
            "pip",
            "pip3",
            "pipx",
            "uv",
            "uvx",
            "poetry",
            "pdm",
            "pipenv",
            "hatch",
            "conda",
            "mamba",
            "cargo",
            "gem",
            "bundle",
            "deno",
            "brew",
            "composer",
            "nix",
            "nix-shell",
            "luarocks",
            "cpanm",
            "pre-commit",
            "svn",
            "hg",
            "jj",
            "k6",
            "skopeo",
            "crane",
            "oras",
            "helm",
            "gsutil",
            "gcloud",
            "az",
            "s3cmd",
            "mc",
            "restic",
            "duplicity",
            "unison",
            "smbget",
            "wscat",
            "flatpak",
            "snap",
        ],
        reading: HostReading::Links,
        long: &["proxy"],
        hosts: &["proxy"],
        ..PLAIN
    },
    Sender { programs: &["go"], reading: HostReading::Modules, ..PLAIN },
    Sender { programs: &["rcp", "borg", "rdiff-backup"], reading: HostReading::Copies, ..PLAIN },
    Sender {
        programs: &[
            "psql",
            "pg_dump",
            "pg_dumpall",
            "pg_restore",
            "pg_isready",
            "pgbench",
            "createdb",
            "dropdb",
            "vacuumdb",
            "pg_basebackup",
        ],
        reading: HostReading::Options,
        short: "hUpdcfoLvFRPTVnt",
        long: &["host", "dbname", "username", "port", "command", "file", "output"],
        hosts: &["h", "host"],
        ..PLAIN
    },
    Sender {
        programs: &[
            "mysql",
            "mysqldump",
            "mysqladmin",
            "mysqlimport",
            "mariadb",
            "mariadb-dump",
            "clickhouse-client",
        ],
        reading: HostReading::Options,
        short: "huPDeS",
        long: &["host", "user", "port", "database", "execute", "socket", "query"],
        hosts: &["h", "host"],
        unknown: &["defaults-file", "defaults-extra-file", "login-path"],
        ..PLAIN
    },
    Sender {
        programs: &["mongosh", "mongo", "mongodump", "mongorestore", "mongoexport", "mongoimport"],
        reading: HostReading::Options,
        short: "hupd",
        long: &["host", "uri", "username", "password", "port", "eval", "db"],
        hosts: &["h", "host"],
        ..PLAIN
    },
    Sender {
        programs: &["redis-cli", "redis-benchmark", "valkey-cli"],
        reading: HostReading::Options,
        short: "hpaunrisd",
        hosts: &["h"],
        ..PLAIN
    },
    Sender {
        programs: &[
            "mosquitto_pub",
            "mosquitto_sub",
            "kcat",
            "kafkacat",
            "iperf",
            "iperf3",
            "netperf",
            "nats",
        ],
        reading: HostReading::Options,
        short: "hbcHsLptmquP",
        long: &["host", "server", "client", "url", "port", "topic", "message"],
        hosts: &["h", "host", "b", "c", "client", "H", "s", "server"],
        ..PLAIN
    },
    Sender {
        programs: &["ldapsearch", "ldapadd", "ldapmodify", "ldapdelete", "ldapwhoami", "ldappasswd"],
        reading: HostReading::Options,
        short: "HhDwbsypf",
        hosts: &["H", "h"],
        ..PLAIN
    },
    Sender {
        programs: &[
            "systemctl",
            "journalctl",
            "hostnamectl",
            "loginctl",
            "timedatectl",
            "localectl",
            "busctl",
            "systemd-run",
            "systemd-analyze",
        ],
        reading: HostReading::Options,
        short: "HMtpPnou",
        long: &["host", "machine", "unit", "property", "output"],
        hosts: &["H", "host"],
        ..PLAIN
    },
    Sender {
        programs: &["logger"],
        reading: HostReading::Options,
        short: "nPptifuS",
        long: &["server", "port", "priority", "tag", "file", "socket"],
        hosts: &["n", "server"],
        ..PLAIN
    },
    Sender {
        programs: &["kubectl", "oc", "k9s", "stern", "argocd", "flux"],
        reading: HostReading::Options,
        short: "snflocp",
        long: &["server", "namespace", "filename", "context", "cluster", "output", "kubeconfig", "proxy-url"],
        hosts: &["s", "server", "proxy-url"],
        unknown: &["kubeconfig"],
        ..PLAIN
    },
    Sender {
        programs: &["aws", "awslocal"],
        reading: HostReading::Options,
        long: &["endpoint-url", "profile", "region", "output"],
        hosts: &["endpoint-url"],
        ..PLAIN
    },
    Sender {
        programs: &[
            "ipmitool",
            "rabbitmqadmin",
            "sqlcmd",
            "virsh",
            "etcdctl",
            "influx",
            "swaks",
            "amqp-publish",
        ],
        reading: HostReading::Options,
        short: "HSUPpctuhs",
        long: &["host", "connect", "endpoints", "server", "url", "port", "to", "from"],
        hosts: &["H", "host", "S", "connect", "endpoints", "server", "s", "url", "to"],
        ..PLAIN
    },
    Sender {
        programs: &["gpg", "gpg2", "dirmngr"],
        reading: HostReading::Keys,
        short: "uro",
        long: &["keyserver", "output", "recipient", "local-user"],
        hosts: &["keyserver"],
        ..PLAIN
    },
    Sender {
        programs: &["docker", "podman", "nerdctl", "buildah"],
        reading: HostReading::Images,
        short: "Hcup",
        long: &["host", "context", "url", "username", "password", "platform"],
        hosts: &["H", "host", "url"],
        ..PLAIN
    },
    Sender { programs: &["tar", "gtar", "cpio"], reading: HostReading::Archive, ..PLAIN },
    Sender { programs: &["gdb", "gdb-multiarch", "lldb"], reading: HostReading::Debugger, ..PLAIN },
    Sender {
        programs: &["smbclient", "rpcclient", "smbmap"],
        reading: HostReading::Shares,
        short: "LIUWcpDNn",
        long: &["list", "ip-address", "user", "workgroup", "command", "port"],
        hosts: &["L", "list", "I", "ip-address"],
        ..PLAIN
    },
    Sender {
        programs: &[
            "ngrok",
            "cloudflared",
            "croc",
            "wormhole",
            "bore",
            "lt",
            "localtunnel",
            "ffsend",
            "syncthing",
            "transmission-cli",
            "webtorrent",
            "rtorrent",
            "ipfs",
            "pastebinit",
            "gist",
            "telegram-send",
            "ansible",
            "ansible-playbook",
            "pssh",
            "clush",
            "surge",
            "vercel",
            "netlify",
            "wrangler",
            "fly",
            "flyctl",
            "heroku",
            "firebase",
            "vegeta",
            "xfreerdp",
            "speedtest",
            "irssi",
            "weechat",
            "mbsync",
            "offlineimap",
            "fetchmail",
            "getmail",
            "torsocks",
            "torify",
            "proxychains",
            "proxychains4",
        ],
        reading: HostReading::Anywhere,
        ..PLAIN
    },
    Sender {
        programs: &["openssl"],
        reading: HostReading::Connects,
        hosts: &["connect", "proxy", "host", "url", "server"],
        ..PLAIN
    },
];
