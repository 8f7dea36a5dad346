//! A registry on this machine for cargo, npm and pip: files in a folder, which all three accept.

use std::fs;
use std::path::{Component, Path, PathBuf};

use anyhow::Result;

use crate::measure::http::{ELSEWHERE, Reply, Request, Server};

/// A registry. Dropping it stops it; its files stay.
pub(crate) struct Registry {
    server: Server,
    folder: PathBuf,
}

impl Registry {
    pub(crate) fn start(folder: PathBuf) -> Result<Self> {
        if folder.exists() {
            fs::remove_dir_all(&folder)?;
        }
        fs::create_dir_all(&folder)?;
        let served = folder.clone();
        Ok(Self { server: Server::start(ELSEWHERE, move |request| answer(&served, request))?, folder })
    }

    pub(crate) fn url(&self) -> String {
        format!("http://{}", self.server.address())
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
