//! Keys under which a store finds the memories that a fact may change.

use std::collections::BTreeSet;

use super::parse::slots_of;
use super::slot::Slot;
use super::values::contrast;

/// Keys of one fact.
const KEYS_MAX: usize = 24;

/// The keys of a fact's text; two facts that share none are not related by a slot.
///
/// A slot of one value has one key (`user/home`), one of many values a key for each word of the value
/// (`user/like/jazz`), so that a person who likes a thousand things has few candidates. Attributes that speak of one
/// thing share keys: what is sold was owned, driven or used.
pub fn slot_keys(text: &str) -> Vec<String> {
    let mut keys = BTreeSet::new();
    for slot in slots_of(text) {
        keys_of(&slot, &mut keys);
    }
    keys.into_iter().take(KEYS_MAX).collect()
}

fn keys_of(slot: &Slot, keys: &mut BTreeSet<String>) {
    let Slot {
        subject,
        attribute,
        value,
        ..
    } = slot;
    let family = match attribute.as_str() {
        "possess" | "vehicle" | "ride" | "use" => "thing",
        "like" | "do" => "activity",
        other => other,
    };
    if slot.is_one() {
        keys.insert(format!("{subject}/{attribute}"));
    }
    if !slot.is_one() || family != attribute {
        keys.extend(
            value
                .iter()
                .map(|word| format!("{subject}/{family}/{word}")),
        );
    }
    if let Some((group, _)) = contrast(value) {
        keys.insert(format!("{subject}/{family}/~{group}"));
    }
}

#[cfg(test)]
mod tests {
    use super::slot_keys;

    #[test]
    fn facts_that_a_rule_relates_share_a_key() {
        for (a, b) in [
            ("User lives in Porto", "User moved to Lisbon"),
            ("User likes jazz", "User hates jazz"),
            ("User drives a Honda Civic", "User sold the Honda Civic"),
            ("User drinks coffee", "User gave up coffee"),
            ("User prefers dark mode", "User prefers light mode"),
            ("Nora has two cats and a dog", "Nora no longer has a dog"),
            ("User is vegetarian", "User started eating meat again"),
            ("User's manager is Alice", "User's manager is Bob"),
            ("User uses VS Code", "User switched from VS Code to Neovim"),
        ] {
            let (first, second) = (slot_keys(a), slot_keys(b));
            assert!(
                first.iter().any(|key| second.contains(key)),
                "{first:?} {second:?}"
            );
        }
        let (first, second) = (slot_keys("User likes jazz"), slot_keys("User likes tea"));
        assert!(
            !first.iter().any(|key| second.contains(key)),
            "{first:?} {second:?}"
        );
    }
}
