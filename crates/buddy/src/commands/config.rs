//! `buddy config`.

use buddy_protocol::Operations;
use buddy_protocol::operations::{ConfigurationView, SetConfiguration, UnsetConfiguration};
use buddy_tui::{Exit, Printer};

use crate::cli::ConfigAction;
use crate::commands::listing::view;
use crate::config::{project_keys_table, schema};
use crate::invocation::Invocation;
use crate::operations::{FileBefore, HomeOperations, UserConfiguration};
use crate::rendering::{configuration_json, configuration_table, configuration_text};

/// Shows or changes the configuration.
pub(crate) async fn run(invocation: &Invocation<'_>, action: ConfigAction) -> anyhow::Result<Exit> {
    let operations = invocation.operations();
    let mut printer = Printer::standard();
    match action {
        ConfigAction::Show { json: true, .. } => {
            let shown = show(&operations, &mut printer).await?;
            printer.line(&serde_json::to_string_pretty(&configuration_json(&shown))?)?;
        }
        ConfigAction::Show { origins, json: false } => {
            let (shown, view) = (show(&operations, &mut printer).await?, view(invocation));
            if view.is_terminal() {
                configuration_table(&shown, origins).print(&view, &mut printer)?;
            } else {
                printer.answer(&configuration_text(&shown, origins))?;
            }
        }
        ConfigAction::Path => {
            printer.line(&operations.find_configuration_file(operations.owner()).await?.path)?;
        }
        ConfigAction::Schema => printer.line(&serde_json::to_string_pretty(schema())?)?,
        ConfigAction::ProjectKeys => printer.answer(&project_keys_table())?,
        ConfigAction::Set { key, value } => {
            operations.set_configuration(operations.owner(), SetConfiguration { key, value }).await?;
        }
        ConfigAction::Unset { key } => {
            let outcome = operations
                .unset_configuration(operations.owner(), UnsetConfiguration { key: key.clone() })
                .await?;
            if !outcome.was_set {
                printer.status(&format!("`{key}` is not set in {}", outcome.path));
            }
        }
    }
    Ok(Exit::Ok)
}

/// The configuration, after its warnings.
async fn show(operations: &HomeOperations, printer: &mut Printer) -> anyhow::Result<ConfigurationView> {
    let shown = operations.show_configuration(operations.owner()).await?;
    for warning in &shown.warnings {
        printer.status(&format!("warning: {warning}"));
    }
    Ok(shown)
}

/// Makes a profile the one in use, in the user's file.
pub(crate) fn choose_model(invocation: &Invocation<'_>, name: &str) -> anyhow::Result<()> {
    user_configuration(invocation).set(&[("agent.model", name)]).map(drop)
}

/// Writes a profile with these settings into the user's file.
pub(crate) fn add_profile(
    invocation: &Invocation<'_>,
    name: &str,
    settings: &[(&str, &str)],
) -> anyhow::Result<FileBefore> {
    let keys: Vec<String> = settings.iter().map(|(key, _)| format!("models.{name}.{key}")).collect();
    let settings: Vec<(&str, &str)> =
        keys.iter().zip(settings).map(|(key, (_, value))| (key.as_str(), *value)).collect();
    user_configuration(invocation).set(&settings)
}

fn user_configuration<'a>(invocation: &'a Invocation<'_>) -> UserConfiguration<'a> {
    UserConfiguration {
        environment: invocation.environment,
        request: &invocation.request,
        cwd: &invocation.cwd,
    }
}
