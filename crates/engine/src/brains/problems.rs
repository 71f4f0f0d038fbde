//! What is not served: brains that can't be opened, and files that were rejected.
//!
//! Promises: the two are kept apart, since a damaged brain is not a stray file; pages are bounded, however many
//! problems there are.

use std::collections::BTreeMap;
use std::collections::btree_map::Iter;
use std::mem::discriminant;
use std::ops::Bound;
use std::time::{Instant, SystemTime};

use crate::error::Error;
use crate::limits::PROBLEMS_BYTES;

/// Why a name is not served.
#[derive(Debug, Clone)]
pub struct Problem {
    /// Why not.
    pub error: Error,
    /// Since when.
    pub since: SystemTime,
    /// True for a file that was never a brain here, false for a brain that can't be opened.
    pub is_rejected: bool,
    pub(super) tried: Instant,
    /// What `error` says.
    message: String,
}

impl Problem {
    /// True if `error` would add nothing to the log.
    pub(super) fn is_same(&self, error: &Error) -> bool {
        discriminant(&self.error) == discriminant(error) && self.message == error.to_string()
    }
}

/// A name and its problem.
pub type NamedProblem = (String, Problem);

/// All problems, by name.
#[derive(Debug, Default)]
pub(super) struct Problems(BTreeMap<String, Problem>);

impl Problems {
    pub(super) fn get(&self, name: &str) -> Option<&Problem> {
        self.0.get(name)
    }

    pub(super) fn remove(&mut self, name: &str) {
        self.0.remove(name);
    }

    /// Notes one; one that is the same as before keeps its time.
    pub(super) fn note(&mut self, name: &str, error: &Error, is_rejected: bool) {
        let same = self.0.get(name).filter(|known| known.is_same(error));
        let problem = Problem {
            error: error.clone(),
            since: same.map_or_else(SystemTime::now, |known| known.since),
            is_rejected,
            tried: Instant::now(),
            message: error.to_string(),
        };
        self.0.insert(name.to_owned(), problem);
    }

    /// How many brains can't be opened, and how many files were rejected, of the names that are wanted.
    pub(super) fn counts(&self, wanted: impl Fn(&str) -> bool) -> (u64, u64) {
        let (mut failed, mut rejected) = (0, 0);
        for (_, problem) in self.0.iter().filter(|(name, _)| wanted(name)) {
            let count = if problem.is_rejected {
                &mut rejected
            } else {
                &mut failed
            };
            *count += 1;
        }
        (failed, rejected)
    }

    /// The names of rejected files.
    pub(super) fn rejected(&self) -> Vec<String> {
        let rejected = self.0.iter().filter(|(_, of)| of.is_rejected);
        rejected.map(|(name, _)| name.clone()).collect()
    }

    /// The first `most` of the names that are wanted: brains before files.
    pub(super) fn first(&self, most: usize, wanted: impl Fn(&str) -> bool) -> Vec<NamedProblem> {
        let wanted = &wanted;
        let of = |is_rejected| {
            self.0
                .iter()
                .filter(move |(name, p)| p.is_rejected == is_rejected && wanted(name))
        };
        let all = of(false).chain(of(true));
        all.take(most).map(owned).collect()
    }

    /// Those of the names that are wanted that follow `after`, and whether there are more.
    pub(super) fn page(
        &self,
        after: &str,
        most: usize,
        wanted: impl Fn(&str) -> bool,
    ) -> (Vec<NamedProblem>, bool) {
        let after = (Bound::Excluded(after), Bound::Unbounded);
        let rest = self.0.range::<str, _>(after);
        let mut rest = rest.filter(|(name, _)| wanted(name)).peekable();
        let (mut page, mut bytes) = (Vec::new(), 0);
        while page.len() < most
            && bytes < PROBLEMS_BYTES
            && let Some((name, problem)) = rest.next()
        {
            bytes += name.len() + problem.message.len();
            page.push(owned((name, problem)));
        }
        (page, rest.peek().is_some())
    }
}

fn owned((name, problem): <Iter<'_, String, Problem> as Iterator>::Item) -> NamedProblem {
    (name.clone(), problem.clone())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn many(count: usize, message_bytes: usize) -> Problems {
        let mut problems = Problems::default();
        let why = Error::NameNotText {
            file: "?".repeat(message_bytes),
        };
        for number in 0..count {
            problems.note(&format!("{number:06}"), &why, number % 10 != 9);
        }
        problems
    }

    #[test]
    fn of_many_the_first_are_brains_and_pages_have_all_once() {
        let problems = many(100, 10);
        assert_eq!(problems.counts(|_| true), (10, 90));
        let odd = |name: &str| name.ends_with('9') || name.ends_with('8');
        assert_eq!(problems.counts(odd), (10, 10));
        let first = problems.first(12, odd);
        assert_eq!((first.len(), &*first[10].0), (12, "000008"));
        let (page, more) = problems.page("000018", 18, odd);
        assert_eq!((page.len(), more, &*page[0].0), (17, false, "000019"));
        assert_eq!(problems.rejected().len(), 90);
        let first = problems.first(12, |_| true);
        let brains = first.iter().take_while(|(_, of)| !of.is_rejected).count();
        assert_eq!((first.len(), brains), (12, 10));
        let (mut found, mut more) = (Vec::<String>::new(), true);
        while more {
            let after = found.last().cloned().unwrap_or_default();
            let (page, goes_on) = problems.page(&after, 7, |_| true);
            assert!(page.len() <= 7);
            found.extend(page.into_iter().map(|(name, _)| name));
            more = goes_on;
        }
        let all: Vec<_> = (0..100).map(|number| format!("{number:06}")).collect();
        assert_eq!(found, all);
    }

    #[test]
    fn a_page_of_long_messages_has_few() {
        let (page, more) = many(100, PROBLEMS_BYTES / 3).page("", 50, |_| true);
        assert_eq!((page.len(), more), (3, true));
        let (page, more) = many(2, PROBLEMS_BYTES * 2).page("000000", 50, |_| true);
        assert_eq!((page.len(), more), (1, false));
    }
}
