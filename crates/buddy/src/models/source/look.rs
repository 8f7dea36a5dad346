//! A look at a model's server before its first call: how much context it gives.
//!
//! Only servers nearby are asked, only where the configuration says nothing, and only when a call is about to be made.

use std::sync::PoisonError;

use buddy_model::{Route, probe};

use super::Models;
use crate::config::Profile;
use crate::models::connect::{endpoint, route};
use crate::models::key::ModelKey;
use crate::models::reference::Reference;

impl Models {
    /// Asks the server of a model, or of the active one, how much context it gives, if that is worth a question.
    pub(crate) async fn look(&self, name: Option<&str>) {
        if let Ok(Some(reference)) = self.reference(name) {
            self.look_at(&reference).await;
        }
    }

    pub(super) async fn look_at(&self, reference: &Reference) {
        let Some(profile) = self.config.models.get(&reference.profile) else { return };
        let is_open = profile.context_limit.is_none() && self.is_near(reference);
        let name = reference.name();
        if !is_open || !self.looks.begin(&name) {
            return;
        }
        // The call that follows tells faults of the profile.
        let Some((route, model)) = self.short_way(reference, profile) else { return };
        match probe::window(&route, &model).await {
            Ok(window) => {
                self.looks.end(&name, window);
                // Earlier connections did not know.
                self.known.lock().unwrap_or_else(PoisonError::into_inner).remove(&name);
            }
            Err(error) => {
                tracing::debug!(model = name, %error, "the server does not tell its context window");
            }
        }
    }

    /// The way to a model whose key is at hand. A look is not worth waiting for a key command or for a login.
    pub(super) fn short_way(&self, reference: &Reference, profile: &Profile) -> Option<(Route, String)> {
        let name = &reference.profile;
        let key = match self.keys.key(name, profile, &endpoint(name, profile).ok()?.to_string()).ok()? {
            ModelKey::None => None,
            ModelKey::Ready(key) => Some(key),
            ModelKey::Command(_) | ModelKey::Login(_) => return None,
        };
        let known = self.find_known(reference, profile).ok()?;
        let route = route(name, profile, &self.config, key, &known).ok()?;
        Some((route, Self::model_name(reference, profile).ok()?))
    }
}
