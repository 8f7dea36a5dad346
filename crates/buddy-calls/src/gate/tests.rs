use super::*;

/// Development in `/w`, without rules.
struct Plain;

impl PolicySource for Plain {
    fn policy(&self, key: PolicyKey<'_>, is_plan_only: bool) -> Result<Arc<Policy>, String> {
        let mut policy = Policy::plain(key.workspace.to_owned());
        if is_plan_only {
            policy.mode = buddy_policy::Mode::Plan;
        }
        Ok(Arc::new(policy))
    }

    fn bounds(&self, _: &Policy, _: &CallRights<'_>) -> Bounds {
        Bounds::open()
    }

    fn grants(&self, _: PolicyKey<'_>) -> Vec<Grant> {
        Vec::new()
    }

    fn keep(&self, _: PolicyKey<'_>, _: &Grant, _: GrantScope, _: Duration) -> Result<(), String> {
        Err("the disk is full".to_owned())
    }
}

fn gate(approvals: ApprovalPolicy) -> Gate {
    Gate::new(approvals, Attendance::Somebody, false)
}

fn on(source: &dyn PolicySource) -> Ground<'_> {
    Ground { source, user: &PrincipalId::System, target: "local", cwd: Path::new("/w") }
}

fn ground() -> Ground<'static> {
    on(&Plain)
}

fn verdict(gate: &Gate, command: &str) -> Verdict {
    let intent = Intent::of(Action::Run { command: command.to_owned(), cwd: "/w".into() });
    gate.judge(&intent, ground()).unwrap().decision.verdict
}

#[tokio::test(start_paused = true)]
async fn a_window_closes_by_itself() {
    let gate = gate(ApprovalPolicy::Ask);
    assert_eq!(verdict(&gate, "make"), Verdict::Ask);
    gate.set_approvals(ApprovalPolicy::Window { seconds: 600 });
    assert_eq!(verdict(&gate, "make"), Verdict::Allow);
    assert_eq!(verdict(&gate, "kill 1; make"), Verdict::Ask, "what is dangerous is asked for all the same");
    tokio::time::advance(Duration::from_secs(599)).await;
    assert_eq!(verdict(&gate, "make"), Verdict::Allow);
    tokio::time::advance(Duration::from_secs(1)).await;
    assert_eq!(verdict(&gate, "make"), Verdict::Ask);
}

#[tokio::test(start_paused = true)]
async fn after_a_window_nobody_is_asked_where_nobody_can_be() {
    let gate = gate(ApprovalPolicy::None);
    gate.open_window(Some(Duration::from_mins(1)));
    assert_eq!(verdict(&gate, "make"), Verdict::Allow);
    tokio::time::advance(Duration::from_mins(1)).await;
    assert_eq!(verdict(&gate, "make"), Verdict::Deny);
    let intent = Intent::of(Action::Run { command: "make".to_owned(), cwd: "/w".into() });
    assert!(
        gate.judge(&intent, ground()).unwrap().decision.is_unasked,
        "it is told that a user could have allowed it"
    );
}

#[tokio::test(start_paused = true)]
async fn a_grant_of_a_session_ends() {
    let gate = gate(ApprovalPolicy::Ask);
    let grant = Grant::command("cargo *", "local").unwrap();
    let wish = GrantWish { offer: 0, words: None, scope: GrantScope::Session, seconds: 60 };
    let mut changes = gate.watch();
    gate.grant(&grant, &wish, ground()).unwrap();
    assert!(changes.has_changed().unwrap(), "who waits is told");
    changes.mark_unchanged();
    assert_eq!(verdict(&gate, "cargo test"), Verdict::Allow);
    assert_eq!(verdict(&gate, "cargo test; ninja"), Verdict::Ask);
    tokio::time::advance(Duration::from_mins(1)).await;
    assert_eq!(verdict(&gate, "cargo test"), Verdict::Ask);
}

#[tokio::test(start_paused = true)]
async fn words_of_a_person_are_judged_by_what_holds_then() {
    let gate = gate(ApprovalPolicy::Ask);
    let intent = Intent::of(Action::Run { command: "cargo test -p a".to_owned(), cwd: "/w".into() });
    let offers = gate.judge(&intent, ground()).unwrap().decision.offers;
    let wished = |words: Option<&str>, offer| {
        let words = words.map(str::to_owned);
        let wish = GrantWish { offer, words, scope: GrantScope::Session, seconds: 60 };
        gate.wished(&wish, &offers, &intent, ground()).map(|grant| grant.to_string())
    };
    assert_eq!(wished(None, 0), Ok("cargo test *".to_owned()));
    assert_eq!(wished(None, 1), Ok("cargo test -p a".to_owned()));
    assert!(wished(None, 2).is_err(), "what is not offered");
    assert_eq!(wished(Some("cargo test -p *"), 0), Ok("cargo test -p *".to_owned()));
    for words in ["*", "cargo *", "cargo test -p b", "npm *", "cargo test; ninja"] {
        assert!(wished(Some(words), 0).is_err(), "{words}");
    }
    gate.set_plan_only(true);
    assert!(wished(Some("cargo test -p *"), 0).is_err(), "a plan changes nothing, whatever is granted");
}

#[tokio::test]
async fn a_grant_that_cannot_be_kept_is_an_error_and_opens_nothing() {
    let gate = gate(ApprovalPolicy::Ask);
    let grant = Grant::command("make *", "local").unwrap();
    let wish = GrantWish { offer: 0, words: None, scope: GrantScope::User, seconds: 60 };
    assert_eq!(gate.grant(&grant, &wish, ground()), Err("the disk is full".to_owned()));
    assert_eq!(verdict(&gate, "make all"), Verdict::Ask);
}

#[tokio::test]
async fn what_is_dangerous_in_production_needs_a_word_whatever_is_typed() {
    let source = Remembering { mode: Mode::Production, by: Mutex::default() };
    let ground = on(&source);
    let judge = |gate: &Gate, command: &str| {
        let intent = Intent::of(Action::Run { command: command.to_owned(), cwd: "/w".into() });
        let judged = gate.judge(&intent, ground).unwrap();
        (judged.decision.verdict, judged.needs_word)
    };
    let asked = gate(ApprovalPolicy::Ask);
    assert_eq!(judge(&asked, "make"), (Verdict::Allow, false), "an ordinary command is not asked for");
    assert_eq!(judge(&asked, "sudo make"), (Verdict::Ask, true));
    asked.set_approvals(ApprovalPolicy::All);
    assert_eq!(judge(&asked, "sudo make"), (Verdict::Ask, true), "a line in the session is not enough");
    let unasked = gate(ApprovalPolicy::All);
    unasked.set_approvals(ApprovalPolicy::All);
    assert_eq!(judge(&unasked, "sudo make").0, Verdict::Allow, "the command line is");
    unasked.set_approvals(ApprovalPolicy::Ask);
    unasked.set_approvals(ApprovalPolicy::All);
    assert_eq!(judge(&unasked, "sudo make"), (Verdict::Ask, true), "and not any more once it was taken back");
    let confined = gate(ApprovalPolicy::Ask);
    let intent = Intent::of(Action::Run { command: "sudo make".to_owned(), cwd: "/w".into() });
    assert!(!confined.judge(&intent, self::ground()).unwrap().needs_word, "in the jail a key is enough");
}

#[tokio::test]
async fn plan_mode_is_stronger_than_any_approval() {
    let gate = gate(ApprovalPolicy::All);
    assert_eq!(verdict(&gate, "make"), Verdict::Allow);
    gate.set_plan_only(true);
    assert_eq!((verdict(&gate, "make"), verdict(&gate, "ls")), (Verdict::Deny, Verdict::Allow));
    gate.set_plan_only(false);
    assert_eq!(verdict(&gate, "make"), Verdict::Allow);
}

#[tokio::test]
async fn after_a_secret_was_read_commands_that_nobody_was_asked_about_have_no_network() {
    let gate = gate(ApprovalPolicy::Window { seconds: 60 });
    gate.open_window(Some(Duration::from_mins(1)));
    let judge = |intent: &Intent| gate.judge(intent, ground()).unwrap();
    let make = Intent::of(Action::Run { command: "make".to_owned(), cwd: "/w".into() });
    let before = judge(&make);
    assert!(!gate.is_outdated(&before));
    let secret = Intent::of(Action::Read("/home/u/.npmrc".into()));
    let read = judge(&secret);
    assert_eq!(read.decision.verdict, Verdict::Ask, "no window covers it");
    gate.passed(&secret, &read);
    assert!(gate.is_outdated(&before), "what was judged before is judged anew");
    let after = judge(&make);
    assert_eq!((after.decision.verdict, after.bounds.network), (Verdict::Allow, false));
    let asked = judge(&Intent::of(Action::Run { command: "kill 1; make".to_owned(), cwd: "/w".into() }));
    assert_eq!((asked.decision.verdict, asked.bounds.network), (Verdict::Ask, true), "a user decides");
}

#[tokio::test]
async fn a_redirect_to_another_host_is_judged_unless_nothing_can_ride_on_it() {
    let gate = gate(ApprovalPolicy::Ask);
    gate.trace(|trail| {
        trail.person_wrote("see https://docs.rs/a");
        trail.search_listed("https://listed.test/b");
    });
    let leads = |from: &str, to: &str| gate.leads_on(from, to, ground());
    assert!(leads("https://docs.rs/a", "https://other.test/"));
    assert!(leads("https://listed.test/b", "https://other.test/"));
    assert!(!leads("https://docs.rs/a?to=https://other.test/?k=1", "https://other.test/?k=1"));
    assert!(leads("https://other.test/", "https://docs.rs/a?x"), "a host that the user named");
}

/// Remembers who let the last call go on.
struct Remembering {
    mode: Mode,
    by: Mutex<Option<AllowedBy>>,
}

impl PolicySource for Remembering {
    fn policy(&self, key: PolicyKey<'_>, _: bool) -> Result<Arc<Policy>, String> {
        Ok(Arc::new(Policy { mode: self.mode, ..Policy::plain(key.workspace.to_owned()) }))
    }

    fn bounds(&self, _: &Policy, call: &CallRights<'_>) -> Bounds {
        *self.by.lock().unwrap() = Some(call.by);
        Bounds::open()
    }

    fn grants(&self, _: PolicyKey<'_>) -> Vec<Grant> {
        Vec::new()
    }

    fn keep(&self, _: PolicyKey<'_>, _: &Grant, _: GrantScope, _: Duration) -> Result<(), String> {
        Ok(())
    }
}

#[tokio::test]
async fn only_an_answer_counts_as_a_person_and_all_from_the_command_line_in_production() {
    let granted = |gate: &Gate| {
        let grant = Grant::command("cargo *", "local").unwrap();
        let wish = GrantWish { offer: 0, words: None, scope: GrantScope::Session, seconds: 60 };
        gate.grant(&grant, &wish, ground()).unwrap();
    };
    for (mode, approvals, by) in [
        (Mode::Development, ApprovalPolicy::Ask, AllowedBy::Nobody),
        (Mode::Development, ApprovalPolicy::Edits, AllowedBy::Nobody),
        (Mode::Development, ApprovalPolicy::Window { seconds: 60 }, AllowedBy::Nobody),
        (Mode::Development, ApprovalPolicy::All, AllowedBy::Nobody),
        (Mode::Production, ApprovalPolicy::Ask, AllowedBy::Nobody),
        (Mode::Production, ApprovalPolicy::Window { seconds: 60 }, AllowedBy::Nobody),
        (Mode::Production, ApprovalPolicy::All, AllowedBy::Person),
    ] {
        let source = Remembering { mode, by: Mutex::default() };
        let ground = on(&source);
        let gate = gate(approvals);
        granted(&gate);
        let intent = Intent::of(Action::Run { command: "cargo test".to_owned(), cwd: "/w".into() });
        let judged = gate.judge(&intent, ground).unwrap();
        assert_eq!(judged.decision.verdict, Verdict::Allow, "{mode:?} {approvals:?}");
        assert_eq!(*source.by.lock().unwrap(), Some(by), "{mode:?} {approvals:?}");
        gate.allowed(judged, ground).unwrap();
        assert_eq!(*source.by.lock().unwrap(), Some(AllowedBy::Person), "{mode:?} {approvals:?}");
    }
}

#[tokio::test]
async fn a_call_that_can_read_secrets_counts_as_having_read_them() {
    let gate = gate(ApprovalPolicy::Ask);
    let make = Intent::of(Action::Run { command: "make".to_owned(), cwd: "/w".into() });
    let before = gate.judge(&make, ground()).unwrap();
    gate.passed(&make, &before);
    assert!(!gate.is_outdated(&before), "nothing was open to it");
    let mut told = gate.judge(&make, ground()).unwrap();
    told.opens = vec!["/w/.env".into()];
    gate.passed(&make, &told);
    assert!(gate.is_outdated(&before));
    assert!(!gate.is_outdated(&told), "its own question said that it can read secrets");
}
