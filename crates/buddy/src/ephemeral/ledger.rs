//! The money spent today, for a run of which nothing stays: what other sessions spent counts for it too.

use std::path::Path;
use std::sync::Arc;

use anyhow::Context;
use async_trait::async_trait;
use buddy_protocol::{Bill, Ledger, Spending, StoreError};
use buddy_store::{SqliteStore, StoreRole, StoreSettings};

use crate::system::SystemClock;

/// The bills of the run, and those of the sessions that are kept.
pub(crate) struct DayLedger {
    own: Arc<SqliteStore>,
    /// None where no session was ever kept.
    kept: Option<SqliteStore>,
}

impl DayLedger {
    /// The ledger of a run with this store, beside the sessions that a data directory keeps.
    pub(crate) fn new(own: Arc<SqliteStore>, data: &Path) -> anyhow::Result<Self> {
        let settings = StoreSettings {
            directory: data.to_owned(),
            role: StoreRole::Terminal,
            boot_id: None,
            clock: Arc::new(SystemClock),
        };
        let is_kept = data.join("buddy.db").exists();
        let kept = is_kept.then(|| SqliteStore::open_read_only(settings)).transpose();
        Ok(Self { own, kept: kept.context("cannot read today's spending")? })
    }
}

#[async_trait]
impl Ledger for DayLedger {
    async fn bill(&self, scope: Spending) -> Result<Bill, StoreError> {
        let mut bill = self.own.bill(scope.clone()).await?;
        if let (Some(kept), Spending::Since { .. }) = (&self.kept, &scope) {
            bill += kept.bill(scope).await?;
        }
        Ok(bill)
    }
}
