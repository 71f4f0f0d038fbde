//! Comparisons of a brain with the model: whole, by a few queries, and through readers of its file.

use std::collections::BTreeMap;
use std::sync::Arc;

use amem_doctor::verify;
use amem_format::brain::Brain;
use amem_format::journal::scan::Position;
use amem_format::mapping::Map;
use amem_format::view::{AsOf, View};
use amem_format::{Error, Flags, Lsn, Micros, NodeId};
use amem_query::{
    AuthorNames, Order, Pattern, Resolve, Scope, Selection, Similar, SimilarityTarget, TextSearch,
};
use amem_store::disk::{Disk, FileId};
use amem_tests::disk::SimDisk;
use amem_tests::model::{
    Account, Heads, Requests, ViewState, bm25, commits, cosines, likeness, list, resolve, text,
    vector,
};
use amem_tests::random::Random;

/// How far a score may be off.
const SCORE: f64 = 1e-4;

/// A scope, as often as not; events of some have come from others, and go there.
pub(crate) fn scope(random: &mut Random) -> Scope {
    if random.below(2) == 0 {
        return Scope::default();
    }
    let agent = (random.below(3) == 0).then(|| format!("a{}", random.below(2)));
    Scope {
        user: Some(format!("u{}", random.below(2))),
        agent,
        ..Scope::default()
    }
}

/// Holds all that a view shows, now and at some moment of the past, against what was done.
pub(crate) fn look(view: &View, account: &Account, random: &mut Random) -> Result<(), String> {
    let known = account.model.known(view, None);
    likeness(view, &known).and_then(|()| commits(view, account))?;
    ask(view, &known, random)?;
    let moment = moment(view, account, random);
    past(view, account, moment, random).map_err(|why| format!("as of {moment:?}: {why}"))
}

fn past(view: &View, account: &Account, at: AsOf, random: &mut Random) -> Result<(), String> {
    let then = view.as_of(at).map_err(|e| e.to_string())?;
    let known = account.model.known(view, Some(at));
    likeness(&then, &known)?;
    ask(&then, &known, random)
}

/// A moment of the past: a commit, one within a transaction, a time at, before or after one.
pub(crate) fn moment(view: &View, account: &Account, random: &mut Random) -> AsOf {
    let lsn = Lsn(random.below(view.lsn().0 + 1));
    let time = account.model.time(lsn).0;
    match random.below(5) {
        0 => AsOf::Time(Micros(time)),
        1 => AsOf::Time(Micros(time - 1)),
        2 => AsOf::Time(Micros(time + random.below(Micros::DAY as u64) as i64)),
        _ => AsOf::Lsn(lsn),
    }
}

/// Asks a question or two.
fn ask(view: &View, known: &ViewState, random: &mut Random) -> Result<(), String> {
    match random.below(4) {
        0 => pattern(view, known, random),
        1 => heads(view, known, random),
        2 => words(view, known, random),
        _ => similar(view, known, random),
    }
}

fn pattern(view: &View, known: &ViewState, random: &mut Random) -> Result<(), String> {
    let now = view.time();
    let mut requests = Requests { random, now };
    let request = Pattern {
        selection: Selection {
            // The model knows the authors of a `World` only.
            authors: AuthorNames::default(),
            ..requests.selection()
        },
        order: requests.order(),
        limit: 1 + random.below(12) as usize,
        cursor: None,
    };
    let mut expected = list(known, &request.selection, request.order);
    expected.truncate(request.limit);
    match request.run(view) {
        Ok(found) if found.ids == expected => Ok(()),
        found => Err(format!("{request:?} found {found:?}, not {expected:?}")),
    }
}

fn heads(view: &View, known: &ViewState, random: &mut Random) -> Result<(), String> {
    if view.nodes() == 0 {
        return Ok(());
    }
    let request = Resolve {
        event: NodeId(random.below(view.nodes())),
        include_forgotten: random.below(3) == 0,
        scope: scope(random),
        ..Resolve::default()
    };
    let expected = heads_of(known, &request);
    let found = match request.run(view) {
        Err(Error::Forgotten { .. }) => None,
        // It is of another scope.
        Err(Error::Invalid { .. }) if request.scope != Scope::default() => None,
        Ok(found) => Some((found.heads, found.is_cyclic)),
        Err(e) => return Err(format!("{request:?}: {e}")),
    };
    let expected = expected.map(|heads| (heads.heads, heads.is_cyclic));
    if found == expected {
        return Ok(());
    }
    Err(format!("{request:?} found {found:?}, not {expected:?}"))
}

/// The heads of an event; `None` if nothing of it may be shown.
pub(crate) fn heads_of(known: &ViewState, request: &Resolve) -> Option<Heads> {
    let selection = Selection {
        scope: request.scope.clone(),
        include_forgotten: true,
        include_compressed: true,
        ..Selection::default()
    };
    let is_in = list(known, &selection, Order::default()).contains(&request.event);
    let (id, all) = (request.event.0, request.include_forgotten);
    is_in.then(|| resolve(known, id, &request.scope, all))?
}

fn words(view: &View, known: &ViewState, random: &mut Random) -> Result<(), String> {
    let request = TextSearch {
        question: text(random),
        selection: Selection {
            scope: scope(random),
            ..Selection::default()
        },
        limit: 1 + random.below(8) as usize,
        ..TextSearch::default()
    };
    let found = request.run(view).map_err(|e| e.to_string())?.hits;
    let again = request.run(view).map_err(|e| e.to_string())?.hits;
    if found != again {
        return Err(format!("{request:?} found {found:?}, then {again:?}"));
    }
    let found: Vec<_> = found.iter().map(|hit| (hit.id, hit.score)).collect();
    let mut expected = bm25(known, &request.question, &request.selection.scope);
    shown(known, &mut expected);
    check(&found, &expected, request.limit).map_err(|why| format!("{request:?}: {why}"))
}

fn similar(view: &View, known: &ViewState, random: &mut Random) -> Result<(), String> {
    let vector = vector(random, view.vector_dimension());
    let Some(vector) = vector.filter(|v| v.iter().any(|x| *x != 0.0)) else {
        return Ok(());
    };
    let mut expected = cosines(known, &vector);
    shown(known, &mut expected);
    let request = Similar {
        like: SimilarityTarget::Vector(vector),
        selection: Selection::default(),
        limit: 1 + random.below(8) as usize,
        ..Similar::default()
    };
    let found = request.run(view).map_err(|e| e.to_string())?;
    check(&found.hits, &expected, request.limit).map_err(|why| format!("{request:?}: {why}"))
}

/// Leaves out what a question does not see unless it asks for it.
fn shown(known: &ViewState, scores: &mut BTreeMap<u64, f64>) {
    let flags = |id: &u64| known.state.events[*id as usize].flags;
    let is_shown = |f: Flags| !f.has(Flags::FORGOTTEN) && !f.has(Flags::COMPRESSED);
    scores.retain(|id, _| is_shown(flags(id)));
}

/// Each score is right, and no better one is missing.
pub(crate) fn check(
    hits: &[(NodeId, f32)],
    all: &BTreeMap<u64, f64>,
    limit: usize,
) -> Result<(), String> {
    let is_right = |(id, score): &(NodeId, f32)| {
        let expected = all.get(&id.0);
        expected.is_some_and(|of| (f64::from(*score) - of).abs() < SCORE * (1.0 + of.abs()))
    };
    let worst = hits.last().map_or(f64::INFINITY, |hit| f64::from(hit.1));
    let is_missed = |(id, score): (&u64, &f64)| {
        *score > worst + SCORE * (1.0 + score.abs()) && hits.iter().all(|hit| hit.0.0 != *id)
    };
    if hits.len() != limit.min(all.len()) || !hits.iter().all(is_right) || all.iter().any(is_missed)
    {
        return Err(format!("{hits:?} of {all:?}"));
    }
    Ok(())
}

/// A copy of a file's bytes, opened as its recipient would.
pub(crate) fn copy(bytes: &[u8]) -> Result<View, String> {
    let read = |e: Error| format!("a copy: {e}");
    let brain = Arc::new(Brain::open(Map::owned(bytes)).map_err(read)?);
    let start = brain.start().ok_or("a copy has no journal")?;
    brain.replay(start, u64::MAX).map_err(read)?;
    Ok(brain.view())
}

/// Every byte of a file against its checksums, and every part of it against the others.
pub(crate) fn verified(bytes: &[u8]) -> Result<(), String> {
    let report = verify::native(Arc::new(Map::owned(bytes)), None).map_err(|e| e.to_string())?;
    if report.is_whole() {
        return Ok(());
    }
    Err(format!(
        "verified: {:?}, {:?}",
        report.findings, report.tail
    ))
}

/// A reader of a brain's file while it is written, as `Reader` is: frame by frame, up to what is committed.
pub(crate) struct Follower {
    file: FileId,
    brain: Arc<Brain>,
    position: Position,
}

impl Follower {
    /// Goes on reading, or begins, with the file that has the name now.
    pub(crate) fn follow(before: Option<Self>, disk: &SimDisk, name: &str) -> Result<Self, String> {
        let read = |e: Error| format!("who follows: {e}");
        let file = disk.identity(name).map_err(|e| e.to_string())?;
        let bytes = disk.contents(name).unwrap_or_default();
        let map = || Map::owned(&bytes);
        let mut follower = match before.filter(|before| before.file == file) {
            Some(before) => {
                let mapped = before.brain.reach(bytes.len() as u64, || Ok(map()));
                mapped.map_err(|e| e.to_string())?;
                before
            }
            None => {
                let brain = Arc::new(Brain::open(map()).map_err(read)?);
                let position = brain.start().ok_or("a file without a journal")?;
                Self {
                    file,
                    brain,
                    position,
                }
            }
        };
        let committed = follower.brain.live().map_or(0, |live| live.committed);
        let replayed = follower.brain.replay(follower.position, committed);
        follower.position = replayed.map_err(read)?.position;
        Ok(follower)
    }

    pub(crate) fn view(&self) -> View {
        self.brain.view()
    }
}
