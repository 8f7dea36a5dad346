//! The connections of a command that nobody was asked about: each host is judged when the command wants to reach it.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::{Arc, Mutex, PoisonError};

use async_trait::async_trait;
use buddy_policy::{Action, Decision, Intent, Offer, Verdict, nearby_offer};
use buddy_protocol::{Answer, Approval, Offer as OfferText, Question, Risk};
use buddy_web::{Connection, Outcome, Wanted, Warrant};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use crate::gate::Ground;
use crate::targets::Attached;
use crate::tools::person::Person;
use crate::tools::run::Pipeline;

/// Hosts of one call that its result names. The others are counted.
const MAX_ROWS: usize = 50;

/// Words at the beginning of a line that run nothing of interest.
const ASIDES: &[&str] = &["cd", "echo", "export", "printf", "set", "test", "true", ":"];

/// What the connections of one call are judged by.
pub(crate) struct CallEgress {
    pub(crate) pipeline: Arc<Pipeline>,
    pub(crate) target: Arc<Attached>,
    pub(crate) person: Person,
    /// The program that people know the command by.
    pub(crate) program: String,
    pub(crate) cancel: CancellationToken,
    /// What was decided in this call. Held while a person is asked, so that there is one question at a time.
    pub(crate) decided: tokio::sync::Mutex<HashMap<String, Result<(), String>>>,
    pub(crate) connections: Mutex<Vec<Connection>>,
}

/// The program that people know a command by, of the simple commands that it is made of.
pub(crate) fn program(decision: &Decision) -> String {
    let programs = decision.parts.iter().filter_map(|part| part.split_whitespace().next());
    let named = programs.clone().find(|program| !ASIDES.contains(program)).or(programs.clone().next());
    named.unwrap_or("the command").to_owned()
}

#[async_trait]
impl Warrant for CallEgress {
    async fn host(&self, wanted: &Wanted) -> Result<(), String> {
        let intent = Intent::of(Action::Fetch(format!("https://{}/", wanted.host)));
        self.once(wanted.host.clone(), async {
            let judged = self.pipeline.parts.gate.judge(&intent, self.ground())?;
            let decision = judged.decision;
            match decision.verdict {
                Verdict::Allow => Ok(()),
                Verdict::Deny => Err(told(&decision)),
                Verdict::Ask => {
                    let action = format!("{} wants to reach {}", self.program, wanted.host);
                    self.ask(action, &decision.reasons, decision.risk, &decision.offers, &intent).await?;
                    self.pipeline.parts.gate.trace(|trail| trail.allow(&wanted.host));
                    Ok(())
                }
            }
        })
        .await
    }

    async fn nearby(&self, wanted: &Wanted, address: IpAddr) -> Result<(), String> {
        self.once(format!("{} at {address}", authority(wanted)), async {
            let is_configured = self.pipeline.parts.web.fetcher.allows(&wanted.host, wanted.port);
            if is_configured || self.pipeline.parts.gate.reaches_nearby(&authority(wanted), self.ground())? {
                return Ok(());
            }
            if !self.pipeline.parts.gate.is_attended() {
                return Err(format!(
                    "it is at {address}, on this machine or its network, and nobody is there to ask"
                ));
            }
            let place = if address.is_loopback() { "this machine" } else { "a private network" };
            let action = format!("{} wants to reach {} on {place}", self.program, authority(wanted));
            let reason = format!("`{}` is at {address}, on {place}", wanted.host);
            let offers = [nearby_offer(&authority(wanted), &self.target.spec.name)];
            let intent = Intent::of(Action::Fetch(format!("https://{}/", wanted.host)));
            self.ask(action, &[reason], Risk::Medium, &offers, &intent).await
        })
        .await
    }

    fn ended(&self, connection: Connection) {
        self.connections.lock().unwrap_or_else(PoisonError::into_inner).push(connection);
    }
}

impl CallEgress {
    fn ground(&self) -> Ground<'_> {
        Ground { source: &*self.target.host.policy, cwd: &self.target.place.cwd }
    }

    /// Decides something the first time that it comes up in this call.
    async fn once(
        &self,
        key: String,
        decide: impl Future<Output = Result<(), String>>,
    ) -> Result<(), String> {
        let mut decided = self.decided.lock().await;
        if let Some(known) = decided.get(&key) {
            return known.clone();
        }
        let decision = decide.await;
        decided.insert(key, decision.clone());
        decision
    }

    async fn ask(
        &self,
        action: String,
        reasons: &[String],
        risk: Risk,
        offers: &[Offer],
        intent: &Intent,
    ) -> Result<(), String> {
        let described = self.target.host.target.describe();
        let offered =
            |offer: &Offer| OfferText { grant: offer.grant.to_string(), covers: offer.covers.clone() };
        let approval = Approval {
            item: None,
            actor: "buddy".to_owned(),
            place: format!("{}@{}", described.user, described.host),
            target: None,
            cwd: self.target.place.cwd.to_string_lossy().into_owned(),
            action,
            why: None,
            risk,
            reasons: reasons.to_vec(),
            parts: Vec::new(),
            opens: Vec::new(),
            diff: None,
            is_editable: false,
            offers: offers.iter().map(offered).collect(),
            unfit: None,
            word: None,
        };
        let answer = tokio::select! {
            answer = self.person.ask(Question::Approval(approval)) => answer,
            () = self.cancel.cancelled() => None,
        };
        let grant = match answer {
            Some(Answer::Allow { grant, .. }) => grant,
            Some(Answer::Deny { reason: Some(reason) }) => {
                return Err(format!("the person said no: {reason}"));
            }
            Some(Answer::Deny { reason: None }) => return Err("the person said no".to_owned()),
            _ => return Err("nobody answered".to_owned()),
        };
        if let Some(wish) = grant {
            // It was allowed in any case; that it is not allowed for longer is told.
            match self.pipeline.parts.gate.wished(&wish, offers, intent, self.ground()) {
                Ok(grant) => {
                    let _ = self.pipeline.note_grant(self.ground(), Some((grant, wish))).await;
                }
                Err(why) => tracing::warn!(%why, "the host is not allowed for longer"),
            }
        }
        Ok(())
    }

    /// The connections that there were, each host and port once, for a result.
    pub(crate) fn rows(&self) -> Option<Value> {
        let connections = self.connections.lock().unwrap_or_else(PoisonError::into_inner);
        let mut rows: Vec<(Connection, u64)> = Vec::new();
        for connection in connections.iter() {
            let is_same = |(row, _): &&mut (Connection, u64)| {
                row.wanted == connection.wanted && row.outcome == connection.outcome
            };
            match rows.iter_mut().find(is_same) {
                Some((row, count)) => {
                    row.sent += connection.sent;
                    row.received += connection.received;
                    *count += 1;
                }
                None => rows.push((connection.clone(), 1)),
            }
        }
        if rows.is_empty() {
            return None;
        }
        let left_out = rows.len().saturating_sub(MAX_ROWS);
        let mut list: Vec<Value> =
            rows.iter().take(MAX_ROWS).map(|(row, count)| told_row(row, *count)).collect();
        if left_out > 0 {
            list.push(json!({ "left_out": left_out }));
        }
        Some(Value::Array(list))
    }
}

fn told_row(row: &Connection, count: u64) -> Value {
    json!({
        "host": row.wanted.host,
        "port": row.wanted.port,
        "outcome": match row.outcome {
            Outcome::Made => MADE,
            Outcome::Refused => "refused",
            Outcome::Failed => "failed",
        },
        "count": count,
        "sent": row.sent,
        "received": row.received,
    })
}

/// The outcome of connections that came about, as results have it.
pub(crate) const MADE: &str = "made";
/// Where results have the connections of a command.
pub(crate) const CONNECTIONS: &str = "connections";

fn authority(wanted: &Wanted) -> String {
    format!("{}:{}", wanted.host, wanted.port)
}

/// A denial as the command is told it, with how a person allows it beforehand.
fn told(decision: &Decision) -> String {
    let mut text = decision.reasons.join("; ");
    for way in &decision.ways {
        text.push_str("; the person can allow it with ");
        text.push_str(way);
    }
    text
}
