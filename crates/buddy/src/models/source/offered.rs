//! The models to choose from: the profiles, and what the server of the model in use offers.

use std::time::Duration;

use buddy_model::probe;
use buddy_protocol::{Failure, FailureKind};
use tokio::time::timeout;

use super::Models;
use crate::models::reference::{Reference, explicit};

/// How long a server may take to list its models.
const LIST_LIMIT: Duration = Duration::from_secs(5);
/// Models of a server that are listed; others can be named.
const MAX_LISTED: usize = 200;

/// A model that can be chosen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct OfferedModel {
    /// The name to choose it by.
    pub(crate) name: String,
    /// The model, as its provider names it.
    pub(crate) model: String,
    /// The words about it.
    pub(crate) note: String,
}

impl Models {
    /// All that can be chosen, where this model is in use: the profiles, then the other models of its server.
    pub(crate) async fn offered(&self, current: Option<&str>) -> Vec<OfferedModel> {
        let rows = self.rows();
        let of_profiles = rows.iter().map(|row| OfferedModel {
            name: row.name.clone(),
            model: row.model.clone(),
            note: format!("{} at {}, key {}", row.model, row.host, row.key),
        });
        let mut offered: Vec<OfferedModel> = of_profiles.collect();
        let Ok(Some(Reference { profile, .. })) = self.reference(current) else { return offered };
        let row = rows.iter().find(|row| row.name == profile);
        let host = row.map(|row| row.host.clone()).unwrap_or_default();
        let known = row.map(|row| row.model.clone());
        for model in self.served(&profile).await.into_iter().filter(|model| Some(model) != known.as_ref()) {
            offered.push(OfferedModel {
                name: format!("{profile}/{model}"),
                model,
                note: format!("at {host}"),
            });
        }
        offered
    }

    /// The name of the model that a user means: a number of the list, a profile, `profile/model`, or a model of the server in
    /// use. A server that tells its models refuses other names; one that is written with its profile is taken as it is.
    pub(crate) async fn find(&self, wish: &str, current: Option<&str>) -> Result<String, Failure> {
        if let Ok(number) = wish.parse::<usize>() {
            let offered = self.offered(current).await;
            let meant = number.checked_sub(1).and_then(|place| offered.get(place));
            return meant.map(|meant| meant.name.clone()).ok_or_else(|| {
                unknown(format!("there is no model {number}"), format!("the list has {}", offered.len()))
            });
        }
        if self.is_demo(Some(wish)) || explicit(wish, &self.config.models).is_some() {
            return self.canonical(wish);
        }
        let in_use = self.reference(current).ok().flatten().map(|reference| reference.profile);
        let Some(profile) = in_use else { return self.canonical(wish) };
        let served = self.served(&profile).await;
        if served.is_empty() || served.iter().any(|model| model == wish) {
            let is_slip = self.canonical(wish).is_err() && served.is_empty();
            return if is_slip { self.canonical(wish) } else { Ok(format!("{profile}/{wish}")) };
        }
        let names = served.iter().chain(self.config.models.keys());
        let nearest =
            names.min_by_key(|known| strsim::osa_distance(&known.to_lowercase(), &wish.to_lowercase()));
        let meant = nearest.map(|nearest| format!("did you mean `{nearest}`? ")).unwrap_or_default();
        let hint = format!("{meant}/model lists them; `{profile}/{wish}` skips this check");
        Err(unknown(format!("the server of `{profile}` has no model `{wish}`"), hint))
    }

    /// The models that the server of a profile says it has, in the order of their names; none where it does not say.
    async fn served(&self, profile: &str) -> Vec<String> {
        let reference = Reference { profile: profile.to_owned(), model: None };
        let Some(settings) = self.config.models.get(profile) else { return Vec::new() };
        let Some((route, _)) = self.short_way(&reference, settings) else { return Vec::new() };
        let Ok(Ok(listed)) = timeout(LIST_LIMIT, probe::models(&route)).await else { return Vec::new() };
        let mut names: Vec<String> = listed.into_iter().map(|model| model.name).take(MAX_LISTED).collect();
        names.sort();
        names
    }
}

fn unknown(message: String, hint: String) -> Failure {
    Failure { kind: FailureKind::ModelMissing, message, hint: Some(hint), http_status: None }
}
