//! The permissions of principals. This is the only place that decides them.

use buddy_protocol::{Command, Principal, PrincipalKind, SessionsError};

/// An action that needs a permission.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Permission {
    Create,
    Read,
    Prompt,
    Answer,
    Change,
    Run,
}

impl Permission {
    pub(crate) fn of(command: &Command) -> Self {
        match command {
            Command::Prompt { .. } | Command::Interrupt | Command::WindUp { .. } | Command::Compact => {
                Self::Prompt
            }
            Command::Answer { .. } => Self::Answer,
            Command::Change { .. } | Command::End => Self::Change,
            Command::Run { .. } | Command::Stop { .. } => Self::Run,
        }
    }

    fn name(self) -> &'static str {
        match self {
            Self::Create => "start a session",
            Self::Read => "read this session",
            Self::Prompt => "prompt in this session",
            Self::Answer => "answer in this session",
            Self::Change => "change this session",
            Self::Run => "run commands in this session",
        }
    }
}

/// May `who` do this in a session of `owner`? A user may do everything in their own sessions. An agent may
/// never answer an ask: the gated agent must not be able to open its own gate. Only the user runs commands as
/// the user.
pub(crate) fn authorize(
    who: &Principal,
    owner: &Principal,
    permission: Permission,
) -> Result<(), SessionsError> {
    let allowed = match who.kind {
        PrincipalKind::Person => who == owner,
        PrincipalKind::System => !matches!(permission, Permission::Answer | Permission::Run),
        PrincipalKind::Agent | PrincipalKind::Imported => false,
    };
    if allowed {
        return Ok(());
    }
    Err(SessionsError::Forbidden { who: who.name.clone(), what: permission.name() })
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALL: [Permission; 6] = [
        Permission::Create,
        Permission::Read,
        Permission::Prompt,
        Permission::Answer,
        Permission::Change,
        Permission::Run,
    ];

    fn check(who: &Principal, allowed: &[Permission]) {
        let owner = Principal::person("ann");
        for permission in ALL {
            assert_eq!(
                authorize(who, &owner, permission).is_ok(),
                allowed.contains(&permission),
                "{permission:?}"
            );
        }
    }

    #[test]
    fn owners_do_everything_and_strangers_nothing() {
        check(&Principal::person("ann"), &ALL);
        check(&Principal::person("bob"), &[]);
    }

    #[test]
    fn only_users_answer_or_run_commands() {
        check(&Principal { kind: PrincipalKind::Agent, name: "ann".to_owned() }, &[]);
        check(
            &Principal::system(),
            &[Permission::Create, Permission::Read, Permission::Prompt, Permission::Change],
        );
    }
}
