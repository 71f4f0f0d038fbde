//! From the text of a fact to its graph: by cue, no guess.
//!
//! A verb with its preposition, or a noun between owner and name, says what a name is and how it is related. What is
//! denied, over, planned or unreal relates nothing. Names without a cue are mentions: they lead to the fact.

use super::names::{Name, looks_technical, name_at, names_of};
use super::table::{NOUNS, ROWS, Row, relative};
use crate::graph::{EntityKind, EntityMention, FactGraph};
use crate::limits::FACT_CHARS_MAX;
use crate::patterns::DEFAULT_SPEAKER;
use crate::patterns::languages::gloss_of_fact;
use crate::text::predicate::{Mood, Predicate, is_adverb, predicate};
use crate::text::tokens::{Token, tokens};
use crate::text::verbs::{VerbForm, base_form, is_plain_verb};

/// Words before a name that are no part of it.
const BEFORE: [&str; 15] = [
    "the",
    "a",
    "an",
    "his",
    "her",
    "their",
    "user's",
    "new",
    "old",
    "both",
    "mostly",
    "only",
    "city",
    "town",
    "beautiful",
];

/// Ways to say that two names are of one.
const ALIAS_WORDS: [&[&str]; 9] = [
    &["also", "known", "as"],
    &["known", "as"],
    &["also", "called"],
    &["goes", "by"],
    &["go", "by"],
    &["short", "for"],
    &["formerly", "known", "as"],
    &["formerly"],
    &["aka"],
];

/// What stands before "name" where it is one's own: "User's nick name". "User's company name" is the company's.
const OWN_NAMES: &str = " full first given real legal preferred nick stage pen artist chosen maiden birth actual proper name ";

/// Words behind "goes by Bob" that end the name; "goes by Oxford Street every day" names none.
const BEHIND_NAMES: [&str; 12] = [
    "at", "in", "on", "online", "among", "to", "with", "and", "or", "now", "these", "instead",
];

/// True if the noun of "User's … is Bob" means a name of its owner.
fn is_own_name(noun: &str) -> bool {
    let mut words = noun.split(' ').rev();
    let is_name = matches!(words.next(), Some("name" | "nickname" | "username"));
    is_name && words.all(|word| OWN_NAMES.split_ascii_whitespace().any(|own| own == word))
}

/// Reads what a fact says of entities. `people` are the names of speakers: they may begin a text.
///
/// A text that is no sentence, being longer than a fact may be, has no graph.
pub(crate) fn fact_graph(text: &str, people: &[&str]) -> FactGraph {
    let mut out = FactGraph::default();
    if text.chars().count() > FACT_CHARS_MAX {
        return out;
    }
    // A fact in another language is read by its gloss, so that a relation is the same in all languages.
    let gloss = gloss_of_fact(text);
    let is_gloss = gloss.is_some();
    let tokens = gloss.unwrap_or_else(|| tokens(text));
    let reader = GraphReader {
        tokens: &tokens,
        is_gloss,
        names: names_of(&tokens, people),
    };
    let mut start = 0;
    for at in 1..tokens.len() {
        let joins = tokens[at].is_any(&["and", "but"])
            && tokens.get(at + 1).is_some_and(|next| {
                next.is("user") || next.is("user's") || people.iter().any(|one| next.text == **one)
            });
        // "Nora and Emil live in Oslo" is one clause.
        let has_verb = || (start..at).any(|at| reader.is_verb(at));
        if joins && has_verb() {
            reader.clause(start, at, &mut out);
            start = at + 1;
        }
    }
    reader.clause(start, tokens.len(), &mut out);
    for name in &reader.names {
        // A long name has been cut where a cue ends it.
        let is_part = |known: &EntityMention| name.text.contains(known.name.as_str());
        if !out.entities.iter().any(is_part) {
            out.mention(&name.text, None);
        }
    }
    // Who speaks is a person, whatever is said of them.
    let spoke = |name: &str| name == DEFAULT_SPEAKER || people.contains(&name);
    for entity in &mut out.entities {
        if spoke(&entity.name) {
            entity.kind = Some(EntityKind::Person);
        }
    }
    out
}

/// The aliases of a stored graph that the text of its fact says: those that were once read wrongly are left out.
pub fn aliases_said(graph: &FactGraph, text: &str) -> Vec<(String, String)> {
    if graph.aliases.is_empty() {
        return Vec::new();
    }
    let people = graph.entities.iter().map(|one| one.name.as_str());
    let said = fact_graph(text, &people.collect::<Vec<_>>()).aliases;
    let is_said = |pair: &&(String, String)| said.contains(pair);
    graph.aliases.iter().filter(is_said).cloned().collect()
}

struct GraphReader<'t> {
    tokens: &'t [Token],
    /// True if the fact is in another language.
    is_gloss: bool,
    names: Vec<Name>,
}

/// Who does it: names, and where the verb may begin.
struct Subject {
    names: Vec<(String, Option<EntityKind>)>,
    /// True for "User and others": what is said of all of them names none of them.
    has_others: bool,
    /// The noun of "User's manager is …", and its owner.
    noun: Option<(String, String)>,
    verb: usize,
}

impl GraphReader<'_> {
    fn is_verb(&self, at: usize) -> bool {
        let token = &self.tokens[at];
        !token.is_capital() && is_plain_verb(&token.lower)
    }

    fn name_at(&self, at: usize) -> Option<&Name> {
        self.names.iter().find(|name| name.start == at)
    }

    fn clause(&self, start: usize, end: usize, out: &mut FactGraph) {
        let all = &self.tokens[..end];
        self.apposition(start, end, out);
        let Some(subject) = self.subject(start, end, out) else {
            return;
        };
        for (name, kind) in &subject.names {
            out.mention(name, *kind);
        }
        let Some(p) = predicate(all, subject.verb) else {
            return;
        };
        self.said(&subject, &p, end, out);
        // "lives in Porto and works at Acme": a second verb of the same subject.
        let mut at = p.at + 1;
        while at + 1 < end {
            let is_next = all[at].is_any(&["and", "but"]) && self.is_verb(at + 1);
            if is_next && let Some(next) = predicate(all, at + 1) {
                let again = Subject {
                    names: subject.names.clone(),
                    has_others: subject.has_others,
                    noun: None,
                    verb: at + 1,
                };
                self.said(&again, &next, end, out);
                at = next.at;
            }
            at += 1;
        }
    }

    /// "User's sister Anna" relates wherever it stands; so does "Acme (Berlin)" not.
    fn apposition(&self, start: usize, end: usize, out: &mut FactGraph) {
        for at in start..end {
            let Some(owner) = self.owner(at) else {
                continue;
            };
            for noun_end in at + 1..end.min(at + 4) {
                let Some(name) = self.name_at(noun_end + 1).filter(|name| name.end <= end) else {
                    continue;
                };
                let words = &self.tokens[at + 1..=noun_end];
                // "User's dog, Max" has a comma; other signs part.
                let is_near = words
                    .iter()
                    .all(|word| !word.is_capital() && (!word.breaks() || word.tail == ","));
                let noun = words.iter().map(|word| word.lower.as_str());
                let noun = noun.collect::<Vec<_>>().join(" ");
                if let Some((relation, kind)) = relative(&noun).filter(|_| is_near) {
                    out.mention(&owner, person_of(&owner));
                    out.mention(&name.text, kind);
                    out.relate(&name.text, &relation, &owner);
                }
                break;
            }
        }
    }

    /// The owner that a possessive names: "User's", "Anna's", and "their" where only the user can be meant.
    fn owner(&self, at: usize) -> Option<String> {
        let token = &self.tokens[at];
        if token.is("user's") {
            return Some(DEFAULT_SPEAKER.to_owned());
        }
        if token.is("their") && at > 0 {
            // "User lives with their sister Anna": the subject.
            let first = &self.tokens[0];
            return first
                .is("user")
                .then(|| DEFAULT_SPEAKER.to_owned())
                .or_else(|| {
                    let name = self.name_at(0)?;
                    (!name.is_possessive).then(|| name.text.clone())
                });
        }
        let name = self.names.iter().find(|name| name.end == at + 1)?;
        name.is_possessive.then(|| name.text.clone())
    }

    fn subject(&self, start: usize, end: usize, out: &mut FactGraph) -> Option<Subject> {
        let all = self.tokens;
        // "Yesterday User went …".
        let user =
            (start..end.min(start + 8)).find(|at| all[*at].is("user") || all[*at].is("user's"));
        let before_verb =
            |at: &usize| !(start..*at).any(|at| all[at].is_any(&["is", "are", "was", "were"]));
        let first = user.filter(before_verb).unwrap_or(start);
        if all.get(first)?.is("user's") {
            return self.possession(first, first + 1, DEFAULT_SPEAKER, end, out);
        }
        let mut names = Vec::new();
        let mut has_others = false;
        let mut at = first;
        loop {
            let token = all.get(at).filter(|_| at < end)?;
            if token.is("the") {
                at += 1;
                continue;
            }
            if token.is("user") {
                names.push((DEFAULT_SPEAKER.to_owned(), Some(EntityKind::Person)));
                at += 1;
            } else if token.is("others") {
                has_others = true;
                at += 1;
            } else {
                let name = self.name_at(at).cloned().or_else(|| self.only_name(at))?;
                if name.is_possessive && names.is_empty() {
                    return self.possession(at, name.end, &name.text, end, out);
                }
                at = name.end;
                names.push((name.text, None));
            }
            match all.get(at) {
                Some(next) if next.is("and") => at += 1,
                _ => break,
            }
        }
        Some(Subject {
            names,
            has_others,
            noun: None,
            verb: at,
        })
    }

    /// A word that begins the text is a name only if a verb follows: "Anna works at Acme".
    fn only_name(&self, at: usize) -> Option<Name> {
        let name = name_at(self.tokens, at).filter(|_| at == 0)?;
        let follows = self.tokens.get(name.end)?;
        let is_verb = is_plain_verb(&follows.lower) || is_adverb(follows) || follows.is("and");
        let is_plural = name.end == 1 && name.text.ends_with('s') && !follows.lower.ends_with('s');
        (is_verb && !is_plural).then_some(name)
    }

    /// "User's manager is …", "User's sister Anna lives …".
    fn possession(
        &self,
        at: usize,
        behind: usize,
        owner: &str,
        end: usize,
        out: &mut FactGraph,
    ) -> Option<Subject> {
        let all = self.tokens;
        let verb = (behind + 1..end.min(at + 9)).find(|at| is_plain_verb(&all[*at].lower))?;
        let named = (behind + 1..verb).find_map(|at| self.name_at(at));
        if let Some(name) = named {
            return Some(Subject {
                names: vec![(name.text.clone(), None)],
                has_others: false,
                noun: None,
                verb,
            });
        }
        let words = all[behind..verb].iter().filter(|word| !is_adverb(word));
        let noun = words.map(|word| word.lower.as_str()).collect::<Vec<_>>();
        out.mention(owner, person_of(owner));
        Some(Subject {
            names: Vec::new(),
            has_others: false,
            noun: Some((noun.join(" "), owner.to_owned())),
            verb,
        })
    }

    /// What a verb says of its subject.
    fn said(&self, subject: &Subject, p: &Predicate, end: usize, out: &mut FactGraph) {
        if p.is_negated || p.is_over {
            return;
        }
        if let Some(behind) = self.wished_name(p.at, end) {
            return self.aliases(subject, behind, out);
        }
        if p.mood != Mood::Plain {
            return;
        }
        if p.base == "be" {
            return self.being(subject, p, end, out);
        }
        let is_named = matches!(p.base.as_str(), "call" | "name" | "nickname");
        if is_named && let Some((noun, owner)) = &subject.noun {
            return self.called(noun, owner, p.at + 1, end, out);
        }
        if let Some((base, at)) = self.inner_verb(p, end) {
            return self.by_rows(subject, base, VerbForm::Present, at, end, out);
        }
        if p.base == "have" {
            return self.having(subject, p, end, out);
        }
        if let Some(behind) = self.alias_words(p.at, end) {
            return self.aliases(subject, behind, out);
        }
        self.by_rows(subject, &p.base, p.form, p.at + 1, end, out);
    }

    /// What is done of "decided to use", "started learning": the verb for the table, and where its object may begin.
    fn inner_verb(&self, p: &Predicate, end: usize) -> Option<(&'static str, usize)> {
        let all = &self.tokens[..end];
        let next = all.get(p.at + 1)?;
        let verb = all.get(p.at + 2);
        if p.base == "decide" && next.is("to") && verb.is_some_and(|verb| verb.is("use")) {
            return Some(("choose", p.at + 3));
        }
        let is_begun = matches!(p.base.as_str(), "start" | "begin" | "keep");
        let known = ["learn", "study", "use", "work", "live", "date"];
        let (base, form) = base_form(&next.lower);
        let found = known.into_iter().find(|known| *known == base);
        let is_doing = is_begun && form == VerbForm::Progressive;
        found.filter(|_| is_doing).map(|base| (base, p.at + 2))
    }

    fn by_rows(
        &self,
        subject: &Subject,
        base: &str,
        form: VerbForm,
        rest: usize,
        end: usize,
        out: &mut FactGraph,
    ) {
        let is_over = form == VerbForm::Past;
        for row in &ROWS {
            if !row.verbs.split(' ').any(|verb| verb == base) {
                continue;
            }
            for target in self.objects(row, rest, end) {
                self.relate_by(row, subject, &target, is_over, out);
            }
        }
    }

    fn relate_by(
        &self,
        row: &Row,
        subject: &Subject,
        target: &str,
        is_over: bool,
        out: &mut FactGraph,
    ) {
        let is_technical = looks_technical(target);
        let object = match row.object {
            // "moved to PostgreSQL" is no home.
            Some(EntityKind::Location) if is_technical => Some(EntityKind::Technology),
            None if is_technical => Some(EntityKind::Technology),
            // "en Sevilla" is a place, "en Telefónica" is none.
            Some(EntityKind::Location) if self.is_gloss && row.relation == "works_in" => None,
            kind => kind,
        };
        let relation = match (row.object, object) {
            (Some(EntityKind::Location), Some(EntityKind::Technology)) => "uses",
            _ if is_over && !row.past.is_empty() => row.past,
            _ => row.relation,
        };
        for (name, _) in &subject.names {
            let kind = person_of(name).or(row.subject.filter(|_| !looks_technical(name)));
            out.mention(name, kind);
            out.mention(target, object);
            out.relate(name, relation, target);
        }
    }

    /// The names that a row's preposition leads to, or that follow the verb.
    fn objects(&self, row: &Row, rest: usize, end: usize) -> Vec<String> {
        let all = self.tokens;
        let mut at = rest;
        if !row.preposition.is_empty() {
            // A place may stand behind an object: "works as a nurse at St. Mary".
            let words = at..end.min(at + 8);
            let Some(found) = words
                .into_iter()
                .take_while(|at| *at == rest || !all[*at - 1].breaks())
                .find(|at| all[*at].is(row.preposition))
            else {
                return Vec::new();
            };
            at = found + 1;
        }
        self.list(at, end)
    }

    /// Names one behind the other: "Rust, Go and Zig".
    fn list(&self, mut at: usize, end: usize) -> Vec<String> {
        let all = self.tokens;
        let mut out = Vec::new();
        loop {
            let is_before = |at: usize| all[at].is_any(&BEFORE) || is_adverb(&all[at]);
            while at < end && self.name_at(at).is_none() && is_before(at) {
                at += 1;
            }
            let Some(name) = self.name_at(at).filter(|name| name.end <= end) else {
                return out;
            };
            if name.is_possessive {
                return out;
            }
            out.push(name.text.clone());
            at = name.end;
            let is_listed = all[at - 1].tail == ",";
            match all.get(at).filter(|_| at < end) {
                Some(next) if next.is_any(&["and", "or"]) => at += 1,
                // "Porto, Portugal" is one place with its country.
                Some(_) if is_listed && out.len() < 8 && self.goes_on(at, end) => {}
                _ => return out,
            }
        }
    }

    /// True if a list of names ends in "and": the names before are of it.
    fn goes_on(&self, at: usize, end: usize) -> bool {
        let mut at = at;
        for _ in 0..8 {
            let Some(name) = self.name_at(at).filter(|name| name.end <= end) else {
                return self.tokens.get(at).is_some_and(|token| token.is("and"));
            };
            at = name.end;
            if self.tokens.get(at).is_some_and(|token| token.is("and")) {
                return true;
            }
        }
        false
    }

    /// "Anna is User's sister", "User's manager is Priya", "User is from Porto", "User is the CTO of Acme".
    fn being(&self, subject: &Subject, p: &Predicate, end: usize, out: &mut FactGraph) {
        let all = self.tokens;
        let rest = p.at + 1;
        if let Some(behind) = self.alias_words(rest, end) {
            return self.aliases(subject, behind, out);
        }
        if let Some((noun, owner)) = &subject.noun {
            return self.called(noun, owner, rest, end, out);
        }
        let Some(next) = all.get(rest).filter(|_| rest < end) else {
            return;
        };
        // "is User's sister", "is Anna's boss".
        if let Some(owner) = self.owner(rest) {
            let noun = all[rest + 1..end].iter().take(3);
            let noun: Vec<&str> = noun.map(|word| word.lower.as_str()).collect();
            let found = (1..=noun.len()).find_map(|len| relative(&noun[..len].join(" ")));
            if let Some((relation, kind)) = found {
                out.mention(&owner, person_of(&owner));
                for (name, _) in &subject.names {
                    out.mention(name, kind);
                    out.relate(name, &relation, &owner);
                }
            }
            return;
        }
        if next.is("from") {
            let row = Row {
                verbs: "",
                preposition: "",
                relation: "comes_from",
                past: "",
                subject: Some(EntityKind::Person),
                object: Some(EntityKind::Location),
            };
            for target in self.list(rest + 1, end) {
                self.relate_by(&row, subject, &target, false, out);
            }
            return;
        }
        // "is based in", "was born in", "is married to".
        let (base, _) = base_form(&next.lower);
        for word in [base.as_str(), next.lower.as_str()] {
            self.by_rows(subject, word, VerbForm::Present, rest + 1, end, out);
        }
        self.role(subject, p.form, rest, end, out);
    }

    /// "is a nurse at Charité", "is the CTO of Acme", "is a member of Attac".
    fn role(
        &self,
        subject: &Subject,
        form: VerbForm,
        rest: usize,
        end: usize,
        out: &mut FactGraph,
    ) {
        let all = self.tokens;
        if !all[rest].is_any(&["a", "an", "the", "in", "at"]) && !all[rest].is_capital() {
            return;
        }
        let limit = end.min(rest + 7);
        let Some(place) = (rest..limit).find(|at| all[*at].is_any(&["at", "of"])) else {
            return;
        };
        let is_of = all[place].is("of");
        let words = &all[rest..place];
        let is_member = words.iter().any(|word| word.is("member"));
        let leads = [
            "cto",
            "ceo",
            "cfo",
            "head",
            "director",
            "founder",
            "co-founder",
            "owner",
            "president",
            "chair",
        ];
        let is_lead = words.iter().any(|word| word.is_any(&leads));
        let relation = match (is_of, is_member, is_lead) {
            (true, true, _) => "member_of",
            (true, _, true) | (false, ..) => match form {
                VerbForm::Past => "worked_at",
                _ => "works_at",
            },
            _ => return,
        };
        for target in self.list(place + 1, end) {
            for (name, _) in &subject.names {
                out.mention(name, Some(EntityKind::Person));
                out.mention(&target, Some(EntityKind::Organization));
                out.relate(name, relation, &target);
            }
        }
    }

    /// The name behind "User's dog is called": of what the noun names, or of its owner.
    fn called(&self, noun: &str, owner: &str, rest: usize, end: usize, out: &mut FactGraph) {
        let all = self.tokens;
        let mut at = rest;
        while at < end && all[at].is_any(&["called", "named", "a", "an", "the"]) {
            at += 1;
        }
        let last = noun.rsplit(' ').next().unwrap_or(noun);
        let is_name = matches!(last, "name" | "nickname" | "surname" | "username");
        // "User's wife's name is Ottilie" names the wife, "User's surname is Low" the family.
        let is_own = is_own_name(noun);
        let whose = noun.rsplit_once(' ').map(|(whose, _)| whose);
        let whose = whose.map(|whose| whose.strip_suffix("'s").unwrap_or(whose));
        let named = whose.filter(|_| is_name && !is_own).and_then(relative);
        let found = self.list(at, end);
        for name in &found {
            if is_own {
                out.mention(name, person_of(owner));
                out.alias(owner, name);
            } else if let Some((relation, kind)) = &named {
                out.mention(name, *kind);
                out.relate(name, relation, owner);
            } else if is_name {
                out.mention(name, None);
            } else if noun.starts_with("favourite ") || noun.starts_with("favorite ") {
                out.mention(name, None);
                out.relate(owner, "likes", name);
            } else if let Some((relation, kind)) = relative(noun) {
                out.mention(name, kind);
                out.relate(name, &relation, owner);
            } else if let Some((_, relation, kind)) =
                NOUNS.iter().find(|(known, ..)| *known == last)
            {
                out.mention(name, *kind);
                out.relate(owner, relation, name);
            }
        }
    }

    /// "has a sister named Anna", "has a dog called Max".
    fn having(&self, subject: &Subject, p: &Predicate, end: usize, out: &mut FactGraph) {
        let all = self.tokens;
        let limit = end.min(p.at + 9);
        let named = (p.at + 1..limit).find(|at| all[*at].is_any(&["named", "called"]));
        let Some(named) = named else { return };
        let noun = all[p.at + 1..named]
            .iter()
            .filter(|word| !word.is_any(&BEFORE) && !is_adverb(word))
            .map(|word| word.lower.as_str())
            .collect::<Vec<_>>()
            .join(" ");
        let Some((relation, kind)) = relative(&noun) else {
            return;
        };
        for name in self.list(named + 1, end) {
            for (owner, _) in &subject.names {
                out.mention(owner, person_of(owner));
                out.mention(&name, kind);
                out.relate(&name, &relation, owner);
            }
        }
    }

    /// Where a name stands behind "also known as" and the like.
    fn alias_words(&self, at: usize, end: usize) -> Option<usize> {
        let words = &self.tokens[at.min(end)..end];
        let found = ALIAS_WORDS.iter().find(|phrase| {
            words.len() > phrase.len()
                && phrase.iter().zip(words).all(|(word, token)| token.is(word))
        });
        let behind = found.map(|phrase| (phrase, at + phrase.len()));
        // One goes by train, and by Oxford Street: a name is one word, and ends there.
        let is_name = |(phrase, at): &(&&[&str], usize)| {
            let ends = self.tokens.get(*at).is_some_and(Token::breaks)
                || self
                    .tokens
                    .get(at + 1)
                    .is_none_or(|next| next.is_any(&BEHIND_NAMES));
            phrase[phrase.len() - 1] != "by" || ends
        };
        behind.filter(is_name).map(|(_, at)| at)
    }

    /// Where a name stands behind "wants to be called".
    fn wished_name(&self, verb: usize, end: usize) -> Option<usize> {
        let wishes = ["want", "prefer", "like", "ask"];
        let (base, _) = base_form(&self.tokens.get(verb)?.lower);
        let words = &self.tokens[(verb + 1).min(end)..end];
        let is_wish = wishes.contains(&base.as_str())
            && words.len() > 3
            && words[0].is("to")
            && words[1].is("be")
            && words[2].is("called");
        // "Would like to be called Bob", whichever of them is the verb of the clause.
        let is_inner = base == "call" && verb > 2 && self.tokens[verb - 1].is("be");
        match (is_wish, is_inner) {
            (true, _) => Some(verb + 4),
            (false, true) => Some(verb + 1),
            (false, false) => None,
        }
    }

    /// Names of the one that the subject is; of several, nothing says whose they are.
    fn aliases(&self, subject: &Subject, at: usize, out: &mut FactGraph) {
        if subject.has_others || subject.names.len() != 1 {
            return;
        }
        for other in self.list(at, self.tokens.len()) {
            for (name, kind) in &subject.names {
                out.mention(name, *kind);
                out.mention(&other, *kind);
                out.alias(name, &other);
            }
        }
    }
}

/// The speaker is a person.
fn person_of(name: &str) -> Option<EntityKind> {
    (name == DEFAULT_SPEAKER).then_some(EntityKind::Person)
}
