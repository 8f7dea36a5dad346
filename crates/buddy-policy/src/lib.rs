//! Pure judgement: what would this do, and may it?
//!
//! A tool describes its effects as an [`Intent`]; [`decide`] judges that by the [`Policy`] and the state
//! [`Now`], and answers allow, ask or deny, with reasons. Commands are parsed as the shell parses them, and
//! every simple command in them is judged; a command that is not understood is never taken for harmless.
//! Nothing here does I/O, reads a clock or knows who executes.

mod caches;
mod carried_links;
mod decide;
mod decision;
mod display;
mod effect;
mod git_trip;
mod grant;
mod guarded;
mod intent;
mod landing;
mod later;
mod limits;
mod needs;
mod other_sessions;
mod path;
mod places;
mod policy;
mod probe;
mod program;
mod reference;
mod registries;
mod reword;
mod rules;
mod shell;
mod trail;
mod variables;

pub use caches::{FoundCache, cache_places, caches_page};
pub use carried_links::Carried;
pub use decide::{
    carried, connects_with_git, decide, discarded, git_trips, named, openable_directory, outside,
    program_uses, recalled, removed, touched, work_trees, written,
};
pub use decision::{Decision, Execution, SentWork, Verdict};
pub use display::display_command;
pub use effect::{ENGINE_VARIABLES, EVALUATED_FORMS, EvaluatedForms, ZSH_FORMS};
pub use git_trip::{GitDestination, GitTrip, PinnedTrip, TripEnd, TripRemote, without_login};
pub use grant::{Grant, NamedPaths, Offer, PinnedProgram, Scope, hosts_offer, nearby_offer};
pub use guarded::{
    GIT_ORDERS, Keeps, PROTECTED, ProtectedRow, guarded_names, home_secrets, is_protected, order_names,
    protected_places_page, secret_names, secret_places, tool_secret_names, tool_secrets,
};
pub use intent::{Action, Claims, Intent, RepositoryChange, Tier, Typing};
pub use landing::{Found, Landing};
pub use later::takes_effect_unseen;
pub use limits::Limits;
pub use needs::Needs;
pub use other_sessions::{KEPT_AGENTS, OTHER_SESSIONS, Reached, SessionRow, TMUX_DIRECTORY};
pub use places::{LinkedPlaces, Places};
pub use policy::{Attendance, CommandMode, Discarded, Mode, Now, Policy};
pub use probe::CallClass;
pub use program::{ChangeableProgram, ProgramUse};
pub use reference::command_reference;
pub use registries::{
    Registry, RegistryHost, SettingsSource, download_hosts, downloads_path, package_manager, registries_page,
    registry_of,
};
pub use reword::{RewordError, reword};
pub use rules::{
    CommandPattern, GuardError, PathPattern, PatternError, Rule, RuleAction, RuleSet, RuleTier, Rules,
    guards_from_json,
};
pub use trail::Trail;
pub use variables::{VariableRules, Withheld, variables_page};
