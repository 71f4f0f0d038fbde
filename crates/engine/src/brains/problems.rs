//! What is not served: brains that can't be opened, and files that were not adopted.
//!
//! Promises: the two are told apart, as damage is not somebody's stray file; however many there are, what is told of
//! them at a time has its bounds.

use std::collections::BTreeMap;
use std::collections::btree_map::Iter;
use std::ops::Bound;
use std::time::{Instant, SystemTime};

use crate::limits::PROBLEMS_BYTES;
use crate::refusal::Refusal;

/// Why something is not served.
#[derive(Debug, Clone)]
pub(crate) struct Problem {
    pub(crate) refusal: Refusal,
    pub(crate) since: SystemTime,
    /// True for a file that was never a brain here, false for a brain that can't be opened.
    pub(crate) is_rejected: bool,
    pub(super) tried: Instant,
}

/// A name, and what is the matter with it.
pub(crate) type Named = (String, Problem);

/// All of it, by name.
#[derive(Debug, Default)]
pub(super) struct Problems(BTreeMap<String, Problem>);

impl Problems {
    pub(super) fn get(&self, name: &str) -> Option<&Problem> {
        self.0.get(name)
    }

    pub(super) fn remove(&mut self, name: &str) {
        self.0.remove(name);
    }

    /// Notes one; since when, if it is not the same as before.
    pub(super) fn note(&mut self, name: &str, refusal: &Refusal, is_rejected: bool) {
        let same = self.0.get(name).filter(|known| known.refusal == *refusal);
        let problem = Problem {
            refusal: refusal.clone(),
            since: same.map_or_else(SystemTime::now, |known| known.since),
            is_rejected,
            tried: Instant::now(),
        };
        self.0.insert(name.to_owned(), problem);
    }

    /// How many brains can't be opened, and how many files were not adopted, of the names that are wanted.
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

    /// The names of files that were not adopted.
    pub(super) fn rejected(&self) -> Vec<String> {
        let rejected = self.0.iter().filter(|(_, of)| of.is_rejected);
        rejected.map(|(name, _)| name.clone()).collect()
    }

    /// The first few of the names that are wanted: brains before files.
    pub(super) fn first(&self, most: usize, wanted: impl Fn(&str) -> bool) -> Vec<Named> {
        let wanted = &wanted;
        let of = |is_rejected| {
            self.0
                .iter()
                .filter(move |(name, p)| p.is_rejected == is_rejected && wanted(name))
        };
        let all = of(false).chain(of(true));
        all.take(most).map(owned).collect()
    }

    /// Those of the names that are wanted that follow a name, and whether there are more.
    pub(super) fn page(
        &self,
        after: &str,
        most: usize,
        wanted: impl Fn(&str) -> bool,
    ) -> (Vec<Named>, bool) {
        let after = (Bound::Excluded(after), Bound::Unbounded);
        let rest = self.0.range::<str, _>(after);
        let mut rest = rest.filter(|(name, _)| wanted(name)).peekable();
        let (mut page, mut bytes) = (Vec::new(), 0);
        while page.len() < most
            && bytes < PROBLEMS_BYTES
            && let Some((name, problem)) = rest.next()
        {
            bytes += name.len() + problem.refusal.message.len();
            page.push(owned((name, problem)));
        }
        (page, rest.peek().is_some())
    }
}

fn owned((name, problem): <Iter<'_, String, Problem> as Iterator>::Item) -> Named {
    (name.clone(), problem.clone())
}

#[cfg(test)]
mod tests {
    use super::*;
    use tonic::Code;

    fn many(count: usize, message_bytes: usize) -> Problems {
        let mut problems = Problems::default();
        let why = Refusal::new(Code::InvalidArgument, "INVALID", "?".repeat(message_bytes));
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
