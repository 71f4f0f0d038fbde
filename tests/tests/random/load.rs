//! Questions from several threads while the brain is written, each asked twice: of views old and new, of moments of the
//! past, of scopes that events enter and leave.
//!
//! Both answers are the same to the bit, of equal scores the newest comes first, and what is found is what the naive
//! model finds.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use amem_format::brain::Brain;
use amem_format::view::{AsOf, View};
use amem_format::{Error, Lsn, Micros, NodeId};
use amem_query::{
    Pattern, Resolve, Scope, Search, Selection, Similar, SimilarityTarget, TextSearch,
};
use amem_store::{Answer, Folder, NewBrain, Request, Store, create};
use amem_tests::disk::SimDisk;
use amem_tests::model::{
    Account, Verdict, ViewState, bm25, cosines, fused, list, shown_as, text, vector,
};
use amem_tests::random::Random;
use amem_tests::scenarios::{Flaw, Process};
use uuid::Uuid;

use crate::asks::RequestMaker;
use crate::looks::{check, heads_of, moment, scope};

/// Brains unless `AMEM_RANDOM_BRAINS` says otherwise.
const BRAINS: u64 = 4;
/// Times that all threads begin together; before every second one there is a checkpoint.
const ROUNDS: u64 = 4;
const THREADS: u64 = 3;
/// Questions of a thread in a round.
const QUESTIONS: usize = 24;
/// Groups committed in a round, and before the first.
const GROUPS_MIN: usize = 6;
const GROUPS_MAX: usize = 60;
const GROUPS_BEFORE: usize = 30;
const DIMENSION: u32 = 3;

/// What a thread asks.
#[derive(Debug)]
enum Question {
    Words(TextSearch),
    Search(Box<Search>),
    List(Pattern),
    Head(Resolve),
    Near(Similar),
}

/// The hits, each with the event that has the score; no score of what has none. `None` if the event may not be shown.
type FoundHits = Option<Vec<(NodeId, NodeId, f32)>>;

/// A question that was answered.
struct AskedQuestion {
    view: View,
    at: Option<AsOf>,
    question: Question,
    found: FoundHits,
}

impl Question {
    fn new(random: &mut Random, nodes: u64) -> Self {
        let selection = Selection {
            scope: scope(random),
            ..Selection::default()
        };
        let limit = 1 + random.below(8) as usize;
        let question = format!("river {}", text(random));
        match random.below(8) {
            0..=2 => Self::Words(TextSearch {
                question,
                selection,
                limit,
                ..TextSearch::default()
            }),
            3..=4 => Self::Search(Box::new(Search {
                question,
                vector: vector(random, DIMENSION).unwrap_or_default(),
                selection,
                limit,
                tie_margin: 0.0,
                include_duplicates: true,
                ..Search::default()
            })),
            5 => Self::List(Pattern {
                selection,
                limit,
                ..Pattern::default()
            }),
            6 => Self::Head(Resolve {
                event: NodeId(random.below(nodes)),
                scope: selection.scope,
                ..Resolve::default()
            }),
            _ => Self::Near(Similar {
                like: SimilarityTarget::Vector(vec![0.5, -0.25, random.unit()]),
                selection,
                limit,
                ..Similar::default()
            }),
        }
    }

    fn ask(&self, view: &View) -> Result<FoundHits, Error> {
        let scored = |(id, score)| (id, id, score);
        Ok(Some(match self {
            Self::Words(words) => {
                let hits = words.run(view)?.hits.into_iter();
                hits.map(|hit| scored((hit.id, hit.score))).collect()
            }
            Self::Search(search) => {
                let hits = search.run(view)?.hits.into_iter();
                hits.map(|hit| (hit.id, hit.found, hit.score)).collect()
            }
            Self::List(pattern) => {
                let ids = pattern.run(view)?.ids.into_iter();
                ids.map(|id| scored((id, 0.0))).collect()
            }
            Self::Head(of) => match of.run(view) {
                Ok(found) => found
                    .heads
                    .into_iter()
                    .map(|id| scored((id, 0.0)))
                    .collect(),
                // It is hidden, of another scope, or not there yet.
                Err(
                    Error::Forgotten { .. } | Error::Invalid { .. } | Error::UnknownEvent { .. },
                ) => return Ok(None),
                Err(e) => return Err(e),
            },
            Self::Near(similar) => {
                let hits = similar.run(view)?.hits.into_iter();
                hits.map(scored).collect()
            }
        }))
    }

    /// Compares what was found with the model.
    fn judge(&self, found: &FoundHits, known: &ViewState) -> Result<(), String> {
        let hits = |found: &FoundHits| -> Vec<(NodeId, f32)> {
            let found = found.iter().flatten();
            found.map(|&(id, _, score)| (id, score)).collect()
        };
        let ids = |found: &FoundHits| -> Option<Vec<NodeId>> {
            let found = found.as_ref()?.iter();
            Some(found.map(|(id, ..)| *id).collect())
        };
        let wanted = |selection: &Selection, mut scores: BTreeMap<u64, f64>| {
            let ids = list(known, selection, Default::default());
            scores.retain(|id, _| ids.contains(&NodeId(*id)));
            scores
        };
        let expected = match self {
            Self::Words(words) => {
                let scores = bm25(known, &words.question, &words.selection.scope);
                let scores = wanted(&words.selection, scores);
                return check(&hits(found), &scores, words.limit);
            }
            Self::Search(search) => {
                let mut scores: BTreeMap<u64, f64> = BTreeMap::new();
                for (id, parts) in fused(known, search) {
                    if let Some(shown) = shown_as(known, search, id) {
                        let best = scores.entry(shown).or_default();
                        *best = best.max(parts.score());
                    }
                }
                return check(&hits(found), &scores, search.limit);
            }
            Self::Near(similar) => {
                let SimilarityTarget::Vector(vector) = &similar.like else {
                    return Err("only vectors are asked about".into());
                };
                let scores = wanted(&similar.selection, cosines(known, vector));
                return check(&hits(found), &scores, similar.limit);
            }
            Self::List(pattern) => {
                let mut ids = list(known, &pattern.selection, pattern.order);
                ids.truncate(pattern.limit);
                Some(ids)
            }
            Self::Head(of) => {
                let heads = heads_of(known, of);
                heads.map(|heads| heads.heads)
            }
        };
        let found = ids(found);
        (found == expected)
            .then_some(())
            .ok_or_else(|| format!("{found:?}, not {expected:?}"))
    }

    fn scope(&self) -> &Scope {
        match self {
            Self::Words(words) => &words.selection.scope,
            Self::Search(search) => &search.selection.scope,
            Self::List(pattern) => &pattern.selection.scope,
            Self::Head(of) => &of.scope,
            Self::Near(similar) => &similar.selection.scope,
        }
    }
}

/// Asks twice: the answers are the same, and equal scores are in order.
fn ask_twice(view: &View, question: &Question) -> Result<FoundHits, String> {
    let failed = |e: Error| format!("{question:?}: {e}");
    let first = question.ask(view).map_err(failed)?;
    let again = question.ask(view).map_err(failed)?;
    if first != again {
        return Err(format!("{question:?} found {first:?}, then {again:?}"));
    }
    let has_scores = !matches!(question, Question::List(_) | Question::Head(_));
    let is_ordered = first
        .iter()
        .all(|hits| hits.is_sorted_by(|(_, a, of_a), (_, b, of_b)| (*of_a, *a) > (*of_b, *b)));
    if has_scores && !is_ordered {
        return Err(format!("{question:?} found {first:?}: ties have no order"));
    }
    Ok(first)
}

/// A brain that is written, and what is known of it.
struct LoadedBrain {
    process: Process,
    store: Store,
    account: Account,
    random: Random,
    now: Micros,
}

/// A group that was committed and is not judged yet.
struct Group {
    requests: Vec<Request>,
    answers: Vec<Result<Answer, amem_store::Error>>,
    now: Micros,
    view: View,
}

impl LoadedBrain {
    fn new(seed: u64) -> Self {
        let disk = Arc::new(SimDisk::new(seed));
        let now = Micros(1_700_000_000_000_000);
        let process = Process::new(disk, Flaw::None);
        process.set_clock(now);
        let folder = Folder::open(Arc::new(process.clone()), "a load").expect("the folder opens");
        let options = NewBrain {
            dimension: DIMENSION,
            space: Uuid::nil(),
            ..NewBrain::default()
        };
        create(&folder, "b", &options).expect("the brain is made");
        let store = Store::open(&folder, "b").expect("the brain opens");
        let account = Account::new(DIMENSION, store.view().time());
        Self {
            process,
            store,
            account,
            random: Random::new(seed),
            now,
        }
    }

    fn group(&mut self) -> Group {
        self.now.0 += self.random.below(3_600_000_000) as i64;
        self.process.set_clock(self.now);
        let count = self.random.pick(&[1, 1, 2, 3]);
        let mut maker = RequestMaker {
            random: &mut self.random,
            account: &self.account,
            dimension: DIMENSION,
            now: self.now,
        };
        let requests: Vec<_> = (0..count).map(|_| maker.request()).collect();
        let answers = self.store.commit(&requests);
        Group {
            requests,
            answers,
            now: self.now,
            view: self.store.view(),
        }
    }

    fn judge(&mut self, group: Group) -> Result<(), String> {
        for (request, answer) in group.requests.iter().zip(&group.answers) {
            let verdict = self.account.ask(request, group.now, &group.view)?;
            let is_same = match (&verdict, answer) {
                (Verdict::Answered(expected), Ok(answer)) => **expected == *answer,
                (Verdict::Answered(_), _) | (_, Ok(_)) => false,
                _ => true,
            };
            if !is_same {
                return Err(format!(
                    "{request:?} is answered {answer:?}, expected: {verdict:?}"
                ));
            }
        }
        Ok(())
    }

    /// Commits while all threads ask; then judges every answer.
    fn round(&mut self, seed: u64, figures: &mut LoadCounts) -> Result<(), String> {
        let (brain, old) = (self.store.brain().clone(), self.store.view());
        let moments: Vec<AsOf> = (0..8)
            .map(|_| moment(&old, &self.account, &mut self.random))
            .collect();
        let (asked, done) = (Mutex::new(Vec::new()), AtomicUsize::new(0));
        let groups = std::thread::scope(|scope| {
            let threads: Vec<_> = (0..THREADS)
                .map(|thread| {
                    let (brain, old, moments) = (&brain, &old, &moments);
                    let (asked, done) = (&asked, &done);
                    scope.spawn(move || {
                        let random = Random::new(seed * THREADS + thread);
                        let answered = questions(brain, old, moments, random);
                        done.fetch_add(1, Ordering::Release);
                        asked.lock().expect("no thread panics").extend(answered?);
                        Ok::<_, String>(())
                    })
                })
                .collect();
            let mut groups = Vec::new();
            while groups.len() < GROUPS_MIN
                || groups.len() < GROUPS_MAX && done.load(Ordering::Acquire) < threads.len()
            {
                groups.push(self.group());
                // The others ask meanwhile.
                std::thread::yield_now();
            }
            for thread in threads {
                thread.join().expect("no thread panics")?;
            }
            Ok::<_, String>(groups)
        })?;
        figures.groups += groups.len();
        for group in groups {
            self.judge(group)?;
        }
        let newest = old.lsn();
        for of in asked.into_inner().expect("no thread panics") {
            let known = self.account.model.known(&of.view, of.at);
            let judged = of.question.judge(&of.found, &known);
            judged.map_err(|why| {
                let (lsn, at) = (of.view.lsn(), of.at);
                format!("at {lsn}, as of {at:?}: {:?} found {why}", of.question)
            })?;
            figures.asked += 1;
            figures.of_the_past += usize::from(of.at.is_some());
            figures.of_scopes += usize::from(*of.question.scope() != Scope::default());
            figures.of_new_views += usize::from(of.view.lsn() > newest);
            figures.hits += of.found.map_or(0, |found| found.len());
        }
        Ok(())
    }
}

/// What one thread asks in a round: of a view held since it began, and of what is committed meanwhile.
fn questions(
    brain: &Arc<Brain>,
    old: &View,
    moments: &[AsOf],
    mut random: Random,
) -> Result<Vec<AskedQuestion>, String> {
    let mut asked = Vec::new();
    while asked.len() < QUESTIONS {
        let view = match random.below(3) {
            0 => old.clone(),
            _ => brain.view(),
        };
        let at = match random.below(5) {
            0 | 1 => None,
            2 => Some(AsOf::Lsn(Lsn(view.lsn().0.saturating_sub(random.below(4))))),
            _ => Some(random.pick(moments)),
        };
        let failed = |why| format!("at {}, as of {at:?}: {why}", view.lsn());
        let then = at.map_or_else(|| Ok(view.clone()), |at| view.as_of(at));
        let then = then.map_err(|e| failed(e.to_string()))?;
        let question = Question::new(&mut random, then.nodes().max(1));
        let found = ask_twice(&then, &question).map_err(failed)?;
        asked.push(AskedQuestion {
            view,
            at,
            question,
            found,
        });
    }
    Ok(asked)
}

/// What the threads did.
#[derive(Debug, Default)]
struct LoadCounts {
    groups: usize,
    asked: usize,
    of_the_past: usize,
    of_scopes: usize,
    of_new_views: usize,
    hits: usize,
}

#[test]
fn questions_during_writes_find_the_same_twice_and_what_the_model_finds() {
    let mut figures = LoadCounts::default();
    let brains = crate::number("AMEM_RANDOM_BRAINS", BRAINS);
    for seed in 0..brains {
        let mut brain = LoadedBrain::new(seed);
        for _ in 0..GROUPS_BEFORE {
            let group = brain.group();
            brain.judge(group).unwrap();
        }
        for round in 0..ROUNDS {
            if round % 2 == 1 {
                brain.store.checkpoint().unwrap();
            }
            let done = brain.round(seed * ROUNDS + round, &mut figures);
            done.unwrap_or_else(|why| panic!("brain {seed}, round {round}: {why}"));
        }
    }
    println!("{figures:?}");
    let all = (brains * ROUNDS * THREADS) as usize * QUESTIONS;
    assert_eq!(figures.asked, all);
    for count in [figures.of_the_past, figures.of_scopes] {
        assert!(count > all / 4, "{figures:?}");
    }
    assert!(
        figures.of_new_views > 0 && figures.hits > all,
        "{figures:?}"
    );
}
