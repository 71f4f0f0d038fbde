//! Brains as their callers see them.
//!
//! Promises: nobody gets a brain, or a word of one, for which it has no role; asked for by name it is answered as if it
//! were not there, and nothing is opened, looked at or waited for. Every call has its brains from here.

use std::sync::Arc;

use super::{Brains, Named};
use crate::access::{Caller, Role};
use crate::open_brain::OpenBrain;
use crate::refusal::Result;

impl Brains {
    /// An open brain, for a caller that has the role for it which its call needs.
    pub(crate) async fn get(&self, caller: &Caller, name: &str) -> Result<Arc<OpenBrain>> {
        self.get_as(caller, name, caller.needs).await
    }

    /// The same where another role does.
    pub(crate) async fn get_as(
        &self,
        caller: &Caller,
        name: &str,
        role: Role,
    ) -> Result<Arc<OpenBrain>> {
        caller.check(name, role)?;
        self.find(name).await
    }

    /// The same for work of the daemon itself, which nobody asks for.
    pub(crate) async fn wake(&self, name: &str) -> Result<Arc<OpenBrain>> {
        self.find(name).await
    }

    /// The names of those that a caller sees, open or not, in order, and how many files that it sees may become brains.
    pub(crate) async fn listed_for(&self, caller: &Caller) -> Result<(Vec<String>, u64)> {
        self.listed(|name| caller.sees(name)).await
    }

    /// The open ones that it sees, by name.
    pub(crate) fn open_for(&self, caller: &Caller) -> Vec<Arc<OpenBrain>> {
        let mut open = self.open();
        open.retain(|brain| caller.sees(&brain.name));
        open
    }

    /// How many that it sees could not be opened when that was tried last, and how many files that it sees were not
    /// adopted.
    pub(crate) fn problem_counts_for(&self, caller: &Caller) -> (u64, u64) {
        self.problem_counts(|name| caller.sees(name))
    }

    /// The first of them, brains before files.
    pub(crate) fn first_problems_for(&self, caller: &Caller, most: usize) -> Vec<Named> {
        self.first_problems(most, |name| caller.sees(name))
    }

    /// Those of them that follow a name, and whether there are more.
    pub(crate) fn problem_page_for(
        &self,
        caller: &Caller,
        after: &str,
        most: usize,
    ) -> (Vec<Named>, bool) {
        let sees = |name: &str| caller.sees(name);
        self.problem_list().page(after, most, sees)
    }
}
