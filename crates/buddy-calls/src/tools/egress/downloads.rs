//! The hosts that an index names for its packages. Commands speak to an index through TLS, so buddy reads the page that names them
//! itself, once the user allowed the index.
//!
//! A host that the index names opens no new way out: whoever holds the index could pass on everything that it is sent. A host that a
//! script wants is on no such page.

use std::net::IpAddr;
use std::time::Duration;

use buddy_policy::{download_hosts, downloads_path};
use buddy_web::WebUrl;
use futures::future::join_all;
use tokio::time::timeout;

use super::CallEgress;
use super::question::HostsQuestion;

/// How long the command waits for the page of an index. Without the page, further hosts are asked for by themselves.
const READ_WITHIN: Duration = Duration::from_secs(5);

/// The port of an index that speaks TLS.
const TLS_PORT: u16 = 443;

/// The status of a page that is there.
const OK: u16 = 200;

impl CallEgress {
    /// The hosts for downloads that the indexes in an allowed question name, and that would be asked about.
    pub(super) async fn find_downloads(&self, question: &HostsQuestion) -> Vec<String> {
        let Some(manager) = question.index_of() else { return Vec::new() };
        let Some(path) = downloads_path(manager) else { return Vec::new() };
        let indexes = question.hosts.iter().filter_map(|new| Some((new.host.as_str(), new.port?)));
        let pages = join_all(indexes.map(|(host, port)| self.read_page(host, port, path))).await;
        if let Some(why) = pages.iter().find_map(|page| page.as_ref().err()) {
            *self.index_unread() = Some(why.clone());
        }
        let mut found: Vec<String> = Vec::new();
        for (host, _) in pages.iter().flatten().flat_map(|page| download_hosts(manager, page)) {
            let is_name = host.trim_matches(['[', ']']).parse::<IpAddr>().is_err() && host != "localhost";
            let is_new = !found.contains(&host) && question.hosts.iter().all(|new| new.host != host);
            if is_name && is_new && self.is_asked_about(&host) {
                found.push(host);
            }
        }
        found
    }

    /// The page, or why it could not be read.
    async fn read_page(&self, host: &str, port: u16, path: &str) -> Result<String, String> {
        let scheme = if port == TLS_PORT { "https" } else { "http" };
        let url =
            WebUrl::parse(&format!("{scheme}://{host}:{port}{path}")).map_err(|error| error.to_string())?;
        // By the way of the command, and to no other host, which would have to be allowed first.
        let fetched = timeout(READ_WITHIN, self.parts.settings.web.get_as_command(url)).await;
        let late = |_| format!("`{host}` did not answer within {} s", READ_WITHIN.as_secs());
        let fetched = fetched.map_err(late)?.map_err(|error| error.to_string())?;
        if fetched.status != OK {
            return Err(format!("`{host}` answered with status {}", fetched.status));
        }
        Ok(String::from_utf8_lossy(&fetched.body).into_owned())
    }
}
