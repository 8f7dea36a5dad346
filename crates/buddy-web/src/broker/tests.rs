use std::io;
use std::net::SocketAddr;
use std::sync::{Mutex, PoisonError};

use async_trait::async_trait;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::sync::Notify;

use super::*;

/// Resolves a few names, and nothing else.
struct Names;

#[async_trait]
impl Resolver for Names {
    async fn lookup(&self, host: &str) -> io::Result<Vec<IpAddr>> {
        match host {
            "here.test" => Ok(vec![[127, 0, 0, 1].into()]),
            "far.test" => Ok(vec![[203, 0, 113, 5].into()]),
            "cloud.test" => Ok(vec![[127, 0, 0, 1].into(), [169, 254, 169, 254].into()]),
            _ => Err(io::Error::other("no such name")),
        }
    }
}

/// Allows the listed hosts, and records everything.
#[derive(Default)]
struct Listed {
    hosts: &'static [&'static str],
    is_nearby_refused: bool,
    asked: Mutex<Vec<String>>,
    ended: Mutex<Vec<Connection>>,
    news: Notify,
    /// Ends connections.
    revoked: Notify,
    /// Told of each verdict that waits, and lets it go on.
    verdicts: Option<(Notify, Notify)>,
}

#[async_trait]
impl Warrant for Listed {
    async fn host(&self, wanted: &Wanted) -> Result<(), String> {
        self.note(wanted.host.clone());
        if let Some((waits, goes_on)) = &self.verdicts {
            waits.notify_one();
            goes_on.notified().await;
        }
        let is_listed = self.hosts.contains(&wanted.host.as_str());
        if is_listed { Ok(()) } else { Err("nobody allowed it".to_owned()) }
    }

    async fn nearby(&self, wanted: &Wanted, address: IpAddr) -> Result<(), String> {
        self.note(format!("{} at {address}", wanted.host));
        if self.is_nearby_refused { Err("it is nearby".to_owned()) } else { Ok(()) }
    }

    async fn revoked(&self, _: &Wanted) -> String {
        self.revoked.notified().await;
        "it is no longer allowed".to_owned()
    }

    fn ended(&self, connection: Connection) {
        self.ended.lock().unwrap_or_else(PoisonError::into_inner).push(connection);
        self.news.notify_one();
    }
}

impl Listed {
    fn note(&self, text: String) {
        self.asked.lock().unwrap_or_else(PoisonError::into_inner).push(text);
    }

    fn asked(&self) -> Vec<String> {
        self.asked.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Why connections failed that have ended.
    fn whys(&self) -> Vec<String> {
        let ended = self.ended.lock().unwrap_or_else(PoisonError::into_inner);
        ended.iter().filter_map(|ended| ended.why.clone()).collect()
    }

    /// Waits until this many connections have ended.
    async fn outcomes(&self, count: usize) -> Vec<(Outcome, u64, u64)> {
        let told = || self.ended.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let all = async {
            while told().len() < count {
                self.news.notified().await;
            }
        };
        timeout(Duration::from_secs(20), all).await.unwrap();
        told().iter().map(|ended| (ended.outcome, ended.sent, ended.received)).collect()
    }
}

/// A broker, and a server that records its input and answers `pong`.
struct Stage {
    warrant: Arc<Listed>,
    broker: SocketAddr,
    server: SocketAddr,
    heard: Arc<Mutex<Vec<u8>>>,
    _tasks: JoinSet<()>,
}

impl Stage {
    async fn new(warrant: Listed) -> Self {
        Self::behind(warrant, UpstreamProxy::default()).await
    }

    /// The same in a network with a proxy.
    async fn behind(warrant: Listed, upstream: UpstreamProxy) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let (broker, warrant) = (listener.local_addr().unwrap(), Arc::new(warrant));
        let serving = warrant.clone();
        let mut tasks = JoinSet::new();
        let broker_of = Broker { ways: Arc::new(Ways { resolver: Arc::new(Names), upstream }) };
        tasks.spawn(async move { broker_of.serve(listener, serving).await });
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let (server, heard) = (listener.local_addr().unwrap(), Arc::new(Mutex::new(Vec::new())));
        let keep = heard.clone();
        tasks.spawn(async move {
            while let Ok((mut stream, _)) = listener.accept().await {
                let mut bytes = vec![0; 4096];
                let length = stream.read(&mut bytes).await.unwrap();
                keep.lock().unwrap().extend_from_slice(&bytes[..length]);
                stream.write_all(b"pong").await.unwrap();
            }
        });
        Self { warrant, broker, server, heard, _tasks: tasks }
    }

    /// Sends bytes to the broker and returns the whole answer.
    async fn send(&self, bytes: &[u8]) -> Vec<u8> {
        let mut stream = TcpStream::connect(self.broker).await.unwrap();
        stream.write_all(bytes).await.unwrap();
        let mut answer = Vec::new();
        let _ = timeout(Duration::from_secs(20), stream.read_to_end(&mut answer)).await.unwrap();
        answer
    }

    async fn text(&self, bytes: &str) -> String {
        String::from_utf8(self.send(bytes.as_bytes()).await).unwrap()
    }

    fn heard(&self) -> String {
        String::from_utf8(self.heard.lock().unwrap().clone()).unwrap()
    }

    /// A SOCKS request for a name, followed by more bytes.
    fn socks(&self, name: &str, then: &[u8]) -> Vec<u8> {
        let mut bytes = vec![5, 1, 0, 5, 1, 0, 3, u8::try_from(name.len()).unwrap()];
        bytes.extend_from_slice(name.as_bytes());
        bytes.extend_from_slice(&self.server.port().to_be_bytes());
        bytes.extend_from_slice(then);
        bytes
    }
}

fn allowing() -> Listed {
    Listed { hosts: &["here.test", "cloud.test"], ..Listed::default() }
}

#[tokio::test]
async fn a_tunnel_leads_to_a_host_that_is_allowed() {
    let stage = Stage::new(allowing()).await;
    let port = stage.server.port();
    let answer = stage.text(&format!("CONNECT Here.Test:{port} HTTP/1.1\r\nHost: x\r\n\r\nping\n")).await;
    assert_eq!(answer, "HTTP/1.1 200 Connection established\r\n\r\npong");
    assert_eq!(stage.heard(), "ping\n");
    assert_eq!(stage.warrant.asked(), ["here.test", "here.test at 127.0.0.1"]);
    assert_eq!(stage.warrant.outcomes(1).await, [(Outcome::Made, 5, 4)]);
}

#[tokio::test]
async fn a_tunnel_ends_when_its_host_is_no_longer_allowed() {
    let stage = Stage::new(Listed { hosts: &["here.test"], ..Listed::default() }).await;
    let mut client = TcpStream::connect(stage.broker).await.unwrap();
    let tunnel = format!("CONNECT here.test:{} HTTP/1.1\r\n\r\nping\n", stage.server.port());
    client.write_all(tunnel.as_bytes()).await.unwrap();
    let mut answer = Vec::new();
    while !answer.ends_with(b"pong") {
        assert_ne!(client.read_buf(&mut answer).await.unwrap(), 0);
    }
    stage.warrant.revoked.notify_one();
    let mut rest = Vec::new();
    let _ = client.read_to_end(&mut rest).await;
    assert_eq!(stage.warrant.outcomes(1).await, [(Outcome::Refused, 5, 4)]);
    assert_eq!(stage.warrant.whys(), ["it is no longer allowed"]);
}

#[tokio::test]
async fn socks_leads_there_too() {
    let stage = Stage::new(allowing()).await;
    let answer = stage.send(&stage.socks("here.test", b"ping\n")).await;
    assert_eq!(answer, [&[5, 0, 5, 0, 0, 1, 0, 0, 0, 0, 0, 0][..], b"pong"].concat());
    assert_eq!(stage.heard(), "ping\n");
}

#[tokio::test]
async fn a_tunnel_does_not_lead_to_a_neighbour_of_the_host() {
    let stage = Stage::new(allowing()).await;
    let other = greeting::tests::hello("other.test", true);
    let tunnel = format!("CONNECT here.test:{} HTTP/1.1\r\n\r\n", stage.server.port());
    for request in [[tunnel.as_bytes(), &other].concat(), stage.socks("here.test", &other)] {
        let answer = stage.send(&request).await;
        assert!(!answer.ends_with(b"pong"), "{answer:?}");
    }
    assert_eq!(stage.heard(), "");
    assert_eq!(stage.warrant.outcomes(2).await, [(Outcome::Refused, 0, 0); 2]);
    let own = greeting::tests::hello("here.test", true);
    assert!(stage.send(&[tunnel.as_bytes(), &own].concat()).await.ends_with(b"pong"));
}

#[tokio::test]
async fn a_plain_request_arrives_without_its_proxy_headers() {
    let stage = Stage::new(allowing()).await;
    let port = stage.server.port();
    let request = format!(
        "POST http://here.test:{port}/a?b=c HTTP/1.1\r\nHost: other.test\r\nProxy-Authorization: x\r\n\
         Connection: keep-alive\r\nX-Own: 1\r\nContent-Length: 2\r\n\r\nhi"
    );
    assert_eq!(stage.text(&request).await, "pong");
    let expected = format!(
        "POST /a?b=c HTTP/1.1\r\nHost: here.test:{port}\r\nConnection: close\r\nX-Own: 1\r\nContent-Length: 2\r\n\r\nhi"
    );
    assert_eq!(stage.heard(), expected);
}

#[tokio::test]
async fn nothing_follows_a_plain_request() {
    let stage = Stage::new(allowing()).await;
    let port = stage.server.port();
    let evil = "GET http://evil.test/?k=1 HTTP/1.1\r\nHost: evil.test\r\n\r\n";
    let plain = format!("GET http://here.test:{port}/ HTTP/1.1\r\nHost: x\r\n\r\n{evil}");
    assert_eq!(stage.text(&plain).await, "pong");
    let tunnel = format!(
        "CONNECT here.test:{port} HTTP/1.1\r\n\r\nPOST / HTTP/1.1\r\nHost: here.test\r\nContent-Length: 2\r\n\r\nhi{evil}"
    );
    assert!(stage.text(&tunnel).await.ends_with("pong"));
    let heard = stage.heard();
    assert!(heard.contains("GET / ") && heard.ends_with("\r\n\r\nhi") && !heard.contains("evil"), "{heard}");
    let other = format!("CONNECT here.test:{port} HTTP/1.1\r\n\r\n{evil}");
    assert!(!stage.text(&other).await.ends_with("pong"));
    assert_eq!(stage.heard(), heard);
    assert_eq!(stage.warrant.outcomes(3).await.get(2), Some(&(Outcome::Refused, 0, 0)));
}

#[tokio::test]
async fn a_host_that_is_not_allowed_is_neither_looked_up_nor_reached() {
    let stage = Stage::new(Listed::default()).await;
    let port = stage.server.port();
    let tunnel = stage.text(&format!("CONNECT here.test:{port} HTTP/1.1\r\n\r\n")).await;
    assert!(tunnel.starts_with("HTTP/1.1 403 ") && tunnel.contains("nobody allowed it"), "{tunnel}");
    let plain = stage.text(&format!("GET http://here.test:{port}/ HTTP/1.1\r\n\r\n")).await;
    assert!(plain.starts_with("HTTP/1.1 403 "), "{plain}");
    let socks = stage.send(&stage.socks("here.test", b"ping\n")).await;
    assert_eq!(socks.get(..4), Some(&[5, 0, 5, 2][..]));
    assert_eq!(stage.heard(), "");
    assert_eq!(stage.warrant.asked(), ["here.test"; 3]);
    assert_eq!(stage.warrant.outcomes(3).await, vec![(Outcome::Refused, 0, 0); 3]);
}

#[tokio::test]
async fn a_host_that_is_nearby_needs_more() {
    let stage = Stage::new(Listed { is_nearby_refused: true, ..allowing() }).await;
    let port = stage.server.port();
    for host in ["here.test", "127.0.0.1", "[::1]", "[::ffff:127.0.0.1]"] {
        let answer = stage.text(&format!("CONNECT {host}:{port} HTTP/1.1\r\n\r\nping\n")).await;
        assert!(answer.starts_with("HTTP/1.1 403 "), "{host}: {answer}");
    }
    assert_eq!(stage.heard(), "");
    let asked = stage.warrant.asked();
    assert_eq!(asked.iter().filter(|asked| asked.contains(" at ")).count(), 4, "{asked:?}");
    assert!(!asked.contains(&"127.0.0.1".to_owned()), "one question about an address: {asked:?}");
}

#[tokio::test]
async fn one_address_among_others_closes_a_name() {
    let stage = Stage::new(allowing()).await;
    let port = stage.server.port();
    let answer = stage.text(&format!("CONNECT cloud.test:{port} HTTP/1.1\r\n\r\nping\n")).await;
    assert!(answer.starts_with("HTTP/1.1 403 ") && answer.contains("169.254.169.254"), "{answer}");
    assert_eq!(stage.heard(), "");
}

#[tokio::test]
async fn nobody_is_asked_about_an_address_that_is_never_reached() {
    let stage = Stage::new(allowing()).await;
    for host in ["169.254.169.254", "0.0.0.0", "[::]", "[::ffff:169.254.169.254]"] {
        let answer = stage.text(&format!("CONNECT {host}:80 HTTP/1.1\r\n\r\n")).await;
        assert!(answer.starts_with("HTTP/1.1 403 "), "{host}: {answer}");
    }
    assert_eq!(stage.warrant.asked(), Vec::<String>::new());
}

#[tokio::test]
async fn invalid_requests_get_an_error_and_no_connection() {
    let stage = Stage::new(allowing()).await;
    let port = stage.server.port();
    let requests = [
        "GET / HTTP/1.1\r\nHost: here.test\r\n\r\n".to_owned(),
        format!("CONNECT user@here.test:{port} HTTP/1.1\r\n\r\n"),
        format!("GET http://user:pw@here.test:{port}/ HTTP/1.1\r\n\r\n"),
        format!("GET https://here.test:{port}/ HTTP/1.1\r\n\r\n"),
        "CONNECT here.test HTTP/1.1\r\n\r\n".to_owned(),
        "CONNECT here.test:0 HTTP/1.1\r\n\r\n".to_owned(),
        "nonsense\r\n\r\n".to_owned(),
    ];
    for request in requests {
        let answer = stage.text(&request).await;
        assert!(answer.starts_with("HTTP/1.1 400 "), "{request}: {answer}");
    }
    assert_eq!(stage.send(&[5, 1, 2]).await, [5, 0xff], "authentication is not supported");
    assert_eq!((stage.heard(), stage.warrant.asked().len()), (String::new(), 0));
}

#[tokio::test]
async fn a_host_that_does_not_answer_is_reported() {
    let stage = Stage::new(Listed { hosts: &["gone.test"], ..Listed::default() }).await;
    let answer = stage.text("CONNECT gone.test:443 HTTP/1.1\r\n\r\n").await;
    let line = "HTTP/1.1 502 gone.test:443 cannot be reached: its name was not found (no such name)\r\n";
    assert!(answer.starts_with(line), "programs show the first line: {answer}");
    assert_eq!(stage.warrant.outcomes(1).await, [(Outcome::Failed, 0, 0)]);
    assert_eq!(stage.warrant.whys(), ["its name was not found (no such name)"]);
    let answer = stage.text("GET http://gone.test/ HTTP/1.1\r\nHost: gone.test\r\n\r\n").await;
    assert_eq!(answer, "", "a page of the proxy would be taken for one of the server");
}

#[tokio::test]
async fn everybody_learns_why_an_allowed_host_was_not_reached() {
    let stage = Stage::new(allowing()).await;
    // The port of a listener that is gone.
    let gone = TcpListener::bind("127.0.0.1:0").await.unwrap().local_addr().unwrap().port();
    let answer = stage.text(&format!("CONNECT here.test:{gone} HTTP/1.1\r\n\r\n")).await;
    assert!(
        answer.starts_with(&format!("HTTP/1.1 502 here.test:{gone} cannot be reached: connection refused")),
        "{answer}"
    );
    let greeting = [
        format!("CONNECT here.test:{} HTTP/1.1\r\n\r\n", stage.server.port()).into_bytes(),
        super::greeting::tests::hello("evil.test", true),
    ];
    stage.send(&greeting.concat()).await;
    assert_eq!(stage.warrant.outcomes(2).await, [(Outcome::Failed, 0, 0), (Outcome::Refused, 0, 0)]);
    assert_eq!(stage.warrant.whys(), ["connection refused", "its TLS name is `evil.test`, which differs"]);
}

/// A stage whose server is the proxy of the network.
async fn behind_proxy(warrant: Listed, no_proxy: &str) -> (Stage, Stage) {
    // The server of the first one is the proxy: it answers `pong` to whatever it hears.
    let proxy = Stage::new(Listed::default()).await;
    let address = format!("http://ann:p%40ss@{}/", proxy.server);
    let variable = |name: &str| match name {
        "HTTP_PROXY" | "HTTPS_PROXY" => Some(address.clone()),
        "NO_PROXY" => Some(no_proxy.to_owned()),
        _ => None,
    };
    (Stage::behind(warrant, UpstreamProxy::from_variables(variable)).await, proxy)
}

fn everywhere() -> Listed {
    Listed {
        hosts: &["here.test", "far.test", "cloud.test", "unknown.test", "intranet"],
        ..Listed::default()
    }
}

#[tokio::test]
async fn the_proxy_of_the_network_is_asked_by_name_after_the_verdict() {
    let (stage, proxy) = behind_proxy(everywhere(), "").await;
    stage.text("CONNECT far.test:443 HTTP/1.1\r\n\r\nping\n").await;
    stage.text("CONNECT unknown.test:443 HTTP/1.1\r\n\r\n").await;
    let heard = proxy.heard();
    assert!(heard.starts_with("CONNECT far.test:443 HTTP/1.1\r\nHost: far.test:443\r\n"), "{heard}");
    assert!(heard.contains("Proxy-Authorization: Basic YW5uOnBAc3M=\r\n"), "{heard}");
    assert!(heard.contains("CONNECT unknown.test:443 "), "only the proxy knows the name: {heard}");
    assert_eq!(stage.warrant.asked(), ["far.test", "unknown.test"]);
    let refused = stage.text("CONNECT other.test:443 HTTP/1.1\r\n\r\n").await;
    assert!(refused.starts_with("HTTP/1.1 403 ") && !proxy.heard().contains("other.test"), "{refused}");
}

#[tokio::test]
async fn a_plain_request_goes_to_the_proxy_as_a_whole() {
    let (stage, proxy) = behind_proxy(everywhere(), "").await;
    assert_eq!(stage.text("GET http://far.test/a?b=c HTTP/1.1\r\nX-Own: 1\r\n\r\n").await, "pong");
    let heard = proxy.heard();
    assert!(
        heard.starts_with("GET http://far.test/a?b=c HTTP/1.1\r\nProxy-Authorization: Basic "),
        "{heard}"
    );
    assert!(heard.contains("Host: far.test\r\n") && heard.contains("X-Own: 1\r\n"), "{heard}");
}

#[tokio::test]
async fn the_proxy_is_asked_for_nothing_that_is_forbidden_private_or_here() {
    let (stage, proxy) = behind_proxy(everywhere(), "").await;
    for host in ["cloud.test", "169.254.169.254", "intranet"] {
        let answer = stage.text(&format!("CONNECT {host}:80 HTTP/1.1\r\n\r\n")).await;
        assert!(answer.starts_with("HTTP/1.1 403 "), "{host}: {answer}");
    }
    let port = stage.server.port();
    let answer = stage.text(&format!("CONNECT here.test:{port} HTTP/1.1\r\n\r\nping\n")).await;
    assert!(
        answer.ends_with("pong") && stage.heard() == "ping\n",
        "this machine is reached directly: {answer}"
    );
    assert_eq!(proxy.heard(), "");
}

#[tokio::test]
async fn a_proxy_that_says_no_is_told_and_another_kind_of_proxy_is_not_used() {
    let (stage, _proxy) = behind_proxy(everywhere(), "").await;
    let answer = stage.text("CONNECT far.test:443 HTTP/1.1\r\n\r\n").await;
    assert!(answer.starts_with("HTTP/1.1 502 ") && answer.contains("the proxy"), "{answer}");
    assert_eq!(stage.warrant.outcomes(1).await, [(Outcome::Failed, 0, 0)]);
    let variable = |name: &str| (name == "ALL_PROXY").then(|| "socks5://u:secret@p.test:1".to_owned());
    let stage = Stage::behind(everywhere(), UpstreamProxy::from_variables(variable)).await;
    let answer = stage.text("CONNECT far.test:443 HTTP/1.1\r\n\r\n").await;
    assert!(answer.starts_with("HTTP/1.1 502 ") && answer.contains("ALL_PROXY"), "{answer}");
    assert!(!answer.contains("secret"), "{answer}");
}

#[tokio::test]
async fn a_command_that_left_before_the_verdict_has_given_up() {
    let stage = Stage::new(Listed { verdicts: Some(Default::default()), ..allowing() }).await;
    let (waits, goes_on) = stage.warrant.verdicts.as_ref().unwrap();
    let mut stream = TcpStream::connect(stage.broker).await.unwrap();
    let request = format!("CONNECT here.test:{} HTTP/1.1\r\n\r\n", stage.server.port());
    stream.write_all(request.as_bytes()).await.unwrap();
    waits.notified().await;
    drop(stream);
    goes_on.notify_one();
    assert_eq!(stage.warrant.outcomes(1).await, [(Outcome::GivenUp, 0, 0)]);
    assert_eq!(stage.heard(), "");
}
