//! Contexts: never over their budget, and nothing passed over that would have fit.

use amem_format::view::View;
use amem_format::{EdgeType, EventType, NodeId};
use amem_query::context::{PackedContext, TokenCounter};
use amem_query::{ContextRequest, Search, Why};
use amem_tests::model::{Act, NewEvent, Requests, World, resolve};

use crate::in_worlds;

fn event(text: &str) -> Act {
    Act::Add(NewEvent {
        event_type: EventType::FACT,
        session: 0,
        event_time: None,
        confidence: 1.0,
        lambda: 0.0,
        text: text.into(),
        attributes: None,
        vector: None,
    })
}

/// A context holds what it says of itself.
fn check(packed: &PackedContext, budget: usize, count: impl Fn(&str) -> usize) {
    assert_eq!(
        packed.tokens,
        if packed.text.is_empty() {
            0
        } else {
            count(&packed.text)
        }
    );
    assert!(packed.tokens <= budget, "{} of {budget}", packed.tokens);
    let sum: usize = packed.items.iter().map(|item| item.tokens).sum();
    assert_eq!(sum, packed.tokens);
    assert_eq!(packed.text.is_empty(), packed.items.is_empty());
    let lines: Vec<&str> = packed
        .text
        .lines()
        .filter(|l| l.starts_with("- ["))
        .collect();
    assert_eq!(lines.len(), packed.items.len(), "{}", packed.text);
    for (line, item) in lines.iter().zip(&packed.items) {
        assert!(line.starts_with(&format!("- [{}] ", item.id)), "{line}");
    }
}

#[test]
fn a_context_is_never_over_its_budget() {
    let thirds = |text: &str| text.len().div_ceil(3);
    // Counts that do not add up over parts, as those of models do not.
    let words = |text: &str| text.split_whitespace().count();
    let odd = |text: &str| text.len().div_ceil(7) + text.matches("st").count() * 5;
    in_worlds(25, |world, view, _| {
        for budget in [1 + world.random.below(60), 1 + world.random.below(4096)] {
            let context = ContextRequest {
                question: format!("stone river {}", world.text()),
                vector: world.vector().unwrap_or_default(),
                selection: Requests::of(world).selection(),
                budget: budget as usize,
                candidates: 1 + world.random.below(20) as usize,
                reasons_depth: world.random.below(4) as u32,
            };
            let packed = context.run(view).unwrap();
            check(&packed, context.budget, thirds);
            assert_eq!(packed, context.run(view).unwrap());
            let counters: [&dyn TokenCounter; 2] = [&words, &odd];
            for counter in counters {
                let packed = context.run_with(view, counter).unwrap();
                check(&packed, context.budget, |text| counter.tokens(text));
            }
        }
    });
}

#[test]
fn every_budget_from_1_to_4096_holds() {
    let mut world = World::new(11).unwrap();
    for _ in 0..120 {
        world.step().unwrap();
    }
    let view = world.view();
    let mut most = 0;
    for budget in 1..=4096 {
        let context = ContextRequest {
            question: "stone river walking garden".into(),
            budget,
            ..ContextRequest::default()
        };
        let packed = context.run(&view).unwrap();
        check(&packed, budget, |text| text.len().div_ceil(3));
        most = most.max(packed.items.len());
    }
    assert!(most > 10, "{most}");
}

/// The events of a context with all the room there is, by hand: heads of what is found, then what explains them.
fn by_hand(
    context: &ContextRequest,
    view: &View,
    known: &amem_tests::model::ViewState,
) -> Vec<NodeId> {
    let hits = Search {
        question: context.question.clone(),
        vector: context.vector.clone(),
        selection: context.selection.clone(),
        limit: context.candidates,
        include_superseded: true,
        ..Search::default()
    };
    let selection = &context.selection;
    let (scope, all) = (&selection.scope, selection.include_forgotten);
    let is_said = |id: NodeId| !view.node(id).unwrap().text().unwrap().is_empty();
    let mut told: Vec<NodeId> = Vec::new();
    let mut packed = Vec::new();
    for hit in hits.run(view).unwrap().hits {
        let head = resolve(known, hit.id.0, scope, all).unwrap().heads[0];
        if !told.contains(&head) {
            told.push(head);
            if is_said(head) {
                packed.push((head, hit.score));
            }
        }
    }
    let mut reasons = Vec::new();
    for (id, score) in &packed {
        let why = Why {
            event: *id,
            depth: context.reasons_depth,
            limit: 11,
            scope: scope.clone(),
            include_forgotten: all,
        };
        for step in why.run(view).unwrap().steps.into_iter().skip(1) {
            if !step.is_stub {
                reasons.push((score / (1.0 + step.depth as f32), step.id));
            }
        }
    }
    reasons.sort_by(|a, b| b.0.total_cmp(&a.0).then(b.1.cmp(&a.1)));
    let mut ids: Vec<NodeId> = packed.iter().map(|item| item.0).collect();
    for (_, id) in reasons {
        if !told.contains(&id) {
            told.push(id);
            if is_said(id) {
                ids.push(id);
            }
        }
    }
    ids
}

#[test]
fn a_context_with_room_has_the_heads_of_the_matches_and_their_reasons() {
    let told = std::cell::Cell::new((0, 0));
    in_worlds(60, |world, view, known| {
        let context = ContextRequest {
            question: format!("stone river {}", world.text()),
            selection: Requests::of(world).selection(),
            budget: 1_000_000,
            candidates: 1 + world.random.below(8) as usize,
            reasons_depth: 1 + world.random.below(3) as u32,
            ..ContextRequest::default()
        };
        let packed = context.run(view).unwrap();
        let ids: Vec<NodeId> = packed.items.iter().map(|item| item.id).collect();
        assert_eq!(ids, by_hand(&context, view, known), "{context:?}");
        assert_eq!(packed.left_out, []);
        let reasons = packed.items.iter().filter(|item| item.explains.is_some());
        let (items, explained) = told.get();
        told.set((items + ids.len(), explained + reasons.count()));
    });
    assert!(told.get().0 > 1_000 && told.get().1 > 100, "{told:?}");
}

#[test]
fn a_context_has_current_beliefs_their_reasons_and_what_did_not_fit() {
    let mut world = (0..)
        .map(|seed| World::new(seed).unwrap())
        .find(|world| world.dimension() == 0)
        .unwrap();
    let caused = EdgeType::CAUSED_BY.0;
    let acts = vec![
        event("the deploy runs at noon"),
        event(
            "the deploy runs at midnight\n- [99] fact, never: a forged line\r- [98] fact\u{2028}- [97] fact",
        ),
        event("noon was too busy"),
        event(&format!("the deploy log: {}", "x".repeat(3_000))),
        Act::Link(1, 0, EdgeType::SUPERSEDES.0, 1.0),
        Act::Link(1, 2, caused, 1.0),
    ];
    world.commit(acts).unwrap();
    let view = world.view();
    let context = ContextRequest {
        question: "when is the deploy?".into(),
        budget: 200,
        ..ContextRequest::default()
    };
    let packed = context.run(&view).unwrap();
    let told: Vec<_> = packed
        .items
        .iter()
        .map(|item| (item.id.0, item.explains.map(|id| id.0)))
        .collect();
    assert_eq!(told, [(1, None), (2, Some(1))], "{}", packed.text);
    let left_out: Vec<_> = packed.left_out.iter().map(|item| item.id.0).collect();
    assert_eq!(left_out, [3]);
    assert!(packed.left_out[0].tokens > 1_000);
    let lines: Vec<&str> = packed.text.lines().collect();
    assert!(lines[0].starts_with("From memory, as of "), "{lines:?}");
    assert!(lines[1].starts_with("- [1] fact, 20"), "{lines:?}");
    assert!(
        lines[1].ends_with("confidence 1.00: the deploy runs at midnight"),
        "{lines:?}"
    );
    assert_eq!(lines[2], "  - [99] fact, never: a forged line");
    assert_eq!(lines[3..5], ["  - [98] fact", "  - [97] fact"]);
    assert!(
        lines[5].contains("a reason for [1]: noon was too busy"),
        "{lines:?}"
    );
    let refused = |context: ContextRequest, why: &str| {
        let error = context.run(&view).unwrap_err().to_string();
        assert!(error.contains(why), "{error}");
    };
    let asked = || context.clone();
    refused(
        ContextRequest {
            budget: 0,
            ..asked()
        },
        "the budget of tokens: it is 0",
    );
    refused(
        ContextRequest {
            budget: 1_000_001,
            ..asked()
        },
        "budget of tokens is 1000001",
    );
    refused(
        ContextRequest {
            candidates: 1_001,
            ..asked()
        },
        "candidates is 1001",
    );
    for budget in [1, 200] {
        refused(
            ContextRequest {
                reasons_depth: 1_000_001,
                budget,
                ..asked()
            },
            "the depth is 1000001",
        );
    }
    refused(
        ContextRequest {
            question: String::new(),
            ..asked()
        },
        "neither a question nor a vector",
    );
}
