//! The layers that keep commands to their bounds, as they hold on this machine.

use buddy_exec::{Layer, LayerState, layers};
use buddy_model::diagnose::Check;
use tokio::task::spawn_blocking;

/// Tries every layer. That takes some milliseconds each, with bounds on how long.
pub(super) async fn examine() -> Vec<Check> {
    spawn_blocking(layers).await.unwrap_or_default().into_iter().map(check).collect()
}

fn check(layer: Layer) -> Check {
    let Layer { name, state, detail } = layer;
    match state {
        LayerState::Works => Check::ok(name, detail),
        LayerState::Absent => Check::warn(name, detail, next(name)),
        LayerState::Fails => Check::fail(name, detail, next(name)),
    }
}

/// The remedies for a layer that is not there or does not work.
fn next(name: &str) -> &'static str {
    match name {
        "bubblewrap" => "install the package `bubblewrap`, and check that this account can create namespaces",
        "landlock" => {
            "buddy refuses commands in a jail without it: use a kernel of 5.13 or later with Landlock enabled"
        }
        "seccomp" => "buddy refuses commands in a jail without it: use a kernel with seccomp enabled",
        "user_namespaces" => {
            "bubblewrap and rootless containers need them; ask the administrator of this machine"
        }
        _ => "without it, buddy cannot limit the memory and processes of a whole command",
    }
}

#[cfg(test)]
mod tests {
    use buddy_model::diagnose::Verdict;

    use super::*;

    #[test]
    fn what_is_absent_is_a_warning_and_what_fails_is_a_failure() {
        let verdict = |state| check(Layer { name: "bubblewrap", state, detail: "found".into() }).verdict;
        assert_eq!(verdict(LayerState::Works), Verdict::Ok);
        assert_eq!(verdict(LayerState::Absent), Verdict::Warn);
        assert_eq!(verdict(LayerState::Fails), Verdict::Fail);
    }
}
