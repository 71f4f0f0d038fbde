//! The entity graph: cases 33 to 35 of the specification, names that are of one, what was so at a time, other scopes.

use amem_facts::entities::{Entity, EntityPage, EntityRequest, KnownRelation};
use amem_facts::search::FactSearch;
use amem_facts::{EntityStatementRequest, Error, FactBrain};
use amem_format::NodeId;
use amem_format::types::{EventType, Micros};
use amem_memory::add::AddRequest;
use amem_memory::graph::EntityKind;
use amem_memory::{FactScope, Message};
use amem_store::mutation::{Ingest, Mutation, NewEvent};

use crate::support::{Bench, START, alice, bob};

const DAY: i64 = 86_400_000_000;

impl Bench {
    fn entity_request(&self, scope: &FactScope) -> EntityRequest {
        EntityRequest {
            scope: scope.clone(),
            now: self.now(),
            ..EntityRequest::default()
        }
    }

    fn entities(&self, scope: &FactScope) -> Vec<Entity> {
        let (facts, request) = (self.facts(), self.entity_request(scope));
        let moment = facts.moment(None).unwrap();
        facts.entities(&request, ("", None), &moment).unwrap().0
    }

    fn entity(&self, scope: &FactScope, name: &str) -> amem_facts::Result<EntityPage> {
        let (facts, request) = (self.facts(), self.entity_request(scope));
        let moment = facts.moment(None).unwrap();
        facts.entity(&request, name, &moment)
    }

    fn relations(&self, scope: &FactScope) -> Vec<String> {
        let (facts, request) = (self.facts(), self.entity_request(scope));
        let moment = facts.moment(None).unwrap();
        let found = facts.relations(&request, ("", ""), &moment).unwrap().0;
        shown(&found)
    }

    fn state(&self, scope: &FactScope, request: EntityStatementRequest) {
        let facts = self.facts();
        facts
            .state_entity(scope, &request, self.now())
            .unwrap_or_else(|error| panic!("{request:?}: {error}"));
    }

    /// What is said on a day.
    fn say_on(&self, day: i64, text: &str) {
        let mut request = AddRequest::new(vec![Message::user(text)], alice(), self.now());
        request.timestamp = Some(Micros(START + day * DAY));
        self.run(&request);
    }

    fn on(&self, day: i64, name: &str) -> Vec<String> {
        let (facts, mut request) = (self.facts(), self.entity_request(&alice()));
        request.at = Some(Micros(START + day * DAY));
        let moment = facts.moment(None).unwrap();
        match facts.entity(&request, name, &moment) {
            Ok(page) => shown(&page.relations),
            Err(_) => Vec::new(),
        }
    }
}

fn shown(relations: &[KnownRelation]) -> Vec<String> {
    let line = |known: &KnownRelation| {
        let one = &known.relation;
        format!("{} {} {}", one.source, one.relation, one.target)
    };
    let mut lines: Vec<String> = relations.iter().map(line).collect();
    lines.sort();
    lines
}

fn named(entities: &[Entity]) -> Vec<String> {
    let line = |entity: &Entity| {
        let kind = entity.kind.map_or("", EntityKind::name);
        format!("{} ({kind})", entity.name)
    };
    let mut lines: Vec<String> = entities.iter().map(line).collect();
    lines.sort();
    lines
}

fn texts(page: &EntityPage) -> Vec<&str> {
    page.facts
        .iter()
        .map(|fact| fact.item.memory.as_str())
        .collect()
}

#[test]
fn case_33_entities_are_extracted() {
    let bench = Bench::new();
    bench.add("My friend Alice works at Google.", &bob());
    let entities = named(&bench.entities(&bob()));
    for wanted in ["Alice (person)", "Google (organization)"] {
        assert!(entities.contains(&wanted.to_owned()), "{entities:?}");
    }
}

#[test]
fn case_34_relations_are_extracted() {
    let bench = Bench::new();
    bench.add("My friend Alice works at Google.", &bob());
    let relations = bench.relations(&bob());
    assert!(
        relations.contains(&"Alice works_at Google".to_owned()),
        "{relations:?}"
    );
}

#[test]
fn case_35_a_search_that_names_an_entity_finds_what_is_related() {
    let bench = Bench::new();
    bench.keep("Alice works at Google", &bob());
    bench.keep("Google is based in Zurich", &bob());
    bench.keep("User likes tea", &bob());
    for n in 0..30 {
        bench.keep(&format!("User read page {n} of a novel"), &bob());
    }
    let mut search = bench.ask("Alice", &bob());
    let score = |search: &FactSearch, text: &str| {
        let hits = bench.found(search).hits;
        let hit = hits.iter().find(|hit| hit.item.memory == text);
        hit.map_or(0.0, |hit| hit.score)
    };
    let plain = score(&search, "Google is based in Zurich");
    search.with_graph = true;
    let found = bench.found(&search);
    let zurich = found
        .hits
        .iter()
        .find(|hit| hit.item.memory == "Google is based in Zurich");
    let zurich = zurich.unwrap_or_else(|| panic!("{found:?}"));
    assert_eq!(zurich.via.as_deref(), Some("Alice works_at Google"));
    assert!(plain < zurich.score && zurich.score < found.hits[0].score);
    assert_eq!(found.hits[1], *zurich);
    assert_eq!(found.hits[0].item.memory, "Alice works at Google");
    assert!(
        !found
            .hits
            .iter()
            .any(|hit| hit.item.memory.contains("tea") && hit.via.is_some()),
        "{found:?}"
    );
    // What is below the threshold is left out, however it was found.
    search.threshold = found.hits[0].score;
    assert_eq!(bench.found(&search).hits.len(), 1);
}

#[test]
fn a_relation_ends_with_its_memory() {
    let bench = Bench::new();
    bench.add("I live in Porto", &alice());
    assert_eq!(bench.relations(&alice()), ["User lives_in Porto"]);
    bench.add("I moved to Rome", &alice());
    assert_eq!(bench.relations(&alice()), ["User lives_in Rome"]);
    let entities = named(&bench.entities(&alice()));
    assert_eq!(entities, ["Rome (location)", "User (person)"]);
    assert!(bench.entity(&alice(), "Porto").is_err());
    let id = bench.all(&alice())[0].id;
    bench.delete(id);
    assert_eq!(bench.relations(&alice()), Vec::<String>::new());
    assert_eq!(bench.entities(&alice()), []);
}

#[test]
fn a_text_that_a_caller_changes_has_another_graph() {
    let bench = Bench::new();
    let id = bench.keep("Alice works at Google", &bob());
    bench.update(id, "Alice works at Acme");
    assert_eq!(bench.relations(&bob()), ["Alice works_at Acme"]);
}

#[test]
fn the_page_of_a_person_says_what_was_so_at_a_time_and_who_said_it() {
    let bench = Bench::new();
    bench.say_on(0, "My sister Anna lives in Oslo.");
    bench.say_on(10, "My sister Anna moved to Bergen.");
    bench.say_on(20, "My sister Anna works at Equinor.");
    assert_eq!(bench.on(-1, "Anna"), Vec::<String>::new());
    assert_eq!(
        bench.on(5, "Anna"),
        ["Anna lives_in Oslo", "Anna sister_of User"]
    );
    assert_eq!(
        bench.on(15, "Anna"),
        ["Anna lives_in Bergen", "Anna sister_of User"]
    );
    let page = bench.entity(&alice(), "anna").unwrap();
    assert_eq!(
        texts(&page),
        [
            "User's sister Anna works at Equinor",
            "User's sister Anna moved to Bergen"
        ]
    );
    assert_eq!(page.entity.name, "Anna");
    assert_eq!(page.entity.kind, Some(EntityKind::Person));
    assert_eq!(page.entity.first_said, Some(Micros(START + 10 * DAY)));
    let said: Vec<&str> = page.facts[0]
        .turns
        .iter()
        .map(|turn| turn.text.as_str())
        .collect();
    assert_eq!(said, ["My sister Anna works at Equinor."]);
}

#[test]
fn names_that_are_of_one_lead_to_one_entity() {
    let bench = Bench::new();
    bench.keep("Bob works at Acme", &alice());
    bench.keep("Robert lives in Oslo", &alice());
    assert_eq!(
        texts(&bench.entity(&alice(), "Bob").unwrap()),
        ["Bob works at Acme"]
    );
    bench.keep("Robert is also known as Bob", &alice());
    let page = bench.entity(&alice(), "Bob").unwrap();
    assert_eq!(page.facts.len(), 3, "{page:?}");
    assert_eq!(
        shown(&page.relations),
        ["Bob works_at Acme", "Robert lives_in Oslo"]
    );
    let all = bench.entities(&alice());
    let robert = all.iter().find(|one| one.name == "Robert").unwrap();
    assert_eq!(robert.aliases, ["Bob"]);
    assert!(!all.iter().any(|one| one.name == "Bob"), "{all:?}");
    // The user's own name.
    bench.add("My name is Alice Moreau", &alice());
    let page = bench.entity(&alice(), "Alice Moreau").unwrap();
    assert_eq!(page.entity.name, "Alice Moreau");
    assert_eq!(page.entity.aliases, ["User"]);
}

#[test]
fn a_caller_says_what_an_entity_is_and_what_it_said_before_stays() {
    let bench = Bench::new();
    bench.keep("Bob works at Acme", &alice());
    let of = |name: &str| EntityStatementRequest {
        name: name.into(),
        ..EntityStatementRequest::default()
    };
    bench.state(
        &alice(),
        EntityStatementRequest {
            aliases: vec!["Robert".into()],
            description: Some("plays the tuba".into()),
            ..of("Bob")
        },
    );
    bench.state(
        &alice(),
        EntityStatementRequest {
            new_name: Some("Bob Hill".into()),
            kind: Some(EntityKind::Person),
            ..of("robert")
        },
    );
    let page = bench.entity(&alice(), "Bob").unwrap();
    assert_eq!(page.entity.name, "Bob Hill");
    assert_eq!(page.entity.aliases, ["Robert", "Bob"]);
    assert_eq!(page.entity.description, "plays the tuba");
    let told: Vec<&str> = page
        .changes
        .iter()
        .map(|change| change.name.as_str())
        .collect();
    assert_eq!(told, ["Bob", "Bob Hill"]);
    // It says nothing new: nothing is stored.
    let before = bench.commits();
    bench.state(&alice(), of("Bob Hill"));
    assert_eq!(bench.commits(), before);
    bench.state(
        &alice(),
        EntityStatementRequest {
            removed_aliases: vec!["Robert".into()],
            ..of("Bob")
        },
    );
    assert!(bench.entity(&alice(), "Robert").is_err());
    assert_eq!(bench.entity(&alice(), "Bob").unwrap().facts.len(), 1);
    for wrong in [of(" "), of("'"), of(&"n".repeat(300))] {
        let refused = bench.facts().state_entity(&alice(), &wrong, bench.now());
        assert!(matches!(refused, Err(Error::Memory(_))), "{refused:?}");
    }
}

#[test]
fn entities_of_another_scope_say_nothing() {
    let bench = Bench::new();
    let run = |name: &str| FactScope {
        run: Some(name.into()),
        ..alice()
    };
    bench.keep("Bob works at Acme", &run("one"));
    bench.keep("Robert lives in Oslo", &run("two"));
    bench.keep("Robert is also known as Bob", &run("two"));
    bench.keep("Bob lives in Rome", &bob());
    let page = bench.entity(&run("one"), "Bob").unwrap();
    assert_eq!(texts(&page), ["Bob works at Acme"]);
    assert_eq!(page.entity.aliases, Vec::<String>::new());
    assert_eq!(
        named(&bench.entities(&run("one"))),
        ["Acme (organization)", "Bob (person)"]
    );
    assert!(bench.entity(&run("one"), "Robert").is_err());
    // The user's own view has both.
    assert_eq!(bench.entity(&alice(), "Bob").unwrap().facts.len(), 3);
    assert_eq!(bench.entity(&bob(), "Bob").unwrap().facts.len(), 1);
}

#[test]
fn lists_are_selected_and_paged() {
    let bench = Bench::new();
    for n in 0..25 {
        let letter = char::from(b'a' + n);
        bench.keep(&format!("Ann{letter}a Berg works at Acme"), &alice());
    }
    let (facts, mut request) = (bench.facts(), bench.entity_request(&alice()));
    let moment = facts.moment(None).unwrap();
    request.limit = 10;
    let mut names = Vec::new();
    loop {
        let (page, next) = facts
            .entities(&request, ("berg", Some(EntityKind::Person)), &moment)
            .unwrap();
        names.extend(page.into_iter().map(|entity| entity.name));
        request.before = next;
        if next.is_none() {
            break;
        }
    }
    names.sort();
    names.dedup();
    assert_eq!(names.len(), 25, "{names:?}");
    let all = bench.entities(&alice());
    assert_eq!((all[0].name.as_str(), all[0].facts), ("Acme", 25));
    let (mut relations, mut request) = (Vec::new(), bench.entity_request(&alice()));
    request.limit = 10;
    loop {
        let (page, next) = facts
            .relations(&request, ("", "works_at"), &moment)
            .unwrap();
        relations.extend(shown(&page));
        request.before = next;
        if next.is_none() {
            break;
        }
    }
    relations.sort();
    relations.dedup();
    assert_eq!(relations.len(), 25, "{relations:?}");
    let none = facts.relations(&request, ("", "owns"), &moment).unwrap();
    assert_eq!(none.0, []);
}

#[test]
fn an_entity_is_erased_with_its_memories_and_turns_and_what_names_it_is_listed() {
    let bench = Bench::new();
    bench.add("My friend Bob works at Acme.", &alice());
    bench.add("I live in Porto. I met Robert Hill in Oslo.", &alice());
    bench.keep("Robert Hill is also known as Bob", &alice());
    bench.add("What would Bob say to that?", &alice());
    bench.state(
        &alice(),
        EntityStatementRequest {
            name: "Bob".into(),
            description: Some("plays the tuba".into()),
            ..EntityStatementRequest::default()
        },
    );
    let facts = bench.facts();
    let found = facts
        .events_of_entity(&alice(), "Bob", bench.now())
        .unwrap();
    assert_eq!(found.memories.len(), 3, "{found:?}");
    // The question, and the turn that said where the user lives too.
    assert_eq!(found.mention_count, 2, "{found:?}");
    bench.erase(found.events);
    facts.erased();
    assert!(bench.entity(&alice(), "Bob").is_err());
    assert!(bench.entity(&alice(), "Robert Hill").is_err());
    assert_eq!(bench.texts(&alice()), ["User lives in Porto"]);
    let view = bench.brain.view();
    for id in 0..view.nodes() {
        let node = view.node(amem_format::NodeId(id)).unwrap();
        let all = format!(
            "{} {}",
            node.text().unwrap(),
            node.attributes_json().unwrap().unwrap_or_default()
        );
        assert!(
            !all.contains("Acme") && !all.contains("tuba"),
            "{id}: {all}"
        );
    }
    assert!(
        facts
            .events_of_entity(&alice(), "Bob", bench.now())
            .is_err()
    );
}

#[test]
fn graphs_last_over_checkpoints_and_reopening() {
    let bench = Bench::new();
    bench.keep("Alice works at Google", &bob());
    bench.checkpoint();
    let bench = bench.reopened();
    bench.keep("Alice lives in Zurich", &bob());
    assert_eq!(
        bench.relations(&bob()),
        ["Alice lives_in Zurich", "Alice works_at Google"]
    );
}

#[test]
fn forgetting_a_wife_leaves_the_user() {
    let bench = Bench::new();
    for text in [
        "My wife's name is Ottilie",
        "I live in Rome",
        "I like tea",
        "My dog is called Rex",
    ] {
        bench.add(text, &alice());
    }
    for (name, memory) in [
        ("Ottilie", "User's wife's name is Ottilie"),
        ("Rex", "User's dog is called Rex"),
    ] {
        let erased = bench.facts().events_of_entity(&alice(), name, bench.now());
        let erased = erased.unwrap();
        assert_eq!(erased.names, [name]);
        let gone: Vec<_> = erased
            .memories
            .iter()
            .map(|one| one.text.as_str())
            .collect();
        assert_eq!(gone, [memory]);
        assert_eq!(erased.memories[0].about, "User");
    }
}

#[test]
fn a_wrong_alias_of_an_older_brain_does_not_act() {
    let bench = Bench::new();
    bench.keep("User lives in Rome", &alice());
    bench.keep("User is also known as Ottilie", &alice());
    let names = |bench: &Bench| {
        let erased = bench
            .facts()
            .events_of_entity(&alice(), "Ottilie", bench.now());
        let erased = erased.unwrap();
        (erased.names, erased.memories.len())
    };
    assert_eq!(names(&bench).1, 2, "an alias that is said acts");
    // The same record, as an older program wrote it for another text.
    let view = bench.brain.view();
    let ids = (0..view.nodes()).map(NodeId);
    let is_it = |id: &NodeId| view.node(*id).unwrap().text().unwrap().contains("known as");
    let found: Vec<NodeId> = ids.filter(is_it).collect();
    let fact = found.iter().find_map(|id| {
        let attributes = view.node(*id).unwrap().attributes().unwrap()?;
        let json = serde_json::to_string(&attributes).unwrap();
        json.contains("aliases").then_some(attributes)
    });
    let mut event = NewEvent::new(EventType::FACT, "User's wife's name is Ottilie");
    event.attributes = Some(fact.expect("the record of the alias"));
    drop(view);
    bench.erase(found);
    let ingest = Ingest {
        events: vec![event],
        ..Ingest::default()
    };
    bench.brain.commit(Mutation::Ingest(ingest)).unwrap();
    assert_eq!(names(&bench), (vec!["Ottilie".to_owned()], 1));
    assert!(
        bench
            .entities(&alice())
            .iter()
            .all(|one| one.aliases.is_empty())
    );
}
