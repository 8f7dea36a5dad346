//! One suite for every implementation of the store ports: `SessionStore`, `SessionWriter`, `Ledger` and `CommandKeys`.
//!
//! An implementation provides a [`StoreStand`] and names a function that makes one to [`crate::store_suite!`], which turns each case into
//! a test. A case uses a stand of its own. A search takes words as they are; each matches a word of the text that begins with it.

mod appends;
mod bills;
mod changes;
mod keys;
mod leases;
mod lists;
mod searches;
mod settled;
mod stand;

pub use appends::*;
pub use bills::*;
pub use changes::*;
pub use keys::*;
pub use leases::*;
pub use lists::*;
pub use searches::*;
pub use settled::*;
pub use stand::{LeaseHolder, StoreStand, WholeStore};

/// Turns each case of the suite into a test of the store that the function makes stands for.
#[macro_export]
macro_rules! store_suite {
    ($stand:path) => {
        $crate::store_suite!($stand:
            appended_events_are_read_after_reopening,
            an_append_must_follow_on_the_log,
            only_durable_events_of_the_session_are_taken,
            a_bad_append_does_not_spoil_its_neighbours,
            any_interleaving_reads_back_as_exact_suffixes,
            readers_see_whole_appends_while_a_writer_writes,
            a_session_has_one_writer,
            a_session_has_one_writer_among_processes_and_a_dead_one_has_none,
            a_lease_changes_hands_under_contention,
            the_last_used_comes_first_and_filters_hold,
            pages_of_the_list_leave_out_and_repeat_nothing,
            waiting_sessions_are_listed,
            a_session_is_found_by_its_id,
            a_log_that_never_started_is_kept_but_not_listed,
            search_finds_text_only_in_the_owners_sessions,
            pages_of_a_search_leave_out_and_repeat_nothing,
            signs_are_looked_for_as_they_are,
            a_bill_covers_the_whole_tree,
            a_bill_beneath_a_session_leaves_out_those_above,
            a_tree_without_its_top_is_billed_from_the_topmost_known,
            a_bill_of_an_owner_begins_at_its_time,
            both_ways_of_reading_lead_to_the_same_state,
            an_append_is_noticed_in_every_opened_store,
            a_reader_that_follows_changes_misses_nothing,
            a_key_belongs_to_one_command,
            the_outcome_of_a_key_outlives_the_store,
            a_key_without_an_outcome_is_free_again,
            of_many_claims_at_once_one_is_fresh,
            keys_are_forgotten_in_the_end,
        );
    };
    ($stand:path: $($case:ident),* $(,)?) => {
        $(
            #[tokio::test(flavor = "multi_thread", worker_threads = 4)]
            async fn $case() {
                $crate::store_suite::$case(&$stand()).await;
            }
        )*
    };
}
