//! What a value is, by its shape or a list: two values of one type exclude each other in a slot that has one.
//!
//! What neither a shape nor a list names has no type: "in a dorm", "at the job". It ends nothing.

use std::collections::BTreeSet;

use crate::slots::slot::Slot;
use crate::slots::values::{EXCLUSIVE, contrast, is_organisation_word};

use super::reading::FactReading;
use super::words::{
    CAR_MAKES, COUNTRIES, DATE_WORDS, DIETS, FAVOURITES, FIELDS, NO_PLACES, NUMBER_WORDS,
    ONE_HANDLE, ONE_ORGANISATION, ONE_PERSON, ONE_PLACE, PROFESSIONS, SUBJECTS, WAYS_TO_COMMUTE,
};

/// Words of a favourite at most: more are a description.
const FAVOURITE_WORDS_MAX: usize = 4;
/// Digits of a telephone number at least.
const PHONE_DIGITS_MIN: usize = 6;

/// The type of a value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum ValueType {
    City,
    Country,
    Organisation,
    Person,
    Name,
    Date,
    /// A time of the day.
    Clock,
    /// A number of something: `kg`.
    Number(BTreeSet<String>),
    /// An address, a number or a name by which something is reached.
    Handle,
    /// One of a list.
    OneOf(&'static str),
}

/// The type of the value of a slot which has one value.
pub(super) fn value_type(slot: &Slot, reading: &FactReading) -> Option<ValueType> {
    let phrases = reading.phrases();
    // "Rome last month" is Rome.
    let slot = &Slot {
        value: phrases.without_times(&slot.value),
        ..slot.clone()
    };
    let value = &slot.value;
    if !slot.is_one() || value.is_empty() || phrases.is_joined(value) {
        return None;
    }
    let is_name = phrases.is_name(value);
    let in_list = |list: &[&str]| value.iter().any(|word| list.contains(&word.as_str()));
    let one_of = |is_it: bool, set| is_it.then_some(ValueType::OneOf(set));
    match slot.attribute.as_str() {
        "home" => {
            let is_place = phrases
                .before(value)
                .is_some_and(|word| matches!(word, "in" | "to" | "of"))
                && !in_list(NO_PLACES)
                && !in_list(DATE_WORDS)
                && !phrases.is_technical(value)
                && contrast(value).is_none();
            place(slot, reading).filter(|_| is_place)
        }
        "origin" | "birth place" => place(slot, reading),
        "work" => employer(slot, reading),
        "school" => is_name.then_some(ValueType::Organisation),
        "role" => one_of(in_list(PROFESSIONS), "professions"),
        "marital" | "handedness" | "employment" => one_of(true, "states"),
        "diet" => one_of(in_list(DIETS), "diets"),
        "major" => one_of(in_list(SUBJECTS), "subjects"),
        "commute" => one_of(in_list(WAYS_TO_COMMUTE), "ways to commute"),
        "vehicle" => one_of(in_list(CAR_MAKES), "makes of cars"),
        "work mode" => one_of(contrast(value).is_some(), "places of work"),
        "partner" => is_name.then_some(ValueType::Person),
        "name" => is_name.then_some(ValueType::Name),
        "wake" => number(value, false).map(|_| ValueType::Clock),
        "birth date" => number(value, false).map(|_| ValueType::Date),
        "is" => possession(slot, reading),
        _ => number(value, false),
    }
}

/// True if the new value is one where the old one only names the field.
pub(super) fn names_employer(new: &Slot, old: &Slot, fresh: &FactReading) -> bool {
    let is_field = old.value.iter().all(|word| FIELDS.contains(&word.as_str()));
    new.attribute == "work" && is_field && value_type(new, fresh) == Some(ValueType::Organisation)
}

fn place(slot: &Slot, reading: &FactReading) -> Option<ValueType> {
    let is_country = slot
        .value
        .iter()
        .any(|word| COUNTRIES.contains(&word.as_str()));
    match (reading.phrases().is_name(&slot.value), is_country) {
        (false, _) => None,
        // "Porto, Portugal" is a city.
        (true, true) if slot.value.len() < 3 && !reading.has_comma => Some(ValueType::Country),
        (true, _) => Some(ValueType::City),
    }
}

fn employer(slot: &Slot, reading: &FactReading) -> Option<ValueType> {
    let phrases = reading.phrases();
    if !phrases.is_name(&slot.value) {
        return None;
    }
    if phrases.before(&slot.value) == Some("in") {
        return place(slot, reading);
    }
    let words = slot.value.iter().chain(&slot.detail);
    let is_formal = words.clone().any(|word| is_organisation_word(word))
        || words
            .clone()
            .any(|word| PROFESSIONS.contains(&word.as_str()));
    // One joins clubs and networks as well.
    (!phrases.has_verb("join") || is_formal).then_some(ValueType::Organisation)
}

/// "User's manager is Alice", "The deadline is 1 September": what the noun takes.
fn possession(slot: &Slot, reading: &FactReading) -> Option<ValueType> {
    let (value, phrases) = (&slot.value, reading.phrases());
    let noun = slot.subject.rsplit("'s ").next().unwrap_or(&slot.subject);
    let is_noun = |list: &[&str]| noun.split(' ').any(|word| list.contains(&word));
    let is_name = phrases.is_name(value);
    let is_liked = ["favorite", "preferred", "main", "primary", "default"]
        .iter()
        .any(|word| noun.split(' ').any(|own| own == *word));
    match () {
        () if is_liked => {
            let is_short = value.len() <= FAVOURITE_WORDS_MAX && slot.detail.is_empty();
            (is_short && is_noun(FAVOURITES)).then_some(ValueType::OneOf("favourites"))
        }
        () if is_noun(&["name", "surname"]) => is_name.then_some(ValueType::Name),
        () if is_noun(ONE_PERSON) && is_name => Some(ValueType::Person),
        () if is_noun(ONE_ORGANISATION) && is_name => Some(ValueType::Organisation),
        () if is_noun(ONE_PLACE) && (is_name || number(value, true).is_some()) => {
            place(slot, reading).or(Some(ValueType::City))
        }
        () if is_noun(ONE_HANDLE) && value.len() <= 2 => Some(ValueType::Handle),
        // "User's goal is to run a marathon in May": a plan with a date is no date.
        () if is_noun(&[
            "goal", "dream", "plan", "aim", "hobby", "job", "idea", "problem",
        ]) =>
        {
            None
        }
        // "The database is Postgres".
        () => {
            match contrast(value).filter(|(set, _)| value.len() == 1 && EXCLUSIVE.contains(set)) {
                Some((set, _)) => Some(ValueType::OneOf(set)),
                None => number(value, true),
            }
        }
    }
}

/// A number with its unit, a date, a time, an address: by shape.
fn number(value: &BTreeSet<String>, is_strict: bool) -> Option<ValueType> {
    let has_digit = |word: &str| word.contains(|c: char| c.is_ascii_digit());
    let is_date = |word: &str| DATE_WORDS.contains(&word) || is_iso_date(word);
    if value
        .iter()
        .any(|word| word.contains('@') || word.contains("://"))
    {
        return Some(ValueType::Handle);
    }
    if value.iter().any(|word| is_date(word)) && (!is_strict || value.len() <= 4) {
        return Some(ValueType::Date);
    }
    let mut unit = BTreeSet::new();
    let (mut numbers, mut is_clock) = (0, false);
    for word in value {
        if matches!(word.as_str(), "am" | "pm" | "o'clock" | "uhr") {
            is_clock = true;
        } else if has_digit(word) {
            let digits = word.chars().filter(char::is_ascii_digit).count();
            if digits >= PHONE_DIGITS_MIN && word.contains('-') {
                return Some(ValueType::Handle);
            }
            numbers += 1;
            is_clock |= word.contains(':') || word.ends_with("am") || word.ends_with("pm");
            let letters = word.trim_start_matches(|c: char| !c.is_alphabetic());
            if !letters.is_empty() {
                unit.insert(letters.to_owned());
            }
        } else if NUMBER_WORDS.contains(&word.as_str()) {
            numbers += 1;
        } else {
            unit.insert(word.clone());
        }
    }
    match (numbers, is_clock) {
        (0, _) => None,
        (_, true) => Some(ValueType::Clock),
        // A number with its unit, and no more: "3 friends from work" is a description.
        (_, false) => (unit.len() <= 2).then_some(ValueType::Number(unit)),
    }
}

/// "2024-05-03".
fn is_iso_date(word: &str) -> bool {
    let parts: Vec<&str> = word.split('-').collect();
    parts.len() == 3
        && parts
            .iter()
            .all(|part| !part.is_empty() && part.chars().all(|c| c.is_ascii_digit()))
        && parts[0].len() == 4
}
