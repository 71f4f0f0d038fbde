//! Messages about the results of jobs.

use std::time::Duration;

use crate::text::{agree, plural};

/// After a decay run: `are` events are below the mark of their brain, `were` before.
pub(super) fn decayed(count: u64, took: Duration, threads: u64, are: u64, were: u64) -> String {
    let more = are.saturating_sub(were);
    format!(
        "{} in {} ms on {}; {} {} fading, {more} more than before",
        plural(count, "strength"),
        took.as_millis(),
        plural(threads, "thread"),
        plural(are, "event"),
        agree(are, "is", "are"),
    )
}

/// Events that expired were forgotten; none if there were none.
pub(super) fn forgotten(events: u64) -> Option<String> {
    let are = agree(events, "is", "are");
    (events > 0).then(|| {
        format!(
            "{} had expired and {are} forgotten",
            plural(events, "event")
        )
    })
}

/// Idle sessions were closed; none if there were none.
pub(super) fn closed(sessions: u64) -> Option<String> {
    let (were, are) = (agree(sessions, "was", "were"), agree(sessions, "is", "are"));
    (sessions > 0).then(|| {
        format!(
            "{} {were} idle and {are} closed",
            plural(sessions, "session")
        )
    })
}

/// Sessions got summaries; none if there were none.
pub(super) fn summarised(sessions: u64, events: u64) -> Option<String> {
    let have = agree(sessions, "has a summary", "have summaries");
    let (of, events) = (plural(sessions, "session"), plural(events, "event"));
    (sessions > 0).then(|| format!("{of} of {events} {have}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_and_many_are_told_as_people_would() {
        let took = Duration::from_millis(3);
        assert_eq!(
            decayed(5, took, 1, 1, 2),
            "5 strengths in 3 ms on 1 thread; 1 event is fading, 0 more than before"
        );
        assert_eq!(
            decayed(1, took, 2, 2, 0),
            "1 strength in 3 ms on 2 threads; 2 events are fading, 2 more than before"
        );
        for (told, words) in [
            (forgotten(0), None),
            (forgotten(1), Some("1 event had expired and is forgotten")),
            (forgotten(2), Some("2 events had expired and are forgotten")),
            (closed(0), None),
            (closed(1), Some("1 session was idle and is closed")),
            (closed(2), Some("2 sessions were idle and are closed")),
            (summarised(0, 0), None),
            (summarised(1, 1), Some("1 session of 1 event has a summary")),
            (
                summarised(2, 9),
                Some("2 sessions of 9 events have summaries"),
            ),
        ] {
            assert_eq!(told.as_deref(), words);
        }
    }
}
