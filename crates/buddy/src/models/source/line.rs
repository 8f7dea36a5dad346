//! The way to one model, laid open for whoever examines it rather than talks to it.

use buddy_model::diagnose::{DIAGNOSIS_TIME, Subject};
use buddy_model::{Auth, Switches};
use buddy_protocol::{Failure, FailureKind};

use super::{Models, missing};
use crate::models::connect::{endpoint, route};
use crate::models::key::ModelKey;
use crate::models::known::KnownModel;
use crate::models::model_line::ModelLine;
use crate::models::reference::Reference;

impl Models {
    /// The way to a model by its name, or to the active one; none for the built-in demo. Asks for the key, which may run
    /// a command.
    pub(crate) async fn line(&self, name: Option<&str>) -> Result<Option<ModelLine>, Failure> {
        let Some(reference) = self.reference(name)? else { return Ok(None) };
        self.look_at(&reference).await;
        self.line_of(&reference).await.map(Some)
    }

    /// The way to this model, as the configuration has it: what was learned about it has no say.
    pub(super) async fn line_of(&self, reference: &Reference) -> Result<ModelLine, Failure> {
        let profile = self.config.models.get(&reference.profile).ok_or_else(missing)?;
        let model = Self::model_name(reference, profile)?;
        let address = endpoint(&reference.profile, profile)?.to_string();
        let key = match self.keys.key(&reference.profile, profile, &address) {
            Ok(ModelKey::None) => Ok((None, None)),
            Ok(ModelKey::Ready(key)) => Ok((Some(key), None)),
            Ok(ModelKey::Login(tokens)) => Ok((None, Some(Auth::Login(tokens)))),
            Ok(ModelKey::Command(command)) => {
                command.key().await.map(|key| (Some(key), None)).map_err(unauthorized)
            }
            Err(failure) => Err(failure),
        };
        let known = KnownModel { switches: Switches::default(), ..self.find_known(reference, profile)? };
        let subject = match key {
            Err(failure) => Err(failure),
            Ok((key, login)) => {
                let mut route = route(&reference.profile, profile, &self.config, key, &known)?;
                route.auth = login.unwrap_or(route.auth);
                Ok(Subject {
                    model: model.clone(),
                    route,
                    temperature: self.config.agent.temperature,
                    configured_context: profile.context_limit,
                    catalogue_context: self.catalogue.facts(&model).context_window,
                    time_limit: DIAGNOSIS_TIME,
                })
            }
        };
        let base_url = profile.shown_base_url().to_owned();
        let (profile_name, api) = (reference.profile.clone(), profile.api.name());
        Ok(ModelLine { profile: profile_name, api, base_url, model, subject })
    }
}

fn unauthorized(message: String) -> Failure {
    let hint = Some("run the command of `api_key_command` by hand to see why".to_owned());
    Failure { http_status: None, kind: FailureKind::Auth, message, hint }
}
