//! From the text of a fact to its slots.

use std::collections::BTreeSet;

use crate::patterns::languages::gloss_of_fact;
use crate::text::predicate::{Mood, Predicate, predicate};
use crate::text::tokens::{Token, tokens};
use crate::text::verbs::is_plain_verb;
use crate::text::verbs::{VerbForm, base_form, singular};

use super::slot::Cardinality::{self, Event, Many, One};
use super::slot::Slot;
use super::table::{ROWS, SEVERAL, ValueRule, is_profession};
use super::values::{EXCLUSIVE, contrast, is_organisation_word, others, value_of, value_word};

/// The slots of a fact; none if no row of the table reads it.
pub(crate) fn slots_of(text: &str) -> Vec<Slot> {
    // A fact in another language fills the slots of its gloss, so that a slot is the same in all languages.
    let glossed = gloss_of_fact(text);
    slots_of_tokens(&glossed.unwrap_or_else(|| tokens(text)))
}

/// The slots of a fact's tokens.
pub(crate) fn slots_of_tokens(all: &[Token]) -> Vec<Slot> {
    let mut out = Vec::new();
    let mut start = 0;
    for at in 1..all.len() {
        // "User's name is Bob and User lives in Oslo" is two facts in one memory.
        let joins = all[at].is_any(&["and", "but"])
            && all
                .get(at + 1)
                .is_some_and(|next| next.is("user") || next.is("user's"));
        if joins {
            out.extend(clause_slots(&all[start..at]));
            start = at + 1;
        }
    }
    out.extend(clause_slots(&all[start..]));
    out
}

fn clause_slots(all: &[Token]) -> Vec<Slot> {
    let Some((subject, verb)) = subject_of(all) else {
        return Vec::new();
    };
    let Some(p) = predicate(all, verb) else {
        return Vec::new();
    };
    let mut parser = Parser {
        subject,
        out: Vec::new(),
    };
    parser.predicate(&p, &all[p.at + 1..]);
    parser.out
}

/// Who or what a fact is about.
#[derive(Debug, Clone, PartialEq)]
struct Subject {
    name: String,
    /// The noun of "User's X is …".
    noun: Option<String>,
}

/// The subject, and where its predicate begins.
fn subject_of(all: &[Token]) -> Option<(Subject, usize)> {
    // "Yesterday User went …".
    let user = all
        .iter()
        .take(10)
        .position(|token| token.is("user") || token.is("user's"));
    // "Green is User's favorite color" is about green.
    let user = user.filter(|at| {
        !all[..*at]
            .iter()
            .any(|token| token.is_any(&["is", "are", "was", "were"]))
    });
    let start = user.unwrap_or(0);
    let first = all.get(start)?;
    let named = |name: String| Subject { name, noun: None };
    if let Some(owner) = first.lower.strip_suffix("'s").filter(|_| !first.is("it's")) {
        return possessive_subject(all, start, owner);
    }
    if first.is("the") && !all.get(start + 1)?.is("user") {
        let verb = (start + 2..all.len().min(start + 8)).find(|at| is_finite(&all[*at]))?;
        let noun = value_of(&all[start + 1..verb])
            .into_iter()
            .collect::<Vec<_>>()
            .join(" ");
        return Some((
            Subject {
                name: format!("the {noun}"),
                noun: Some(noun),
            },
            verb,
        ));
    }
    let mut end = start + 1;
    if first.is("the") {
        end += 1;
    }
    let name = if user.is_some() {
        "user".to_owned()
    } else {
        first.lower.clone()
    };
    if all.get(end).is_some_and(|t| t.is("and")) && all.get(end + 1).is_some_and(|t| t.is("others"))
    {
        return Some((named(name), end + 2));
    }
    // "Alice Moreau works".
    let is_surname = user.is_none() && all.get(end).is_some_and(|t| t.is_capital());
    if is_surname {
        let surname = all[end].lower.clone();
        return Some((named(format!("{name} {surname}")), end + 1));
    }
    Some((named(name), end))
}

fn is_finite(token: &Token) -> bool {
    is_plain_verb(&token.lower)
        || token.is_any(&[
            "must", "should", "listens", "requires", "supports", "needs", "eats", "drinks",
            "speaks", "drives", "hates",
        ])
}

/// "User's manager is", "User's son Jonas lives".
fn possessive_subject(all: &[Token], start: usize, owner: &str) -> Option<(Subject, usize)> {
    let verb = (start + 2..all.len().min(start + 9)).find(|at| is_finite(&all[*at]))?;
    let words = &all[start + 1..verb];
    let noun: Vec<String> = words.iter().filter_map(value_word).collect();
    let has_name = words.last().is_some_and(Token::is_capital);
    let noun = noun.join(" ");
    let subject = Subject {
        name: format!("{owner}'s {noun}"),
        noun: (!has_name).then_some(noun),
    };
    Some((subject, verb))
}

/// What one plans, in nouns that name no plan of several.
const PLANNED: [&str; 8] = [
    "trip", "plan", "visit", "journey", "holiday", "vacation", "flight", "travel",
];

/// Verbs that end the use of something.
const DROPPING: [&str; 4] = ["drop", "abandon", "ditch", "discontinue"];

/// Words that end a value.
const STOPS: [&str; 24] = [
    "for", "with", "at", "in", "on", "as", "because", "since", "when", "while", "but", "so", "to",
    "from", "by", "after", "before", "every", "during", "until", "instead", "over", "rather",
    "which",
];

struct Parser {
    subject: Subject,
    out: Vec<Slot>,
}

impl Parser {
    fn push(
        &mut self,
        attribute: &str,
        cardinality: Cardinality,
        holds: bool,
        value: BTreeSet<String>,
        detail: BTreeSet<String>,
    ) {
        let detail = detail.difference(&value).cloned().collect();
        self.out.push(Slot {
            subject: self.subject.name.clone(),
            attribute: attribute.to_owned(),
            value,
            detail,
            cardinality,
            holds,
            is_secondary: false,
        });
    }

    /// A slot that follows beside the point of the fact.
    fn push_secondary(
        &mut self,
        attribute: &str,
        cardinality: Cardinality,
        holds: bool,
        value: BTreeSet<String>,
    ) {
        if value.is_empty() {
            return;
        }
        self.push(attribute, cardinality, holds, value, BTreeSet::new());
        if let Some(last) = self.out.last_mut() {
            last.is_secondary = true;
        }
    }

    fn predicate(&mut self, p: &Predicate, rest: &[Token]) {
        let holds = !(p.is_negated || p.is_over);
        if p.mood == Mood::Ahead && !matches!(&*p.base, "be") {
            let mut value = value_of(rest);
            if !matches!(&*p.base, "love" | "like" | "want") {
                value.insert(p.base.clone());
            }
            return self.push("plan", Many, holds, value, BTreeSet::new());
        }
        if p.mood == Mood::Unreal && p.base != "be" {
            return;
        }
        match p.base.as_str() {
            "be" | "become" => self.be(rest, holds),
            "have" => self.have(rest, holds),
            "get" => self.get(rest, holds),
            "work" => self.work(rest, holds),
            "join" => self.join(rest),
            "quit" | "stop" | "leave" | "resign" | "retire" | "give" | "cancel" => {
                self.ending(p, rest)
            }
            "start" | "begin" | "resume" => self.beginning(rest, holds),
            "switch" | "change" | "convert" | "migrate" => self.switching(rest),
            "decide" | "choose" | "pick" | "opt" => self.decision(rest, holds),
            "move" | "relocate" => self.moving(rest, holds),
            "turn" => self.push("age", One, holds, behind(rest, &[]).0, BTreeSet::new()),
            "stand" if p.is_negated => {
                self.push("like", Many, false, object(rest).0, object(rest).1)
            }
            "marry" => self.push("marital", One, holds, set(&["married"]), value_of(rest)),
            "divorce" => self.push("marital", One, holds, set(&["divorced"]), value_of(rest)),
            "break" | "split" if rest.first().is_some_and(|token| token.is("up")) => {
                let (partner, detail) = behind(rest, &["with", "from"]);
                self.push("partner", One, false, partner, detail);
            }
            "look" | "think" | "dream" | "try" => {
                self.push("plan", Many, holds, value_of(rest), BTreeSet::new())
            }
            base if DROPPING.contains(&base) && !rest.first().is_some_and(|t| t.is("out")) => {
                self.using(rest, !holds)
            }
            "know" => self.push("skill", Many, holds, value_of(rest), BTreeSet::new()),
            "diagnose" => self.push(
                "health",
                Many,
                holds,
                behind(rest, &["with"]).0,
                BTreeSet::new(),
            ),
            "bear" => self.born(rest),
            "prefer" => self.prefer(rest, holds),
            base => self.by_row(base, p.form, rest, holds),
        }
    }

    fn by_row(&mut self, base: &str, form: VerbForm, rest: &[Token], holds: bool) {
        let Some(row) = ROWS
            .iter()
            .find(|row| row.verbs.split_ascii_whitespace().any(|verb| verb == base))
        else {
            return;
        };
        let (mut value, detail) = match row.reading {
            ValueRule::Behind(words) => behind(rest, words),
            ValueRule::Object | ValueRule::VerbAndObject => object(rest),
        };
        if row.reading == ValueRule::VerbAndObject {
            // "swims in the sea": what stands behind a preposition is detail; the verb alone is a value.
            value.insert(base.to_owned());
        }
        if value.is_empty() && row.attribute != "home" {
            return;
        }
        // "Made a cake" is no income.
        let has_number = value
            .iter()
            .any(|word| word.contains(|c: char| c.is_ascii_digit()));
        if row.attribute == "earn" && !has_number {
            return;
        }
        let holds = holds == row.holds;
        // A habit of the past is an event: it conflicts with nothing.
        let is_event = row.attribute == "do" && form == VerbForm::Past && holds;
        let cardinality = if is_event { Event } else { row.cardinality };
        match row.attribute {
            "use" => return self.using(rest, holds),
            "do" if !is_event => self.diet(&value, holds),
            _ => {}
        }
        // "Is going to Lima in May" is ahead.
        let is_ahead = row.attribute == "event"
            && form == VerbForm::Progressive
            && matches!(base, "go" | "visit" | "travel" | "fly" | "attend");
        if is_ahead {
            return self.push("plan", Many, holds, value, detail);
        }
        self.push(row.attribute, cardinality, holds, value, detail);
        if row.attribute == "study"
            && let Some(at) = rest.iter().position(|token| token.is("at"))
        {
            self.push_secondary("school", One, holds, object(&rest[at + 1..]).0);
        }
    }

    /// What one eats says how one eats.
    fn diet(&mut self, value: &BTreeSet<String>, holds: bool) {
        let eats = |words: &[&str]| {
            value.contains("eat") && words.iter().any(|word| value.contains(*word))
        };
        if eats(&["meat", "beef", "chicken", "pork", "steak", "burger"]) {
            let diet = if holds { "omnivore" } else { "vegetarian" };
            self.push_secondary("diet", One, true, set(&[diet]));
        }
    }

    fn be(&mut self, rest: &[Token], holds: bool) {
        let is_now = rest
            .first()
            .is_some_and(|token| token.is_any(&["now", "currently"]));
        let rest = without_adverbs(rest);
        let Some(first) = rest.first() else { return };
        let second = rest.get(1);
        if first.is("employed")
            && let Some(by) = rest.iter().position(|token| token.is_any(&["by", "at"]))
        {
            return self.push(
                "work",
                One,
                holds,
                object(&rest[by + 1..]).0,
                BTreeSet::new(),
            );
        }
        let word = first.lower.as_str();
        // "very", "severely", "also": the word that decides may be the second.
        let head = if COMPLEMENTS.iter().any(|(words, ..)| words.contains(&word)) {
            first
        } else {
            second.unwrap_or(first)
        };
        if let Some((_, attribute, cardinality)) =
            COMPLEMENTS.iter().find(|(words, ..)| head.is_any(words))
        {
            let at = rest
                .iter()
                .position(|token| std::ptr::eq(token, head))
                .unwrap_or(0);
            return self.complement(
                head,
                &rest[at + 1..],
                &rest[..at],
                attribute,
                *cardinality,
                holds,
            );
        }
        if first.has_digit() && self.subject.noun.is_none() {
            let is_height = rest.iter().any(|t| t.is_any(&["tall", "cm", "feet"]))
                || first.lower.ends_with("cm");
            let attribute = if is_height { "height" } else { "age" };
            let number = first.lower.trim_end_matches(|c: char| !c.is_ascii_digit());
            return self.push(attribute, One, holds, set(&[number]), BTreeSet::new());
        }
        if first.is_any(&["a", "an", "the"]) && self.subject.noun.as_deref().is_none_or(is_being) {
            return self.kind_of(&rest[1..], holds);
        }
        if first.is("at") {
            // "Is now at Acme", "is at Acme Corp"; "is at home" says where.
            let value = object(&rest[1..]).0;
            let is_employer = is_now || value.iter().any(|word| is_organisation_word(word));
            if is_employer {
                return self.push("work", One, holds, value, BTreeSet::new());
            }
        }
        if first.is_any(&["good", "bad"]) && second.is_some_and(|t| t.is("at")) {
            let is_good = first.is("good");
            return self.push(
                "skill",
                Many,
                holds == is_good,
                value_of(&rest[2..]),
                BTreeSet::new(),
            );
        }
        // "Python is User's favorite language".
        if let Some(at) = rest
            .iter()
            .position(|token| token.is_any(&["favorite", "favourite"]))
            && rest[..at].iter().any(|token| token.is("user's"))
        {
            let noun = value_of(&rest[at + 1..])
                .into_iter()
                .collect::<Vec<_>>()
                .join(" ");
            let value: BTreeSet<String> = self.subject.name.split(' ').map(str::to_owned).collect();
            self.subject.name = format!("user's favorite {noun}");
            return self.push("is", One, holds, value, BTreeSet::new());
        }
        let (value, detail) = (value_of(rest), BTreeSet::new());
        match self.subject.noun.as_deref() {
            Some(noun) => {
                let last = noun.rsplit(' ').next().unwrap_or(noun);
                let several = SEVERAL.contains(&last)
                    || SEVERAL.contains(&&*singular(last)) && singular(last) != last;
                let is_favorite = noun.starts_with("favorite");
                let cardinality = if several && !is_favorite { Many } else { One };
                self.push("is", cardinality, holds, value, detail);
            }
            None => self.push("is", Many, holds, value, detail),
        }
    }

    fn complement(
        &mut self,
        head: &Token,
        behind: &[Token],
        before: &[Token],
        attribute: &str,
        cardinality: Cardinality,
        holds: bool,
    ) {
        let (value, detail) = match attribute {
            "like" | "speak" | "origin" | "home" | "fear" => {
                object(without_first_preposition(behind))
            }
            "birth" => return self.born(behind),
            "health" => {
                let mut value = object(without_first_preposition(behind)).0;
                if value.is_empty() || !head.is_any(&["allergic", "diagnosed"]) {
                    value.extend(value_word(head));
                    value.extend(value_of(before));
                }
                if head.is("allergic") {
                    value.insert("allergic".into());
                }
                (value, BTreeSet::new())
            }
            "name" => (value_of(behind), BTreeSet::new()),
            _ => (set(&[&head.lower]), value_of(behind)),
        };
        self.push(attribute, cardinality, holds, value, detail);
    }

    /// "is a senior engineer at Google", "is a fan of jazz", "is a mother of two".
    fn kind_of(&mut self, rest: &[Token], holds: bool) {
        if let Some(at) = rest
            .iter()
            .take(5)
            .position(|t| t.is("fan") || t.is("lover"))
        {
            let behind = rest
                .get(at + 1)
                .filter(|t| t.is("of"))
                .map_or(&rest[..at], |_| &rest[at + 2..]);
            return self.push("like", Many, holds, object(behind).0, object(behind).1);
        }
        let end = rest
            .iter()
            .position(|t| STOPS.contains(&t.lower.as_str()) || t.is("of"))
            .unwrap_or(rest.len());
        // "Is a teacher now".
        let behind = rest[..end].iter().rev();
        let adverbs = behind
            .take_while(|token| crate::text::predicate::is_adverb(token) || token.is("again"));
        let noun = &rest[..end - adverbs.count()];
        let is_diet = noun
            .iter()
            .any(|t| t.is_any(&["vegetarian", "vegan", "pescatarian"]));
        if is_diet {
            return self.push("diet", One, holds, value_of(noun), BTreeSet::new());
        }
        let head = noun.last().map(|t| singular(&t.lower)).unwrap_or_default();
        if !is_profession(&head) {
            return self.push("is", Many, holds, value_of(rest), BTreeSet::new());
        }
        let place = rest
            .iter()
            .skip(end)
            .position(|t| t.is_any(&["at", "for"]))
            .map(|at| &rest[end + at + 1..]);
        match place {
            Some(place) if place.first().is_some_and(Token::is_capital) => {
                let mut detail = value_of(noun);
                detail.extend(object(place).1);
                self.push("work", One, holds, object(place).0, detail);
                self.push_secondary("role", One, holds, value_of(noun));
            }
            _ => self.push("role", One, holds, value_of(noun), value_of(&rest[end..])),
        }
    }

    fn have(&mut self, rest: &[Token], holds: bool) {
        let rest = without_adverbs(rest);
        let Some(first) = rest.first() else { return };
        let is_illness = rest.iter().take(4).any(|t| {
            t.is_any(&[
                "asthma",
                "diabetes",
                "adhd",
                "allergy",
                "allergies",
                "migraines",
                "anxiety",
                "depression",
                "arthritis",
                "insomnia",
                "epilepsy",
            ])
        });
        let (mut value, detail) = object_named(rest);
        let is_none = first.is("no");
        if is_illness {
            return self.push("health", Many, holds && !is_none, value, detail);
        }
        let count = value
            .iter()
            .find(|word| word.chars().all(|c| c.is_ascii_digit()))
            .cloned();
        // "two cats and a dog" counts no one thing.
        let is_list = rest[..end_of(rest)].iter().any(|token| token.is("and"));
        if let Some(count) = count.filter(|_| value.len() > 1 && !is_list) {
            value.remove(&count);
            let noun = value.iter().cloned().collect::<Vec<_>>().join(" ");
            return self.push(&format!("count {noun}"), One, holds, set(&[&count]), detail);
        }
        self.push("possess", Many, holds && !is_none, value, detail);
    }

    fn get(&mut self, rest: &[Token], holds: bool) {
        let rest = without_adverbs(rest);
        let Some(first) = rest.first() else { return };
        if first.is_any(&["married", "engaged", "divorced", "separated"]) {
            return self.push(
                "marital",
                One,
                holds,
                set(&[&first.lower]),
                value_of(&rest[1..]),
            );
        }
        if first.is("promoted") {
            return self.push("role", One, holds, behind(rest, &["to"]).0, BTreeSet::new());
        }
        if first.is("rid") && rest.len() > 2 {
            return self.push(
                "possess",
                Many,
                false,
                object(&rest[2..]).0,
                BTreeSet::new(),
            );
        }
        if let Some(at) = job_place(rest) {
            return self.push("work", One, holds, object(&rest[at..]).0, BTreeSet::new());
        }
        let (value, detail) = object_named(rest);
        self.push("possess", Many, holds, value, detail);
    }

    /// "works at X as Y", "works as Y", "works in tech", "works on X".
    fn work(&mut self, rest: &[Token], holds: bool) {
        let (employer, detail) = behind(rest, &["at", "for"]);
        let (role, _) = behind(rest, &["as"]);
        if rest.iter().any(|token| token.is("on")) && employer.is_empty() {
            return self.push("project", Many, holds, behind(rest, &["on"]).0, detail);
        }
        let place = if employer.is_empty() {
            behind(rest, &["in"]).0
        } else {
            employer
        };
        if place.is_empty() && !role.is_empty() {
            return self.push("role", One, holds, role, detail);
        }
        let mode = value_of(rest);
        if place.is_empty() {
            let is_mode = contrast(&mode).is_some_and(|(name, _)| name == "place of work");
            if is_mode || rest.iter().any(|token| token.is("from")) {
                self.push("work mode", One, holds, mode, BTreeSet::new());
            }
            return;
        }
        self.push("work", One, holds, place, detail);
        self.push_secondary("role", One, holds, role);
    }

    fn join(&mut self, rest: &[Token]) {
        let is_club = rest
            .first()
            .is_some_and(|t| t.is_any(&["a", "an", "the", "user's", "their", "my"]));
        let (value, detail) = object(rest);
        let (attribute, cardinality) = if is_club {
            ("member", Many)
        } else {
            ("work", One)
        };
        self.push(attribute, cardinality, true, value, detail);
    }

    /// "quit smoking", "left Acme", "stopped playing tennis", "gave up coffee".
    fn ending(&mut self, p: &Predicate, rest: &[Token]) {
        let rest = without_adverbs(rest);
        let is_plan = p.base == "cancel";
        let gives = p.base == "give";
        if gives && !rest.first().is_some_and(|t| t.is("up") || t.is("away")) {
            return;
        }
        let rest = if gives { &rest[1..] } else { rest };
        if is_plan {
            let mut value = value_of(rest);
            let is_specific = value.iter().any(|word| !PLANNED.contains(&word.as_str()));
            value.retain(|word| !is_specific || !PLANNED.contains(&word.as_str()));
            return self.push("plan", Many, false, value, BTreeSet::new());
        }
        let Some(first) = rest.first() else {
            // "User stopped", "User left" say nothing of work.
            if matches!(p.base.as_str(), "quit" | "resign" | "retire") {
                self.push("work", One, false, BTreeSet::new(), BTreeSet::new());
            }
            return;
        };
        if base_form(&first.lower).1 == VerbForm::Progressive {
            return self.doing(first, &rest[1..], false);
        }
        let rest = if first.is("from") { &rest[1..] } else { rest };
        let is_job = rest.iter().take(4).any(|t| t.is("job") || t.is("position"));
        let (value, detail) = match job_place(rest) {
            Some(at) => object(&rest[at..]),
            None if is_job => (BTreeSet::new(), BTreeSet::new()),
            None => object(rest),
        };
        // "Quit coffee", "quit the bakery": what one does, or where one works.
        let is_lower = rest.first().is_some_and(|token| !token.is_capital());
        let is_quit = p.base == "quit" && is_lower && !is_job && !value.is_empty();
        if is_quit {
            self.push_secondary("work", One, false, value.clone());
            self.push_secondary("member", Many, false, value.clone());
        }
        if gives || is_quit || p.base == "stop" {
            let mut drunk = value.clone();
            drunk.extend(["drink".to_owned()]);
            self.push("like", Many, false, value.clone(), detail);
            self.push_secondary("do", Many, false, drunk);
            return self.push_secondary("possess", Many, false, value);
        }
        self.push("work", One, false, value.clone(), detail);
        self.push_secondary("member", Many, false, value.clone());
        self.push_secondary("home", One, false, value);
    }

    /// A verb in "-ing" that begins or ends.
    fn doing(&mut self, verb: &Token, rest: &[Token], holds: bool) {
        let (base, _) = base_form(&verb.lower);
        match base.as_str() {
            "work" => self.work(rest, holds),
            "live" => self.push(
                "home",
                One,
                holds,
                behind(rest, &["in", "at", "near"]).0,
                BTreeSet::new(),
            ),
            "use" => self.using(rest, holds),
            "learn" | "study" => self.push("study", Many, holds, object(rest).0, BTreeSet::new()),
            "date" => self.push("partner", One, holds, object(rest).0, BTreeSet::new()),
            "drive" => self.push("vehicle", One, holds, object(rest).0, BTreeSet::new()),
            _ => {
                let (mut value, detail) = object(rest);
                value.insert(base);
                self.diet(&value, holds);
                self.push("do", Many, holds, value, detail);
            }
        }
    }

    fn beginning(&mut self, rest: &[Token], holds: bool) {
        let Some(first) = rest.first() else { return };
        if base_form(&first.lower).1 == VerbForm::Progressive {
            return self.doing(first, &rest[1..], holds);
        }
        if first.is("at") {
            return self.push("work", One, holds, object(&rest[1..]).0, BTreeSet::new());
        }
        if let Some(at) = job_place(rest) {
            return self.push("work", One, holds, object(&rest[at..]).0, BTreeSet::new());
        }
        let (mut value, detail) = object(rest);
        value.insert("start".into());
        self.push("event", Event, holds, value, detail);
    }

    /// "switched from A to B (for C)".
    fn switching(&mut self, rest: &[Token]) {
        let new = between(rest, "to");
        if new.is_empty() {
            return;
        }
        let qualifier = between(rest, "for");
        let old = between(rest, "from");
        let is_open = old.is_empty() && qualifier.is_empty();
        let group = contrast(&new).filter(|(name, _)| is_open && EXCLUSIVE.contains(name));
        self.push("use", Many, true, new, qualifier);
        // A switch ends the use of the others of the kind, whichever it was.
        for other in group
            .map(|(name, member)| others(name, member))
            .unwrap_or_default()
        {
            self.push_secondary("use", Many, false, set(&[other]));
        }
        self.push_secondary("use", Many, false, old);
    }

    /// "uses A for B", "uses A instead of B".
    fn using(&mut self, rest: &[Token], holds: bool) {
        let (value, _) = object(without_first_preposition(rest));
        self.push("use", Many, holds, value, between(rest, "for"));
        if let Some(at) = rest.iter().position(|token| token.is("instead")) {
            let old = object(rest.get(at + 2..).unwrap_or_default()).0;
            self.push_secondary("use", Many, false, old);
        }
    }

    fn decision(&mut self, rest: &[Token], holds: bool) {
        let rest = without_adverbs(rest);
        let Some(first) = rest.first() else { return };
        if first.is("to") {
            let inner = rest
                .iter()
                .skip(1)
                .position(|t| !t.is("not"))
                .map_or(1, |at| at + 1);
            let is_negated = rest.get(1).is_some_and(|t| t.is("not"));
            let Some(verb) = rest.get(inner) else { return };
            let holds = holds && !is_negated;
            if verb.is("use") {
                return self.using(&rest[inner + 1..], holds);
            }
            if verb.is_any(&DROPPING) {
                return self.using(&rest[inner + 1..], !holds);
            }
            return self.push(
                "plan",
                Many,
                holds,
                value_of(&rest[inner..]),
                BTreeSet::new(),
            );
        }
        let holds = holds && !first.is("against");
        let rest = without_first_preposition(rest);
        let (value, detail) = object(rest);
        self.push("choice", Many, holds, value, detail);
    }

    fn moving(&mut self, rest: &[Token], holds: bool) {
        let value = between(rest, "to");
        if value.is_empty() {
            let origin = between(rest, "from");
            let out = rest.first().is_some_and(|t| t.is("out"));
            return self.push(
                if out { "home" } else { "event" },
                if out { One } else { Event },
                !out,
                origin,
                value_of(rest),
            );
        }
        // "The deadline moved to 8 September" is about a date.
        if self
            .subject
            .noun
            .as_deref()
            .is_some_and(|noun| !is_being(noun))
        {
            return self.push("is", One, holds, value, BTreeSet::new());
        }
        // "Moved the meeting to Friday": who moves something stays.
        let moved = without_adverbs(rest).first();
        if moved.is_some_and(|token| token.is_any(&["the", "a", "an", "my", "their", "her", "his"]))
        {
            return self.push("event", Event, holds, value, value_of(rest));
        }
        self.push("home", One, holds, value, BTreeSet::new());
        self.push_secondary("home", One, false, between(rest, "from"));
    }

    fn born(&mut self, rest: &[Token]) {
        let (value, _) = object(without_first_preposition(rest));
        let is_date = value
            .iter()
            .any(|word| word.chars().any(|c| c.is_ascii_digit()));
        self.push(
            if is_date { "birth date" } else { "birth place" },
            One,
            true,
            value,
            BTreeSet::new(),
        );
    }

    /// "prefers A over B for C".
    fn prefer(&mut self, rest: &[Token], holds: bool) {
        let (value, _) = object(rest);
        let mut detail = between(rest, "for");
        let against = ["over", "to", "than"]
            .iter()
            .map(|word| between(rest, word))
            .find(|words| !words.is_empty());
        detail.extend(against.clone().unwrap_or_default());
        self.push("prefer", Many, holds, value, detail);
        self.push_secondary("prefer", Many, false, against.unwrap_or_default());
    }
}

/// Complements of "be" with an attribute of their own.
const COMPLEMENTS: [(&[&str], &str, Cardinality); 12] = [
    (
        &[
            "married",
            "single",
            "divorced",
            "engaged",
            "widowed",
            "separated",
        ],
        "marital",
        One,
    ),
    (
        &[
            "vegetarian",
            "vegan",
            "pescatarian",
            "omnivore",
            "halal",
            "keto",
        ],
        "diet",
        One,
    ),
    (
        &[
            "allergic",
            "diabetic",
            "asthmatic",
            "pregnant",
            "intolerant",
            "autistic",
            "dyslexic",
            "colorblind",
            "deaf",
            "blind",
            "diagnosed",
        ],
        "health",
        Many,
    ),
    (&["left-handed", "right-handed"], "handedness", One),
    (
        &[
            "retired",
            "unemployed",
            "self-employed",
            "employed",
            "freelance",
        ],
        "employment",
        One,
    ),
    (&["from"], "origin", One),
    (&["based", "located", "stationed"], "home", One),
    (&["born"], "birth", One),
    (&["fluent"], "speak", Many),
    (
        &[
            "into",
            "keen",
            "fond",
            "passionate",
            "obsessed",
            "interested",
            "hooked",
        ],
        "like",
        Many,
    ),
    (&["afraid", "scared", "terrified"], "fear", Many),
    (&["named", "called"], "name", One),
];

fn is_being(noun: &str) -> bool {
    let last = noun.rsplit(' ').next().unwrap_or(noun);
    SEVERAL.contains(&last)
        && !matches!(
            last,
            "hobby" | "goal" | "dream" | "interest" | "allergy" | "skill" | "passion" | "strength"
        )
        || matches!(
            last,
            "wife"
                | "husband"
                | "partner"
                | "mother"
                | "father"
                | "mom"
                | "dad"
                | "mum"
                | "boss"
                | "manager"
                | "girlfriend"
                | "boyfriend"
        )
}

fn set(words: &[&str]) -> BTreeSet<String> {
    words.iter().map(|word| (*word).to_owned()).collect()
}

fn without_adverbs(tokens: &[Token]) -> &[Token] {
    let count = tokens
        .iter()
        .take_while(|t| crate::text::predicate::is_adverb(t) || t.is("not") || t.is("again"))
        .count();
    let count = count
        + if starts(&tokens[count..], &["no", "longer"]) {
            2
        } else {
            0
        };
    &tokens[count..]
}

fn starts(tokens: &[Token], words: &[&str]) -> bool {
    tokens.len() >= words.len() && words.iter().zip(tokens).all(|(word, token)| token.is(word))
}

fn without_first_preposition(tokens: &[Token]) -> &[Token] {
    let skips = tokens.first().is_some_and(|t| {
        t.is_any(&[
            "in", "on", "to", "of", "with", "about", "for", "at", "from", "into",
        ])
    });
    if skips { &tokens[1..] } else { tokens }
}

/// Where a value ends.
fn end_of(tokens: &[Token]) -> usize {
    for (at, token) in tokens.iter().enumerate() {
        let is_stop = STOPS.contains(&token.lower.as_str());
        if is_stop && (at > 0 || token.is_any(&["because", "since", "when", "while", "so"])) {
            return at;
        }
        if token.breaks() && !token.tail.contains(',') {
            return at + 1;
        }
        // "Porto, Portugal" goes on; "Porto, where …" does not.
        if token.tail.contains(',')
            && !tokens
                .get(at + 1)
                .is_some_and(|next| next.is_capital() || next.is("and"))
        {
            return at + 1;
        }
    }
    tokens.len()
}

/// The object of a verb: its value, and the words behind it.
fn object(tokens: &[Token]) -> (BTreeSet<String>, BTreeSet<String>) {
    let end = end_of(tokens);
    (value_of(&tokens[..end]), value_of(&tokens[end..]))
}

/// The object of "has": "a dog named Max" is all value.
fn object_named(tokens: &[Token]) -> (BTreeSet<String>, BTreeSet<String>) {
    let (mut value, detail) = object(tokens);
    for word in ["named", "called", "name", "call"] {
        value.remove(word);
    }
    (value, detail)
}

/// The value behind the first of the prepositions, and all other words; without a preposition the object.
fn behind(tokens: &[Token], words: &[&str]) -> (BTreeSet<String>, BTreeSet<String>) {
    if words.is_empty() {
        return object(tokens);
    }
    let Some(at) = tokens.iter().position(|token| token.is_any(words)) else {
        return (BTreeSet::new(), value_of(tokens));
    };
    let (value, mut detail) = object(&tokens[at + 1..]);
    detail.extend(value_of(&tokens[..at]));
    (value, detail)
}

/// The value behind one word, up to the next preposition.
fn between(tokens: &[Token], word: &str) -> BTreeSet<String> {
    let at = tokens.iter().position(|token| token.is(word));
    at.map(|at| object(&tokens[at + 1..]).0).unwrap_or_default()
}

/// Where the employer stands in "a (new) job at X".
fn job_place(tokens: &[Token]) -> Option<usize> {
    let job = tokens
        .iter()
        .take(6)
        .position(|t| t.is_any(&["job", "position", "role", "internship", "career", "offer"]))?;
    let at = tokens
        .iter()
        .skip(job)
        .position(|t| t.is_any(&["at", "with", "from"]))?;
    Some(job + at + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(text: &str) -> Vec<String> {
        let slot = |slot: &Slot| {
            let value = slot.value.iter().cloned().collect::<Vec<_>>().join(" ");
            let sign = if slot.holds { "" } else { "!" };
            let mark = if slot.is_secondary { "~" } else { "" };
            format!("{mark}{sign}{}/{}: {value}", slot.subject, slot.attribute)
        };
        slots_of(text).iter().map(slot).collect()
    }

    #[test]
    fn facts_fill_their_slots() {
        for (text, expected) in [
            ("User's name is Bob", &["user's name/is: bob"][..]),
            ("User lives in New York", &["user/home: new york"]),
            (
                "User moved from Lisbon to Porto in March",
                &["user/home: porto", "~!user/home: lisbon"],
            ),
            (
                "User works at Acme Corp as a data scientist",
                &["user/work: acme corp", "~user/role: data scientist"],
            ),
            ("User is a senior engineer", &["user/role: engineer senior"]),
            ("User likes jazz", &["user/like: jazz"]),
            ("User cannot stand musicals", &["!user/like: musical"]),
            ("User has two kids", &["user/count kid: 2"]),
            ("User has a dog named Max", &["user/possess: dog max"]),
            (
                "User's favorite color is blue",
                &["user's favorite color/is: blue"],
            ),
            (
                "User's son Jonas is lactose intolerant",
                &["user's son jonas/health: intolerant lactose"],
            ),
            ("User quit smoking", &["!user/do: smoke"]),
            (
                "User switched from VS Code to Neovim",
                &["user/use: neovim", "~!user/use: code vs"],
            ),
            ("User is 34 years old", &["user/age: 34"]),
            (
                "The deadline is 1 September",
                &["the deadline/is: 1 september"],
            ),
            ("Alice works at Google", &["alice/work: google"]),
            ("User is vegetarian", &["user/diet: vegetarian"]),
        ] {
            assert_eq!(shown(text), expected, "{text}");
        }
    }

    proptest::proptest! {
        #[test]
        fn no_text_panics(text in "\\PC{0,60}|(User|User's|is|a|works|at|as|from|to|quit|has|2|dog|named|Max|favorite|not|,|the| ){0,16}") {
            let _ = slots_of(&text);
        }
    }
}
