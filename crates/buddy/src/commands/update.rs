//! `buddy update`: which version runs, and how to get another one.

use anyhow::{Context, bail};
use buddy_tui::{Exit, Printer};
use buddy_web::WebUrl;
use serde_json::Value;

use crate::invocation::Invocation;

const HOW: &str = "buddy does not change itself. Get the new version the way you got this one: from your package manager, by \
                   `cargo install --path crates/buddy` in a newer checkout, or by putting a newer program in its place. The \
                   newer version updates the stored data when it opens it.";

/// Says which version runs. Nobody is asked for a newer one unless the configuration wants it.
pub(crate) async fn run(invocation: &Invocation<'_>) -> anyhow::Result<Exit> {
    let config = invocation.load()?.config;
    let mut printer = Printer::standard();
    let program = std::env::current_exe().map(|path| path.display().to_string()).unwrap_or_default();
    printer.answer(&format!("buddy {} ({program})\n", env!("CARGO_PKG_VERSION")))?;
    if config.update.check {
        let Some(address) = &config.update.address else {
            bail!("`update.check` is on, but `update.address` is not set");
        };
        let newest = newest(&config.web.web()?.fetcher, address).await?;
        let verdict = if newest.trim_start_matches('v') == env!("CARGO_PKG_VERSION") {
            "this is the newest version".to_owned()
        } else {
            format!("the newest version is {newest}")
        };
        printer.answer(&format!("{verdict}\n"))?;
    }
    printer.answer(&format!("{HOW}\n"))?;
    Ok(Exit::Ok)
}

/// The version that an address tells.
async fn newest(fetcher: &buddy_web::Fetcher, address: &str) -> anyhow::Result<String> {
    let url = WebUrl::parse(address).with_context(|| format!("`update.address` is `{address}`"))?;
    let fetched = fetcher.get(url).await.with_context(|| format!("cannot ask {address}"))?;
    if !(200..300).contains(&fetched.status) {
        bail!("{address} answered with status {}", fetched.status);
    }
    let value: Value = serde_json::from_slice(&fetched.body)
        .with_context(|| format!("{address} did not answer with JSON"))?;
    let version = value.get("version").or(value.get("tag_name")).and_then(Value::as_str);
    version.map(str::to_owned).with_context(|| format!("{address} tells neither `version` nor `tag_name`"))
}
