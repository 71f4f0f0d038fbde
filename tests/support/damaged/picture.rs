//! All that a view shows, as one number: what differs anywhere is another picture.

use std::fmt::{self, Debug, Write};

use amem_client::{Question, v1};
use amem_format::event::Graph;
use amem_format::view::{AsOf, View};
use amem_format::{ActorId, Lsn, NodeId};
use prost::Message;
use xxhash_rust::xxh3::Xxh3;

/// Moments of the past that are looked at, beside now.
const MOMENTS: u64 = 3;
/// Events of which the graph around them is asked.
const ASKED: [u64; 4] = [2, 3, 11, 40];

/// A hash of every event and edge, now and at earlier moments; of what the base keeps beside them; and of the answers
/// to one question of every kind. An error is part of what is shown.
pub fn picture(view: &View) -> u64 {
    let mut out = Picture(Xxh3::new());
    out.say(&view.identity());
    out.shown(view);
    out.log(view);
    out.0.digest()
}

/// The same without what is of a file and its generation: what a brain shows, whatever file it is in.
pub fn shown(view: &View) -> u64 {
    let mut out = Picture(Xxh3::new());
    out.shown(view);
    out.0.digest()
}

struct Picture(Xxh3);

impl Write for Picture {
    fn write_str(&mut self, s: &str) -> fmt::Result {
        self.0.update(s.as_bytes());
        Ok(())
    }
}

impl Picture {
    fn say(&mut self, what: &dyn Debug) {
        // A hasher takes whatever it is given.
        let _ = writeln!(self, "{what:?}");
    }

    fn shown(&mut self, view: &View) {
        self.say(&(view.moment(), view.nodes(), view.edges()));
        self.say(&(view.settings(), view.decay_run(), view.sessions()));
        for id in 0..view.actors().unwrap_or_default() {
            self.say(&view.actor(ActorId(id as u32 + 1)));
        }
        self.graph(view);
        let lsn = view.lsn().0;
        for at in 0..MOMENTS {
            match view.as_of(AsOf::Lsn(Lsn(lsn / MOMENTS * at))) {
                Ok(earlier) => self.graph(&earlier),
                Err(e) => self.say(&e),
            }
        }
        self.answers(view);
    }

    fn graph(&mut self, view: &View) {
        for position in 0..view.event_count() {
            self.say(&view.event_at(position));
            self.say(&view.edges_at(position));
        }
    }

    /// History, clock, requests and commits.
    fn log(&mut self, view: &View) {
        let base = view.brain().base();
        match base.history() {
            Ok(history) => history.iter().for_each(|change| self.say(&change)),
            Err(e) => self.say(&e),
        }
        match base.clock() {
            Ok(clock) => (0..clock.len()).for_each(|at| self.say(&clock.get(at))),
            Err(e) => self.say(&e),
        }
        match base.requests() {
            Ok(requests) => (0..requests.len()).for_each(|at| self.say(&requests.at(at))),
            Err(e) => self.say(&e),
        }
        let mut at = match view.commits_held_after() {
            Ok(lsn) => lsn,
            Err(e) => return self.say(&e),
        };
        loop {
            match view.commit_after(at) {
                Ok(Some(commit)) => {
                    self.say(&commit);
                    commit.ops().for_each(|op| self.say(&op));
                    // A number that does not grow would be asked for without end.
                    assert!(
                        commit.commit.lsn > at,
                        "the commit after {at} is {commit:?}"
                    );
                    at = commit.commit.lsn;
                }
                Ok(None) => return,
                Err(e) => return self.say(&e),
            }
        }
    }

    fn ask(&mut self, question: impl Question, view: &View) {
        match question.ask(view) {
            Ok(answered) => {
                self.say(&answered.touched);
                self.0.update(&answered.answer.encode_to_vec());
            }
            Err(e) => self.say(&e),
        }
    }

    fn answers(&mut self, view: &View) {
        let text = || "walking the harbour garden".to_owned();
        let selection = || {
            Some(v1::Selection {
                filter_json: r#"{"or": [{"rank": {"gte": 3}}, {"user": "u1"}]}"#.into(),
                ..Default::default()
            })
        };
        let page_size = 1000;
        self.ask(
            v1::TextRequest {
                text: text(),
                ..Default::default()
            },
            view,
        );
        let search = v1::SearchRequest {
            text: text(),
            selection: selection(),
            ..Default::default()
        };
        self.ask(search, view);
        let pattern = v1::PatternRequest {
            selection: selection(),
            page_size,
            ..Default::default()
        };
        self.ask(pattern, view);
        let strongest = v1::PatternRequest {
            order: v1::Order::Strongest.into(),
            page_size,
            ..Default::default()
        };
        self.ask(strongest, view);
        let timeline = v1::TimelineRequest {
            axis: v1::Axis::Happened.into(),
            page_size,
            ..Default::default()
        };
        self.ask(timeline, view);
        self.ask(
            v1::ListConflictsRequest {
                page_size,
                ..Default::default()
            },
            view,
        );
        self.ask(
            v1::ListSessionsRequest {
                page_size,
                ..Default::default()
            },
            view,
        );
        for event_id in ASKED.into_iter().filter(|id| *id < view.nodes()) {
            self.around(event_id, view);
        }
        let context = v1::ContextRequest {
            text: text(),
            ..Default::default()
        };
        self.ask(context, view);
        self.say(&view.node(NodeId(view.nodes())).map(|node| node.id()));
    }

    fn around(&mut self, event_id: u64, view: &View) {
        let like = Some(v1::similar_request::Like::EventId(event_id));
        self.ask(
            v1::SimilarRequest {
                like,
                ..Default::default()
            },
            view,
        );
        self.ask(
            v1::TraverseRequest {
                event_id,
                depth: 3,
                ..Default::default()
            },
            view,
        );
        self.ask(
            v1::WhyRequest {
                event_id,
                ..Default::default()
            },
            view,
        );
        self.ask(
            v1::ImpactRequest {
                event_id,
                ..Default::default()
            },
            view,
        );
        self.ask(
            v1::ResolveRequest {
                event_id,
                ..Default::default()
            },
            view,
        );
        self.ask(
            v1::PathRequest {
                from_id: event_id,
                to_id: 1,
                ..Default::default()
            },
            view,
        );
    }
}
