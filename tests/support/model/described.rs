//! What random events say: texts, vectors, attributes in every form that JSON has; and filters of every form.
//!
//! Attributes and filters draw on few names and few values, so that filters find something, and what is nearly equal
//! occurs: 1 and 1.0 and "1", words in another case, one path written in two ways.

use amem_format::event::Attributes;
use serde_json::{Value, json};

use crate::random::Random;

/// More values than an index holds.
const TOO_MANY: u64 = 300;

/// Words, some of them in most texts and some in few.
pub fn text(random: &mut Random) -> String {
    const WORDS: [&str; 16] = [
        "river", "stone", "stones", "walking", "garden", "the", "painted", "Paint", "harbour",
        "lamp", "größe", "東京", "kite", "orchard", "violin", "meadow",
    ];
    let count = random.below(8);
    let words = (0..count).map(|_| {
        let at = random.below(16) * random.below(16) / 16;
        WORDS[at as usize]
    });
    let text = words.collect::<Vec<_>>().join(" ");
    match random.below(6) {
        0 => format!("{text}?"),
        _ => text,
    }
}

/// A vector, now and then one of zeros, or none.
pub fn vector(random: &mut Random, dimension: u32) -> Option<Vec<f32>> {
    if dimension == 0 || random.below(5) == 0 {
        return None;
    }
    let scale = random.pick(&[0.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1e-3, 40.0]);
    let number = |random: &mut Random| (random.unit() * 2.0 - 0.7) * scale;
    Some((0..dimension).map(|_| number(random)).collect())
}

/// Attributes of an event, or none.
pub fn attributes(random: &mut Random) -> Option<Attributes> {
    let json = match random.below(12) {
        0 | 1 => return None,
        2 => json!({"n": random.below(10)}),
        3 => json!({"speaker": random.pick(&["Ada", "Will", "user", "assistant"])}),
        4..=6 => json!({
            "amem.user": format!("u{}", random.below(2)),
            "amem.agent": format!("a{}", random.below(2)),
            "tags": ["x", random.below(3)],
        }),
        7 if random.below(10) == 0 => json!({"n": (0..TOO_MANY).collect::<Vec<_>>()}),
        7 => json!({}),
        _ => {
            let count = 1 + random.below(4);
            let all = (0..count).map(|_| (name(random).to_owned(), value(random, 3)));
            Value::Object(all.collect())
        }
    };
    json.as_object().cloned()
}

fn name(random: &mut Random) -> &'static str {
    random.pick(&["n", "a", "a.b", "b", "place", "tags", "type", ""])
}

/// A name as a filter has it: a path, perhaps to what no event has.
fn path(random: &mut Random) -> &'static str {
    random.pick(&[
        "n",
        "a",
        "a.b",
        "a.b.n",
        "a.",
        "b",
        "place",
        "tags",
        "tags.n",
        "attributes.type",
        "nowhere",
    ])
}

fn scalar(random: &mut Random) -> Value {
    match random.below(12) {
        0 => Value::Null,
        1 => random.pick(&[true, false]).into(),
        2 => "1".into(),
        3 => random.pick(&["Berlin", "berlin", "BERLIN", ""]).into(),
        4 => random.pick(&["x", "größe", "GRÖSSE"]).into(),
        5 => (random.below(3) as f64).into(),
        6 => (random.below(3) as f64 / 2.0).into(),
        7 => random.pick(&[u64::MAX, 1 << 63, (1 << 53) + 1]).into(),
        8 => random.pick(&[9_223_372_036_854_775_808.0, -0.0]).into(),
        9 => (-(random.below(3) as i64)).into(),
        _ => random.below(10).into(),
    }
}

fn value(random: &mut Random, depth: u64) -> Value {
    match random.below(8) {
        0 if depth > 0 => {
            let count = random.below(4);
            (0..count).map(|_| value(random, depth - 1)).collect()
        }
        1 | 2 if depth > 0 => {
            let count = random.below(3);
            let all = (0..count).map(|_| (name(random).to_owned(), value(random, depth - 1)));
            Value::Object(all.collect())
        }
        _ => scalar(random),
    }
}

/// A filter about attributes, mostly of one condition.
pub(super) fn filter(random: &mut Random) -> Value {
    nested(random, 2)
}

fn nested(random: &mut Random, depth: u64) -> Value {
    let few = |random: &mut Random| -> Value {
        let count = random.below(4);
        (0..count).map(|_| nested(random, depth - 1)).collect()
    };
    match random.below(10) {
        0 | 1 if depth > 0 => json!({"and": few(random)}),
        2 | 3 if depth > 0 => json!({"or": few(random)}),
        4 if depth > 0 => json!({"not": nested(random, depth - 1)}),
        5 => json!({"session": random.below(4)}),
        _ => condition(random),
    }
}

fn condition(random: &mut Random) -> Value {
    let path = path(random);
    let list = |random: &mut Random| -> Value {
        let count = random.below(4);
        (0..count).map(|_| scalar(random)).collect()
    };
    match random.below(12) {
        0 => json!({path: {"ne": scalar(random)}}),
        1..=3 => json!({path: {"in": list(random)}}),
        4 => json!({path: {"nin": list(random)}}),
        5 => json!({path: {"icontains": "berlin"}}),
        6 => json!({path: {"gte": random.below(5)}}),
        _ => json!({path: scalar(random)}),
    }
}
