//! Random puts, reads, deletions, refreshes and searches, with stops between, against a naive model.
//! `AMEM_ITEM_STEPS` says how many (600), `AMEM_SEED` repeats one.

use std::collections::{BTreeMap, BTreeSet};
use std::env;

use amem_items::limits::REFRESH_SHARE;
use amem_items::{ItemChange, ItemIndex, ItemSearch};
use amem_tests::random::Random;
use serde_json::{Value, json};

use crate::support::{Bench, SECOND, filtered, labels, name, put_with, search};

const PLACES: [&str; 6] = ["a", "a/b", "a/b/c", "a/c", "b", "b/b"];
const WORDS: [&str; 4] = ["copper", "silver", "walnut", "velvet"];

/// An item of the model.
#[derive(Debug, Clone)]
struct NaiveItem {
    value: Value,
    created: i64,
    updated: i64,
    ttl: Option<i64>,
    expires: Option<i64>,
    is_indexed: bool,
    /// The number of its last put.
    order: u64,
}

#[derive(Default)]
struct Model {
    items: BTreeMap<(String, String), NaiveItem>,
    puts: u64,
}

impl Model {
    fn apply(&mut self, change: &ItemChange, value: Option<(Value, Option<i64>, bool)>, now: i64) {
        let id = (
            change.name().namespace().join("/"),
            change.name().key().to_owned(),
        );
        let Some((value, ttl, is_indexed)) = value else {
            self.items.remove(&id);
            return;
        };
        self.puts += 1;
        let live = self.items.get(&id).filter(|item| item.is_live(now));
        let item = NaiveItem {
            value,
            created: live.map_or(now, |item| item.created),
            updated: now,
            ttl,
            expires: ttl.map(|ttl| now + ttl),
            is_indexed,
            order: self.puts,
        };
        self.items.insert(id, item);
    }

    fn live(&self, now: i64) -> impl Iterator<Item = (&(String, String), &NaiveItem)> {
        self.items.iter().filter(move |(_, item)| item.is_live(now))
    }
}

impl NaiveItem {
    fn is_live(&self, now: i64) -> bool {
        self.expires.is_none_or(|at| now < at)
    }

    fn refresh(&mut self, now: i64) {
        if let (Some(ttl), Some(expires)) = (self.ttl, self.expires)
            && now - (expires - ttl) >= (ttl / REFRESH_SHARE).max(1)
        {
            self.expires = Some(now + ttl);
        }
    }
}

fn number(name: &str, default: u64) -> u64 {
    env::var(name).map_or(default, |text| text.parse().unwrap())
}

fn is_within(place: &str, prefix: &str) -> bool {
    labels(place).starts_with(&labels(prefix))
}

/// A change, and what the model stores for it.
fn change(random: &mut Random) -> (ItemChange, Option<(Value, Option<i64>, bool)>) {
    let place = PLACES[random.below(6) as usize];
    let key = format!("k{}", random.below(4));
    if random.below(4) == 0 {
        return (ItemChange::Delete(name(place, &key)), None);
    }
    let mut value = json!({"n": random.below(5), "w": WORDS[random.below(4) as usize]});
    if random.below(3) == 0 {
        value["tag"] = json!({"x": random.below(2)});
    }
    let ttl = (random.below(3) == 0).then(|| (1 + random.below(40) as i64) * SECOND);
    let is_indexed = random.below(4) > 0;
    let index = match is_indexed {
        true => ItemIndex::Texts,
        false => ItemIndex::Nothing,
    };
    let put = put_with(place, &key, &value, &index, ttl);
    (put, Some((value, ttl, is_indexed)))
}

/// The meaning of a filter.
type Condition = Box<dyn Fn(&Value) -> bool>;

/// A filter, and the same as a function.
fn filter(random: &mut Random) -> (Value, Condition) {
    let n = random.below(5);
    let word = WORDS[random.below(4) as usize];
    match random.below(6) {
        0 => (json!({"n": n}), Box::new(move |v| v["n"] == n)),
        1 => (
            json!({"n": {"$gt": n}}),
            Box::new(move |v| v["n"].as_u64().unwrap() > n),
        ),
        2 => (
            json!({"n": {"$lte": n}, "w": {"$ne": word}}),
            Box::new(move |v| v["n"].as_u64().unwrap() <= n && v["w"] != word),
        ),
        3 => (json!({"tag": {"x": 1}}), Box::new(|v| v["tag"]["x"] == 1)),
        4 => (json!({"tag": null}), Box::new(|v| v.get("tag").is_none())),
        _ => (json!({}), Box::new(|_| true)),
    }
}

#[test]
fn random_histories_equal_a_naive_model() {
    let seed = number("AMEM_SEED", 11);
    let steps = number("AMEM_ITEM_STEPS", 600);
    let mut random = Random::new(seed);
    let (mut bench, mut model) = (Bench::new(), Model::default());
    for step in 0..steps {
        let at = format!("seed {seed}, step {step}");
        bench.wait(random.below(3 * SECOND as u64) as i64 + 1);
        let now = bench.now().0;
        match random.below(8) {
            0..=3 => {
                let changes: Vec<_> = (0..=random.below(4)).map(|_| change(&mut random)).collect();
                let ops: Vec<_> = changes.iter().map(|(op, _)| op.clone()).collect();
                bench.change(&ops);
                for (place, (op, value)) in changes.iter().enumerate() {
                    let is_last = ops[place + 1..]
                        .iter()
                        .all(|later| later.name() != op.name());
                    if is_last {
                        model.apply(op, value.clone(), now);
                    }
                }
            }
            4 => {
                let id = (
                    PLACES[random.below(6) as usize].to_owned(),
                    format!("k{}", random.below(4)),
                );
                let is_refreshing = random.below(2) == 0;
                let found = bench.get(&name(&id.0, &id.1), is_refreshing);
                let known = model.items.get_mut(&id).filter(|item| item.is_live(now));
                assert_eq!(found.is_some(), known.is_some(), "{at}: {id:?}");
                if let (Some(found), Some(known)) = (found, known) {
                    let value: Value = serde_json::from_str(&found.value_json).unwrap();
                    assert_eq!(value, known.value, "{at}: {id:?}");
                    let told = (
                        found.created_at.0,
                        found.updated_at.0,
                        found.expires_at.map(|at| at.0),
                        found.ttl,
                    );
                    let expected = (known.created, known.updated, known.expires, known.ttl);
                    assert_eq!(told, expected, "{at}: {id:?}");
                    if is_refreshing {
                        known.refresh(now);
                    }
                }
            }
            5 => find(&bench, &mut model, &mut random, &at),
            6 => by_words(&bench, &model, &mut random, &at),
            _ => {
                let depth = (random.below(2) == 0).then(|| 1 + random.below(3) as usize);
                let prefix = ["", "a", "*/b", "b"][random.below(4) as usize];
                let found = bench.namespaces((prefix, ""), depth, (0, 100));
                let matches = |place: &str| {
                    let (place, wanted) = (labels(place), labels(prefix));
                    place.len() >= wanted.len()
                        && wanted.iter().zip(&place).all(|(w, p)| w == "*" || w == p)
                };
                let shown = |place: &str| {
                    let labels = labels(place);
                    labels[..depth.unwrap_or(9).min(labels.len())].join("/")
                };
                let known: BTreeSet<_> = model
                    .live(now)
                    .filter(|((place, _), _)| matches(place))
                    .map(|((place, _), _)| shown(place))
                    .collect();
                let known: Vec<_> = known.into_iter().collect();
                assert_eq!(found, known, "{at}: {prefix} {depth:?}");
            }
        }
        if random.below(60) == 0 {
            bench = bench.reopened();
        }
    }
    assert!(model.puts > 100, "only {} puts", model.puts);
}

/// A search without words equals the model's list, item by item.
fn find(bench: &Bench, model: &mut Model, random: &mut Random, at: &str) {
    let now = bench.now().0;
    let prefix = ["", "a", "a/b", "b", "c"][random.below(5) as usize];
    let (json, holds) = filter(random);
    let asked = ItemSearch {
        offset: random.below(4) as usize,
        limit: 1 + random.below(20) as usize,
        is_refreshing: random.below(3) == 0,
        ..filtered(prefix, &json)
    };
    let found: Vec<_> = bench.search(&asked).hits;
    let found: Vec<_> = found
        .iter()
        .map(|hit| {
            let name = &hit.item.name;
            assert_eq!(hit.score, None);
            (name.namespace().join("/"), name.key().to_owned())
        })
        .collect();
    let mut known: Vec<_> = model
        .live(now)
        .filter(|((place, _), item)| is_within(place, prefix) && holds(&item.value))
        .map(|(id, item)| (item.order, id.clone()))
        .collect();
    known.sort_unstable_by(|a, b| b.cmp(a));
    let known: Vec<_> = known.into_iter().map(|(_, id)| id).collect();
    let known: Vec<_> = known
        .into_iter()
        .skip(asked.offset)
        .take(asked.limit)
        .collect();
    assert_eq!(found, known, "{at}: {prefix} {json}");
    if asked.is_refreshing {
        for id in &known {
            model.items.get_mut(id).unwrap().refresh(now);
        }
    }
}

/// A search by a word: each item once; those that have the word have scores and are first, by score.
fn by_words(bench: &Bench, model: &Model, random: &mut Random, at: &str) {
    let now = bench.now().0;
    let word = WORDS[random.below(4) as usize];
    let asked = ItemSearch {
        query: word.into(),
        ..search("a")
    };
    let hits = bench.search(&asked).hits;
    let scores: Vec<_> = hits.iter().map(|hit| hit.score.unwrap_or(-1.0)).collect();
    assert!(scores.is_sorted_by(|a, b| a >= b), "{at}: {scores:?}");
    let found: BTreeMap<_, _> = hits
        .iter()
        .map(|hit| {
            let name = &hit.item.name;
            (
                (name.namespace().join("/"), name.key().to_owned()),
                hit.score,
            )
        })
        .collect();
    assert_eq!(found.len(), hits.len(), "{at}");
    let known: Vec<_> = model
        .live(now)
        .filter(|((place, _), _)| is_within(place, "a"))
        .collect();
    assert_eq!(found.len(), known.len(), "{at}");
    for (id, item) in known {
        let score = found.get(id).unwrap_or_else(|| panic!("{at}: {id:?}"));
        let has_word = item.is_indexed && item.value["w"] == word;
        assert!(!has_word || score.is_some(), "{at}: {id:?} {word}");
        assert!(item.is_indexed || score.is_none(), "{at}: {id:?}");
    }
}
