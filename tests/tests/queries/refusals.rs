//! Requests that make no sense, each refused by name.

use amem_format::view::View;
use amem_format::{Error, NodeId, SessionId};
use amem_query::events::SessionSelector;
use amem_query::{
    Get, Pattern, Search, Selection, ShowSession, Similar, SimilarityTarget, TextSearch, Traverse,
    Why,
};
use amem_tests::model::World;

fn world(dimension: u32) -> World {
    let mut worlds = (0..).map(|seed| World::new(seed).unwrap());
    let mut world = worlds.find(|world| world.dimension() == dimension).unwrap();
    for _ in 0..30 {
        world.step().unwrap();
    }
    world
}

#[track_caller]
fn check<T>(found: Result<T, Error>, why: &str) {
    match found {
        Ok(_) => panic!("not refused: {why}"),
        Err(error) => assert!(error.to_string().contains(why), "{error}"),
    }
}

#[test]
fn invalid_limits_are_refused() {
    let world = world(3);
    let view = world.view();
    let pattern = |limit| Pattern {
        limit,
        ..Pattern::default()
    };
    check(pattern(0).run(&view), "limit: it is 0");
    check(
        pattern(10_001).run(&view),
        "is 10001, more than the limit of 10000",
    );
    let why = Why {
        limit: 0,
        ..Why::default()
    };
    check(why.run(&view), "limit: it is 0");
    let traverse = Traverse {
        depth: 1_000_001,
        ..Traverse::default()
    };
    check(traverse.run(&view), "the depth is 1000001");
}

#[test]
fn missing_events_are_named() {
    let world = world(3);
    let view = world.view();
    let event = NodeId(1_000_000);
    let get = Get {
        event,
        ..Get::default()
    };
    check(get.run(&view), "there is no event 1000000");
    let traverse = Traverse {
        start: event,
        ..Traverse::default()
    };
    check(traverse.run(&view), "there is no event 1000000");
    let show = |session| ShowSession { session }.run(&view).map(|_| ());
    check(
        show(SessionSelector::Id(SessionId(99_999))),
        "there is no session with number 99999",
    );
    check(
        show(SessionSelector::Key("nobody".into())),
        "there is no session with the key \"nobody\"",
    );
}

fn similar(view: &View, vector: Vec<f32>) -> Result<(), Error> {
    let like = SimilarityTarget::Vector(vector);
    let request = Similar {
        like,
        ..Similar::default()
    };
    request.run(view).map(|_| ())
}

#[test]
fn vectors_that_cannot_be_compared_are_refused() {
    let with = world(3);
    let view = with.view();
    check(
        similar(&view, vec![1.0; 4]),
        "the vector has 4 dimensions, the brain 3",
    );
    check(similar(&view, Vec::new()), "the vector has 0 dimensions");
    check(similar(&view, vec![0.0; 3]), "vector: it is all zeros");
    check(similar(&view, vec![f32::NAN; 3]), "not finite");
    let search = |vector| Search {
        vector,
        ..Search::default()
    };
    check(
        search(vec![1.0; 2]).run(&view),
        "the vector has 2 dimensions",
    );
    check(
        search(Vec::new()).run(&view),
        "search: neither a question nor a vector",
    );
    let weights = Search {
        text_weight: Some(f32::INFINITY),
        ..search(vec![1.0; 3])
    };
    check(weights.run(&view), "weights");
    let share = Search {
        neighbour_share: 1.5,
        ..search(vec![1.0; 3])
    };
    check(share.run(&view), "neighbour_share: 1.5");
    let share = Search {
        session_share: -0.5,
        ..search(vec![1.0; 3])
    };
    check(share.run(&view), "session_share: -0.5");
    let least = Similar {
        like: SimilarityTarget::Vector(vec![1.0; 3]),
        min_similarity: Some(2.0),
        ..Similar::default()
    };
    check(least.run(&view), "min_similarity: 2");
    let without = world(0);
    check(similar(&without.view(), Vec::new()), "the brain 0");
}

#[test]
fn queries_without_a_word_are_refused_or_find_nothing() {
    let world = world(3);
    let view = world.view();
    let keyword = Pattern {
        selection: Selection {
            keyword: Some("…?".into()),
            ..Selection::default()
        },
        ..Pattern::default()
    };
    check(
        keyword.run(&view),
        "keyword: it has no word: give one to search for",
    );
    let text = |question: &str| TextSearch {
        question: question.into(),
        ..TextSearch::default()
    };
    assert_eq!(text("…?").run(&view).unwrap().hits, []);
    let long = "x".repeat(65_537);
    check(text(&long).run(&view), "the bytes of the question is 65537");
}
