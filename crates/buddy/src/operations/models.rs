//! The model profiles of the configuration.

use buddy_protocol::operations::ModelList;

use super::place::OperationPlace;
use crate::config::load;
use crate::models::{Models, find_models};
use crate::policy::Guards;

/// The profiles. The server of the active one is asked for its context window, if it is nearby.
pub(super) async fn list(place: &OperationPlace) -> anyhow::Result<ModelList> {
    let (models, warnings) = prepare(place).await?;
    models.look(None).await;
    Ok(ModelList { models: models.rows(), warnings })
}

/// The models as a conversation would have them, and what the user should know about them.
pub(super) async fn prepare(place: &OperationPlace) -> anyhow::Result<(Models, Vec<String>)> {
    let loaded = load(&place.environment, &place.cwd, &place.request)?;
    let mut warnings = loaded.warnings.clone();
    warnings.extend(Guards::new(&place.environment.data).notice()?);
    let models = find_models(&place.environment, &place.cwd, &loaded, place.model.as_deref()).await?;
    warnings.extend(models.warnings());
    Ok((models, warnings))
}
