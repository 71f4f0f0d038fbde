//! A clause as a fact: in its own language, in the third person.

use crate::patterns::person::finished;
use crate::text::tokens::Token;

use super::elision::with_elisions_joined;
use super::pairs::{has, pair};
use super::reading::{ClauseReading, SubjectKind};
use super::table::{LanguageTable, WordOrder};
use super::tables::TABLES;
use super::verbs::WordForm;

/// The text of the fact; `None` where the language has no sure way to write it.
pub(super) fn rewritten(reading: &ClauseReading<'_>, speaker: &str) -> Option<String> {
    let mut out: Vec<Token> = Vec::with_capacity(reading.tokens.len() + 3);
    for (at, token) in reading.tokens.iter().enumerate() {
        if at == reading.group && reading.subject.is_empty() {
            out.extend(subject_tokens(reading, speaker));
        }
        if reading.subject.contains(&at) {
            if at == reading.subject.start {
                match reading.kind {
                    SubjectKind::Owned => out.extend(owned(reading, speaker)?),
                    _ => out.extend(subject_tokens(reading, speaker)),
                }
            }
            if at + 1 == reading.subject.end
                && let Some(last) = out.last_mut()
            {
                last.tail.push_str(&token.tail);
            }
            continue;
        }
        let mut token = token.clone();
        if at == reading.verb {
            token.set(&reading.third);
            elide(reading, &mut out);
        } else {
            token.set(&pronoun(reading, &token, speaker)?);
            if at >= reading.group && at < reading.verb && !token.is("User") {
                let lower = token.lower.clone();
                token.set(&lower);
            }
        }
        if let Some(ending) = strong_ending(reading, at) {
            let text = format!(
                "{}{ending}",
                token.text.strip_suffix("en").unwrap_or(&token.text)
            );
            token.set(&text);
        }
        out.push(token);
    }
    let mut joined = with_elisions_joined(out);
    let text = finished(&mut joined);
    (text.split_whitespace().count() > 1).then_some(text)
}

/// "Je me suis" is "s'est": what stands before the verb is elided where the third person begins with a vowel.
fn elide(reading: &ClauseReading<'_>, out: &mut [Token]) {
    let is_open = reading.third.starts_with(['a', 'e', 'é', 'i', 'o', 'u']);
    if reading.table.order != WordOrder::SubjectFirst || !is_open {
        return;
    }
    if let Some(before) = out.last_mut() {
        match before.lower.as_str() {
            "ne" => before.set("n'"),
            "se" => before.set("s'"),
            _ => {}
        }
    }
}

fn subject_tokens(reading: &ClauseReading<'_>, speaker: &str) -> Vec<Token> {
    let mut text = match reading.kind {
        SubjectKind::Several => format!("{speaker} {}", reading.table.others),
        _ => speaker.to_owned(),
    };
    if reading.is_dative {
        text = format!("A {text}");
    }
    text.split(' ').map(Token::new).collect()
}

/// A word of the clause as the fact has it.
fn pronoun(reading: &ClauseReading<'_>, token: &Token, speaker: &str) -> Option<String> {
    let column = match reading.kind {
        SubjectKind::One => 0,
        SubjectKind::Several => 1,
        SubjectKind::Owned => 2,
    };
    if reading.is_dative
        && let Some(clitic) = pair(reading.table.dative_pronouns, &token.lower)
    {
        return Some(clitic.to_owned());
    }
    let found = reading
        .table
        .pronouns
        .iter()
        .find(|(words, _)| has(words, &token.lower));
    let Some((words, forms)) = found else {
        // "Mudarme" is "mudarse".
        let is_attached = reading.table.order == WordOrder::Dropped && column < 2;
        let front = ["rme", "rnos"]
            .iter()
            .find_map(|end| token.text.strip_suffix(end));
        return Some(match front.filter(|_| is_attached) {
            Some(front) => format!("{front}rse"),
            None => token.text.clone(),
        });
    };
    // "unser" is "ihr" with the same ending: the stem changes.
    let form = forms[column];
    let stem = words.split(' ').next().unwrap_or_default();
    let ending = token.lower.strip_prefix(stem).unwrap_or_default();
    match form {
        "!" => None,
        _ if form.contains('@') => Some(form.replace('@', speaker)),
        _ => match form.strip_suffix('*') {
            Some(front) => Some(format!("{front}{ending}")),
            None => Some(form.to_owned()),
        },
    }
}

/// The ending of an adjective whose possessive no longer shows the case.
fn strong_ending(reading: &ClauseReading<'_>, at: usize) -> Option<&'static str> {
    let table = reading.table;
    if table.adjective_endings.is_empty() {
        return None;
    }
    let token = &reading.tokens[at];
    if token.is_capital() || !token.lower.ends_with("en") || at == reading.verb {
        return None;
    }
    let mut before = at;
    while before > 0 {
        before -= 1;
        let word = &reading.tokens[before];
        if let Some(ending) = pair(table.adjective_endings, &word.lower) {
            let has_noun = reading.tokens[at + 1..]
                .iter()
                .take(3)
                .any(Token::is_capital);
            return has_noun.then_some(ending);
        }
        if word.is_capital() || word.breaks() || !word.lower.ends_with("en") {
            return None;
        }
    }
    None
}

/// "My sister Wiebke" as the fact has it.
fn owned(reading: &ClauseReading<'_>, speaker: &str) -> Option<Vec<Token>> {
    let table = reading.table;
    let words = &reading.tokens[reading.subject.clone()];
    let (first, noun) = words.split_first()?;
    if noun.is_empty()
        || noun
            .iter()
            .any(|word| has(table.first_singular, &word.lower))
    {
        return None;
    }
    if noun
        .iter()
        .any(|word| pair(table.possessives, &word.lower).is_some())
    {
        return None;
    }
    if table.of.is_empty() {
        let ending = pair(table.adjective_endings, &first.lower).filter(|_| noun.len() > 1);
        let mut out = vec![Token::new(&format!("{speaker}'s"))];
        for word in noun {
            let mut word = word.clone();
            let is_adjective = !word.is_capital() && word.lower.ends_with("en");
            if let Some(ending) = ending.filter(|_| is_adjective) {
                let text = format!(
                    "{}{ending}",
                    word.text.strip_suffix("en").unwrap_or(&word.text)
                );
                word.set(&text);
            }
            word.tail.clear();
            out.push(word);
        }
        return Some(out);
    }
    let head = &noun[0];
    let article = match pair(table.possessives, &first.lower)? {
        "?" => article_of(reading, &head.lower)?,
        article => article.to_owned(),
    };
    let starts_open =
        |word: &str| word.starts_with(['a', 'e', 'é', 'ê', 'i', 'o', 'u', 'h', 'â', 'î']);
    let elides = table.order == WordOrder::SubjectFirst;
    let article = match elides && starts_open(&head.lower) && (article == "le" || article == "la") {
        true => "l'".to_owned(),
        false => article,
    };
    let of = match elides && speaker != "User" && starts_open(&speaker.to_lowercase()) {
        true => "d'",
        false => table.of,
    };
    let names = noun
        .iter()
        .skip(1)
        .position(Token::is_capital)
        .map_or(noun.len(), |at| at + 1);
    let mut out = vec![Token::new(&article)];
    out.extend(noun[..names].iter().cloned().map(|mut word| {
        word.tail.clear();
        word
    }));
    out.extend([Token::new(of), Token::new(speaker)]);
    if names < noun.len() {
        // "La sœur de User, Anna, …": the name beside the owner would be the owner's.
        if let Some(last) = out.last_mut() {
            last.tail = ",".into();
        }
        out.extend(noun[names..].iter().cloned().map(|mut word| {
            word.tail.clear();
            word
        }));
        if let Some(last) = out.last_mut() {
            last.tail = ",".into();
        }
    }
    Some(out)
}

/// The article of a noun whose possessive does not tell; `None` if nothing does.
fn article_of(reading: &ClauseReading<'_>, noun: &str) -> Option<String> {
    let table = reading.table;
    if let Some(article) = pair(table.articles, noun) {
        return Some(article.to_owned());
    }
    if table.order != WordOrder::Dropped {
        return None;
    }
    let is_plural = noun.ends_with('s');
    let stem = noun.strip_suffix('s').unwrap_or(noun);
    let is_her = ["a", "ción", "sión", "dad", "cione", "dade"]
        .iter()
        .any(|end| stem.ends_with(end));
    let is_his = stem.ends_with('o');
    match (is_her && !stem.ends_with("ma"), is_his, is_plural) {
        (true, _, true) => Some("las".into()),
        (true, _, false) => Some("la".into()),
        (_, true, true) => Some("los".into()),
        (_, true, false) => Some("el".into()),
        _ => None,
    }
}

/// The words that the writing of facts adds, in any of the languages: articles, "and others", "is called".
pub(crate) fn words_of_facts() -> Vec<String> {
    let of = |table: &'static LanguageTable| {
        let articles = table
            .possessives
            .iter()
            .chain(table.articles)
            .map(|(_, article)| *article);
        articles
            .chain([table.others, table.of, table.is_called])
            .chain(["los", "las", "d'autres"])
    };
    let words = TABLES.into_iter().flat_map(of);
    let words = words.flat_map(str::split_ascii_whitespace);
    words
        .filter(|word| *word != "?")
        .map(str::to_owned)
        .collect()
}

/// The words that a fact may have for a word of its turn, in any of the languages.
pub(crate) fn forms_in_facts(word: &str) -> Vec<String> {
    let mut out = Vec::new();
    for table in TABLES {
        let hits = table.compiled().verbs.get(word).into_iter().flatten();
        for hit in hits {
            if let WordForm::Finite(_, person, forms) = &hit.form {
                let all = [
                    forms[person.in_facts() as usize].as_str(),
                    forms[3].as_str(),
                ];
                out.extend(all.map(|form| form.split('_').next().unwrap_or_default().to_owned()));
            }
        }
        let known = table.pronouns.iter().find(|(words, _)| has(words, word));
        let stem = known
            .and_then(|(words, _)| words.split(' ').next())
            .unwrap_or_default();
        let ending = word.strip_prefix(stem).unwrap_or_default();
        for form in known.into_iter().flat_map(|(_, forms)| forms) {
            out.push(
                form.trim_end_matches('*').to_owned()
                    + if form.ends_with('*') { ending } else { "" },
            );
        }
        out.extend(pair(table.dative_pronouns, word).map(str::to_owned));
    }
    out
}
