//! The suite of every store, against SQLite.

use std::sync::Arc;

use buddy_testkit::store_suite::{LeaseHolder, StoreStand, WholeStore};
use tempfile::TempDir;

use crate::child::{Other, Task};
use crate::support::open;

struct SqliteStand(TempDir);

impl StoreStand for SqliteStand {
    fn open(&self) -> Arc<dyn WholeStore> {
        Arc::new(open(self.0.path()))
    }

    fn hold_elsewhere(&self) -> Box<dyn LeaseHolder> {
        let mut holder = Other::start(self.0.path(), Task::Hold);
        assert_eq!(holder.hear().as_deref(), Some("held"));
        Box::new(holder)
    }
}

impl LeaseHolder for Other {
    fn name(&self) -> String {
        format!("process {}", self.id())
    }

    fn kill(mut self: Box<Self>) {
        Other::kill(&mut self);
        self.end();
    }
}

fn stand() -> SqliteStand {
    SqliteStand(TempDir::new().unwrap())
}

buddy_testkit::store_suite!(stand);
