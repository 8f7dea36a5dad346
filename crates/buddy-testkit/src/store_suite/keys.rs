//! The memory of the keys that commands come with.

use buddy_protocol::{Command, CommandKey, KeyClaim, KeyedCommand, Principal, UnixMillis};
use tokio::task::JoinSet;

use super::stand::StoreStand;
use crate::log_events::session;

const NOW: UnixMillis = UnixMillis(1_700_000_000_000);
/// No store keeps a key for longer than this.
const YEAR: u64 = 365 * 24 * 60 * 60 * 1_000;

/// A prompt with the key `a`, sent by a user to a session.
fn keyed(who: &str, number: u64, text: &str) -> KeyedCommand {
    let key = CommandKey::try_from("a".to_owned()).expect("it is a key");
    KeyedCommand::new(Principal::person(who).id, session(number), key, &Command::prompt(text))
        .expect("a command is JSON")
}

/// A key belongs to the first command that claims it, in one session and for one principal.
pub async fn a_key_belongs_to_one_command(stand: &dyn StoreStand) {
    let (store, other) = (stand.open(), stand.open());
    let claim = async |keyed| store.claim(&keyed, NOW).await.expect("it can be claimed");
    assert_eq!(claim(keyed("ann", 1, "go")).await, KeyClaim::Fresh);
    assert_eq!(claim(keyed("ann", 1, "go")).await, KeyClaim::Unsettled);
    assert_eq!(claim(keyed("ann", 1, "stop")).await, KeyClaim::Taken);
    assert_eq!(claim(keyed("bob", 1, "stop")).await, KeyClaim::Fresh);
    assert_eq!(claim(keyed("ann", 2, "stop")).await, KeyClaim::Fresh);
    let elsewhere = other.claim(&keyed("ann", 1, "go"), NOW).await.expect("it can be claimed");
    assert_eq!(elsewhere, KeyClaim::Unsettled);
}

/// An outcome is there after the store was opened again, and no later one takes its place.
pub async fn the_outcome_of_a_key_outlives_the_store(stand: &dyn StoreStand) {
    let (go, stop) = (keyed("ann", 1, "go"), keyed("ann", 1, "stop"));
    let store = stand.open();
    store.claim(&go, NOW).await.expect("it can be claimed");
    // Another command does not settle a key that it does not have.
    store.settle(&stop, Some("wrong".to_owned())).await.expect("nothing happens");
    store.settle(&go, Some("done".to_owned())).await.expect("it can be settled");
    store.settle(&go, Some("later".to_owned())).await.expect("nothing happens");
    store.settle(&go, None).await.expect("nothing happens");
    drop(store);
    let store = stand.open();
    let claim = async |keyed| store.claim(&keyed, NOW).await.expect("it can be claimed");
    assert_eq!(claim(go).await, KeyClaim::Settled("done".to_owned()));
    assert_eq!(claim(stop).await, KeyClaim::Taken);
}

/// A command that ends without an outcome frees its key, for itself and for others.
pub async fn a_key_without_an_outcome_is_free_again(stand: &dyn StoreStand) {
    let (go, stop) = (keyed("ann", 1, "go"), keyed("ann", 1, "stop"));
    let store = stand.open();
    store.claim(&go, NOW).await.expect("it can be claimed");
    store.settle(&stop, None).await.expect("nothing happens");
    assert_eq!(store.claim(&go, NOW).await.expect("it can be claimed"), KeyClaim::Unsettled);
    store.settle(&go, None).await.expect("it can be settled");
    assert_eq!(store.claim(&stop, NOW).await.expect("it can be claimed"), KeyClaim::Fresh);
}

/// However many claim a key at once, in however many stores, one of them gets it.
pub async fn of_many_claims_at_once_one_is_fresh(stand: &dyn StoreStand) {
    let stores = [stand.open(), stand.open()];
    let mut tasks = JoinSet::new();
    for at in 0..16 {
        let store = stores[at % stores.len()].clone();
        tasks
            .spawn(async move { store.claim(&keyed("ann", 1, "go"), NOW).await.expect("it can be claimed") });
    }
    let claims = tasks.join_all().await;
    assert_eq!(claims.iter().filter(|claim| **claim == KeyClaim::Fresh).count(), 1, "{claims:?}");
    assert!(claims.iter().all(|claim| matches!(claim, KeyClaim::Fresh | KeyClaim::Unsettled)), "{claims:?}");
}

/// A store does not remember keys for ever, and remembers those of an hour ago.
pub async fn keys_are_forgotten_in_the_end(stand: &dyn StoreStand) {
    let store = stand.open();
    let claim =
        async |keyed, after| store.claim(&keyed, UnixMillis(NOW.0 + after)).await.expect("it can be claimed");
    assert_eq!(claim(keyed("ann", 1, "go"), 0).await, KeyClaim::Fresh);
    assert_eq!(claim(keyed("ann", 1, "go"), YEAR / (365 * 24)).await, KeyClaim::Unsettled);
    assert_eq!(claim(keyed("ann", 1, "stop"), YEAR).await, KeyClaim::Fresh);
}
