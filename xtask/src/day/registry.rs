//! Registries on this machine for cargo, npm and pip: files in a folder, which all three accept. Each has a host of its own, as the real
//! ones do, so that an answer about one says nothing about the others.

use std::fs;
use std::path::{Component, Path, PathBuf};

use anyhow::Result;

use crate::measure::http::{Reply, Request, Server};

/// Each package manager, with the variable of the script that fills its registry, and its host: loopback addresses that no program takes
/// for this machine.
const HOSTS: [(&str, &str); 3] =
    [("CARGO_REGISTRY", "127.0.0.2"), ("NPM_REGISTRY", "127.0.0.3"), ("PIP_REGISTRY", "127.0.0.4")];

/// The registries. Dropping them stops them; their files stay.
pub(crate) struct Registries {
    servers: Vec<(&'static str, Server)>,
    folder: PathBuf,
}

impl Registries {
    pub(crate) fn start(folder: PathBuf) -> Result<Self> {
        if folder.exists() {
            fs::remove_dir_all(&folder)?;
        }
        fs::create_dir_all(&folder)?;
        let start = |(variable, host)| {
            let served = folder.clone();
            Ok((variable, Server::start(host, move |request| answer(&served, request))?))
        };
        let servers = HOSTS.into_iter().map(start).collect::<Result<_>>()?;
        Ok(Self { servers, folder })
    }

    /// The address of each, as assignments for a shell.
    pub(crate) fn assignments(&self) -> String {
        let line =
            |(variable, server): &(&str, Server)| format!("{variable}='http://{}'\n", server.address());
        self.servers.iter().map(line).collect()
    }

    pub(crate) fn folder(&self) -> &Path {
        &self.folder
    }
}

/// The file that a request names. A folder is its `index.html`.
fn answer(folder: &Path, request: &Request) -> Reply {
    let named = request.head.split_whitespace().nth(1).unwrap_or_default();
    let named = Path::new(named.split('?').next().unwrap_or_default().trim_start_matches('/'));
    let is_inside = named.components().all(|part| matches!(part, Component::Normal(_)));
    let path = folder.join(named);
    let path = if path.is_dir() { path.join("index.html") } else { path };
    match fs::read(&path) {
        Ok(body) if is_inside => Reply { status: "200 OK", kind: kind(&path), body },
        _ => Reply { status: "404 Not Found", kind: "text/plain", body: b"no such file\n".to_vec() },
    }
}

fn kind(path: &Path) -> &'static str {
    match path.extension().and_then(|extension| extension.to_str()) {
        Some("html") => "text/html",
        Some("tgz" | "crate" | "whl") => "application/octet-stream",
        _ => "application/json",
    }
}
