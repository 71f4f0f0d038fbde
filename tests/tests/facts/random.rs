//! Random adds, updates, deletes and repetitions by several scopes, with crashes between, against a naive model.
//! `AMEM_FACT_STEPS` says how many (400), `AMEM_SEED` repeats one.

use std::collections::BTreeMap;
use std::env;

use amem_memory::FactScope;
use amem_memory::add::AddEvent;
use amem_memory::store::HistoryEvent;
use amem_tests::random::Random;
use uuid::Uuid;

use crate::support::Bench;

/// A memory of the model: its scope, its current text, and what happened to it.
struct NaiveMemory {
    scope: FactScope,
    text: Option<String>,
    history: Vec<(HistoryEvent, Option<String>)>,
}

fn number(name: &str, default: u64) -> u64 {
    env::var(name).map_or(default, |text| text.parse().unwrap())
}

fn scopes() -> Vec<FactScope> {
    let of = |user: &str, agent: Option<&str>, run: Option<&str>| FactScope {
        agent: agent.map(str::to_owned),
        run: run.map(str::to_owned),
        ..FactScope::user(user)
    };
    vec![
        of("alice", None, None),
        of("alice", Some("helper"), None),
        of("bob", Some("helper"), None),
        of("bob", None, Some("r1")),
        FactScope {
            agent: Some("helper".into()),
            ..FactScope::default()
        },
    ]
}

/// The brain tells exactly what the model knows.
fn compare(bench: &Bench, model: &BTreeMap<Uuid, NaiveMemory>, seed: u64, step: u64) {
    for scope in scopes() {
        let current = model
            .values()
            .filter(|memory| scope.covers(&memory.scope))
            .filter_map(|memory| memory.text.clone());
        let mut expected: Vec<String> = current.collect();
        expected.sort();
        assert_eq!(
            bench.texts(&scope),
            expected,
            "seed {seed}, step {step}: {scope:?}"
        );
    }
    for (id, memory) in model {
        let history = bench.history(*id);
        let told: Vec<_> = history
            .entries
            .iter()
            .map(|entry| (entry.record.event, entry.record.new_memory.clone()))
            .collect();
        assert_eq!(told, memory.history, "seed {seed}, step {step}: {id}");
        assert_eq!(
            history.is_deleted,
            memory.text.is_none(),
            "seed {seed}: {id}"
        );
        let got = bench.get(*id).map(|item| item.memory);
        assert_eq!(got, memory.text, "seed {seed}, step {step}: {id}");
    }
}

#[test]
fn random_histories_of_several_scopes_equal_a_naive_model() {
    let seed = number("AMEM_SEED", 5);
    let steps = number("AMEM_FACT_STEPS", 400);
    let mut random = Random::new(seed);
    let mut bench = Bench::new();
    let mut model: BTreeMap<Uuid, NaiveMemory> = BTreeMap::new();
    let (scopes, mut counts) = (scopes(), BTreeMap::<&str, u64>::new());
    for step in 0..steps {
        let live: Vec<Uuid> = model
            .iter()
            .filter(|(_, memory)| memory.text.is_some())
            .map(|(id, _)| *id)
            .collect();
        match random.below(20) {
            0..8 => {
                let scope = &scopes[random.below(scopes.len() as u64) as usize];
                let text = format!("note {} of {}", random.below(40), random.below(3));
                let mut request = bench.request(&text, scope);
                request.infer = false;
                request.idempotency_key = Some(format!("k{step}"));
                let answer = bench.run(&request);
                let result = &answer.results[0];
                let known = model.values().any(|memory| {
                    let is_theirs = memory.scope.user.is_none() || memory.scope.user == scope.user;
                    scope.covers(&memory.scope) && is_theirs && memory.text.as_ref() == Some(&text)
                });
                let expected = if known { AddEvent::None } else { AddEvent::Add };
                assert_eq!(result.event, expected, "seed {seed}, step {step}: {text}");
                if !known {
                    let memory = NaiveMemory {
                        scope: scope.clone(),
                        text: Some(text.clone()),
                        history: vec![(HistoryEvent::Add, Some(text))],
                    };
                    model.insert(result.id, memory);
                }
                if random.below(3) == 0 {
                    if random.below(2) == 0 {
                        bench = bench.reopened();
                    }
                    assert_eq!(bench.run(&request), answer, "seed {seed}, step {step}");
                    *counts.entry("repetition").or_default() += 1;
                }
                *counts.entry("add").or_default() += 1;
            }
            8..13 if !live.is_empty() => {
                let id = live[random.below(live.len() as u64) as usize];
                let text = format!("note {} changed at {step}", random.below(40));
                bench.update(id, &text);
                let memory = model.get_mut(&id).unwrap();
                memory.text = Some(text.clone());
                memory.history.push((HistoryEvent::Update, Some(text)));
                *counts.entry("update").or_default() += 1;
            }
            13..16 if !live.is_empty() => {
                let id = live[random.below(live.len() as u64) as usize];
                bench.delete(id);
                let memory = model.get_mut(&id).unwrap();
                memory.text = None;
                memory.history.push((HistoryEvent::Delete, None));
                *counts.entry("delete").or_default() += 1;
            }
            16 => {
                bench.checkpoint();
                *counts.entry("checkpoint").or_default() += 1;
            }
            17 => {
                bench = bench.reopened();
                *counts.entry("crash").or_default() += 1;
            }
            18 if step % 5 == 0 => {
                let scope = &scopes[random.below(scopes.len() as u64) as usize];
                let facts = bench.facts();
                let (count, _) = facts.delete_all(scope, None, bench.now()).unwrap();
                let mut ended = 0;
                for memory in model.values_mut() {
                    if scope.covers(&memory.scope) && memory.text.take().is_some() {
                        memory.history.push((HistoryEvent::Delete, None));
                        ended += 1;
                    }
                }
                assert_eq!(count, ended, "seed {seed}, step {step}");
                *counts.entry("delete all").or_default() += 1;
            }
            _ => {}
        }
        if step % 20 == 0 {
            compare(&bench, &model, seed, step);
        }
    }
    compare(&bench, &model, seed, steps);
    println!("{} memories; {counts:?}", model.len());
    assert!(counts.len() >= 7, "{counts:?}");
}
