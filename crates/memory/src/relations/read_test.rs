//! Facts, and the graph that they have.

use super::fact_graph;
use crate::graph::EntityMention;

const PEOPLE: [&str; 3] = ["User", "Nora", "Emil"];

fn shown(text: &str) -> Vec<String> {
    let graph = fact_graph(text, &PEOPLE);
    let relations = graph.relations.iter();
    let relations = relations.map(|one| format!("{} {} {}", one.source, one.relation, one.target));
    let aliases = graph
        .aliases
        .iter()
        .map(|(one, other)| format!("{one} = {other}"));
    relations.chain(aliases).collect()
}

fn kinds(text: &str) -> Vec<String> {
    let graph = fact_graph(text, &PEOPLE);
    let shown = |one: &EntityMention| match one.kind {
        Some(kind) => format!("{} {}", one.name, kind.name()),
        None => one.name.clone(),
    };
    graph.entities.iter().map(shown).collect()
}

#[test]
fn cues_relate_what_they_stand_between() {
    for (text, relations) in [
        ("Alice works at Google", vec!["Alice works_at Google"]),
        (
            "User works for Acme in Berlin as a baker",
            vec!["User works_at Acme", "User works_in Berlin"],
        ),
        (
            "User works as a nurse at St Mary's Hospital",
            vec!["User works_at St Mary's Hospital"],
        ),
        ("User is a nurse at Charité", vec!["User works_at Charité"]),
        (
            "User is the CTO of Acme Robotics",
            vec!["User works_at Acme Robotics"],
        ),
        (
            "User worked at Siemens for ten years",
            vec!["User worked_at Siemens"],
        ),
        ("User lives in Porto, Portugal", vec!["User lives_in Porto"]),
        ("User lived in Rome", vec!["User lived_in Rome"]),
        ("Nora moved to Lisbon in May", vec!["Nora lives_in Lisbon"]),
        ("User moved to PostgreSQL", vec!["User uses PostgreSQL"]),
        (
            "User is from Buenos Aires",
            vec!["User comes_from Buenos Aires"],
        ),
        ("User was born in Kyoto", vec!["User born_in Kyoto"]),
        ("User was born in May", vec![]),
        (
            "User grew up in New Orleans",
            vec!["User grew_up_in New Orleans"],
        ),
        (
            "User's sister Anna lives in Oslo",
            vec!["Anna sister_of User", "Anna lives_in Oslo"],
        ),
        ("User's older brother is Tom", vec!["Tom brother_of User"]),
        ("User's manager is Priya", vec!["Priya manager_of User"]),
        ("Anna is User's sister", vec!["Anna sister_of User"]),
        (
            "User has a daughter named Mia",
            vec!["Mia daughter_of User"],
        ),
        ("User's dog is called Biscuit", vec!["Biscuit dog_of User"]),
        (
            "User lives with their partner Kim",
            vec!["Kim partner_of User"],
        ),
        ("User is married to Jo", vec!["User married_to Jo"]),
        (
            "User met Carla Rossi at the gym",
            vec!["User knows Carla Rossi"],
        ),
        (
            "Nora and Emil live in Leipzig",
            vec!["Nora lives_in Leipzig", "Emil lives_in Leipzig"],
        ),
        (
            "User and others chose PostgreSQL because it has JSON columns",
            vec!["User chose PostgreSQL"],
        ),
        (
            "User uses Rust, Go and Zig",
            vec!["User uses Rust", "User uses Go", "User uses Zig"],
        ),
        (
            "User switched from VS Code to Neovim",
            vec!["User uses Neovim"],
        ),
        (
            "User speaks German and Turkish",
            vec!["User speaks German", "User speaks Turkish"],
        ),
        ("User drives a Honda Civic", vec!["User drives Honda Civic"]),
        ("Acme is based in Zurich", vec!["Acme located_in Zurich"]),
        (
            "User's accountant is Mr. Stein",
            vec!["Mr Stein accountant_of User"],
        ),
        (
            "User and others decided to use Vite for the frontend",
            vec!["User chose Vite"],
        ),
        (
            "User started learning Spanish",
            vec!["User studies Spanish"],
        ),
        (
            "User's favourite tea is Darjeeling",
            vec!["User likes Darjeeling"],
        ),
        ("User's company is Initech", vec!["User works_at Initech"]),
        (
            "User lives in Porto and works at Acme",
            vec!["User lives_in Porto", "User works_at Acme"],
        ),
        ("Nora's name is Nora Berg", vec!["Nora = Nora Berg"]),
        ("User's name is Alice", vec!["User = Alice"]),
        ("User goes by Sam", vec!["User = Sam"]),
        ("Robert is also known as Bob", vec!["Robert = Bob"]),
        ("Kubernetes is also called K8s", vec!["Kubernetes = K8s"]),
    ] {
        assert_eq!(shown(text), relations, "{text}");
    }
}

#[test]
fn what_is_denied_over_or_planned_relates_nothing() {
    for text in [
        "User does not live in Berlin",
        "User no longer works at Google",
        "User used to live in Rome",
        "User wants to visit Japan",
        "User will move to Lisbon",
        "User might join Acme",
        "User's flight is on Friday",
        "Deploys go out on Fridays",
        "User likes tea",
        "",
    ] {
        assert_eq!(shown(text), Vec::<String>::new(), "{text}");
    }
}

#[test]
fn entities_have_the_kind_of_their_cue() {
    for (text, entities) in [
        (
            "Alice works at Google",
            vec!["Alice person", "Google organization"],
        ),
        ("User lives in Porto", vec!["User person", "Porto location"]),
        (
            "User and others chose PostgreSQL",
            vec!["User person", "PostgreSQL technology"],
        ),
        ("User speaks German", vec!["User person", "German concept"]),
        (
            "User's birthday with Anna was fun",
            vec!["Anna", "User person"],
        ),
        (
            "User attended the Berlinale",
            vec!["User person", "Berlinale event"],
        ),
    ] {
        assert_eq!(kinds(text), entities, "{text}");
    }
}

#[test]
fn other_languages_have_the_same_relations() {
    for (text, relation) in [
        ("User arbeitet bei Siemens", "User works_at Siemens"),
        ("User wohnt in Leipzig", "User lives_in Leipzig"),
        ("User habite à Lyon", "User lives_in Lyon"),
        ("User travaille chez Renault", "User works_at Renault"),
        ("User vive en Sevilla", "User lives_in Sevilla"),
        ("User trabaja en Telefónica", "User works_in Telefónica"),
    ] {
        assert_eq!(shown(text), [relation], "{text}");
    }
}

proptest::proptest! {
    #[test]
    fn no_text_panics(text in "\\PC{0,60}|(User|User's|is|a|works|at|as|from|to|and|Anna|Anna's|Acme|sister|named|also|known|,|the| ){0,18}") {
        let _ = fact_graph(&text, &PEOPLE);
    }
}
