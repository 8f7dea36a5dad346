//! The approval mode of a conversation as it holds now. A mode for a time gives way when its time is up; the agent's gate keeps the
//! same rule for itself.

use std::time::{Duration, Instant};

use buddy_protocol::ApprovalPolicy;

/// The mode that was set last, and the one that follows a mode for a time.
#[derive(Debug)]
pub(crate) struct ApprovalClock {
    policy: ApprovalPolicy,
    since: Instant,
    after_window: ApprovalPolicy,
}

/// Presses of the key that goes through the modes, one after another, with nothing entered between them.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ModeCycle {
    /// The mode before the first of them.
    pub(crate) from: ApprovalPolicy,
    /// The mode that the last one wanted.
    pub(crate) to: ApprovalPolicy,
}

impl ApprovalClock {
    /// Begins with a mode.
    pub(crate) fn new(policy: ApprovalPolicy, now: Instant) -> Self {
        Self { policy, since: now, after_window: ApprovalPolicy::Ask }
    }

    /// The mode that holds at this moment.
    pub(crate) fn held(&self, now: Instant) -> ApprovalPolicy {
        match self.policy {
            ApprovalPolicy::Window { seconds }
                if now.saturating_duration_since(self.since) >= Duration::from_secs(seconds) =>
            {
                self.after_window
            }
            policy => policy,
        }
    }

    /// The rest of the window in which most is allowed, in seconds: whole minutes, and seconds in the last one.
    pub(crate) fn window_left(&self, now: Instant) -> Option<u64> {
        let ApprovalPolicy::Window { seconds } = self.held(now) else { return None };
        let left = seconds.saturating_sub(now.saturating_duration_since(self.since).as_secs());
        Some(if left > 60 { left.div_ceil(60) * 60 } else { left })
    }

    /// Takes a mode that was set. After a time the mode before it holds again, except `all`.
    pub(crate) fn note(&mut self, policy: ApprovalPolicy, now: Instant) {
        match (policy, self.held(now)) {
            (ApprovalPolicy::Window { .. }, ApprovalPolicy::Window { .. }) => {}
            (ApprovalPolicy::Window { .. }, ApprovalPolicy::All) => self.after_window = ApprovalPolicy::Ask,
            (_, before) => self.after_window = before,
        }
        self.policy = policy;
        self.since = now;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Sets these modes one after another, the last one for three seconds, and looks when they are over.
    #[track_caller]
    fn check(modes: &[ApprovalPolicy], expected: ApprovalPolicy) {
        let now = Instant::now();
        let mut clock = ApprovalClock::new(ApprovalPolicy::Auto, now);
        for mode in modes {
            clock.note(*mode, now);
        }
        let window = ApprovalPolicy::Window { seconds: 3 };
        clock.note(window, now);
        assert_eq!(clock.held(now + Duration::from_secs(2)), window);
        assert_eq!(clock.held(now + Duration::from_secs(3)), expected);
    }

    #[test]
    fn the_mode_before_a_window_returns_except_all() {
        check(&[], ApprovalPolicy::Auto);
        check(&[ApprovalPolicy::Edits], ApprovalPolicy::Edits);
        check(&[ApprovalPolicy::Edits, ApprovalPolicy::Window { seconds: 9 }], ApprovalPolicy::Edits);
        check(&[ApprovalPolicy::All], ApprovalPolicy::Ask);
    }
}
