//! Panes whose shell is in a jail: it works as in any terminal, and reaches nothing beyond its bounds.

use super::stage::PaneStage;

const SHELLS: [&str; 4] = ["/bin/bash", "/usr/bin/zsh", "/bin/dash", "/bin/busybox"];

#[tokio::test]
async fn a_command_writes_in_the_workspace_and_not_outside() {
    for shell in SHELLS {
        let stage = PaneStage::jailed(shell);
        stage.check("echo hello; (exit 3)", "hello\n", 3).await;
        stage.check("kept=1; echo in > work/file && cat work/file", "in\n", 0).await;
        stage.check("echo $kept; (echo out > outside) 2>/dev/null || echo refused", "1\nrefused\n", 0).await;
        assert!(!stage.path("outside").exists(), "{shell}");
        assert_eq!(std::fs::read_to_string(stage.path("work/file")).unwrap(), "in\n");
    }
}
