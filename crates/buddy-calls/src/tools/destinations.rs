//! Where git connects to in a call: looked up on the target before a user is asked or a grant is used, and once more before it starts.

use buddy_exec::Bounds;
use buddy_policy::{GitDestination, GitTrip, Verdict};
use tokio_util::sync::CancellationToken;

use crate::gate::Judged;
use crate::tools::git::trip_ends;
use crate::tools::pipeline::{Pipeline, Ready};
use crate::tools::tool::Sight;

impl Pipeline {
    /// Judges a call, with the ends of its trips of git if it does not run anyway.
    pub(crate) async fn judge_whole(&self, ready: &Ready) -> Result<Judged, String> {
        let gate = &self.parts.gate;
        let judged = gate.judge(&ready.intent, ready.ground())?;
        let is_open = judged.decision.verdict == Verdict::Ask || judged.decision.is_unasked;
        let destinations = if is_open { self.destinations(ready).await } else { Vec::new() };
        if destinations.is_empty() {
            return Ok(judged);
        }
        gate.judge_bound(&ready.intent, destinations, ready.ground())
    }

    /// Whether the trips of git in a call end where they ended when it was judged.
    pub(crate) async fn leads_as_before(&self, ready: &Ready, judged: &Judged) -> bool {
        !judged.is_bound() || self.destinations(ready).await == judged.destinations
    }

    /// The trips of git in a call, and the bounds of a look at where they end.
    pub(crate) fn trips(&self, ready: &Ready) -> (Vec<GitTrip>, Bounds) {
        // Without rules nothing runs.
        self.parts.gate.trips(&ready.intent, ready.ground()).unwrap_or_else(|_| (Vec::new(), Bounds::open()))
    }

    async fn destinations(&self, ready: &Ready) -> Vec<GitDestination> {
        let (trips, bounds) = self.trips(ready);
        let host = &ready.target.host;
        let sight = Sight {
            target: host.target.clone(),
            place: ready.target.place.clone(),
            bounds,
            web: self.parts.settings.web.clone(),
            env: host.env.clone(),
            programs: host.programs.clone(),
            cancel: CancellationToken::new(),
        };
        trip_ends(&trips, &sight).await
    }
}
