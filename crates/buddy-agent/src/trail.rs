//! The trail of a session, made from its log: whom the person named, what searches listed, who was allowed, and whether a
//! secret was read. Calls are judged anew by their recorded input, so a restart, a fork or a summary forgets nothing.

use std::collections::HashMap;
use std::sync::Arc;

use buddy_policy::{Action, Approvals, Intent, Now, Policy, Trail, decide, recalled};
use buddy_protocol::{Content, Item, ItemStatus, Json, Ran, ToolCall};
use serde_json::Value;

use crate::gate::follow;
use crate::targets::{Attached, Targets};
use crate::tools::{registry, target_field};

/// Tools whose results are lists of addresses, and where in a result the list is.
const LISTS: &[(&str, &str)] = &[("web_search", "results"), ("search_youtube", "videos")];

/// The trail that a session has left so far.
pub(crate) fn retrace(items: &[Item], targets: &Targets) -> Trail {
    let mut retracing = Retracing { targets, policies: HashMap::new(), trail: Trail::default() };
    for item in items {
        retracing.item(item);
    }
    retracing.trail
}

/// Adds to a trail what the result of a call lists.
pub(crate) fn note_result(trail: &mut Trail, call: &ToolCall) {
    let Ok(entry) = registry::find(&call.name) else { return };
    let Some((_, list)) = LISTS.iter().find(|(name, _)| *name == entry.spec.name) else { return };
    let result = call.output.as_ref().and_then(|output| output.result.as_ref()).map(Json::value);
    let rows = result.as_ref().and_then(|result| result.get(list)).and_then(Value::as_array);
    for row in rows.into_iter().flatten() {
        if let Some(address) = row.get("url").and_then(Value::as_str) {
            trail.search_listed(address);
        }
    }
}

struct Retracing<'a> {
    targets: &'a Targets,
    /// The policy of each target, by its name.
    policies: HashMap<String, Option<Arc<Policy>>>,
    trail: Trail,
}

impl Retracing<'_> {
    fn item(&mut self, item: &Item) {
        match &item.content {
            Content::UserMessage { ran: Some(ran), .. } => self.own_command(ran),
            Content::UserMessage { text, .. } => self.trail.person_wrote(text),
            Content::ToolCall(call) => self.call(call, item.status),
            _ => {}
        }
    }

    /// A command that the person ran themselves. They wrote it, and the model was told what it printed.
    fn own_command(&mut self, ran: &Ran) {
        self.trail.person_wrote(&ran.command);
        let Some(target) = self.target(&ran.target) else { return };
        let intent = Intent::of(Action::Run { command: ran.command.clone(), cwd: ran.cwd.clone().into() });
        self.secret(&intent, &target);
    }

    fn call(&mut self, call: &ToolCall, status: ItemStatus) {
        if matches!(status, ItemStatus::Pending | ItemStatus::Denied) {
            return;
        }
        for (intent, target) in self.intents(call) {
            // Only a call that came to its end is known to have been allowed; any other may have read something.
            if status == ItemStatus::Completed {
                let Some(policy) = self.policy(&target) else { continue };
                let tracked = target.host.policy.tracked(&recalled(&intent, &policy));
                let now = Now { trail: &self.trail, tracked: &tracked, ..Now::with(Approvals::Ask) };
                let decision = decide(&intent, &policy, &now);
                follow(&mut self.trail, &intent, &decision);
            } else {
                self.secret(&intent, &target);
            }
        }
        note_result(&mut self.trail, call);
    }

    fn secret(&mut self, intent: &Intent, target: &Arc<Attached>) {
        let Some(policy) = self.policy(target) else { return };
        let tracked = target.host.policy.tracked(&recalled(intent, &policy));
        let now = Now { tracked: &tracked, ..Now::with(Approvals::Ask) };
        if decide(intent, &policy, &now).reads_secret {
            self.trail.read_secret();
        }
    }

    /// What a call did: what the model wanted, and what the person made of it.
    fn intents(&self, call: &ToolCall) -> Vec<(Intent, Arc<Attached>)> {
        let Ok(entry) = registry::find(&call.name) else { return Vec::new() };
        let Ok((named, input)) = target_field::take(entry, call.input.value(), &self.targets.names()) else {
            return Vec::new();
        };
        let name = named.or_else(|| call.target.clone()).unwrap_or_default();
        let Some(target) = self.target(&name) else { return Vec::new() };
        let mut inputs = vec![input.clone()];
        // The title says what ran where the person changed the command; the input keeps what the model wanted.
        if let Some(field) = entry.command.filter(|_| registry::describe(&call.name, &input).1 != call.title)
        {
            let mut edited = input;
            field.replace(&mut edited, &call.title);
            inputs.push(edited);
        }
        let prepared = inputs.into_iter().filter_map(|input| entry.prepare(input).ok());
        prepared.map(|prepared| (prepared.intent(&target.place), target.clone())).collect()
    }

    /// The target of a name, or any where that one is away: what is a secret does not depend on the host alone.
    fn target(&self, name: &str) -> Option<Arc<Attached>> {
        self.targets.find(name).ok().or_else(|| self.targets.attached().first().cloned())
    }

    fn policy(&mut self, target: &Arc<Attached>) -> Option<Arc<Policy>> {
        let read = || target.host.policy.policy(&target.place.cwd, false).ok();
        self.policies.entry(target.spec.name.clone()).or_insert_with(read).clone()
    }
}
