//! The table of relations: which verb, with which preposition, relates a subject to what.

use crate::graph::EntityKind::{
    self, Concept, Event, Location, Organization, Person, Product, Technology,
};

/// A row: verbs in their base form, the preposition before the object (empty: the object follows), the relation, that
/// of a past which is over (empty: the same), and the kinds of subject and object.
pub(super) struct Row {
    pub(super) verbs: &'static str,
    pub(super) preposition: &'static str,
    pub(super) relation: &'static str,
    pub(super) past: &'static str,
    pub(super) subject: Option<EntityKind>,
    pub(super) object: Option<EntityKind>,
}

const fn row(
    verbs: &'static str,
    preposition: &'static str,
    (relation, past): (&'static str, &'static str),
    subject: Option<EntityKind>,
    object: Option<EntityKind>,
) -> Row {
    Row {
        verbs,
        preposition,
        relation,
        past,
        subject,
        object,
    }
}

/// Verbs. Those of `be` are read behind it: "is based in", "is married to".
pub(super) const ROWS: [Row; 43] = [
    row(
        "work",
        "at",
        ("works_at", "worked_at"),
        Some(Person),
        Some(Organization),
    ),
    row(
        "work",
        "for",
        ("works_at", "worked_at"),
        Some(Person),
        Some(Organization),
    ),
    row(
        "work",
        "in",
        ("works_in", "worked_in"),
        Some(Person),
        Some(Location),
    ),
    row(
        "work",
        "with",
        ("works_with", "worked_with"),
        Some(Person),
        None,
    ),
    row(
        "intern",
        "at",
        ("works_at", "worked_at"),
        Some(Person),
        Some(Organization),
    ),
    row(
        "volunteer",
        "at",
        ("volunteers_at", "volunteered_at"),
        Some(Person),
        Some(Organization),
    ),
    row(
        "teach",
        "at",
        ("works_at", "worked_at"),
        Some(Person),
        Some(Organization),
    ),
    row(
        "study",
        "at",
        ("studies_at", "studied_at"),
        Some(Person),
        Some(Organization),
    ),
    row(
        "study learn",
        "",
        ("studies", "studied"),
        Some(Person),
        Some(Concept),
    ),
    row(
        "graduate",
        "from",
        ("studied_at", ""),
        Some(Person),
        Some(Organization),
    ),
    row(
        "live reside",
        "in",
        ("lives_in", "lived_in"),
        Some(Person),
        Some(Location),
    ),
    row(
        "settle",
        "in",
        ("lives_in", ""),
        Some(Person),
        Some(Location),
    ),
    row(
        "move relocate",
        "to",
        ("lives_in", ""),
        None,
        Some(Location),
    ),
    row(
        "come hail",
        "from",
        ("comes_from", ""),
        Some(Person),
        Some(Location),
    ),
    row(
        "grow",
        "in",
        ("grew_up_in", ""),
        Some(Person),
        Some(Location),
    ),
    row("born", "in", ("born_in", ""), Some(Person), Some(Location)),
    row(
        "based headquarter",
        "in",
        ("located_in", ""),
        None,
        Some(Location),
    ),
    row("locate", "in", ("located_in", ""), None, Some(Location)),
    row("base", "in", ("located_in", ""), None, Some(Location)),
    row(
        "join",
        "",
        ("member_of", ""),
        Some(Person),
        Some(Organization),
    ),
    row("leave quit", "", ("left", ""), Some(Person), None),
    row(
        "found cofound co-found",
        "",
        ("founded", ""),
        Some(Person),
        Some(Organization),
    ),
    row("run", "", ("runs", "ran"), Some(Person), None),
    row(
        "lead manage",
        "",
        ("manages", "managed"),
        Some(Person),
        None,
    ),
    row("marry", "", ("married_to", ""), Some(Person), Some(Person)),
    row(
        "married engaged",
        "to",
        ("married_to", ""),
        Some(Person),
        Some(Person),
    ),
    row("date", "", ("partner_of", ""), Some(Person), Some(Person)),
    row("meet know", "", ("knows", ""), Some(Person), Some(Person)),
    row("visit", "", ("visited", ""), Some(Person), Some(Location)),
    row("travel fly go", "to", ("visited", ""), Some(Person), None),
    row("use", "", ("uses", "used"), None, Some(Technology)),
    row("switch migrate", "to", ("uses", ""), None, Some(Technology)),
    row("choose pick select adopt", "", ("chose", ""), None, None),
    row("prefer", "", ("prefers", "preferred"), Some(Person), None),
    row(
        "like love enjoy",
        "",
        ("likes", "liked"),
        Some(Person),
        None,
    ),
    row(
        "speak",
        "",
        ("speaks", "spoke"),
        Some(Person),
        Some(Concept),
    ),
    row("attend", "", ("attended", ""), Some(Person), Some(Event)),
    row(
        "buy own purchase",
        "",
        ("owns", "owned"),
        Some(Person),
        Some(Product),
    ),
    row(
        "drive ride",
        "",
        ("drives", "drove"),
        Some(Person),
        Some(Product),
    ),
    row("deploy host", "on", ("runs_on", "ran_on"), None, None),
    row("run", "on", ("runs_on", "ran_on"), None, None),
    row("write", "in", ("written_in", ""), None, None),
    row("belong", "to", ("belongs_to", "belonged_to"), None, None),
];

/// Nouns that say how one person is related to another: "User's sister Anna".
const RELATIVES: &str = " sister brother mother father mom mum dad wife husband partner girlfriend boyfriend \
    fiance fiancé fiancee fiancée son daughter kid child baby niece nephew uncle aunt cousin grandmother grandfather \
    grandma grandpa grandson granddaughter twin stepmother stepfather friend bestfriend boss manager supervisor mentor \
    colleague coworker co-worker teammate neighbor neighbour roommate flatmate teacher tutor professor doctor dentist \
    therapist coach trainer landlord landlady lawyer accountant assistant client customer student intern cofounder \
    co-founder classmate ";

/// Animals and things that have names of their own.
const NAMED_THINGS: &str =
    " dog puppy cat kitten pet parrot rabbit hamster horse bird turtle fish team project boat ";

/// Nouns of "User's X is …" with a relation of their own.
pub(super) const NOUNS: [(&str, &str, Option<EntityKind>); 14] = [
    ("employer", "works_at", Some(Organization)),
    ("company", "works_at", Some(Organization)),
    ("school", "studies_at", Some(Organization)),
    ("university", "studies_at", Some(Organization)),
    ("college", "studies_at", Some(Organization)),
    ("hometown", "comes_from", Some(Location)),
    ("home", "lives_in", Some(Location)),
    ("city", "lives_in", Some(Location)),
    ("editor", "uses", Some(Technology)),
    ("language", "speaks", Some(Concept)),
    ("car", "drives", Some(Product)),
    ("phone", "owns", Some(Product)),
    ("laptop", "owns", Some(Product)),
    ("bike", "owns", Some(Product)),
];

fn is_in(list: &str, noun: &str) -> bool {
    !noun.is_empty() && !noun.contains(' ') && list.contains(&format!(" {noun} "))
}

/// How what a noun names is related to its owner, and what it is; `None` for a noun that relates nothing.
pub(super) fn relative(noun: &str) -> Option<(String, Option<EntityKind>)> {
    // "older sister", "best friend": the last word tells.
    let last = noun.rsplit(' ').next().unwrap_or(noun);
    if is_in(RELATIVES, last) {
        return Some((format!("{last}_of"), Some(Person)));
    }
    is_in(NAMED_THINGS, last).then(|| (format!("{last}_of"), None))
}
