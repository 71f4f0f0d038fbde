//! Similar, text, search: every score, every part of it, and that nothing better was passed over.

use std::collections::BTreeMap;

use amem_format::view::{AsOf, View};
use amem_format::{EdgeType, Error, EventType, Flags, Lsn, NodeId};
use amem_query::search::{Hit, TextHit};
use amem_query::time_phrase::{Clock, zone_named};
use amem_query::{Resolve, Search, Selection, Similar, SimilarityTarget, TextSearch};
use amem_tests::model::{
    Act, NewEvent, Requests, ScoreParts, ShownHit, ViewState, World, arranged, bm25, cosines, fit,
    fused, list, relevance, shown_as,
};

use crate::{FailureContext, in_worlds};

/// Hits against the scores of all that is wanted: each score is right, none is missing, ties are by id.
fn check(hits: &[(NodeId, f32)], expected: &BTreeMap<u64, f64>, limit: usize) {
    check_scores(hits, expected, limit);
    let in_order = |a: &(NodeId, f32), b: &(NodeId, f32)| (a.1, a.0) > (b.1, b.0);
    assert!(hits.is_sorted_by(in_order), "{hits:?}");
}

fn check_scores(hits: &[(NodeId, f32)], expected: &BTreeMap<u64, f64>, limit: usize) {
    assert_eq!(
        hits.len(),
        limit.min(expected.len()),
        "{hits:?} {expected:?}"
    );
    for (id, score) in hits {
        let expected = expected[&id.0];
        let off = (f64::from(*score) - expected).abs();
        assert!(
            off < 1e-4 * (1.0 + expected.abs()),
            "{id}: {score} {expected}"
        );
    }
    if let Some((_, worst)) = hits.last() {
        for (id, score) in expected {
            let is_hit = hits.iter().any(|hit| hit.0.0 == *id);
            assert!(
                is_hit || *score < f64::from(*worst) + 1e-4,
                "{id} at {score} is missing"
            );
        }
    }
}

fn wanted(known: &ViewState, selection: &Selection, scores: &mut BTreeMap<u64, f64>) {
    let ids = list(known, selection, Default::default());
    scores.retain(|id, _| ids.contains(&NodeId(*id)));
}

#[test]
fn similar_is_the_exact_cosine_of_every_vector() {
    in_worlds(60, |world, view, known| {
        let Some(vector) = world.vector().filter(|v| v.iter().any(|x| *x != 0.0)) else {
            return;
        };
        let event = world.random.below(view.nodes().max(1));
        let request = Similar {
            like: match world.random.below(2) {
                0 => SimilarityTarget::Event(NodeId(event)),
                _ => SimilarityTarget::Vector(vector.clone()),
            },
            selection: Requests::of(world).selection(),
            limit: 1 + world.random.below(8) as usize,
            min_similarity: (world.random.below(3) == 0).then_some(0.25),
            min_relevance: None,
            // So few vectors have no clusters: the answer is exact.
            approximate: world.random.below(2) == 0,
        };
        let mut expected = match &request.like {
            SimilarityTarget::Vector(vector) => cosines(known, vector),
            SimilarityTarget::Event(NodeId(id)) => {
                let own = known.state.events.get(*id as usize);
                match own.and_then(|event| event.made.vector.as_ref()) {
                    Some(own) => cosines(known, own),
                    None => {
                        assert!(request.run(view).is_err());
                        return;
                    }
                }
            }
        };
        let found = match request.run(view) {
            Ok(found) => found.hits,
            Err(Error::Forgotten { .. } | Error::Invalid { .. }) => {
                assert!(matches!(request.like, SimilarityTarget::Event(_)));
                return;
            }
            Err(error) => panic!("{error}"),
        };
        wanted(known, &request.selection, &mut expected);
        if let SimilarityTarget::Event(id) = request.like {
            expected.remove(&id.0);
        }
        if let Some(least) = request.min_similarity {
            // What lies on the border may fall to either side.
            assert!(found.iter().all(|hit| hit.1 >= least));
            let is_in = |id: &u64| found.iter().any(|hit| hit.0.0 == *id);
            expected.retain(|id, s| *s >= f64::from(least) + 1e-5 || is_in(id));
        }
        check(&found, &expected, request.limit);
    });
}

#[test]
fn text_is_bm25_of_every_text() {
    in_worlds(60, |world, view, known| {
        let request = TextSearch {
            question: world.text(),
            selection: Requests::of(world).selection(),
            limit: 1 + world.random.below(8) as usize,
            min_relevance: 0.0,
        };
        let found = request.run(view).unwrap().hits;
        for hit in &found {
            let event = &known.state.events[hit.id.0 as usize];
            let scope = &request.selection.scope;
            let expected = relevance(known, &request.question, scope, &[event], 1, false);
            assert!(
                (f64::from(hit.relevance) - expected.value).abs() < 1e-5,
                "{hit:?}"
            );
        }
        let mut request_above = request.clone();
        request_above.min_relevance = world.random.pick(&[0.5, 0.7, 1.0]);
        let above = request_above.run(view).unwrap().hits;
        let is_above = |hit: &&TextHit| hit.relevance >= request_above.min_relevance;
        assert!(above.iter().eq(found.iter().filter(is_above)));
        let found: Vec<_> = found.iter().map(|hit| (hit.id, hit.score)).collect();
        let mut expected = bm25(known, &request.question, &request.selection.scope);
        wanted(known, &request.selection, &mut expected);
        check(&found, &expected, request.limit);
    });
}

#[test]
fn search_is_the_sum_of_its_parts_and_misses_nothing() {
    let replaced = std::cell::Cell::new(0);
    in_worlds(100, |world, view, known| {
        let mut request = Search {
            question: world.text(),
            vector: world.vector().unwrap_or_default(),
            selection: Requests::of(world).selection(),
            limit: 1 + world.random.below(8) as usize,
            neighbour_share: world.random.pick(&[0.0, 0.25, 1.0]),
            session_share: world.random.pick(&[0.0, 0.25, 1.0]),
            question_share: world.random.pick(&[0.0, 0.25, 1.0]),
            include_superseded: world.random.below(3) == 0,
            recency_half_life: world.random.pick(&[0.0, 0.0, 30.0]),
            centred: world.random.below(3) > 0,
            ..Search::default()
        };
        if world.random.below(5) == 0 {
            (request.text_weight, request.vector_weight) = (Some(2.0), Some(0.5));
        }
        if request.question.is_empty() && request.vector.is_empty() {
            assert!(request.run(view).is_err());
            return;
        }
        request.question = stressed(world, request.question);
        request.clock = Clock::known(None, Some(zone_named("UTC").unwrap()));
        replaced.set(replaced.get() + check_search(view, known, &request));
    });
    // The worlds must have had something to say.
    assert!(replaced.get() > 20, "{replaced:?}");
}

/// A question that sometimes names a speaker, a role or a time.
fn stressed(world: &mut World, question: String) -> String {
    let random = &mut world.random;
    let who = random.pick(&["", "", "Ada ", "did you say ", "I "]);
    let when = random.pick(&[
        "",
        "",
        " in 2023",
        " on 14 November 2023",
        " since 1 December 2023",
    ]);
    format!("{who}{question}{when}")
}

/// The hits of a search in the order in which they are shown, against those of a search that only adds up.
fn check_arranged(view: &View, known: &ViewState, request: &Search) {
    let plain = Search {
        tie_margin: 0.0,
        include_duplicates: true,
        limit: 10_000,
        ..request.clone()
    };
    let plain = plain.run(view).unwrap().hits;
    let found = request.run(view).unwrap().hits;
    let found: Vec<_> = found
        .iter()
        .map(|hit| ShownHit {
            id: hit.id.0,
            found: hit.found.0,
            equal_texts: hit.equal_texts,
            newer_value: hit.newer_value.map(|id| id.0),
        })
        .collect();
    let plain: Vec<_> = plain
        .iter()
        .map(|hit| (hit.id.0, hit.found.0, hit.score))
        .collect();
    let shown = arranged(known, request, &plain);
    assert_eq!(found, shown);
}

/// The hits of a search against what adding up gives; how many of them are shown as what replaces them.
fn check_search(view: &View, known: &ViewState, request: &Search) -> usize {
    check_arranged(view, known, request);
    let request = &Search {
        tie_margin: 0.0,
        include_duplicates: true,
        ..request.clone()
    };
    let found = request.run(view).unwrap().hits;
    let expected = fused(known, request);
    let mut scores: BTreeMap<u64, f64> = BTreeMap::new();
    for (&id, parts) in &expected {
        if let Some(shown) = shown_as(known, request, id) {
            let best = scores.entry(shown).or_default();
            *best = best.max(parts.score());
        }
    }
    let hits: Vec<_> = found.iter().map(|hit| (hit.id, hit.score)).collect();
    check_scores(&hits, &scores, request.limit);
    let order = |a: &Hit, b: &Hit| (a.score, a.found) > (b.score, b.found);
    assert!(found.is_sorted_by(order), "{found:?}");
    let mut replaced = 0;
    for hit in found {
        let own = expected.get(&hit.id.0).map_or(0.0, ScoreParts::score);
        if hit.found != hit.id {
            assert!(own < f64::from(hit.score) + 1e-4, "{hit:?}: {own}");
        }
        let sum = hit.text + hit.vector + hit.neighbours + hit.session;
        assert_eq!(sum * hit.speaker * hit.time * hit.recency, hit.score);
        let fits = fit(known, request, &hit);
        let found = [
            hit.relevance.own,
            hit.relevance.covered,
            hit.relevance.known,
            hit.relevance.meaning,
        ];
        let fitting = [fits.own, fits.covered, fits.known, fits.meaning];
        for (found, expected) in found.iter().zip(fitting) {
            assert!(
                (f64::from(*found) - expected).abs() < 1e-3,
                "{hit:?} {fits:?}"
            );
        }
        assert!(
            (f64::from(hit.relevance.value) - fits.value).abs() < 1e-3,
            "{hit:?}"
        );
        assert_eq!(hit.relevance.is_named, fits.is_named, "{hit:?}");
        assert_eq!(hit.relevance.is_weak, hit.text == 0.0);
        assert_eq!(shown_as(known, request, hit.found.0), Some(hit.id.0));
        replaced += usize::from(hit.found != hit.id);
        let parts = &expected[&hit.found.0];
        for (found, expected) in [
            (hit.text, parts.text),
            (hit.vector, parts.vector),
            (hit.neighbours, parts.neighbours),
            (hit.session, parts.session),
            (hit.speaker, 1.0 + parts.speaker),
            (hit.time, 1.0 + parts.time),
            (hit.recency, 1.0 - parts.aged),
        ] {
            assert!(
                (f64::from(found) - expected).abs() < 1e-4,
                "{hit:?} {parts:?}"
            );
        }
    }
    replaced
}

#[test]
fn a_search_through_most_of_a_brain_misses_nothing_during_writes() {
    let mut replaced = 0;
    for seed in 0..12 {
        let mut place = FailureContext { seed, step: 0 };
        let mut world = World::new(seed).unwrap();
        // So many that the search stops following them one by one, and so few that the model needs no sample.
        for _ in 0..8 {
            world.ingest_many(20).unwrap();
        }
        world.checkpoint().unwrap();
        for step in 0..40 {
            place.step = step;
            world.step().unwrap();
            let view = world.view();
            let known = world.model.known(&view, None);
            let mut request = Search {
                question: "river stone walking garden the painted".into(),
                vector: world.vector().unwrap_or_default(),
                limit: 1 + world.random.below(40) as usize,
                neighbour_share: world.random.pick(&[0.0, 0.25, 1.0]),
                session_share: world.random.pick(&[0.0, 0.25, 1.0]),
                question_share: world.random.pick(&[0.0, 0.25, 1.0]),
                ..Search::default()
            };
            if world.random.below(3) == 0 {
                request.selection = Requests::of(&mut world).selection();
            }
            replaced += check_search(&view, &known, &request);
        }
    }
    assert!(replaced > 20, "{replaced}");
}

fn add(event_type: EventType, text: &str, vector: Option<Vec<f32>>) -> Act {
    Act::Add(NewEvent {
        event_type,
        session: 0,
        event_time: None,
        confidence: 1.0,
        lambda: 0.0,
        text: text.into(),
        attributes: None,
        vector,
    })
}

fn fact(text: &str) -> Act {
    add(EventType::FACT, text, None)
}

fn supersedes(new: u64, old: u64) -> Act {
    Act::Link(new, old, EdgeType::SUPERSEDES.0, 1.0)
}

/// The events found by words and, for each, whose score it has.
fn found(world: &World, question: &str, change: impl Fn(&mut Search)) -> Vec<(u64, u64)> {
    let mut search = Search {
        question: question.into(),
        tie_margin: 0.0,
        include_duplicates: true,
        ..Search::default()
    };
    change(&mut search);
    let hits = search.run(&world.view()).unwrap().hits.into_iter();
    hits.map(|hit| (hit.id.0, hit.found.0)).collect()
}

#[test]
fn of_equal_scores_the_highest_id_found_comes_first_and_a_head_is_found_as_itself() {
    let mut world = World::new(1).unwrap();
    // Events 1 and 3 replace others that say the same, 3 a younger one; 7 says nothing of it.
    let said = (0..7).map(|_| fact("deploy on friday"));
    let mut acts = Vec::from_iter(said.chain([fact("lunch is at noon")]));
    acts.extend([supersedes(1, 0), supersedes(3, 5), supersedes(7, 2)]);
    world.commit(acts).unwrap();
    let all = [(6, 6), (4, 4), (3, 3), (7, 2), (1, 1)];
    for limit in 1..8 {
        let shown = found(&world, "deploy", |search| search.limit = limit);
        assert_eq!(shown, all[..limit.min(5)]);
    }
}

#[test]
fn equal_vectors_match_a_vector_query_and_add_nothing_to_text_scores() {
    let mut worlds = (0..).map(|seed| World::new(seed).unwrap());
    let mut world = worlds.find(|world| world.dimension() == 3).unwrap();
    let said = |text, vector| add(EventType::FACT, text, vector);
    let zeros = said("dinner is at eight", Some(vec![0.0; 3]));
    world.commit(vec![fact("deploy on friday"), zeros]).unwrap();
    let one = vec![0.5, 0.25, -1.0];
    let asked = [&one, &vec![1.0, 0.0, 0.0], &vec![-0.5, -0.25, 1.0]];
    let check = |world: &World, alike: &[(u64, u64)]| {
        for vector in asked {
            let by = |question| found(world, question, |search| search.vector = vector.clone());
            assert_eq!(by(""), alike, "{vector:?}");
            assert_eq!(by("friday"), [(0, 0)], "{vector:?}");
        }
    };
    check(&world, &[]);
    let lunch = said("lunch is at noon", Some(one.clone()));
    world.commit(vec![lunch.clone()]).unwrap();
    check(&world, &[(2, 2)]);
    world.commit(vec![lunch]).unwrap();
    check(&world, &[(3, 3), (2, 2)]);
    world.checkpoint().unwrap();
    check(&world, &[(3, 3), (2, 2)]);
}

#[test]
fn a_superseded_event_is_found_once_as_its_newest_matching_head() {
    let mut world = World::new(1).unwrap();
    let acts = vec![
        fact("the nightly backup starts at two"),
        fact("the nightly backup starts at three"),
        add(EventType::CORRECTION, "it begins at four", None),
        fact("lunch is at noon"),
        supersedes(1, 0),
        supersedes(2, 1),
    ];
    world.commit(acts).unwrap();
    let question = "when does the nightly backup start?";
    assert_eq!(found(&world, question, |_| ()), [(2, 1)]);
    assert_eq!(
        found(&world, question, |search| search.include_superseded = true),
        [(1, 1), (0, 0)]
    );
    let facts = |search: &mut Search| search.selection.types = vec![EventType::FACT];
    assert_eq!(found(&world, question, facts), []);
    // What is forgotten is no head.
    world
        .commit(vec![Act::Belief(2, 1.0, Flags::FORGOTTEN, 0.0)])
        .unwrap();
    assert_eq!(found(&world, question, facts), [(1, 1)]);
}

#[test]
fn successors_follow_every_change_since_the_base_in_each_view() {
    let mut world = World::new(1).unwrap();
    // Two replacements, so that they have to be walked.
    let acts = vec![
        fact("the nightly backup starts at two"),
        add(EventType::CORRECTION, "it begins at three", None),
        add(EventType::CORRECTION, "it begins at four", None),
        supersedes(1, 0),
        supersedes(2, 0),
    ];
    world.commit(acts).unwrap();
    world.checkpoint().unwrap();
    let search = Search {
        question: "nightly backup".into(),
        ..Search::default()
    };
    let shown = |view: &View| {
        let hits = search.run(view).unwrap().hits;
        Vec::from_iter(hits.iter().map(|hit| hit.id.0))
    };
    let believe = |id, flags| Act::Belief(id, 1.0, flags, 0.0);
    let changes = [
        (believe(1, Flags::PINNED), 2),
        (believe(2, Flags::FORGOTTEN), 1),
        (believe(2, Flags::default()), 2),
        (Act::Unlink(2, 0, EdgeType::SUPERSEDES.0), 1),
        (supersedes(2, 0), 2),
    ];
    let mut views = vec![(world.view(), 2)];
    for (change, head) in changes {
        world.commit(vec![change]).unwrap();
        views.push((world.view(), head));
        for _ in 0..2 {
            for (view, head) in &views {
                assert_eq!(shown(view), [*head], "{}", view.lsn());
            }
        }
    }
}

#[test]
fn heads_of_long_chains_equal_those_of_resolve_from_any_event_of_the_chain() {
    let mut world = World::new(1).unwrap();
    // How often each says the word is not in the order of the ids: the chains are met in their middles.
    let said = (0..600u64).map(|id| fact(&"deploy ".repeat(1 + (id * 37 % 101) as usize)));
    world.commit(said.collect()).unwrap();
    // Three chains; the second forks, the third is joined half way by the last of the first, and its end is hidden.
    let chain = |first: u64| (0..199).map(move |at| supersedes(3 * at + 3 + first, 3 * at + first));
    let mut acts = Vec::from_iter((0..3).flat_map(chain));
    acts.extend([
        supersedes(598, 301),
        supersedes(302, 597),
        supersedes(599, 4),
    ]);
    world.commit(acts).unwrap();
    let hidden = [599, 596, 590, 100];
    let hide = hidden.map(|id| Act::Belief(id, 1.0, Flags::FORGOTTEN, 0.0));
    for hides in [false, true] {
        if hides {
            world.commit(hide.to_vec()).unwrap();
        }
        for is_in_base in [false, true] {
            if is_in_base {
                world.checkpoint().unwrap();
            }
            let view = world.view();
            let mut expected: Vec<(u64, u64)> = Vec::new();
            let all = |search: &mut Search| search.limit = 1_000;
            for (id, _) in found(&world, "deploy", |search| {
                all(search);
                search.include_superseded = true;
            }) {
                let event = NodeId(id);
                let resolve = Resolve {
                    event,
                    ..Resolve::default()
                };
                let head = resolve.run(&view).unwrap().head.0;
                if expected.iter().all(|(known, _)| *known != head) {
                    expected.push((head, id));
                }
            }
            assert!(expected.len() > 1, "{expected:?}");
            assert_eq!(found(&world, "deploy", all), expected);
        }
    }
}

/// The answers of all rankings, to the bit.
fn answers(view: &View, question: &str, vector: &[f32]) -> String {
    let limit = 1_000;
    let text = TextSearch {
        question: question.into(),
        limit,
        ..TextSearch::default()
    };
    let similar = Similar {
        like: SimilarityTarget::Vector(vector.to_vec()),
        limit,
        ..Similar::default()
    };
    let search = Search {
        question: question.into(),
        vector: vector.to_vec(),
        limit,
        ..Search::default()
    };
    let (text, similar) = (
        text.run(view).unwrap().hits,
        similar.run(view).unwrap().hits,
    );
    format!("{text:?} {similar:?} {:?}", search.run(view).unwrap().hits)
}

#[test]
fn a_checkpoint_changes_no_bit_of_a_score() {
    for seed in 0..40 {
        let _place = FailureContext { seed, step: 0 };
        let mut world = World::new(seed).unwrap();
        for _ in 0..60 {
            world.step().unwrap();
        }
        // What was erased leaves the index with the checkpoint that an erase brings; here it is the start.
        world.checkpoint().unwrap();
        for _ in 0..30 {
            world.step().unwrap();
            let view = world.view();
            let mut states = view.brain().delta().events.states.iter();
            if states.any(|state| state.flags.has(Flags::ERASED)) {
                world.checkpoint().unwrap();
            }
        }
        let vector = vec![0.5; world.dimension() as usize];
        if vector.is_empty() {
            continue;
        }
        let before = answers(&world.view(), "stone river paint", &vector);
        world.checkpoint().unwrap();
        assert_eq!(answers(&world.view(), "stone river paint", &vector), before);
        let copy = world.written.copy().unwrap();
        assert_eq!(answers(&copy, "stone river paint", &vector), before);
    }
}

#[test]
fn corrected_beliefs_are_found_by_old_words_if_the_selection_has_the_head() {
    let mut world = World::new(1).unwrap();
    let correction = add(
        EventType::CORRECTION,
        "the database moved to another host",
        None,
    );
    let acts = vec![
        fact("the server listens on port 5432"),
        correction,
        supersedes(1, 0),
    ];
    world.commit(acts).unwrap();
    type Narrow = fn(&mut Search);
    let rows: [(Narrow, Vec<(u64, u64)>); 5] = [
        (|_| {}, vec![(1, 0)]),
        (|s| s.selection.confidence.min = Some(0.5), vec![(1, 0)]),
        (
            |s| s.selection.types = vec![EventType::CORRECTION],
            vec![(1, 0)],
        ),
        (|s| s.selection.types = vec![EventType::FACT], vec![]),
        (|s| s.selection.keyword = Some("moved".into()), vec![(1, 0)]),
    ];
    for (at, (narrow, expected)) in rows.into_iter().enumerate() {
        assert_eq!(found(&world, "5432", narrow), expected, "row {at}");
    }
    let exact = |s: &mut Search| {
        s.include_superseded = true;
        s.selection.types = vec![EventType::CORRECTION];
    };
    assert_eq!(found(&world, "5432", exact), []);
}

#[test]
fn a_moment_has_one_strength_while_it_is_the_newest_and_later() {
    for seed in 0..10 {
        let mut place = FailureContext { seed, step: 0 };
        let mut world = World::new(seed).unwrap();
        let mut first: BTreeMap<u64, Vec<u32>> = BTreeMap::new();
        for step in 0..40 {
            place.step = step;
            world.step().unwrap();
            let view = world.view();
            for lsn in 1..=view.lsn().0 {
                let then = view.as_of(AsOf::Lsn(Lsn(lsn))).unwrap();
                let strength = |id: u64| then.node(NodeId(id)).unwrap().strength().to_bits();
                let now: Vec<u32> = (0..then.nodes()).map(strength).collect();
                let known = first.entry(lsn).or_insert_with(|| now.clone());
                assert_eq!(*known, now, "commit {lsn} at {}", view.lsn());
            }
        }
    }
}
