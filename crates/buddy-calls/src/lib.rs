//! Makes one call: judges it, asks, runs it, records it, and keeps what undo needs.
//!
//! Everything that can run here is a tool, and every call of one goes through the pipeline, whoever makes it. The crate
//! reports facts and asks through an `EventSink` and reaches hosts through `buddy-exec`. It knows no models and no turns.

mod absent_user;
mod call_settings;
mod gate;
mod hosts;
mod images;
mod model_words;
mod targets;
mod tools;
mod trail;

pub use absent_user::reword_fact;
pub use call_settings::CallSettings;
pub use gate::{AllowedBy, CallRights, Gate, Ground, PolicyKey, PolicySource, Standing};
pub use hosts::{Host, Hosts, ProjectFile, WithheldVariable};
pub use images::{BadImage, all_attached};
pub use model_words::{ADVICE_FIELDS, for_model};
pub use targets::{Attached, Slot, Targets, changed, news};
pub use tools::{
    AddedTool, Background, BuiltInTools, CHECKS, Call, CallPlace, EditCheck, Means, Pipeline, PipelineParts,
    Planned, RepositoryChanges, RepositoryGlance, SessionTools, Sight, TextClass, TextLimits, TextRoom,
    ToolSet, ToolSource, ToolsFound, clip_text, glance_at_repository, look_at_workspace, plain, plan,
    registry,
};
pub use trail::retrace;
