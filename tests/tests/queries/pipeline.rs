//! Pipelines: each is what its stages give when they are run by hand.

use std::collections::BTreeSet;

use amem_format::view::View;
use amem_format::{EdgeType, Error, Micros, NodeId};
use amem_query::limits::PAGE_MAX;
use amem_query::pipeline::{
    PipelineRow, PipelineStage, RankBy, RankWeights, RowSource, TraverseStage,
};
use amem_query::planner::{Sight, Visibility};
use amem_query::{Axis, Pattern, Pipeline, Scope, Search, Similar, SimilarityTarget, TextSearch};
use amem_tests::model::{Act, Requests, ViewState, World, forest, list, resolve};

use crate::in_worlds;

/// A row by hand: its event, edges from the source, what it is worth, its score, and the events that it came from, the
/// nearest first.
#[derive(Debug, Clone, PartialEq)]
struct ExpectedRow {
    id: NodeId,
    depth: u32,
    found: f32,
    score: f32,
    from: Vec<(NodeId, bool)>,
}

fn source(world: &mut World, view: &View) -> RowSource {
    let selection = Requests::of(world).selection();
    let limit = 1 + world.random.below(8) as usize;
    match world.random.below(5) {
        0 => RowSource::Events(
            (0..3)
                .map(|_| NodeId(world.random.below(view.nodes())))
                .collect(),
        ),
        1 => RowSource::Text(TextSearch {
            question: world.text(),
            selection,
            limit,
            ..TextSearch::default()
        }),
        2 => RowSource::Search(Search {
            question: format!("stone {}", world.text()),
            selection,
            limit,
            ..Search::default()
        }),
        3 => RowSource::Similar(Similar {
            like: SimilarityTarget::Event(NodeId(world.random.below(view.nodes()))),
            selection,
            limit,
            ..Similar::default()
        }),
        _ => RowSource::Pattern(Pattern {
            selection,
            order: Requests::of(world).order(),
            limit,
            cursor: None,
        }),
    }
}

fn stage(world: &mut World, view: &View) -> PipelineStage {
    match world.random.below(6) {
        0 | 1 => {
            let (follow, types) = Requests::of(world).ways();
            PipelineStage::Traverse(TraverseStage {
                types,
                follow,
                depth: world.random.below(4) as u32,
                limit: world.random.pick(&[3, 10, 10_000]),
            })
        }
        2 => PipelineStage::Resolve,
        3 => PipelineStage::Filter(Box::new(Requests::of(world).selection())),
        4 => {
            let mut weight = || world.random.pick(&[0.0, 0.5, 1.0, 3.0]);
            let weights = RankWeights {
                found: 1.0,
                confidence: weight(),
                strength: weight(),
                recency: weight(),
                nearness: weight(),
            };
            PipelineStage::Rank(RankBy {
                weights,
                half_life_days: world.random.pick(&[1.0, 30.0]),
                axis: world.random.pick(&[Axis::Recorded, Axis::Happened]),
                strength_at: (world.random.below(4) == 0).then(|| view.time()),
            })
        }
        _ => PipelineStage::Limit(1 + world.random.below(6) as usize),
    }
}

/// What is in one scope and in the other; none if that is nothing.
fn both(one: &Scope, other: &Scope) -> Option<Scope> {
    let field = |a: &Option<String>, b: &Option<String>| match (a, b) {
        (Some(a), Some(b)) if a != b => None,
        _ => Some(a.clone().or(b.clone())),
    };
    Some(Scope {
        user: field(&one.user, &other.user)?,
        agent: field(&one.agent, &other.agent)?,
        run: field(&one.run, &other.run)?,
        app: field(&one.app, &other.app)?,
    })
}

/// What a source gives of what may be a row, and what each is worth over the best: all that it finds, without those
/// that may not, and of these the first.
fn begin(
    view: &View,
    source: &RowSource,
    pipeline: &Pipeline,
    sight: &Sight,
) -> Result<Vec<(NodeId, f32)>, Error> {
    let ones = |ids: Vec<NodeId>| ids.into_iter().map(|id| (id, 1.0)).collect();
    let (mut found, limit): (Vec<(NodeId, f32)>, usize) = match source {
        RowSource::Events(ids) => (ones(ids.clone()), ids.len()),
        RowSource::Text(text) => {
            // The statistics of words are those of the scope.
            let mut selection = text.selection.clone();
            let Some(scope) = both(&pipeline.scope, &selection.scope) else {
                return Ok(Vec::new());
            };
            selection.scope = scope;
            let all = TextSearch {
                selection,
                limit: PAGE_MAX,
                ..text.clone()
            };
            let hits = all.run(view)?.hits.into_iter();
            (hits.map(|hit| (hit.id, hit.score)).collect(), text.limit)
        }
        RowSource::Similar(similar) => {
            // Where two scopes have nothing in common, the event that is meant is not looked at.
            if both(&pipeline.scope, &similar.selection.scope).is_none() {
                return Ok(Vec::new());
            }
            let all = Similar {
                limit: PAGE_MAX,
                ..similar.clone()
            };
            (all.run(view)?.hits, similar.limit)
        }
        RowSource::Search(search) => {
            // Its scores, and the heads that it shows, depend on what it may find; so that is said beforehand.
            let mut selection = search.selection.clone();
            let Some(scope) = both(&pipeline.scope, &selection.scope) else {
                return Ok(Vec::new());
            };
            selection.scope = scope;
            selection.include_forgotten &= pipeline.include_forgotten;
            let search = Search {
                selection,
                ..search.clone()
            };
            let hits = search.run(view)?.hits.into_iter();
            let hits = hits.map(|hit| (hit.id, hit.score)).collect();
            (hits, search.limit)
        }
        RowSource::Pattern(pattern) => {
            let all = Pattern {
                limit: PAGE_MAX,
                ..pattern.clone()
            };
            (ones(all.run(view)?.ids), pattern.limit)
        }
    };
    found.retain(|(id, _)| sight.of(&view.node(*id).unwrap()).unwrap() == Visibility::Shown);
    found.truncate(limit);
    let most = found.iter().map(|row| row.1).fold(0.0, f32::max);
    for row in &mut found {
        row.1 = if most > 0.0 {
            row.1.max(0.0) / most
        } else {
            0.0
        };
    }
    Ok(found)
}

fn ranked(by: &RankBy, view: &View, known: &ViewState, row: &ExpectedRow) -> f32 {
    let event = &known.state.events[row.id.0 as usize];
    let time = match by.axis {
        Axis::Recorded => event.created_at,
        Axis::Happened => event.happened(),
    };
    let age = (view.moment().1.0 - time).max(0) as f64 / Micros::DAY as f64;
    let strength = match by.strength_at {
        None => event.strength,
        Some(time) => view.node(row.id).unwrap().strength_at(time).unwrap(),
    };
    by.weights.found * row.found
        + by.weights.confidence * event.made.confidence
        + by.weights.strength * strength
        + by.weights.recency * (2.0_f64.powf(-age / f64::from(by.half_life_days)) as f32)
        + by.weights.nearness / (1 + row.depth) as f32
}

fn behind(
    known: &ViewState,
    pipeline: &Pipeline,
    reach: &TraverseStage,
    rows: &mut Vec<ExpectedRow>,
) {
    let starts: Vec<u64> = rows.iter().map(|row| row.id.0).collect();
    let (scope, all) = (&pipeline.scope, pipeline.include_forgotten);
    let (follow, depth) = (reach.follow, reach.depth);
    let reached = forest(known, &starts, follow, &reach.types, depth, scope, all);
    // The way to each step, stubs included.
    let mut ways: Vec<ExpectedRow> = rows.clone();
    for (id, _, via, is_stub) in reached.into_iter().skip(starts.len()) {
        if !is_stub && rows.len() >= reach.limit {
            break;
        }
        let parent = via.unwrap().0;
        let parent = ways.iter().find(|row| row.id == parent).unwrap();
        let flags = known.state.events[parent.id.0 as usize].flags;
        let parent_is_stub = flags.has(amem_format::Flags::FORGOTTEN) && !all;
        let mut from = vec![(parent.id, parent_is_stub)];
        from.extend(&parent.from);
        let row = ExpectedRow {
            id,
            depth: parent.depth + 1,
            found: parent.found,
            score: parent.found,
            from,
        };
        ways.push(row.clone());
        if !is_stub {
            rows.push(row);
        }
    }
}

fn by_hand(pipeline: &Pipeline, view: &View, known: &ViewState) -> Result<Vec<ExpectedRow>, Error> {
    let (scope, all) = (&pipeline.scope, pipeline.include_forgotten);
    let sight = Sight::new(scope, all)?;
    let mut rows: Vec<ExpectedRow> = Vec::new();
    for source in &pipeline.sources {
        for (id, worth) in begin(view, source, pipeline, &sight)? {
            match rows.iter_mut().find(|row| row.id == id) {
                Some(row) => {
                    row.found = row.found.max(worth);
                    row.score = row.found;
                }
                None => rows.push(ExpectedRow {
                    id,
                    depth: 0,
                    found: worth,
                    score: worth,
                    from: Vec::new(),
                }),
            }
        }
    }
    for stage in &pipeline.stages {
        match stage {
            PipelineStage::Traverse(reach) => behind(known, pipeline, reach, &mut rows),
            PipelineStage::Resolve => {
                let mut heads = BTreeSet::new();
                rows = rows
                    .into_iter()
                    .filter_map(|row| {
                        let head = resolve(known, row.id.0, scope, all)?.heads[0];
                        if !heads.insert(head) {
                            return None;
                        }
                        if head == row.id {
                            return Some(row);
                        }
                        let mut from = vec![(row.id, false)];
                        from.extend(row.from);
                        let (id, score) = (head, row.found);
                        Some(ExpectedRow {
                            id,
                            score,
                            from,
                            ..row
                        })
                    })
                    .collect();
            }
            PipelineStage::Filter(selection) => {
                let wanted = list(known, selection, Default::default());
                rows.retain(|row| wanted.contains(&row.id));
            }
            PipelineStage::Rank(by) => {
                for row in &mut rows {
                    row.score = ranked(by, view, known, row);
                }
                rows.sort_by(|a, b| b.score.total_cmp(&a.score).then(b.id.cmp(&a.id)));
            }
            PipelineStage::Limit(limit) => rows.truncate(*limit),
        }
    }
    Ok(rows)
}

#[test]
fn a_pipeline_is_its_stages_run_by_hand() {
    let (rows, ways) = (std::cell::Cell::new(0), std::cell::Cell::new(0));
    in_worlds(80, |world, view, known| {
        if view.nodes() == 0 {
            return;
        }
        let sources = 1 + world.random.below(2);
        let stages = world.random.below(6);
        let pipeline = Pipeline {
            sources: (0..sources).map(|_| source(world, view)).collect(),
            stages: (0..stages).map(|_| stage(world, view)).collect(),
            scope: Requests::of(world).scope(),
            include_forgotten: world.random.below(3) == 0,
        };
        let found = match pipeline.run(view) {
            Ok(found) => found,
            // An event that is named, or is to be like, may be hidden or without a vector.
            Err(Error::Forgotten { .. } | Error::Invalid { .. }) => return,
            Err(error) => panic!("{error}"),
        };
        let expected = by_hand(&pipeline, view, known).unwrap();
        let all: Vec<&PipelineRow> = found.rows.iter().chain(&found.origins).collect();
        let told = |row: &PipelineRow| {
            let mut from = Vec::new();
            let mut next = row.from;
            while let Some(at) = next {
                from.push((all[at].id, all[at].is_stub));
                next = all[at].from;
            }
            assert_eq!(row.from.is_none(), row.stage == 0);
            assert_eq!(row.parts.sum(), row.score);
            ExpectedRow {
                id: row.id,
                depth: row.depth,
                found: row.found,
                score: row.score,
                from,
            }
        };
        let found: Vec<ExpectedRow> = found.rows.iter().map(told).collect();
        assert_eq!(found, expected, "{pipeline:?}");
        rows.set(rows.get() + found.len());
        ways.set(ways.get() + found.iter().filter(|row| row.from.len() > 1).count());
    });
    // The worlds must have had something to say.
    assert!(rows.get() > 2_000 && ways.get() > 50, "{rows:?} {ways:?}");
}

#[test]
fn an_invalid_pipeline_is_refused_with_the_stage() {
    let mut world = World::new(3).unwrap();
    world.ingest_many(5).unwrap();
    let view = world.view();
    let events = || RowSource::Events(vec![NodeId(0)]);
    let check = |sources: Vec<RowSource>, stages: Vec<PipelineStage>, why: &str| {
        let pipeline = Pipeline {
            sources,
            stages,
            ..Pipeline::default()
        };
        let error = pipeline.run(&view).unwrap_err().to_string();
        assert!(error.contains(why), "{error}");
    };
    let rank = |weights: RankWeights, half_life_days: f32| {
        PipelineStage::Rank(RankBy {
            weights,
            half_life_days,
            ..RankBy::default()
        })
    };
    let reach = |depth, limit| {
        PipelineStage::Traverse(TraverseStage {
            depth,
            limit,
            ..TraverseStage::default()
        })
    };
    let none = RankWeights {
        found: 0.0,
        ..RankWeights::default()
    };
    let below = RankWeights {
        recency: -1.0,
        ..RankWeights::default()
    };
    check(vec![], vec![], "no source");
    check(vec![events(); 9], vec![], "sources of a pipeline is 9");
    check(
        vec![events()],
        vec![PipelineStage::Resolve; 17],
        "stages of a pipeline is 17",
    );
    check(
        vec![RowSource::Events(vec![NodeId(9)])],
        vec![],
        "there is no event 9",
    );
    check(
        vec![events()],
        vec![PipelineStage::Limit(0)],
        "limit: it is 0",
    );
    check(vec![events()], vec![reach(1, 0)], "limit: it is 0");
    check(
        vec![events()],
        vec![reach(1_000_001, 1)],
        "the depth is 1000001",
    );
    check(vec![events()], vec![rank(none, 1.0)], "all are 0");
    check(
        vec![events()],
        vec![rank(below, 1.0)],
        "numbers of 0 or more",
    );
    let found = RankWeights::default();
    check(vec![events()], vec![rank(found, 0.0)], "half_life_days: 0");
}

#[test]
fn a_pipeline_resolves_chains_with_common_ends_into_a_bounded_number_of_rows() {
    let mut world = World::new(5).unwrap();
    world.ingest_many(4_000).unwrap();
    let acts = (1..4_000).map(|n| Act::Link(n, n - 1, EdgeType::SUPERSEDES.0, 1.0));
    world.commit(acts.collect()).unwrap();
    let view = world.view();
    let ids: Vec<NodeId> = (0..4_000).map(NodeId).collect();
    let pipeline = Pipeline {
        sources: vec![RowSource::Events(ids)],
        stages: vec![PipelineStage::Resolve],
        ..Pipeline::default()
    };
    // A chain of 4,000 walked from each of its events would be eight million steps.
    let rows = pipeline.run(&view).unwrap().rows;
    assert_eq!(rows.iter().map(|row| row.id.0).collect::<Vec<_>>(), [3_999]);
}
