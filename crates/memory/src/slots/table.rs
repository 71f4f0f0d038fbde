//! The table of slots: which verb fills which attribute, and how many values it has.

use super::slot::Cardinality::{self, Event, Many, One};

/// How the words behind a verb are read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ValueRule {
    /// All of them up to a preposition are the value.
    Object,
    /// The value stands behind one of the prepositions.
    Behind(&'static [&'static str]),
    /// The verb is part of the value: "plays tennis", "smokes".
    VerbAndObject,
}

use ValueRule::{Behind, Object, VerbAndObject};

/// A row: verbs in their base form, attribute, cardinality, whether it holds, how it is read.
pub(crate) struct Row {
    pub(crate) verbs: &'static str,
    pub(crate) attribute: &'static str,
    pub(crate) cardinality: Cardinality,
    pub(crate) holds: bool,
    pub(crate) reading: ValueRule,
}

const fn row(
    verbs: &'static str,
    attribute: &'static str,
    cardinality: Cardinality,
    holds: bool,
    reading: ValueRule,
) -> Row {
    Row {
        verbs,
        attribute,
        cardinality,
        holds,
        reading,
    }
}

/// Verbs with an attribute of their own. `parse` reads "be", "have", "work", "get" and verbs about verbs.
pub(crate) const ROWS: [Row; 30] = [
    row(
        "live reside settle",
        "home",
        One,
        true,
        Behind(&["in", "at", "near", "on"]),
    ),
    row("move relocate", "home", One, true, Behind(&["to"])),
    row("like love enjoy adore", "like", Many, true, Object),
    row(
        "hate dislike loathe despise detest",
        "like",
        Many,
        false,
        Object,
    ),
    row("prefer", "prefer", Many, true, Object),
    row("use code program", "use", Many, true, Object),
    row(
        "own buy purchase adopt inherit",
        "possess",
        Many,
        true,
        Object,
    ),
    row(
        "sell lose donate return trade",
        "possess",
        Many,
        false,
        Object,
    ),
    row("drive", "vehicle", One, true, Object),
    row("ride", "ride", Many, true, Object),
    row("speak", "speak", Many, true, Object),
    row("study learn", "study", Many, true, Object),
    row("major", "major", One, true, Behind(&["in"])),
    row(
        "graduate",
        "degree",
        Many,
        true,
        Behind(&["from", "in", "with"]),
    ),
    row("weigh", "weight", One, true, Object),
    row("earn make", "earn", One, true, Object),
    row("listen", "port", One, true, Behind(&["port"])),
    row("wake", "wake", One, true, Behind(&["at", "around"])),
    row("commute", "commute", One, true, Behind(&["by"])),
    row("date", "partner", One, true, Object),
    row("manage lead supervise", "manage", Many, true, Object),
    row("teach coach mentor tutor", "teach", Many, true, Object),
    row("take", "take", Many, true, Object),
    row("collect", "collect", Many, true, Object),
    row("play practice practise", "do", Many, true, VerbAndObject),
    row(
        "eat drink smoke vape swim hike jog cycle bike climb surf ski dance sing meditate cook bake paint draw garden",
        "do",
        Many,
        true,
        VerbAndObject,
    ),
    row(
        "run volunteer exercise train read watch write follow sleep wear",
        "do",
        Many,
        true,
        VerbAndObject,
    ),
    row(
        "need want hope wish aim intend plan consider",
        "plan",
        Many,
        true,
        Object,
    ),
    row("suffer recover", "health", Many, true, Behind(&["from"])),
    row(
        "go visit travel fly attend see meet win finish complete celebrate host organize organise launch publish release start begin \
         create build found break pass fail receive sign apply book order spend find discover try help graduate perform explore camp",
        "event",
        Event,
        true,
        VerbAndObject,
    ),
];

/// Nouns of "User's X is …" of which one may have several at a time.
pub(crate) const SEVERAL: [&str; 26] = [
    "friend",
    "sister",
    "brother",
    "son",
    "daughter",
    "kid",
    "cousin",
    "colleague",
    "coworker",
    "neighbor",
    "neighbour",
    "uncle",
    "aunt",
    "niece",
    "nephew",
    "dog",
    "cat",
    "pet",
    "hobby",
    "goal",
    "dream",
    "interest",
    "allergy",
    "skill",
    "passion",
    "strength",
];

/// Endings of professions, and professions without them.
pub(crate) fn is_profession(noun: &str) -> bool {
    const ENDS: [&str; 8] = ["er", "or", "ist", "ian", "ant", "eer", "man", "woman"];
    const NOUNS: [&str; 30] = [
        "nurse",
        "chef",
        "cook",
        "pilot",
        "judge",
        "student",
        "intern",
        "coach",
        "architect",
        "vet",
        "clerk",
        "dev",
        "cto",
        "ceo",
        "cfo",
        "sre",
        "dba",
        "ta",
        "postdoc",
        "phd",
        "paramedic",
        "mechanic",
        "guard",
        "guide",
        "analyst",
        "lead",
        "head",
        "agent",
        "scientist",
        "surgeon",
    ];
    const NOT: [&str; 22] = [
        "mother",
        "father",
        "brother",
        "sister",
        "member",
        "lover",
        "reader",
        "gamer",
        "believer",
        "hiker",
        "runner",
        "swimmer",
        "cyclist",
        "beginner",
        "newcomer",
        "owner",
        "person",
        "foster",
        "partner",
        "supporter",
        "smoker",
        "drinker",
    ];
    NOUNS.contains(&noun)
        || ENDS
            .iter()
            .any(|end| noun.len() > end.len() + 2 && noun.ends_with(end))
            && !NOT.contains(&noun)
}
