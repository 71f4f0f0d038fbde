//! The families of triggers: what marks a clause as a fact.
//!
//! A row has a verb in its base form and the words that must follow it (one of them among the next few; nothing for
//! any). The families are those of the paper's third layer (names, places, professions, workplaces, preferences, tools,
//! possessions, vehicles, education, projects, decisions, corrections, health, activities, favourites, relations,
//! dates) and of the specification's categories (plans, skills, events).

use crate::text::tokens::Token;

use super::content::{has_content, is_content};
use crate::kind::FactKind;
use crate::text::predicate::{Mood, Predicate, is_adverb};
use crate::text::verbs::{VerbForm, base_form};

/// A family of triggers; its name is the reason that an answer gives.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Family {
    /// The name, such as `home`.
    pub(crate) name: &'static str,
    /// The kind of its facts.
    pub(crate) kind: FactKind,
}

const fn family(name: &'static str, kind: FactKind) -> Family {
    Family { name, kind }
}

pub(crate) const NAME: Family = family("name", FactKind::Fact);
pub(crate) const HOME: Family = family("home", FactKind::Fact);
pub(crate) const PROFESSION: Family = family("profession", FactKind::Fact);
pub(crate) const WORKPLACE: Family = family("workplace", FactKind::Fact);
pub(crate) const PREFERENCE: Family = family("preference", FactKind::Preference);
pub(crate) const FAVOURITE: Family = family("favourite", FactKind::Preference);
pub(crate) const TOOL: Family = family("tool", FactKind::Fact);
pub(crate) const POSSESSION: Family = family("possession", FactKind::Fact);
pub(crate) const EDUCATION: Family = family("education", FactKind::Fact);
pub(crate) const PROJECT: Family = family("project", FactKind::Fact);
pub(crate) const DECISION: Family = family("decision", FactKind::Decision);
pub(crate) const CORRECTION: Family = family("correction", FactKind::Correction);
pub(crate) const HEALTH: Family = family("health", FactKind::Fact);
pub(crate) const ACTIVITY: Family = family("activity", FactKind::Fact);
pub(crate) const RELATION: Family = family("relation", FactKind::Fact);
pub(crate) const EVENT: Family = family("event", FactKind::Event);
pub(crate) const PLAN: Family = family("plan", FactKind::Plan);
pub(crate) const SKILL: Family = family("skill", FactKind::Skill);
pub(crate) const STATUS: Family = family("status", FactKind::Fact);
pub(crate) const REQUEST: Family = family("request", FactKind::Preference);
pub(crate) const STATEMENT: Family = family("statement", FactKind::Fact);
pub(crate) const REASON: Family = family("reason", FactKind::Fact);
pub(crate) const INFERENCE: Family = family("inference", FactKind::Inference);
pub(crate) const RETRACTION: Family = family("retraction", FactKind::Retraction);

/// When a verb triggers.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Tense {
    /// At any time.
    Any,
    /// Only as something that happened, or is happening.
    Done,
    /// Only as a habit or state.
    Habit,
}

use Tense::{Any, Done, Habit};

/// Verbs, the words of which one must follow, and the family.
const ROWS: [(&str, &str, Tense, Family); 63] = [
    (
        "live reside settle",
        "in at near by with on outside between alone together abroad downtown",
        Any,
        HOME,
    ),
    (
        "move relocate",
        "to from in into back out here away abroad apartment house home houses",
        Done,
        HOME,
    ),
    ("stay", "in at with", Done, EVENT),
    ("grow", "up in my", Any, HOME),
    (
        "work",
        "at for in as with on from remotely part-time full-time together nights freelance towards toward",
        Any,
        WORKPLACE,
    ),
    ("join", "", Done, WORKPLACE),
    ("leave", "for", Done, EVENT),
    ("quit leave resign retire", "", Done, WORKPLACE),
    ("prefer", "", Any, PREFERENCE),
    ("like enjoy adore", "", Habit, PREFERENCE),
    ("love", "", Habit, PREFERENCE),
    ("hate dislike loathe despise detest", "", Habit, PREFERENCE),
    ("use code program", "", Any, TOOL),
    ("deploy migrate install upgrade automate", "", Any, TOOL),
    ("own", "", Any, POSSESSION),
    (
        "buy purchase adopt sell inherit rent lease trade",
        "",
        Done,
        POSSESSION,
    ),
    ("lose", "", Done, POSSESSION),
    ("drive ride", "", Any, POSSESSION),
    ("study major minor", "", Any, EDUCATION),
    ("graduate enroll enrol", "", Done, EDUCATION),
    ("learn", "how to about the that from", Done, SKILL),
    ("learn", "", Any, EDUCATION),
    ("build develop design implement", "", Any, PROJECT),
    (
        "create launch publish release found establish",
        "",
        Done,
        PROJECT,
    ),
    ("write compose record direct", "", Any, PROJECT),
    ("paint draw sculpt knit sew craft carve", "", Any, ACTIVITY),
    ("decide choose pick opt settle", "", Done, DECISION),
    ("go", "with", Done, DECISION),
    ("switch change convert", "", Done, DECISION),
    ("suffer recover", "from", Any, HEALTH),
    ("break injure sprain hurt twist", "my", Done, HEALTH),
    ("undergo", "", Done, HEALTH),
    (
        "take",
        "medication medicine pills insulin vitamins supplements antibiotics mg meds",
        Any,
        HEALTH,
    ),
    (
        "take",
        "a an the my some up part lessons classes class course photos pictures kids family dog dogs him her",
        Done,
        EVENT,
    ),
    (
        "play practice practise train coach teach perform",
        "",
        Any,
        ACTIVITY,
    ),
    (
        "swim hike run jog cycle bike climb surf ski snowboard dance sing meditate garden sail fish camp skate box bowl",
        "",
        Any,
        ACTIVITY,
    ),
    ("cook bake brew grow", "", Any, ACTIVITY),
    ("eat drink smoke vape", "", Any, ACTIVITY),
    ("volunteer donate contribute", "", Any, ACTIVITY),
    ("collect read watch listen follow", "", Any, ACTIVITY),
    ("wake exercise commute", "", Any, ACTIVITY),
    (
        "do",
        "yoga pilates kickboxing gardening pottery ballet karate judo crossfit aerial volunteer research freelance research",
        Any,
        ACTIVITY,
    ),
    (
        "go",
        "to on for back through camping hiking swimming running skiing fishing surfing biking shopping dancing kayaking out",
        Any,
        ACTIVITY,
    ),
    ("speak", "", Habit, SKILL),
    (
        "manage lead run host organize organise chair supervise mentor tutor",
        "",
        Any,
        WORKPLACE,
    ),
    ("marry divorce date", "", Any, RELATION),
    ("meet", "", Done, EVENT),
    (
        "visit travel fly tour explore attend celebrate participate compete",
        "",
        Done,
        EVENT,
    ),
    ("start begin finish complete", "", Done, EVENT),
    ("win earn receive score achieve fail pass", "", Done, EVENT),
    ("get", "", Done, EVENT),
    ("make", "a an my the some", Done, EVENT),
    ("sign register apply book order submit", "", Done, EVENT),
    (
        "see try discover find",
        "a an the my some this out",
        Done,
        EVENT,
    ),
    ("give", "a an my up birth", Done, EVENT),
    ("have", "", Done, EVENT),
    ("spend", "", Done, EVENT),
    ("face face encounter overcome experience", "", Done, EVENT),
    (
        "repair fix renovate restore replace remodel",
        "",
        Done,
        EVENT,
    ),
    ("plan intend aim", "", Any, PLAN),
    ("want hope wish need", "to a an my some more", Habit, PLAN),
    ("consider", "", Any, PLAN),
    ("dream", "of about", Any, PLAN),
];

/// Nouns that "have" owns or suffers: anything but moods and events.
const HAVE_REFUSED: &[&str] = &[
    "time",
    "fun",
    "blast",
    "idea",
    "question",
    "questions",
    "doubt",
    "feeling",
    "point",
    "look",
    "chat",
    "chance",
    "day",
    "ball",
    "say",
    "trouble",
    "problem",
    "faith",
    "way",
    "plan",
    "plans",
    "issue",
    "energy",
    "hope",
    "guess",
    "clue",
    "choice",
    "moment",
    "adventure",
    "experience",
    "news",
    "story",
    "ton",
];

/// Complements of "be" that trigger, with their family.
const COMPLEMENTS: [(&str, Family); 12] = [
    (
        "married single divorced engaged widowed separated dating",
        RELATION,
    ),
    (
        "vegetarian vegan pescatarian omnivore celiac coeliac gluten-free keto teetotal halal kosher",
        HEALTH,
    ),
    (
        "allergic diabetic asthmatic pregnant intolerant lactose-intolerant autistic dyslexic colorblind deaf blind epileptic injured \
      diagnosed sober overweight",
        HEALTH,
    ),
    (
        "left-handed right-handed bilingual retired unemployed self-employed freelance employed hired fired promoted laid",
        PROFESSION,
    ),
    ("born based raised located stationed", HOME),
    ("from", HOME),
    (
        "fluent trained certified licensed skilled experienced",
        SKILL,
    ),
    (
        "into keen fond passionate obsessed addicted interested hooked",
        PREFERENCE,
    ),
    ("afraid scared terrified", PREFERENCE),
    ("named called", NAME),
    ("responsible", WORKPLACE),
    (
        "accepted admitted invited selected nominated elected awarded involved",
        EVENT,
    ),
];

/// First words of complements that say how it is at this moment, or nothing.
const MOODS: &[&str] = &[
    "bit", "little", "lot", "mess", "fan", "sucker", "believer", "loss", "wreck", "huge", "big",
    "total", "good", "great", "bad",
];

/// Words behind which a verb of the table is an idiom.
const IDIOMS: [(&str, &[&str]); 18] = [
    (
        "get",
        &[
            "it",
            "that",
            "you",
            "to",
            "why",
            "what",
            "how",
            "the",
            "this",
            "so",
            "me",
            "off",
            "goosebumps",
            "a lot",
            "ya",
        ],
    ),
    ("have", &["to", "it", "been", "not"]),
    ("go", &["ahead", "through", "crazy", "wrong", "well", "for"]),
    ("manage", &["to"]),
    ("make", &["sure", "sense", "me", "it", "us", "them", "that"]),
    ("take", &["it", "care", "that", "a look", "time"]),
    ("see", &["you", "it", "that", "why", "how", "what"]),
    ("find", &["it", "that", "myself", "out"]),
    (
        "love",
        &[
            "it", "that", "this", "how", "your", "you", "the way", "when", "them", "seeing",
            "hearing",
        ],
    ),
    (
        "like",
        &[
            "it", "that", "this", "how", "your", "you", "the way", "them",
        ],
    ),
    ("enjoy", &["it", "that", "this", "them", "your"]),
    ("hate", &["it", "that", "this", "when"]),
    ("meet", &["you"]),
    ("follow", &["you", "your"]),
    ("read", &["you", "your", "that"]),
    ("change", &["it", "that"]),
    ("start", &["it", "that"]),
    ("work", &["it", "out"]),
];

/// How far behind the verb the word of a row may stand.
const NEAR: usize = 4;

/// The family of a predicate of the first person; `None` if it triggers nothing.
pub(crate) fn family_of(tokens: &[Token], p: &Predicate) -> Option<Family> {
    let rest = &tokens[p.at + 1..];
    if tokens[p.at].breaks() || !has_content(rest) && !stands_alone(p, rest) {
        return None;
    }
    if p.mood == Mood::Unreal || is_idiom(&p.base, rest) {
        return None;
    }
    if p.base == "be" {
        let is_new_place = rest.first().is_some_and(|t| t.is("now"))
            && rest.get(1).is_some_and(|t| t.is("at"))
            && rest.get(2).is_some_and(Token::is_capital);
        if is_new_place {
            return Some(WORKPLACE);
        }
        return complement(rest).or_else(|| (p.is_over).then_some(CORRECTION));
    }
    if p.base == "have" && p.form == VerbForm::Present && p.mood == Mood::Plain {
        return owns(rest).then_some(POSSESSION);
    }
    if p.base == "have"
        && !rest
            .iter()
            .any(|token| is_content(token) && !token.is_any(HAVE_REFUSED))
    {
        return None;
    }
    let goes = p.base == "go"
        && rest
            .first()
            .is_some_and(|t| base_form(&t.lower).1 == VerbForm::Progressive);
    if goes && !rest[0].is("going") {
        return Some(if p.form == VerbForm::Past {
            EVENT
        } else {
            ACTIVITY
        });
    }
    if p.base == "get" && rest.iter().take(5).any(|token| token.is_any(HAVE_REFUSED)) {
        return None;
    }
    if is_vague_wish(p, rest) {
        return None;
    }
    if let Some(family) = aspiration(p, rest) {
        return Some(family);
    }
    let row = ROWS.iter().find(|(verbs, after, tense, _)| {
        verbs.split(' ').any(|verb| verb == p.base) && is_near(rest, after) && in_tense(p, *tense)
    });
    let family = row.map(|row| row.3)?;
    if p.is_over {
        return Some(CORRECTION);
    }
    Some(match p.mood {
        Mood::Ahead => PLAN,
        _ if p.form == VerbForm::Past
            && (matches!(family.name, "activity" | "tool")
                || p.base == "drive"
                || p.base == "ride") =>
        {
            EVENT
        }
        _ => family,
    })
}

/// Verbs that are facts without an object.
fn stands_alone(p: &Predicate, rest: &[Token]) -> bool {
    let alone = [
        "smoke", "drink", "retire", "graduate", "quit", "meditate", "vape", "swim", "run", "surf",
        "ski", "dance", "sing", "climb",
    ];
    alone.contains(&p.base.as_str())
        && rest.iter().all(|token| {
            is_adverb(token) || token.is_any(&["anymore", "every", "day", "daily", "again"])
        })
}

fn in_tense(p: &Predicate, tense: Tense) -> bool {
    match tense {
        Any => true,
        Habit => p.form != VerbForm::Past || p.is_over,
        Done => p.form != VerbForm::Present || p.mood == Mood::Ahead,
    }
}

/// "I want to feel …", "I hope I …": a wish that says nothing of a plan.
fn is_vague_wish(p: &Predicate, rest: &[Token]) -> bool {
    let is_wish = matches!(&*p.base, "want" | "hope" | "wish" | "need") || p.mood == Mood::Ahead;
    let verb = if p.mood == Mood::Ahead && !matches!(&*p.base, "love" | "like") {
        p.base.as_str()
    } else {
        let named = rest.iter().find(|token| !token.is("to"));
        named.map_or("", |token| token.lower.as_str())
    };
    const VAGUE_VERBS: [&str; 21] = [
        "feel", "know", "see", "say", "share", "hear", "believe", "check", "thank", "i", "you",
        "keep", "remember", "tell", "show", "mention", "point", "express", "give", "catch", "let",
    ];
    is_wish && VAGUE_VERBS.contains(&verb)
}

/// Hopes and wishes: "looking forward to", "thinking of", "would love to".
fn aspiration(p: &Predicate, rest: &[Token]) -> Option<Family> {
    let follows = |words: &[&str]| {
        words.iter().zip(rest).all(|(word, token)| token.is(word)) && rest.len() > words.len()
    };
    let is_wish = p.mood == Mood::Ahead && matches!(&*p.base, "love" | "like" | "prefer");
    let is_look = p.base == "look"
        && (follows(&["forward", "to"])
            || p.form == VerbForm::Progressive && (follows(&["for"]) || follows(&["into"])));
    let is_thought = p.base == "think"
        && p.form == VerbForm::Progressive
        && (follows(&["of"]) || follows(&["about"]));
    let is_try = p.base == "try" && p.form == VerbForm::Progressive && follows(&["to"]);
    let is_know = p.base == "know" && follows(&["how", "to"]);
    let is_stand = p.base == "stand" && p.is_negated;
    let is_over = matches!(&*p.base, "stop" | "quit") && p.form != VerbForm::Present;
    match () {
        () if is_wish && (follows(&["to"]) || p.base == "prefer") => Some(PLAN),
        () if is_look || is_thought || is_try => Some(PLAN),
        () if is_know => Some(SKILL),
        () if is_stand => Some(PREFERENCE),
        () if is_over => Some(CORRECTION),
        () => None,
    }
}

fn is_near(rest: &[Token], words: &str) -> bool {
    words.is_empty()
        || rest
            .iter()
            .take(NEAR)
            .any(|token| words.split(' ').any(|word| token.is(word)))
}

fn is_idiom(base: &str, rest: &[Token]) -> bool {
    let Some((_, idioms)) = IDIOMS.iter().find(|(verb, _)| *verb == base) else {
        return false;
    };
    let mut rest = rest.iter().filter(|token| !is_adverb(token));
    let (first, second) = (rest.next(), rest.next());
    idioms
        .iter()
        .any(|idiom| match (idiom.split_once(' '), first, second) {
            (Some((a, b)), Some(first), Some(second)) => first.is(a) && second.is(b),
            (None, Some(first), _) => {
                first.is(idiom)
                    && !(*idiom == "the"
                        && has_content(std::slice::from_ref(second.unwrap_or(first))))
            }
            _ => false,
        })
}

/// The family of what follows "am", "is", "are".
fn complement(rest: &[Token]) -> Option<Family> {
    let rest = without_adverbs(rest);
    let first = rest.first()?;
    let has =
        |words: &str, token: &Token| words.split_ascii_whitespace().any(|word| token.is(word));
    // "very interested", "lactose intolerant", "severely allergic".
    let words = rest.iter().take(3).enumerate();
    for (at, token) in words {
        if at > 0
            && (rest[at - 1].breaks()
                || rest[at - 1].is_any(&["to", "for", "with", "of", "that", "the", "a", "an"]))
        {
            break;
        }
        if let Some((_, family)) = COMPLEMENTS.iter().find(|(words, _)| has(words, token)) {
            let says = has_content(&rest[at + 1..]);
            let needs = matches!(family.name, "preference" | "event" | "name");
            let is_fear = token.is_any(&["afraid", "scared", "terrified"])
                && !rest.get(at + 1).is_some_and(|t| t.is("of"));
            return (!is_fear && (says || !needs)).then_some(*family);
        }
    }
    let is_age = first.has_digit()
        && (rest.len() == 1 || rest[1].is_any(&["years", "year", "cm", "feet"]) || first.breaks());
    if is_age {
        return Some(STATUS);
    }
    if first.is_any(&["a", "an", "the"]) {
        let noun = rest.get(1)?;
        if noun.is_any(MOODS) {
            // "a big fan of jazz", "a huge reader".
            let is_fan = rest.iter().take(6).any(|t| t.is("fan") || t.is("lover"));
            let of = rest
                .iter()
                .any(|t| is_content(t) && !t.is_any(MOODS) && !t.is("lover"));
            return (is_fan && of).then_some(PREFERENCE);
        }
        return rest[1..]
            .iter()
            .take(4)
            .any(is_content)
            .then_some(PROFESSION);
    }
    if first.is("good") || first.is("bad") {
        return rest.get(1).filter(|t| t.is("at")).map(|_| SKILL);
    }
    if first.is("in") || first.is("on") || first.is("at") {
        let is_known = rest.iter().take(4).any(|t| {
            t.is_any(&[
                "charge",
                "team",
                "college",
                "university",
                "school",
                "medication",
                "diet",
                "year",
                "grade",
                "remission",
                "leave",
                "sabbatical",
                "board",
            ])
        });
        return is_known.then_some(STATUS);
    }
    None
}

/// True for "have" with a thing, a being or an illness.
fn owns(rest: &[Token]) -> bool {
    let rest = without_adverbs(rest);
    let Some(first) = rest.first() else {
        return false;
    };
    let is_refused = rest.iter().take(4).any(|token| token.is_any(HAVE_REFUSED));
    let is_counted = first.is_any(&[
        "a", "an", "my", "two", "three", "four", "five", "six", "several", "no", "some", "many",
        "another", "both",
    ]) || first.has_digit();
    let is_illness = rest.iter().take(3).any(|token| {
        token.is_any(&[
            "asthma",
            "diabetes",
            "adhd",
            "allergies",
            "allergy",
            "migraines",
            "anxiety",
            "depression",
            "arthritis",
            "insomnia",
            "epilepsy",
            "cancer",
            "covid",
        ])
    });
    (is_counted || is_illness) && !is_refused
}

fn without_adverbs(tokens: &[Token]) -> &[Token] {
    let count = tokens
        .iter()
        .take_while(|token| is_adverb(token) || token.is("not"))
        .count();
    &tokens[count..]
}

/// Verbs in the past that open a clause without "I".
const ELIDED: &str = " moved started joined bought got finished graduated went signed adopted became took visited attended \
    celebrated enrolled quit sold switched won completed booked launched published met decided been promoted received \
    painted wrote built made organized volunteered donated discovered planted enjoyed relocated ";

/// The family of a clause that leaves out "I": "just moved to Rome", "been busy volunteering", "gonna move".
pub(crate) fn elided(tokens: &[Token]) -> Option<(usize, Family)> {
    let at = tokens
        .iter()
        .take_while(|t| {
            t.is_any(&[
                "just",
                "also",
                "recently",
                "finally",
                "currently",
                "actually",
                "already",
            ])
        })
        .count();
    let first = tokens.get(at)?;
    let rest = &tokens[at + 1..];
    let main = rest
        .iter()
        .position(|t| t.is_any(&["when", "and", "because", "since", "so", "but"]))
        .unwrap_or(rest.len());
    let is_judged = first.is("been") && rest.first().is_some_and(|t| t.is_any(&["a", "an", "the"]));
    if is_judged
        || first.breaks()
        || !has_content(&rest[..main])
        || rest
            .first()
            .is_some_and(|t| t.is("it") || t.is("that") || t.is("you"))
    {
        return None;
    }
    let is_past = ELIDED.split_ascii_whitespace().any(|word| first.is(word));
    if is_past {
        let (base, _) = base_form(&first.lower);
        return (!is_idiom(&base, rest)).then_some((at, EVENT));
    }
    let is_place = |t: &Token| {
        t.is_any(&[
            "the", "a", "an", "my", "our", "those", "these", "that", "this", "all", "places", "be",
        ])
    };
    let is_ahead = first.is("going")
        && rest.first().is_some_and(|t| t.is("to"))
        && rest.get(1).is_some_and(|t| !is_place(t) && !t.is_capital())
        || first.is_any(&["planning", "hoping"])
            && rest.first().is_some_and(|t| t.is("to") || t.is("on"))
        || first.is("looking") && rest.first().is_some_and(|t| t.is("forward"));
    if is_ahead {
        return Some((at, PLAN));
    }
    (first.is("working") && rest.first().is_some_and(|t| t.is("on"))).then_some((at, PROJECT))
}
