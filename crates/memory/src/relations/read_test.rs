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

/// The aliases that the turns of a speaker give.
fn aliases_of(turn: &str) -> Vec<String> {
    let language = crate::patterns::language_of(turn);
    let clock = amem_query::time_phrase::Clock::default();
    let facts = match language.is_english() {
        true => crate::patterns::facts_in_turn(turn, None, &[], &clock, 0),
        false => crate::patterns::facts_in_foreign_turn(turn, language, None, &clock, 0),
    };
    let graphs = facts.iter().map(|fact| fact_graph(&fact.text, &[]));
    graphs
        .flat_map(|graph| graph.aliases)
        .map(|(one, other)| format!("{one} = {other}"))
        .collect()
}

#[test]
fn the_name_of_another_is_no_name_of_the_speaker() {
    for turn in [
        "My wife's name is Ottilie.",
        "The name of my wife is Ottilie.",
        "My wife is called Ottilie.",
        "My wife is named Ottilie, and we live in Rome.",
        "My husband goes by Theo.",
        "My dog is called Rex.",
        "My dog's name is Rex.",
        "My son's first name is Jonas.",
        "My daughter's nickname is Mia.",
        "Our company is named Acme.",
        "Our company's name is Acme.",
        "My company name is Acme.",
        "My boss's name is Karl.",
        "My surname is Moreau.",
        "My best friend's name is Nora.",
        "My wife Ottilie is also known as Otti.",
        "We are also known as The Parkers.",
        "I'm Ottilie's husband.",
        "I'm Rex and Bella's owner.",
        "I go by Oxford Street every day.",
        "I have a sister named Anna.",
        "Meine Frau heißt Ottilie.",
        "Der Name meiner Frau ist Ottilie.",
        "Mein Hund heißt Rex.",
        "Unsere Firma heißt Acme.",
        "Ma femme s'appelle Ottilie.",
        "Le nom de ma femme est Ottilie.",
        "Mon chien s'appelle Rex.",
        "Notre entreprise s'appelle Acme.",
        "Mi mujer se llama Otilia.",
        "El nombre de mi mujer es Otilia.",
        "Mi perro se llama Rex.",
        "Nuestra empresa se llama Acme.",
    ] {
        let found = aliases_of(turn);
        let of_user: Vec<_> = found.iter().filter(|pair| pair.contains("User")).collect();
        assert!(of_user.is_empty(), "{turn}: {of_user:?}");
    }
}

#[test]
fn the_speakers_own_names_are_aliases() {
    for (turn, name) in [
        ("My name is Ada.", "Ada"),
        ("My full name is Ada Low.", "Ada Low"),
        ("My nickname is Addie.", "Addie"),
        ("I'm Ada.", "Ada"),
        ("I am called Ada.", "Ada"),
        ("Call me Ada.", "Ada"),
        ("Ich heiße Ada.", "Ada"),
        ("Je m'appelle Ada.", "Ada"),
        ("Me llamo Ada.", "Ada"),
    ] {
        assert_eq!(aliases_of(turn), [format!("User = {name}")], "{turn}");
    }
    assert_eq!(shown("Robert is also called Bob"), ["Robert = Bob"]);
    assert_eq!(shown("User goes by Ada at work"), ["User = Ada"]);
    assert_eq!(shown("User goes by Ada"), ["User = Ada"]);
    assert_eq!(shown("User is also known as Addie"), ["User = Addie"]);
    assert!(shown("User goes by Oxford Street every day").is_empty());
}

#[test]
fn an_alias_that_was_read_wrongly_before_is_not_said() {
    let mut graph = fact_graph("User's wife's name is Ottilie", &[]);
    graph.mention("User", None);
    graph.mention("Ottilie", None);
    graph.alias("User", "Ottilie");
    assert!(super::aliases_said(&graph, "User's wife's name is Ottilie").is_empty());
    let own = fact_graph("User's name is Ada", &[]);
    assert_eq!(
        super::aliases_said(&own, "User's name is Ada"),
        [("User".to_owned(), "Ada".to_owned())]
    );
}
