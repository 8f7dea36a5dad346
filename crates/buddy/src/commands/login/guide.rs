//! The guided way to a model: at the first start, and for `buddy login` without a name.

use std::cell::RefCell;
use std::io::IsTerminal;
use std::time::Duration;

use buddy_agent::ModelSource;
use buddy_model::{Delta, LoginProtocol, ModelError, ModelErrorKind, Prompt, PromptItem};
use buddy_tui::{Alternatives, ChoiceGreeting, Chosen, Exit, Printer, TerminalLook, choose};
use futures::StreamExt;
use tokio::time::timeout;

use super::input;
use super::sign_in::{LoginFlow, interruptible, log_in, put_key, tell_kept};
use crate::auth_store::{AuthStore, LoginSection, StoredKey};
use crate::commands::config::choose_model;
use crate::commands::setup::Notes;
use crate::config::{AuthKind, Config, KeySource, Loaded, SettingOrigin, load, private_file};
use crate::desk::look;
use crate::environment::Environment;
use crate::invocation::Invocation;
use crate::local_machine::local_target;
use crate::login_subject as subject;
use crate::models::{ChoiceKind, LocalServer, ModelKeys, choose as choose_found, local_servers};
use crate::operations::FileBefore;

/// A file that says that the first start is over.
const WELCOMED: &str = "welcomed";
/// A file that says that the lamp was drawn.
const GREETED: &str = "greeted";
/// How long the one call may take that tries a key.
const TRIAL_LIMIT: Duration = Duration::from_secs(30);
/// Tokens of its answer: the least that every provider takes.
const TRIAL_TOKENS: u64 = 16;
/// The names that people give the providers of the built-in profiles.
const PROVIDERS: [(&str, &str); 3] =
    [("api.anthropic.com", "Anthropic"), ("api.openai.com", "OpenAI"), ("openrouter.ai", "OpenRouter")];

/// Why a user is guided.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Occasion {
    FirstStart,
    Login,
}

/// How far the guide came.
pub(super) enum GuideStep {
    /// Back to the first question.
    Again,
    /// There is a model now, or the user wants none.
    Done(Exit),
}

/// The outcome of a welcome.
pub(crate) enum Welcomed {
    /// There was no need for one.
    Before,
    /// The user has chosen.
    Now,
    /// They want to leave.
    Left(Exit),
}

/// Guides a user who starts buddy for the first time, has no model and sits at a terminal.
pub(crate) async fn welcome(invocation: &Invocation<'_>) -> anyhow::Result<Welcomed> {
    let environment = invocation.environment;
    let mark = environment.data.join(WELCOMED);
    if invocation.model.is_some() || mark.exists() {
        return Ok(Welcomed::Before);
    }
    let loaded = load(environment, &invocation.cwd, &invocation.request)?;
    if !has_screen(environment, loaded.config.display.screen_reader)
        || loaded.effective.origin(&["agent", "model"]) != SettingOrigin::Default
        || !has_nothing(invocation, &loaded).await
    {
        return Ok(Welcomed::Before);
    }
    let exit = guide(invocation, Occasion::FirstStart).await?;
    if exit != Exit::Ok {
        return Ok(Welcomed::Left(exit));
    }
    let kept = private_file::make_directory(&environment.data).and_then(|()| private_file::create(&mark, ""));
    if let Err(error) = kept {
        Printer::standard().status(&format!("warning: cannot save that you have seen this: {error}"));
    }
    Ok(Welcomed::Now)
}

/// Whether a terminal is there for questions with arrow keys, which paint rows over.
pub(crate) fn has_screen(environment: &Environment, is_read_aloud: bool) -> bool {
    let is_terminal =
        std::io::stdin().is_terminal() && std::io::stdout().is_terminal() && std::io::stderr().is_terminal();
    is_terminal && !is_read_aloud && environment.get("TERM").is_some_and(|term| term != "dumb")
}

async fn has_nothing(invocation: &Invocation<'_>, loaded: &Loaded) -> bool {
    let Ok(target) = local_target(invocation.environment, invocation.cwd.clone()) else { return false };
    let keys = ModelKeys::new(invocation.environment, loaded, std::sync::Arc::new(target));
    let is_wanted = loaded.config.network.local_servers;
    let probe = async || if is_wanted { local_servers(invocation.environment).await } else { Vec::new() };
    let found = choose_found(invocation.environment, loaded, &keys, None, probe).await;
    found.is_ok_and(|choice| choice.kind == ChoiceKind::Demo)
}

/// Asks until there is a model, or the user wants to go on without.
pub(super) async fn guide(invocation: &Invocation<'_>, occasion: Occasion) -> anyhow::Result<Exit> {
    let loaded = load(invocation.environment, &invocation.cwd, &invocation.request)?;
    let look = look(invocation.environment, &loaded.config.display);
    let guide = Guide { invocation, loaded: &loaded, look, occasion, untried: RefCell::default() };
    let asked = async {
        let mut is_again = false;
        loop {
            if let GuideStep::Done(exit) = guide.first(is_again).await? {
                return Ok(exit);
            }
            is_again = true;
        }
    };
    let exit = interruptible(Box::pin(asked)).await;
    // An interrupt in the middle of a try keeps nothing of it.
    guide.put_back().await?;
    exit
}

pub(super) struct Guide<'a> {
    pub(super) invocation: &'a Invocation<'a>,
    loaded: &'a Loaded,
    look: TerminalLook,
    occasion: Occasion,
    /// The profile that is being tried.
    pub(super) untried: RefCell<Option<Untried>>,
}

/// A profile that is being tried, and what was there before.
pub(super) struct Untried {
    pub(super) name: String,
    pub(super) key_before: Option<StoredKey>,
    /// The configuration file, where it was changed.
    pub(super) file_before: Option<FileBefore>,
}

/// The answers to the first question.
#[derive(Clone, Copy)]
enum GuideWay {
    Key,
    SignIn,
    Local,
    Server,
    Demo,
}

impl Guide<'_> {
    pub(super) fn config(&self) -> &Config {
        &self.loaded.config
    }

    /// Asks one thing. Esc goes back.
    pub(super) async fn ask(&self, title: &str, answers: Vec<(String, String)>) -> anyhow::Result<Chosen> {
        let title = title.to_owned();
        self.put(&Alternatives { title, answers, escape: "back", ..Alternatives::default() }).await
    }

    async fn put(&self, question: &Alternatives) -> anyhow::Result<Chosen> {
        let is_in_tmux = self.invocation.environment.get("TMUX").is_some();
        Ok(choose(question, &self.look, is_in_tmux).await?)
    }

    /// The lamp is drawn once ever, also for a user who leaves and starts again.
    fn greeting(&self) -> ChoiceGreeting {
        let data = &self.invocation.environment.data;
        let mark = data.join(GREETED);
        if mark.exists() {
            return ChoiceGreeting::Words;
        }
        // A mark that cannot be made means one more lamp.
        let _ = private_file::make_directory(data).and_then(|()| private_file::create(&mark, ""));
        ChoiceGreeting::Lamp
    }

    async fn first(&self, is_again: bool) -> anyhow::Result<GuideStep> {
        let mut ways = vec![GuideWay::Key];
        ways.extend((!self.config().login.is_empty()).then_some(GuideWay::SignIn));
        ways.extend([GuideWay::Local, GuideWay::Server]);
        let is_first = self.occasion == Occasion::FirstStart;
        ways.extend(is_first.then_some(GuideWay::Demo));
        let answers = ways.iter().map(|way| match way {
            GuideWay::Key => ("Paste an API key".to_owned(), "Anthropic, OpenAI or OpenRouter".to_owned()),
            GuideWay::SignIn => ("Sign in".to_owned(), "opens your browser".to_owned()),
            GuideWay::Local => ("Use a local model".to_owned(), "start Ollama or llama.cpp first".to_owned()),
            GuideWay::Server => ("Another server".to_owned(), "any OpenAI-compatible address".to_owned()),
            GuideWay::Demo => ("Try the demo".to_owned(), "built in, offline, about a minute".to_owned()),
        });
        let chosen = self
            .put(&Alternatives {
                greeting: if is_first && !is_again { self.greeting() } else { ChoiceGreeting::None },
                title: "Connect a model".to_owned(),
                note: if is_first { "no API key or local model found".to_owned() } else { String::new() },
                answers: answers.collect(),
                escape: if is_first { "demo" } else { "close" },
                ..Alternatives::default()
            })
            .await?;
        let way = match chosen {
            Chosen::At(place) => ways.get(place).copied(),
            Chosen::Escape if is_first => Some(GuideWay::Demo),
            Chosen::Escape | Chosen::Leave => return Ok(GuideStep::Done(Exit::Interrupted)),
        };
        match way {
            Some(GuideWay::Key) => self.key().await,
            Some(GuideWay::SignIn) => self.sign_in().await,
            Some(GuideWay::Local) => self.local().await,
            Some(GuideWay::Server) => self.elsewhere().await,
            Some(GuideWay::Demo) => {
                Printer::standard().status("The demo answers. Connect a model at any time with /login.");
                Ok(GuideStep::Done(Exit::Ok))
            }
            None => Ok(GuideStep::Again),
        }
    }

    /// A key: whose, then the key itself, then one call.
    async fn key(&self) -> anyhow::Result<GuideStep> {
        let profiles = keyed(self.config());
        let answers = profiles.iter().map(|profile| (profile.label.clone(), profile.note.clone()));
        let other = ("Another server".to_owned(), "any OpenAI-compatible address".to_owned());
        let chosen = self.ask("Whose key is it?", answers.chain([other]).collect()).await?;
        let profile = match chosen {
            Chosen::At(place) => profiles.get(place),
            Chosen::Escape => return Ok(GuideStep::Again),
            Chosen::Leave => return Ok(GuideStep::Done(Exit::Interrupted)),
        };
        match profile {
            Some(profile) => self.key_of(&profile.name).await,
            None => self.elsewhere().await,
        }
    }

    /// The key of a profile, until one works or the user has enough of it. That it is kept is said when it is.
    async fn key_of(&self, profile: &str) -> anyhow::Result<GuideStep> {
        let store = AuthStore::of_user(self.invocation.environment)?;
        let (name, address) = subject::profile(self.config(), Some(profile))?;
        loop {
            let key = match input::key(name).await {
                Ok(key) => key,
                Err(error) => {
                    Printer::standard().status(&format!("{error:#}"));
                    return Ok(GuideStep::Again);
                }
            };
            let key_before = store.read()?.api_keys.remove(name);
            self.untried.replace(Some(Untried { name: name.to_owned(), key_before, file_before: None }));
            put_key(&store, name, key, address.clone()).await?;
            let next = match self.trial(name).await {
                Ok(()) => Chosen::At(1),
                Err(why) => {
                    Printer::standard().status(&format!("A first call with it failed: {why}"));
                    let answers = ["Another key", "Use it anyway", "Back"];
                    let answers = answers.map(|name| (name.to_owned(), String::new()));
                    self.ask("What now?", answers.to_vec()).await?
                }
            };
            if next == Chosen::At(1) {
                self.untried.take();
                tell_kept(name, &address);
                return self.use_profile(name);
            }
            self.put_back().await?;
            match next {
                Chosen::At(0) => {}
                Chosen::At(_) | Chosen::Escape => return Ok(GuideStep::Again),
                Chosen::Leave => return Ok(GuideStep::Done(Exit::Interrupted)),
            }
        }
    }

    /// A key that does not work is not kept, and the one before stays.
    pub(super) async fn put_back(&self) -> anyhow::Result<()> {
        let Some(Untried { name, key_before, file_before }) = self.untried.take() else { return Ok(()) };
        if let Some(before) = file_before {
            before.put_back()?;
        }
        let locked = AuthStore::of_user(self.invocation.environment)?.lock().await?;
        let mut contents = locked.read()?;
        contents.api_keys.remove(&name);
        contents.api_keys.extend(key_before.map(|key| (name, key)));
        Ok(locked.write(&contents)?)
    }

    /// A login: with whom, where there are several.
    async fn sign_in(&self) -> anyhow::Result<GuideStep> {
        let names: Vec<&String> = self.config().login.keys().collect();
        if let [only] = names.as_slice() {
            return self.login(only).await;
        }
        let answers = names.iter().map(|name| self.login_words(name)).collect();
        match self.ask("Sign in", answers).await? {
            Chosen::At(place) => match names.get(place) {
                Some(name) => self.login(name).await,
                None => Ok(GuideStep::Again),
            },
            Chosen::Escape => Ok(GuideStep::Again),
            Chosen::Leave => Ok(GuideStep::Done(Exit::Interrupted)),
        }
    }

    async fn login(&self, name: &str) -> anyhow::Result<GuideStep> {
        let environment = self.invocation.environment;
        let Some(section) = self.config().login.get(name) else { return Ok(GuideStep::Again) };
        let flow = if section.device_url.is_some() && !super::browser::has_screen(environment) {
            LoginFlow::Device
        } else {
            LoginFlow::BrowserOrBack
        };
        let exit = log_in(environment, &AuthStore::of_user(environment)?, self.config(), name, section, flow)
            .await?;
        if exit != Exit::Ok {
            return Ok(GuideStep::Again);
        }
        let Some(profile) = self.profile_of(section) else { return Ok(GuideStep::Done(Exit::Ok)) };
        if let Err(why) = self.trial(profile).await {
            Printer::standard().status(&format!("A first call failed: {why}"));
            let answers = ["Back", "Use it anyway"].map(|name| (name.to_owned(), String::new()));
            match self.ask("What now?", answers.to_vec()).await? {
                Chosen::At(1) => {}
                Chosen::Leave => return Ok(GuideStep::Done(Exit::Interrupted)),
                Chosen::At(_) | Chosen::Escape => return Ok(GuideStep::Again),
            }
        }
        self.use_profile(profile)
    }

    /// A profile that a login is for.
    fn profile_of(&self, section: &LoginSection) -> Option<&str> {
        if section.gives_key() {
            return subject::keyed_profiles(self.config(), section).first().map(|(profile, _)| *profile);
        }
        let serves = |base: &str| {
            buddy_model::Endpoint::parse(base).is_ok_and(|base| section.serves(&base.to_string()))
        };
        let profile = self.config().models.iter().find(|(_, profile)| {
            profile.auth == AuthKind::Login && profile.api_base_url.as_deref().is_some_and(serves)
        });
        profile.map(|(name, _)| name.as_str())
    }

    /// The words of the first question about a login.
    fn login_words(&self, name: &str) -> (String, String) {
        let protocol = self.config().login.get(name).map(|section| section.protocol);
        let (label, note) = match protocol.unwrap_or_default() {
            LoginProtocol::Chatgpt => ("Log in with your ChatGPT plan".to_owned(), "browser or code"),
            LoginProtocol::Openrouter => ("Log in with OpenRouter".to_owned(), "many models, one account"),
            LoginProtocol::Oauth => (format!("Log in to {name}"), "in a browser"),
        };
        (label, note.to_owned())
    }

    /// Servers on this machine: they are found by themselves once they run.
    async fn local(&self) -> anyhow::Result<GuideStep> {
        loop {
            let found = local_servers(self.invocation.environment).await;
            if let Some(LocalServer { profile, base_url, model }) = found.first() {
                let model = model.as_deref().unwrap_or("a model");
                Printer::standard()
                    .status(&format!("{profile} answers at {base_url} with {model}. buddy now uses it."));
                return Ok(GuideStep::Done(Exit::Ok));
            }
            let lines = [
                "",
                "No server answers yet. Start one in another terminal, for example:",
                "  ollama serve",
                "  ollama pull qwen3-coder",
                "buddy finds it, now and at every start.",
            ];
            let question = Alternatives {
                lines: lines.map(str::to_owned).to_vec(),
                title: "Use a local model".to_owned(),
                answers: ["Look again", "Back"].map(|name| (name.to_owned(), String::new())).to_vec(),
                escape: "back",
                ..Alternatives::default()
            };
            match self.put(&question).await? {
                Chosen::At(0) => {}
                Chosen::At(_) | Chosen::Escape => return Ok(GuideStep::Again),
                Chosen::Leave => return Ok(GuideStep::Done(Exit::Interrupted)),
            }
        }
    }

    /// Makes a profile the one in use.
    pub(super) fn use_profile(&self, name: &str) -> anyhow::Result<GuideStep> {
        choose_model(self.invocation, name)?;
        Printer::standard().status(&format!("buddy now uses `{name}`. Choose another model with /model."));
        Ok(GuideStep::Done(Exit::Ok))
    }

    /// One cheap call with a profile. The error is for the user.
    pub(super) async fn trial(&self, name: &str) -> Result<(), String> {
        Printer::standard().status(&format!("Trying it {}", self.look.sign("…", "...")));
        let setup = self.invocation.prepare(Notes::Silent).await.map_err(|error| format!("{error:#}"))?;
        let model = ModelSource::model(&*setup.models, Some(name)).map_err(|failure| failure.message)?;
        let prompt = Prompt {
            items: vec![PromptItem::user("Say OK.")],
            max_output_tokens: Some(TRIAL_TOKENS),
            ..Prompt::default()
        };
        let mut answer = model.call(prompt);
        let ended = async {
            loop {
                match answer.next().await {
                    Some(Ok(Delta::Finished(_))) => return Ok(()),
                    Some(Ok(_)) => {}
                    Some(Err(error)) => return Err(describe_failure(&error)),
                    None => return Err("the answer broke off".to_owned()),
                }
            }
        };
        timeout(TRIAL_LIMIT, ended).await.unwrap_or_else(|_| Err("no answer came in time".to_owned()))
    }
}

fn describe_failure(error: &ModelError) -> String {
    match error.kind {
        ModelErrorKind::Auth => format!("the provider does not accept the key ({error})"),
        _ => error.to_string(),
    }
}

/// A profile that takes a key.
struct Keyed {
    name: String,
    label: String,
    note: String,
}

/// The profiles that take a key which nothing else gives, one for each address.
fn keyed(config: &Config) -> Vec<Keyed> {
    let mut addresses = Vec::new();
    let mut found = Vec::new();
    for (name, profile) in &config.models {
        let takes_key = profile.auth == AuthKind::ApiKey
            && matches!(profile.key_source(), None | Some(KeySource::Variable(_)));
        let Ok((_, address)) = subject::profile(config, Some(name)) else { continue };
        if !takes_key || addresses.contains(&address) {
            continue;
        }
        let provider =
            PROVIDERS.iter().find(|(host, _)| address.contains(host)).map(|(_, provider)| *provider);
        found.push(Keyed {
            name: name.clone(),
            label: provider.map_or_else(|| name.clone(), str::to_owned),
            note: format!("{} at {address}", profile.model_or(name)),
        });
        addresses.push(address);
    }
    found
}
