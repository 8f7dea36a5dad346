//! The scripted model server as a program, for benchmarks and for manual experiments.
//!
//! `scripted-model [--port N] script.json` prints its URL and serves until it is stopped.

use std::path::PathBuf;

use anyhow::{Context, Result, bail};
use buddy_testkit::model::{ModelServer, Script};

const USAGE: &str = "usage: scripted-model [--port N] SCRIPT.json";

#[tokio::main]
async fn main() -> Result<()> {
    let (port, path) = arguments(std::env::args().skip(1))?;
    let text = std::fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))?;
    let server = ModelServer::bind(port, Script::from_json(&text)?).await?;
    #[expect(clippy::print_stdout, reason = "a program's own output")]
    {
        println!("{}", server.url());
    }
    server.serve().await;
    Ok(())
}

fn arguments(mut given: impl Iterator<Item = String>) -> Result<(u16, PathBuf)> {
    let (mut port, mut path) = (0, None);
    while let Some(argument) = given.next() {
        match argument.as_str() {
            "--port" => port = given.next().context(USAGE)?.parse().context("--port takes a number")?,
            "--script" => path = Some(given.next().context(USAGE)?.into()),
            flag if flag.starts_with('-') => bail!("unknown option {flag}\n{USAGE}"),
            file => path = Some(file.into()),
        }
    }
    Ok((port, path.context(USAGE)?))
}
