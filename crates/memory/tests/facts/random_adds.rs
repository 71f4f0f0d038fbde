//! Random adds by several scopes, with failing commits and changes between, against a naive model: nothing is lost,
//! nothing shows in another scope, and history tells every version.

use std::collections::HashMap;

use crate::support::NaiveStore;
use amem_format::types::Micros;
use amem_memory::add::AddEvent;
use amem_memory::model::FormTable;
use amem_memory::store::{BuiltinEmbedder, HistoryEvent};
use amem_memory::{AddPorts, AddRequest, FactScope, Message, add};
use proptest::prelude::*;

/// One step: a user, a slot, a value; whether the scope changes meanwhile, and whether the caller repeats the request.
#[derive(Debug, Clone)]
struct Step {
    user: usize,
    slot: usize,
    value: usize,
    is_changed: bool,
    is_repeated: bool,
}

const PLACES: [&str; 4] = ["Rome", "Oslo", "Lima", "Porto"];

/// The sentence of a step, and the memory that it makes; `None` for an end.
fn sentence(step: &Step) -> (String, Option<String>) {
    let place = PLACES[step.value];
    let cats = step.value + 2;
    match step.slot {
        0 => (
            format!("I live in {place}."),
            Some(format!("User lives in {place}")),
        ),
        1 => (
            format!("My manager is {place}."),
            Some(format!("User's manager is {place}")),
        ),
        2 => (format!("Forget that I live in {place}."), None),
        _ => (
            format!("I have {cats} cats."),
            Some(format!("User has {cats} cats")),
        ),
    }
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let step = (
        0..3_usize,
        0..4_usize,
        0..4_usize,
        any::<bool>(),
        any::<bool>(),
    );
    let step = step.prop_map(|(user, slot, value, is_changed, is_repeated)| Step {
        user,
        slot,
        value,
        is_changed,
        is_repeated,
    });
    prop::collection::vec(step, 1..40)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn random_adds_equal_the_model(steps in steps()) {
        let store = NaiveStore::default();
        let forms = FormTable::default();
        let ports = AddPorts { store: &store, embedder: &BuiltinEmbedder, ids: &store, model: None, forms: &forms };
        // (user, slot) to the current text; slots 0 and 2 are one.
        let mut model: HashMap<(usize, usize), String> = HashMap::new();
        let mut events = 0_usize;
        for (at, step) in steps.iter().enumerate() {
            let scope = FactScope::user(format!("user{}", step.user));
            let (text, fact) = sentence(step);
            let slot = if step.slot == 2 { 0 } else { step.slot };
            let mut request = AddRequest::new(vec![Message::user(text)], scope.clone(), Micros(at as i64 + 1));
            request.idempotency_key = step.is_repeated.then(|| format!("key{at}"));
            store.changes.set(u32::from(step.is_changed));
            let answer = add(&request, ports).expect("an add");
            if step.is_repeated {
                prop_assert_eq!(&add(&request, ports).expect("a repetition"), &answer);
            }
            let before = model.get(&(step.user, slot)).cloned();
            let expected = match (&fact, &before) {
                (None, Some(old)) if *old == format!("User lives in {}", PLACES[step.value]) => Some(AddEvent::Delete),
                (None, _) => None,
                (Some(new), Some(old)) if new == old => Some(AddEvent::None),
                (Some(_), Some(_)) => Some(AddEvent::Update),
                (Some(_), None) => Some(AddEvent::Add),
            };
            prop_assert_eq!(answer.results.first().map(|one| one.event), expected, "{:?} after {:?}", step, before);
            events += answer.results.iter().filter(|one| one.event != AddEvent::None).count();
            match (fact, expected) {
                (Some(new), _) => drop(model.insert((step.user, slot), new)),
                (None, Some(_)) => drop(model.remove(&(step.user, slot))),
                (None, None) => {}
            }
            for user in 0..3 {
                let mut wanted: Vec<_> = model.iter().filter(|((of, _), _)| *of == user).map(|(_, text)| text.clone()).collect();
                let mut found = store.texts(&FactScope::user(format!("user{user}")));
                wanted.sort();
                found.sort();
                prop_assert_eq!(found, wanted);
            }
        }
        // Every change is in the history once, in order, each from the text before.
        prop_assert_eq!(store.history.borrow().len(), events);
        for one in store.items.borrow().iter() {
            let history = store.history_of(one.item.id);
            prop_assert_eq!(history[0].event, HistoryEvent::Add);
            for pair in history.windows(2) {
                prop_assert_eq!(&pair[0].new_memory, &pair[1].old_memory);
                prop_assert!(!pair[1].sources.is_empty(), "each version names its turns");
            }
            let last = history.last().expect("a version");
            prop_assert_eq!(last.event == HistoryEvent::Delete, one.is_deleted);
        }
    }
}
