//! A commit that was answered.

use serde::Serialize;

use super::event::Time;
use crate::render::TextPage;

#[derive(Debug, Clone, Serialize)]
pub(crate) struct CommitJson {
    pub(crate) lsn: u64,
    pub(crate) time: Option<Time>,
    /// It was made before, under the same request id.
    pub(crate) replayed: bool,
}

impl CommitJson {
    pub(crate) fn write(&self, page: &mut TextPage) {
        let before = if self.replayed { ", as before" } else { "" };
        page.field("commit", format!("{}{before}", self.lsn));
    }
}

#[derive(Serialize)]
pub(crate) struct IdCommit {
    pub(crate) id: u64,
    pub(crate) commit: CommitJson,
}
