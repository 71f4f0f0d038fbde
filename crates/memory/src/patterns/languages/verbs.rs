//! Verbs of a table, written out as forms.
//!
//! A class is a template of forms with `*` for the stem: `*e/*t/*en/*en` are "I", "he", "we" and "they" of the
//! present, `p:` the simple past, `h:` the past of habits, `f:` the future; `.` is a participle, `~` an infinitive,
//! `^` a gerund. A `-` leaves a form out.

use std::collections::HashMap;

use super::pairs::Pairs;

/// The time of a finite form.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum VerbTense {
    Present,
    Past,
    /// The past of habits and states.
    Habit,
    Future,
}

/// The person of a finite form.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum VerbPerson {
    I = 0,
    He = 1,
    We = 2,
    They = 3,
}

impl VerbPerson {
    /// The person of the same number that a fact has.
    pub(super) fn in_facts(self) -> Self {
        match self {
            Self::I | Self::He => Self::He,
            Self::We | Self::They => Self::They,
        }
    }
}

/// A form of a verb.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum WordForm {
    /// With the forms of all persons.
    Finite(VerbTense, VerbPerson, [String; 4]),
    Participle,
    Infinitive,
    Gerund,
}

/// A verb that has a word among its forms.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct VerbHit {
    /// The English verb in its base form.
    pub(super) base: &'static str,
    /// The English past.
    pub(super) past: &'static str,
    pub(super) form: WordForm,
}

impl VerbHit {
    /// True if the form tells the language of a short text.
    pub(super) fn is_marker(&self) -> bool {
        matches!(self.form, WordForm::Finite(..) | WordForm::Participle)
    }
}

/// All forms of all verbs.
pub(super) fn expanded(
    classes: Pairs,
    verbs: &'static [(&'static str, &'static str, &'static str)],
) -> HashMap<String, Vec<VerbHit>> {
    let mut out: HashMap<String, Vec<VerbHit>> = HashMap::new();
    for (english, class, stems) in verbs {
        let (base, past) = english.split_once('|').unwrap_or((english, english));
        if *class == "=" {
            add_forms(base, past, stems, "", &mut out);
            continue;
        }
        let template = classes.iter().find(|(name, _)| name == class);
        for stem in stems.split_ascii_whitespace() {
            add_forms(
                base,
                past,
                template.map_or("", |(_, forms)| forms),
                stem,
                &mut out,
            );
        }
    }
    out
}

fn add_forms(
    base: &'static str,
    past: &'static str,
    template: &str,
    stem: &str,
    out: &mut HashMap<String, Vec<VerbHit>>,
) {
    let mut put = |word: &str, form: WordForm| {
        let hit = VerbHit { base, past, form };
        let hits = out.entry(word.to_owned()).or_default();
        if word != "-" && !hits.contains(&hit) {
            hits.push(hit);
        }
    };
    for part in template.split_ascii_whitespace() {
        let part = part.replace('*', stem);
        let (tense, forms) = match part.split_once(':') {
            Some(("p", forms)) => (VerbTense::Past, forms),
            Some(("h", forms)) => (VerbTense::Habit, forms),
            Some(("f", forms)) => (VerbTense::Future, forms),
            _ => (VerbTense::Present, part.as_str()),
        };
        match part.chars().next() {
            Some('.') => put(&part[1..], WordForm::Participle),
            Some('~') => put(&part[1..], WordForm::Infinitive),
            Some('^') => put(&part[1..], WordForm::Gerund),
            _ => {
                let mut all = forms.split('/').map(str::to_owned);
                let forms: [String; 4] = std::array::from_fn(|_| all.next().unwrap_or("-".into()));
                for person in [
                    VerbPerson::I,
                    VerbPerson::He,
                    VerbPerson::We,
                    VerbPerson::They,
                ] {
                    let word = forms[person as usize].clone();
                    put(&word, WordForm::Finite(tense, person, forms.clone()));
                }
            }
        }
    }
}
