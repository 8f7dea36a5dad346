//! The permissions of principals. [`authorize`] is the only function that decides them, and every entry point calls it.

use std::fmt;

use buddy_protocol::{
    Change, Command, Members, Principal, PrincipalId, PrincipalKind, Role, SessionSummary, SessionsError,
    UserId,
};

/// An action that needs a permission.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Action {
    /// Start a session in the name of a user.
    Create,
    /// Read a session: its events, its place in lists, its asks.
    Read,
    /// Prompt in a session, or stop its turn.
    Prompt,
    /// Answer an ask.
    Answer,
    /// Change the title or the model of a session, or end it.
    Change,
    /// Change the rules that a session's agent works under: approvals, plan mode, targets and panes. Of a user: what only
    /// they may change themselves, such as grants, configuration and files that an undo restores.
    Govern,
    /// Run commands as the user.
    Run,
    /// Stop a command of the user, or the call of a client.
    Stop,
    /// Make a call that is judged like those of the session's agent.
    Call,
    /// Open a session below another one, which pays for it.
    Attach,
    /// Work with an agent or in a workspace.
    Use,
    /// Administer the server.
    Administer,
}

impl Action {
    /// All actions.
    pub const ALL: [Self; 12] = [
        Self::Create,
        Self::Read,
        Self::Prompt,
        Self::Answer,
        Self::Change,
        Self::Govern,
        Self::Run,
        Self::Stop,
        Self::Call,
        Self::Attach,
        Self::Use,
        Self::Administer,
    ];

    /// The action that a command asks for.
    pub fn of(command: &Command) -> Self {
        match command {
            Command::Prompt { .. }
            | Command::Interrupt { .. }
            | Command::WindUp { .. }
            | Command::Compact => Self::Prompt,
            Command::Answer { .. } => Self::Answer,
            Command::Change(Change {
                approvals: None,
                plan_only: None,
                panes_taken: None,
                target: None,
                ..
            })
            | Command::End => Self::Change,
            Command::Change(_) => Self::Govern,
            Command::Run { .. } => Self::Run,
            Command::Stop { .. } => Self::Stop,
            Command::Call { .. } => Self::Call,
        }
    }

    fn describe(self) -> &'static str {
        match self {
            Self::Create => "start a session",
            Self::Read => "read this session",
            Self::Prompt => "prompt in this session",
            Self::Answer => "answer in this session",
            Self::Change => "change this session",
            Self::Govern => "change the rules of this session",
            Self::Run => "run commands in this session",
            Self::Stop => "stop this",
            Self::Call => "make calls in this session",
            Self::Attach => "open a session below this one",
            Self::Use => "work with this",
            Self::Administer => "administer this server",
        }
    }
}

/// The thing that an action is about.
#[derive(Debug, Clone, Copy)]
pub enum Resource<'a> {
    /// A session.
    Session(&'a SessionResource),
    /// A call that a client made in a session.
    Call {
        /// The session.
        session: &'a SessionResource,
        /// The client.
        caller: &'a Principal,
    },
    /// A workspace, by its directory.
    Workspace(&'a str),
    /// An agent, by its name.
    Agent(&'a str),
    /// A user as the owner of sessions, grants, configuration and the like. buddy itself can own sessions too.
    User(&'a PrincipalId),
    /// The server.
    Server,
}

/// The properties of a session that decide who may do what in it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SessionResource {
    /// Its owner.
    pub owner: PrincipalId,
    /// The directory it works in.
    pub workspace: String,
    /// The owners of the sessions above it, as far as the action needs them.
    pub ancestors: Vec<PrincipalId>,
}

impl SessionResource {
    /// A session without the sessions above it.
    pub fn of(summary: &SessionSummary) -> Self {
        Self { owner: summary.owner.id.clone(), workspace: summary.cwd.clone(), ancestors: Vec::new() }
    }
}

/// A refusal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Denied {
    who: String,
    action: Action,
}

impl fmt::Display for Denied {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{} may not {}", self.who, self.action.describe())
    }
}

impl std::error::Error for Denied {}

impl From<Denied> for SessionsError {
    fn from(denied: Denied) -> Self {
        Self::Forbidden { who: denied.who, what: denied.action.describe().to_owned() }
    }
}

/// May `who` do this?
///
/// A user may do everything in their own sessions, and an agent that acts for a user everything that the user may,
/// except to open its own gate: it neither answers asks nor changes the rules of a session nor runs or stops commands as the
/// user. It may stop the calls that it made itself. buddy itself may do what needs no person. Everybody else may do nothing, whatever their name is.
pub fn authorize(
    members: &dyn Members,
    who: &Principal,
    action: Action,
    resource: Resource<'_>,
) -> Result<(), Denied> {
    let is_allowed = match who.kind() {
        PrincipalKind::System => may_system(action),
        PrincipalKind::Person => may_user(members, who.acting_user(), action, resource),
        PrincipalKind::Agent => {
            (!needs_person(action) || is_own_call(who, action, resource))
                && may_user(members, who.acting_user(), action, resource)
        }
        PrincipalKind::Imported => false,
    };
    if is_allowed { Ok(()) } else { Err(Denied { who: who.name.clone(), action }) }
}

/// Actions that only a person takes.
fn needs_person(action: Action) -> bool {
    matches!(action, Action::Answer | Action::Govern | Action::Run | Action::Stop | Action::Administer)
}

/// Whether an agent stops a call that it made itself, for the same user.
fn is_own_call(who: &Principal, action: Action, resource: Resource<'_>) -> bool {
    let Resource::Call { caller, .. } = resource else { return false };
    action == Action::Stop && caller.id == who.id && caller.on_behalf_of == who.on_behalf_of
}

fn may_system(action: Action) -> bool {
    !matches!(action, Action::Answer | Action::Run | Action::Stop | Action::Administer)
}

fn may_user(members: &dyn Members, user: Option<&UserId>, action: Action, resource: Resource<'_>) -> bool {
    let Some((user, role)) = user.and_then(|user| Some((user, members.role(user)?))) else { return false };
    let is_own = |owner: &PrincipalId| *owner == PrincipalId::User(user.clone());
    match (resource, action) {
        (Resource::Session(session), Action::Read) => is_own(&session.owner),
        (
            Resource::Session(session),
            Action::Prompt
            | Action::Answer
            | Action::Change
            | Action::Govern
            | Action::Run
            | Action::Stop
            | Action::Call,
        )
        | (Resource::Call { session, .. }, Action::Stop) => {
            is_own(&session.owner) && members.is_member(user, &session.workspace)
        }
        // The whole tree pays for a session, so the whole tree must be the user's.
        (Resource::Session(session), Action::Attach) => {
            is_own(&session.owner)
                && session.ancestors.iter().all(is_own)
                && members.is_member(user, &session.workspace)
        }
        (Resource::User(owner), Action::Create | Action::Read | Action::Govern) => is_own(owner),
        (Resource::Workspace(workspace), Action::Use) => members.is_member(user, workspace),
        (Resource::Agent(_), Action::Use) => true,
        (Resource::Server, Action::Administer) => matches!(role, Role::Owner | Role::Admin),
        _ => false,
    }
}

/// The owners whose sessions are worth looking at for `who`. It narrows a query; [`authorize`] decides about each row.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum OwnerScope {
    Everybody,
    Owner(PrincipalId),
    Nobody,
}

impl OwnerScope {
    pub(crate) fn of(who: &Principal) -> Self {
        match (who.kind(), who.acting_user()) {
            (PrincipalKind::System, _) => Self::Everybody,
            (_, Some(user)) => Self::Owner(PrincipalId::User(user.clone())),
            (_, None) => Self::Nobody,
        }
    }

    /// The part of it that a query is about that names an owner, or none.
    pub(crate) fn narrowed(self, wanted: Option<PrincipalId>) -> Self {
        match (self, wanted) {
            (Self::Everybody, Some(wanted)) => Self::Owner(wanted),
            (Self::Owner(own), Some(wanted)) if wanted != own => Self::Nobody,
            (scope, _) => scope,
        }
    }
}

#[cfg(test)]
mod tests {
    use buddy_protocol::{AgentId, ApprovalPolicy};

    use super::*;

    /// ann and bob are users, carol is an admin, and nobody else has an account. Only carol may work in `/closed`.
    struct House;

    impl Members for House {
        fn role(&self, user: &UserId) -> Option<Role> {
            let is = |name: &str| *user == UserId::of_account(name);
            if is("carol") { Some(Role::Admin) } else { (is("ann") || is("bob")).then_some(Role::User) }
        }

        fn is_member(&self, user: &UserId, workspace: &str) -> bool {
            workspace != "/closed" || *user == UserId::of_account("carol")
        }
    }

    fn agent(name: &str, user: Option<&str>) -> Principal {
        let id = PrincipalId::Agent(AgentId::of_name(name));
        Principal { id, name: name.to_owned(), on_behalf_of: user.map(UserId::of_account) }
    }

    fn session(owner: &str, above: &[&str], workspace: &str) -> SessionResource {
        SessionResource {
            owner: Principal::person(owner).id,
            workspace: workspace.to_owned(),
            ancestors: above.iter().map(|name| Principal::person(*name).id).collect(),
        }
    }

    /// The actions that `who` may take, as a list of names.
    fn allowed(who: &Principal, resource: Resource<'_>) -> String {
        let may = |action: &Action| authorize(&House, who, *action, resource).is_ok();
        let names: Vec<String> =
            Action::ALL.iter().filter(|action| may(action)).map(|action| format!("{action:?}")).collect();
        names.join(" ").to_lowercase()
    }

    /// One row for each kind of principal, in the order of the columns below.
    fn check(resource: Resource<'_>, expected: [&str; 10]) {
        let whos = [
            Principal::person("ann"),
            Principal::person("bob"),
            Principal::person("carol"),
            Principal::person("mallory"),
            agent("buddy", Some("ann")),
            agent("buddy", Some("bob")),
            agent("ann", None),
            agent("buddy", Some("mallory")),
            Principal::imported("ann"),
            Principal::system(),
        ];
        for (who, expected) in whos.iter().zip(expected) {
            assert_eq!(allowed(who, resource), expected, "{who:?} {resource:?}");
        }
    }

    const SYSTEM: &str = "create read prompt change govern call attach use";

    #[test]
    fn every_action_of_every_principal_on_every_resource() {
        const OWNER: &str = "read prompt answer change govern run stop call attach";
        const AGENT: &str = "read prompt change call attach";
        let own = session("ann", &[], "/w");
        check(Resource::Session(&own), [OWNER, "", "", "", AGENT, "", "", "", "", SYSTEM]);
        // Without the workspace a session is only read.
        let closed = session("ann", &[], "/closed");
        check(Resource::Session(&closed), ["read", "", "", "", "read", "", "", "", "", SYSTEM]);
        // In a stranger's tree an owner does everything but spend the tree's budget.
        let strange = session("ann", &["ann", "bob"], "/w");
        let apart = "read prompt answer change govern run stop call";
        check(
            Resource::Session(&strange),
            [apart, "", "", "", "read prompt change call", "", "", "", "", SYSTEM],
        );
        // A user who is locked out may not even read.
        let locked = session("mallory", &[], "/w");
        check(Resource::Session(&locked), ["", "", "", "", "", "", "", "", "", SYSTEM]);
        let user = Principal::person("ann").id;
        check(
            Resource::User(&user),
            ["create read govern", "", "", "", "create read", "", "", "", "", SYSTEM],
        );
        check(Resource::User(&PrincipalId::System), ["", "", "", "", "", "", "", "", "", SYSTEM]);
        check(Resource::Workspace("/w"), ["use", "use", "use", "", "use", "use", "", "", "", SYSTEM]);
        check(Resource::Workspace("/closed"), ["", "", "use", "", "", "", "", "", "", SYSTEM]);
        check(Resource::Agent("buddy"), ["use", "use", "use", "", "use", "use", "", "", "", SYSTEM]);
        check(Resource::Server, ["", "", "administer", "", "", "", "", "", "", SYSTEM]);
    }

    #[test]
    fn an_agent_stops_its_own_calls_and_no_others() {
        let (own, closed) = (session("ann", &[], "/w"), session("ann", &[], "/closed"));
        let buddy = agent("buddy", Some("ann"));
        let call = |caller| Resource::Call { session: &own, caller };
        check(call(&buddy), ["stop", "", "", "", "stop", "", "", "", "", SYSTEM]);
        let others = [agent("editor", Some("ann")), agent("buddy", Some("bob")), Principal::person("ann")];
        for caller in &others {
            check(call(caller), ["stop", "", "", "", "", "", "", "", "", SYSTEM]);
        }
        let locked = Resource::Call { session: &closed, caller: &buddy };
        check(locked, ["", "", "", "", "", "", "", "", "", SYSTEM]);
    }

    #[test]
    fn an_agent_does_not_change_the_rules_it_works_under() {
        let title = Change { title: Some("t".to_owned()), ..Change::default() };
        assert_eq!(Action::of(&Command::Change(title.clone())), Action::Change);
        let approvals = Change { approvals: Some(ApprovalPolicy::All), ..title.clone() };
        let planning = Change { plan_only: Some(false), ..title };
        for change in [approvals, planning] {
            assert_eq!(Action::of(&Command::Change(change)), Action::Govern);
        }
    }
}
