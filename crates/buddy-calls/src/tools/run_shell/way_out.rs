//! The way out of a command that has no network of its own: the variables that lead programs to it, and who serves it.

use std::convert::Infallible;
use std::io;
use std::pin::Pin;
use std::sync::Arc;

use buddy_exec::{Outlet, WAY_OUT_PORT, WayOut};
use buddy_web::Broker;

use crate::tools::egress::CallEgress;

/// Variables that programs read the address of their proxy from, in either case, as they do not agree on it.
const PROXIES: &[&str] = &["http_proxy", "https_proxy", "all_proxy"];
/// The servers that a command reaches in its own network, without a proxy.
const INSIDE: &str = "localhost,127.0.0.1,::1";
/// Variables that add to the words of programs on a Java machine, which know no others.
const JAVA: &[&str] = &["MAVEN_OPTS", "GRADLE_OPTS", "SBT_OPTS"];

/// The same variables, with those that lead to the way out. A command that starts servers reaches them in its own network, and one
/// that only talks to a server of this machine goes out to it.
pub(super) fn variables(mut usual: Vec<(String, String)>, reaches_here: bool) -> Vec<(String, String)> {
    let proxy = format!("http://127.0.0.1:{WAY_OUT_PORT}");
    for name in PROXIES {
        set(&mut usual, name, &proxy);
        set(&mut usual, &name.to_ascii_uppercase(), &proxy);
    }
    for name in ["no_proxy", "NO_PROXY"] {
        set(&mut usual, name, if reaches_here { "" } else { INSIDE });
    }
    set(&mut usual, "NODE_USE_ENV_PROXY", "1");
    let words: Vec<String> = ["http", "https"]
        .iter()
        .map(|scheme| format!("-D{scheme}.proxyHost=127.0.0.1 -D{scheme}.proxyPort={WAY_OUT_PORT}"))
        .collect();
    for name in JAVA {
        let before = usual.iter().find(|(known, _)| known == name).map_or("", |(_, value)| value.as_str());
        let value = format!("{before} {}", words.join(" ")).trim().to_owned();
        set(&mut usual, name, &value);
    }
    usual
}

fn set(variables: &mut Vec<(String, String)>, name: &str, value: &str) {
    variables.retain(|(known, _)| known != name);
    variables.push((name.to_owned(), value.to_owned()));
}

/// A way out that is served for as long as this is not dropped.
pub(crate) type WayServed = Pin<Box<dyn Future<Output = Infallible> + Send>>;

/// Lets a command out as its call allows, until this is dropped.
pub(super) async fn serve(outlet: Option<Outlet>, egress: Option<Arc<CallEgress>>) -> Infallible {
    if let (Some(outlet), Some(egress)) = (outlet, egress)
        && let Err(error) = serve_outlet(outlet, egress).await
    {
        tracing::warn!(%error, "a command has no way out");
    }
    std::future::pending().await
}

async fn serve_outlet(outlet: Outlet, egress: Arc<CallEgress>) -> io::Result<()> {
    if let Some(listener) = outlet.listener().await? {
        let broker = Broker::new(egress.parts.settings.web.upstream.clone());
        broker.serve(tokio::net::TcpListener::from_std(listener)?, egress).await;
    }
    Ok(())
}

/// A way out for a command, where it is to have one.
pub(super) fn make(is_wanted: bool) -> Option<(WayOut, Outlet)> {
    let made = is_wanted.then(WayOut::new)?;
    made.inspect_err(|error| tracing::warn!(%error, "a command has no way out")).ok()
}
