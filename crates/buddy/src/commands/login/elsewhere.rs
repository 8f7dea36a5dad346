//! A model at any address: a server that speaks Chat Completions, with a key or without one.

use std::time::Duration;

use buddy_model::{Auth, Endpoint, ModelErrorKind, Route, probe};
use buddy_tui::{Chosen, Exit, Printer};
use secrecy::SecretString;
use tokio::time::timeout;

use super::guide::{Guide, GuideStep, Untried};
use super::input;
use super::sign_in::put_key;
use crate::auth_store::AuthStore;
use crate::commands::config::add_profile;

/// How long a server may take to list its models.
const LIST_LIMIT: Duration = Duration::from_secs(10);
/// Models that are offered; others are typed.
const LISTED: usize = 8;
/// How often an address that is none, or where nothing answers, is asked for again.
const MAX_TRIES: usize = 5;

impl Guide<'_> {
    /// An address, a key where the server wants one, and a model: they become a profile once a call has worked.
    pub(super) async fn elsewhere(&self) -> anyhow::Result<GuideStep> {
        let Some((base, endpoint)) = address().await? else { return Ok(GuideStep::Again) };
        let key = input::maybe_key().await?;
        let Some(model) = self.model_at(&endpoint, key.as_ref()).await? else { return Ok(GuideStep::Again) };
        let address = endpoint.to_string();
        let name = self.free_name(&address);
        let store = AuthStore::of_user(self.invocation.environment)?;
        let key_before = store.read()?.api_keys.remove(&name);
        let auth = if key.is_some() { "api-key" } else { "none" };
        let settings = [("api_base_url", base.as_str()), ("model", model.as_str()), ("auth", auth)];
        let file_before = add_profile(self.invocation, &name, &settings)?;
        self.untried.replace(Some(Untried {
            name: name.clone(),
            key_before,
            file_before: Some(file_before),
        }));
        if let Some(key) = key {
            put_key(&store, &name, key, address).await?;
        }
        if let Err(why) = self.trial(&name).await {
            Printer::standard().status(&format!("A first call failed: {why}"));
            let answers = ["Back", "Use it anyway"].map(|name| (name.to_owned(), String::new()));
            match self.ask("What now?", answers.to_vec()).await? {
                Chosen::At(1) => {}
                Chosen::Leave => return Ok(GuideStep::Done(Exit::Interrupted)),
                Chosen::At(_) | Chosen::Escape => {
                    self.put_back().await?;
                    return Ok(GuideStep::Again);
                }
            }
        }
        self.untried.take();
        self.use_profile(&name)
    }

    /// One of the models that the server has, or another name. None if the user goes back.
    async fn model_at(
        &self,
        endpoint: &Endpoint,
        key: Option<&SecretString>,
    ) -> anyhow::Result<Option<String>> {
        let auth = key.map_or(Auth::None, |key| Auth::Bearer(key.clone()));
        let route = Route::chat(endpoint.clone(), auth);
        let listed = match timeout(LIST_LIMIT, probe::models(&route)).await {
            Ok(Ok(models)) => models.into_iter().map(|model| model.name).take(LISTED).collect(),
            Ok(Err(error)) => {
                Printer::standard().status(&format!("The server does not list its models: {error}"));
                Vec::new()
            }
            Err(_) => {
                Printer::standard().status("The server did not list its models in time.");
                Vec::new()
            }
        };
        if !listed.is_empty() {
            let others = ["Another name".to_owned()];
            let answers = listed.iter().chain(&others).map(|name| (name.clone(), String::new())).collect();
            match self.ask("Which model?", answers).await? {
                Chosen::At(place) if place < listed.len() => return Ok(listed.get(place).cloned()),
                Chosen::At(_) => {}
                Chosen::Escape | Chosen::Leave => return Ok(None),
            }
        }
        let typed = input::line("The name of the model: ").await?;
        Ok(Some(typed).filter(|typed| !typed.is_empty()))
    }

    /// A name for a profile at an address: the one that it has already, or one after its host that nobody has.
    fn free_name(&self, address: &str) -> String {
        let host =
            address.split("://").last().unwrap_or(address).split(['/', '?']).next().unwrap_or_default();
        let letters = host.chars().map(|letter| if letter.is_ascii_alphanumeric() { letter } else { '-' });
        let name: String = letters.collect::<String>().trim_matches('-').to_lowercase();
        let name = if name.is_empty() { "server".to_owned() } else { name };
        let is_free = |name: &str| {
            self.config().models.get(name).is_none_or(|profile| {
                let base = profile.api_base_url.as_deref().and_then(|base| Endpoint::parse(base).ok());
                base.is_some_and(|base| base.to_string() == address)
            })
        };
        let numbered = (2..).map(|number| format!("{name}-{number}"));
        std::iter::once(name.clone()).chain(numbered).find(|name| is_free(name)).unwrap_or(name)
    }
}

/// The address as it was typed, and as it is read. None if the user gives up.
async fn address() -> anyhow::Result<Option<(String, Endpoint)>> {
    for _ in 0..MAX_TRIES {
        let typed =
            input::line("Address of the API, such as https://models.example.org/v1 (Enter to go back): ");
        let typed = typed.await?;
        if typed.is_empty() {
            return Ok(None);
        }
        match Endpoint::parse(&typed) {
            Ok(endpoint) => match unreachable(&endpoint).await {
                None => return Ok(Some((typed, endpoint))),
                Some(why) => {
                    Printer::standard().status(&format!("{why}. Start the server, or type another address."));
                }
            },
            Err(error) => Printer::standard().status(&format!("{error}")),
        }
    }
    Ok(None)
}

/// Why no server can be reached at an address. One that refuses to list its models is there.
async fn unreachable(endpoint: &Endpoint) -> Option<String> {
    let route = Route::chat(endpoint.clone(), Auth::None);
    let listed = timeout(LIST_LIMIT, probe::models(&route)).await.ok()?;
    let error = listed.err().filter(|error| error.kind == ModelErrorKind::Transport)?;
    Some(error.to_string())
}
