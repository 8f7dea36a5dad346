//! A look at the directory that a session works in, for code that looks around by itself.

use std::sync::Arc;

use buddy_policy::{Action, Intent, Verdict};
use buddy_web::Web;
use tokio_util::sync::CancellationToken;

use crate::gate::Gate;
use crate::targets::Attached;
use crate::tools::tool::Sight;

/// A view for reading the working directory, if policy lets the agent read it.
pub fn look_at_workspace(gate: &Gate, attached: &Attached, web: &Arc<Web>) -> Option<Sight> {
    let judged = gate.judge(&Intent::of(Action::Read(attached.place.cwd.clone())), attached.ground()).ok()?;
    (judged.decision.verdict == Verdict::Allow).then(|| Sight {
        target: attached.host.target.clone(),
        place: attached.place.clone(),
        bounds: judged.bounds,
        web: web.clone(),
        env: attached.host.env.clone(),
        programs: attached.host.programs.clone(),
        cancel: CancellationToken::new(),
    })
}
