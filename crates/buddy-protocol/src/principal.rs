//! Principals: who caused an event. A principal is known by its id; its name is for display only.
//!
//! Ids of local accounts are derived from the account's name, and so are the ids of principals in logs that have
//! none. So a log, the session list and the account that reads them agree without a table. Users of a server get
//! random ids.

use std::fmt;
use std::hash::{Hash, Hasher};

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use sha2::{Digest, Sha256};

use crate::{AgentId, BadId, ImportId, UserId};

/// The author of a fact: a user, an agent, a file that was imported, or buddy itself.
///
/// Two principals are equal if they have the same id and act for the same user. Names are never compared.
#[derive(Debug, Clone, Serialize)]
#[serde(into = "PrincipalWire")]
pub struct Principal {
    /// The stable id.
    pub id: PrincipalId,
    /// The name, for display only.
    pub name: String,
    /// The user that an agent acts for.
    pub on_behalf_of: Option<UserId>,
}

impl Principal {
    /// The user of a local account.
    pub fn person(account: impl Into<String>) -> Self {
        let name = account.into();
        Self { id: PrincipalId::User(UserId::of_account(&name)), name, on_behalf_of: None }
    }

    /// A user with an id of its own.
    pub fn user(id: UserId, name: impl Into<String>) -> Self {
        Self { id: PrincipalId::User(id), name: name.into(), on_behalf_of: None }
    }

    /// An agent that acts for a user.
    pub fn agent(id: AgentId, name: impl Into<String>, user: UserId) -> Self {
        Self { id: PrincipalId::Agent(id), name: name.into(), on_behalf_of: Some(user) }
    }

    /// A file that was imported.
    pub fn imported(file: impl Into<String>) -> Self {
        let name = file.into();
        Self { id: PrincipalId::of_name(PrincipalKind::Imported, &name), name, on_behalf_of: None }
    }

    /// buddy itself.
    pub fn system() -> Self {
        Self { id: PrincipalId::System, name: "buddy".to_owned(), on_behalf_of: None }
    }

    /// The kind of principal.
    pub fn kind(&self) -> PrincipalKind {
        self.id.kind()
    }

    /// The user that it is or acts for.
    pub fn acting_user(&self) -> Option<&UserId> {
        match &self.id {
            PrincipalId::User(id) => Some(id),
            PrincipalId::Agent(_) => self.on_behalf_of.as_ref(),
            PrincipalId::Import(_) | PrincipalId::System => None,
        }
    }
}

impl PartialEq for Principal {
    fn eq(&self, other: &Self) -> bool {
        self.id == other.id && self.on_behalf_of == other.on_behalf_of
    }
}

impl Eq for Principal {}

impl Hash for Principal {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.id.hash(state);
        self.on_behalf_of.hash(state);
    }
}

/// The kind of a principal.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum PrincipalKind {
    /// A user.
    Person,
    /// An agent.
    Agent,
    /// buddy itself.
    System,
    /// A file of another program that was imported. buddy was not there, so its words and calls are nobody's.
    Imported,
}

/// The id of a principal; its kind is part of it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum PrincipalId {
    /// A user.
    User(UserId),
    /// An agent.
    Agent(AgentId),
    /// A file that was imported.
    Import(ImportId),
    /// buddy itself.
    System,
}

/// The text of the id of buddy itself.
const SYSTEM: &str = "sys";

impl PrincipalId {
    /// The id of a principal that is known by kind and name only: every log before ids has those.
    fn of_name(kind: PrincipalKind, name: &str) -> Self {
        match kind {
            PrincipalKind::Person => Self::User(UserId::of_account(name)),
            PrincipalKind::Agent => Self::Agent(AgentId::of_name(name)),
            PrincipalKind::Imported => Self::Import(ImportId::from_number(derive_number("imported", name))),
            PrincipalKind::System => Self::System,
        }
    }

    fn parse(kind: PrincipalKind, text: String) -> Result<Self, BadPrincipal> {
        Ok(match kind {
            PrincipalKind::Person => Self::User(text.try_into()?),
            PrincipalKind::Agent => Self::Agent(text.try_into()?),
            PrincipalKind::Imported => Self::Import(text.try_into()?),
            PrincipalKind::System if text == SYSTEM => Self::System,
            PrincipalKind::System => return Err(BadPrincipal::System),
        })
    }

    /// The kind of principal.
    pub fn kind(&self) -> PrincipalKind {
        match self {
            Self::User(_) => PrincipalKind::Person,
            Self::Agent(_) => PrincipalKind::Agent,
            Self::Import(_) => PrincipalKind::Imported,
            Self::System => PrincipalKind::System,
        }
    }

    /// The id as text.
    pub fn as_str(&self) -> &str {
        match self {
            Self::User(id) => id.as_str(),
            Self::Agent(id) => id.as_str(),
            Self::Import(id) => id.as_str(),
            Self::System => SYSTEM,
        }
    }
}

impl fmt::Display for PrincipalId {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.as_str())
    }
}

impl From<UserId> for PrincipalId {
    fn from(id: UserId) -> Self {
        Self::User(id)
    }
}

impl TryFrom<String> for PrincipalId {
    type Error = BadPrincipal;

    fn try_from(text: String) -> Result<Self, BadPrincipal> {
        let kind = match text.get(..4) {
            Some("agt_") => PrincipalKind::Agent,
            Some("imp_") => PrincipalKind::Imported,
            None if text == SYSTEM => PrincipalKind::System,
            _ => PrincipalKind::Person,
        };
        Self::parse(kind, text)
    }
}

impl Serialize for PrincipalId {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

impl<'de> Deserialize<'de> for PrincipalId {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Self::try_from(String::deserialize(deserializer)?).map_err(serde::de::Error::custom)
    }
}

impl UserId {
    /// The id of the user of a local account.
    pub fn of_account(name: &str) -> Self {
        Self::from_number(derive_number("person", name))
    }
}

impl AgentId {
    /// The id of an agent that is known by its name only.
    pub fn of_name(name: &str) -> Self {
        Self::from_number(derive_number("agent", name))
    }
}

/// The first 128 bits of a hash of kind and name. The zero byte separates the two: no kind contains it.
fn derive_number(kind: &str, name: &str) -> u128 {
    let hash: [u8; 32] =
        Sha256::new().chain_update(kind).chain_update(b"\0").chain_update(name).finalize().into();
    hash.iter().take(16).fold(0, |number, byte| (number << 8) | u128::from(*byte))
}

/// A principal whose parts contradict each other.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BadPrincipal {
    /// The id does not belong to the kind.
    #[error(transparent)]
    Id(#[from] BadId),
    /// buddy itself has one id.
    #[error("the id of buddy itself is `{SYSTEM}`")]
    System,
    /// Only an agent acts for somebody.
    #[error("only an agent acts for a user")]
    NotAgent,
}

/// The author of a fact: a user, an agent, a file that was imported, or buddy itself.
#[derive(Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "Principal")]
struct PrincipalWire {
    /// The kind of author.
    kind: PrincipalKind,
    /// The stable id: `usr_…`, `agt_…`, `imp_…` or `sys`. Absent in old logs, where kind and name decide it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    id: Option<String>,
    /// The name, for display only.
    name: String,
    /// The user that an agent acts for.
    #[serde(default, rename = "for", skip_serializing_if = "Option::is_none")]
    on_behalf_of: Option<UserId>,
}

impl From<Principal> for PrincipalWire {
    fn from(principal: Principal) -> Self {
        let Principal { id, name, on_behalf_of } = principal;
        Self { kind: id.kind(), id: Some(id.as_str().to_owned()), name, on_behalf_of }
    }
}

impl TryFrom<PrincipalWire> for Principal {
    type Error = BadPrincipal;

    fn try_from(wire: PrincipalWire) -> Result<Self, BadPrincipal> {
        let PrincipalWire { kind, id, name, on_behalf_of } = wire;
        if on_behalf_of.is_some() && kind != PrincipalKind::Agent {
            return Err(BadPrincipal::NotAgent);
        }
        let id = match id {
            Some(id) => PrincipalId::parse(kind, id)?,
            None => PrincipalId::of_name(kind, &name),
        };
        Ok(Self { id, name, on_behalf_of })
    }
}

impl<'de> Deserialize<'de> for Principal {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        PrincipalWire::deserialize(deserializer)?.try_into().map_err(serde::de::Error::custom)
    }
}

impl JsonSchema for Principal {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        PrincipalWire::schema_name()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        PrincipalWire::json_schema(generator)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Principal, serde_json::Error> {
        serde_json::from_str(text)
    }

    #[test]
    fn a_principal_of_an_old_log_has_the_id_of_the_local_account() {
        let ann = read(r#"{"kind":"person","name":"ann"}"#).unwrap();
        assert_eq!(ann, Principal::person("ann"));
        // This text is in stores: it must never change.
        assert_eq!(ann.id.as_str(), "usr_1te3gx1npdfkbyz285hkajmgjx");
        assert_eq!(read(r#"{"kind":"system","name":"buddy"}"#).unwrap(), Principal::system());
        let file = read(r#"{"kind":"imported","name":"a.json"}"#).unwrap();
        assert_eq!(file, Principal::imported("a.json"));
    }

    #[test]
    fn names_are_not_compared() {
        let ann = Principal::person("ann");
        let renamed = Principal { name: "Ann B.".to_owned(), ..ann.clone() };
        assert_eq!(renamed, ann);
        let namesake = Principal::user("usr_00000000000000000000000001".parse().unwrap(), "ann");
        assert_ne!(namesake, ann);
        let agent = Principal::agent(AgentId::of_name("ann"), "ann", UserId::of_account("ann"));
        assert_ne!(agent, ann);
        assert_eq!(agent.acting_user(), ann.acting_user());
    }

    #[test]
    fn a_principal_survives_the_wire() {
        let agent = Principal::agent(AgentId::of_name("scout"), "scout", UserId::of_account("ann"));
        for principal in [agent, Principal::person("bob"), Principal::system(), Principal::imported("f")] {
            let text = serde_json::to_string(&principal).unwrap();
            let again = read(&text).unwrap();
            assert_eq!((&again, &again.name), (&principal, &principal.name), "{text}");
            assert_eq!(PrincipalId::try_from(principal.id.to_string()).unwrap(), principal.id);
        }
    }

    #[test]
    fn parts_that_contradict_each_other_are_refused() {
        for text in [
            r#"{"kind":"person","id":"agt_00000000000000000000000001","name":"a"}"#,
            r#"{"kind":"agent","id":"usr_00000000000000000000000001","name":"a"}"#,
            r#"{"kind":"system","id":"usr_00000000000000000000000001","name":"a"}"#,
            r#"{"kind":"person","id":"sys","name":"a"}"#,
            r#"{"kind":"person","name":"a","for":"usr_00000000000000000000000001"}"#,
            r#"{"kind":"agent","name":"a","for":"agt_00000000000000000000000001"}"#,
        ] {
            assert!(read(text).is_err(), "{text}");
        }
    }
}
