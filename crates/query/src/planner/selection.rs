//! Which events a listing or a search selects; pattern, timeline, similar, text and search share it.
//!
//! All given conditions must hold. Forgotten events, and events that an episode summarises, are left out unless
//! requested.

use serde::{Serialize, Serializer};

use crate::filter::Filter;
use crate::limits::{FILTER_VALUES_MAX, QUERY_BYTES_MAX};
use crate::planner::authors::AuthorNames;
use crate::planner::scope::Scope;
use amem_format::error::{Error, Result};
use amem_format::types::{EventType, Micros, SessionId};

/// Selects events. The default selects every event that is not hidden.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Selection {
    /// Any of these types; empty for all.
    pub types: Vec<EventType>,
    /// In any of these sessions; empty for all.
    pub sessions: Vec<SessionId>,
    /// Recorded within.
    pub recorded: Window,
    /// Happened within; an event without an event time counts with its recorded time.
    pub happened: Window,
    /// Effective confidence within.
    pub confidence: ValueRange,
    /// Strength within.
    pub strength: ValueRange,
    /// Filters, ranges and orders use the strength at this time instead of that of the last decay run.
    pub strength_at: Option<Micros>,
    /// The text contains all of these words, in any spelling (`text::TextQuery`).
    pub keyword: Option<String>,
    /// User, agent and run.
    pub scope: Scope,
    /// Who recorded it.
    pub authors: AuthorNames,
    /// A filter that must hold as well.
    pub filter: Option<Filter>,
    /// Include forgotten events.
    pub include_forgotten: bool,
    /// Include events that an episode summarises.
    pub include_compressed: bool,
}

/// A span of time; `from` is included, `until` is not.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Window {
    /// Not before.
    pub from: Option<Micros>,
    /// Before.
    pub until: Option<Micros>,
}

/// A range of numbers; both ends are included.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct ValueRange {
    /// Not below.
    pub min: Option<f32>,
    /// Not above.
    pub max: Option<f32>,
}

impl Window {
    /// True if neither end is bounded.
    pub fn is_open(&self) -> bool {
        *self == Self::default()
    }

    /// True if `time` lies within.
    pub fn contains(&self, time: Micros) -> bool {
        self.from.is_none_or(|from| time >= from) && self.until.is_none_or(|until| time < until)
    }

    /// The intersection.
    pub(crate) fn and(&self, other: &Self) -> Self {
        let until = [self.until, other.until].into_iter().flatten().min();
        Self {
            from: self.from.max(other.from),
            until,
        }
    }

    fn check(&self, what: &'static str) -> Result<()> {
        match (self.from, self.until) {
            (Some(from), Some(until)) if until < from => Err(Error::invalid(
                what,
                format!("it ends at {until}, before it begins at {from}"),
            )),
            _ => Ok(()),
        }
    }
}

impl ValueRange {
    /// True if `value` lies within.
    pub fn contains(&self, value: f32) -> bool {
        self.min.is_none_or(|min| value >= min) && self.max.is_none_or(|max| value <= max)
    }

    fn check(&self, what: &'static str) -> Result<()> {
        let ends = [self.min, self.max];
        if ends.into_iter().flatten().any(|end| !end.is_finite()) {
            return Err(Error::invalid(what, "a bound is not a finite number"));
        }
        match (self.min, self.max) {
            (Some(min), Some(max)) if max < min => Err(Error::invalid(
                what,
                format!("the maximum {max} is below the minimum {min}"),
            )),
            _ => Ok(()),
        }
    }
}

impl Selection {
    pub(crate) fn check(&self) -> Result<()> {
        self.recorded.check("the window of recorded time")?;
        self.happened.check("the window of happened time")?;
        self.confidence.check("the range of confidence")?;
        self.strength.check("the range of strength")?;
        let check =
            |what, value: usize, max: usize| Error::check_limit(what, value as u64, max as u64);
        self.authors.check()?;
        let sessions = self.sessions.len();
        check("the number of sessions", sessions, FILTER_VALUES_MAX)?;
        check("the number of types", self.types.len(), FILTER_VALUES_MAX)?;
        let keyword = self.keyword.as_deref().unwrap_or_default();
        check("the bytes of the keyword", keyword.len(), QUERY_BYTES_MAX)
    }

    /// The selection for hashing: equal selections give equal JSON, in whatever order their lists are. It is serialized
    /// for every page, so it is not built in memory first.
    pub(crate) fn canonical(&self) -> impl Serialize + use<'_> {
        CanonicalSelection(self)
    }

    fn canonical_parts(&self) -> impl Serialize + use<'_> {
        fn sorted<T: Ord>(list: impl Iterator<Item = T>) -> Vec<T> {
            let mut list: Vec<T> = list.collect();
            list.sort_unstable();
            list.dedup();
            list
        }
        let window = |w: &Window| [w.from, w.until];
        // As 64 bits: the hash in existing page tokens uses them.
        let bounds = |b: &ValueRange| [b.min.map(f64::from), b.max.map(f64::from)];
        (
            sorted(self.types.iter().map(|t| t.0)),
            sorted(self.sessions.iter().map(|s| s.0)),
            window(&self.recorded),
            window(&self.happened),
            bounds(&self.confidence),
            bounds(&self.strength),
            self.strength_at,
            self.keyword.as_deref(),
            self.scope.canonical(),
            self.filter.as_ref().map(Filter::to_json),
            self.include_forgotten,
            self.include_compressed,
        )
    }
}

/// The parts of a selection as one list, with its authors at the end only if it has a condition on them: tokens of
/// pages that began before there were such conditions stay valid.
struct CanonicalSelection<'s>(&'s Selection);

impl Serialize for CanonicalSelection<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let parts = self.0.canonical_parts();
        match &self.0.authors {
            authors if authors.is_open() => parts.serialize(serializer),
            authors => (parts, authors.canonical()).serialize(serializer),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_makes_no_sense_is_refused_by_name() {
        let window = Window {
            from: Some(Micros(5)),
            until: Some(Micros(4)),
        };
        let bounds = |min, max| ValueRange { min, max };
        let base = Selection::default();
        for (selection, why) in [
            (
                Selection {
                    recorded: window,
                    ..base.clone()
                },
                "recorded time: it ends at 4, before it begins at 5",
            ),
            (
                Selection {
                    happened: window,
                    ..base.clone()
                },
                "happened time",
            ),
            (
                Selection {
                    confidence: bounds(Some(0.5), Some(0.25)),
                    ..base.clone()
                },
                "confidence: the maximum 0.25 is below",
            ),
            (
                Selection {
                    strength: bounds(Some(f32::NAN), None),
                    ..base.clone()
                },
                "strength: a bound is not a finite number",
            ),
            (
                Selection {
                    sessions: vec![SessionId(0); FILTER_VALUES_MAX + 1],
                    ..base.clone()
                },
                "the number of sessions is 10001",
            ),
            (
                Selection {
                    keyword: Some("x".repeat(QUERY_BYTES_MAX + 1)),
                    ..base.clone()
                },
                "the bytes of the keyword is 65537",
            ),
        ] {
            let error = selection.check().unwrap_err().to_string();
            assert!(error.contains(why), "{error}");
        }
        base.check().unwrap();
    }

    #[test]
    fn a_window_has_its_start_and_not_its_end() {
        let window = Window {
            from: Some(Micros(-1)),
            until: Some(Micros(4)),
        };
        let within: Vec<_> = (-3..6).filter(|&t| window.contains(Micros(t))).collect();
        assert_eq!(within, [-1, 0, 1, 2, 3]);
        assert_eq!(window.and(&Window::default()), window);
        let later = Window {
            from: Some(Micros(2)),
            until: None,
        };
        let both = Window {
            from: Some(Micros(2)),
            until: Some(Micros(4)),
        };
        assert_eq!((window.and(&later), later.and(&window)), (both, both));
    }

    #[test]
    fn selections_that_mean_the_same_have_the_same_json() {
        let selection = |types: &[u8]| Selection {
            types: types.iter().map(|&t| EventType(t)).collect(),
            ..Selection::default()
        };
        let json = |types: &[u8]| serde_json::to_string(&selection(types).canonical()).unwrap();
        assert_eq!(json(&[3, 1, 3]), json(&[1, 3]));
        assert_ne!(json(&[1]), json(&[1, 3]));
        let by = |names: &[&str]| {
            let authors = AuthorNames {
                by: names.iter().map(|name| (*name).to_owned()).collect(),
                ..AuthorNames::default()
            };
            let selection = Selection {
                authors,
                ..Selection::default()
            };
            serde_json::to_string(&selection.canonical()).unwrap()
        };
        assert_eq!(by(&["b", "a", "b"]), by(&["a", "b"]));
        assert_ne!(by(&["a"]), by(&[]));
    }

    #[test]
    fn an_app_is_a_part_of_the_canonical_json() {
        let of = |app: Option<&str>| {
            let scope = Scope {
                app: app.map(str::to_owned),
                ..Scope::default()
            };
            let selection = Selection {
                scope,
                ..Selection::default()
            };
            serde_json::to_string(&selection.canonical()).unwrap()
        };
        assert!(of(None).contains("[null,null,null]"), "{}", of(None));
        assert!(of(Some("a")).contains("[null,null,null,\"a\"]"));
    }

    #[test]
    fn the_canonical_json_is_what_it_was() {
        // Golden: a page token must outlive an update of the daemon.
        let selection = Selection {
            types: vec![EventType(3), EventType(1)],
            sessions: vec![SessionId(7)],
            recorded: Window {
                from: Some(Micros(-5)),
                until: None,
            },
            confidence: ValueRange {
                min: Some(0.1),
                max: Some(1.0),
            },
            strength_at: Some(Micros(9)),
            keyword: Some("a \"word\"".into()),
            scope: Scope {
                user: Some("u".into()),
                ..Scope::default()
            },
            filter: Some(Filter::parse(&serde_json::json!({"amem.type": "fact"})).unwrap()),
            include_compressed: true,
            ..Selection::default()
        };
        let filter = selection.filter.as_ref().unwrap().to_json();
        assert_eq!(
            serde_json::to_string(&selection.canonical()).unwrap(),
            format!(
                "[[1,3],[7],[-5,null],[null,null],[0.10000000149011612,1.0],[null,null],9,\
                 \"a \\\"word\\\"\",[\"u\",null,null],{filter},false,true]"
            )
        );
    }
}
