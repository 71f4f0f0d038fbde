//! Facts in other languages than English: tables of a language, and one engine for all.
//!
//! A clause is glossed (`gloss`): its verb and its small words become the English ones, in the order of English, and
//! the rest stays as it is. The rules of English then say whether it is a fact, of which family, at which time, and
//! which slot it fills, so that a slot is the same in all languages. The fact itself is written in the language of its
//! turn (`rewrite`), with the third person of the verb from the table.
//!
//! The subject of a fact is the word that English facts have, `User` or the name of the speaker: slots, search and the
//! check of grounds know one subject, whatever the language around it.
//!
//! Promises: a clause whose verb or word order the tables do not know is no fact.

mod pairs;
mod table;
mod tables;

mod french;
mod german;
mod spanish;

mod verbs;
mod words;

mod elision;
mod lookup;
mod reading;

mod gloss;
mod glosser;
mod predicate;
mod word_order;

mod rewrite;

mod clauses;
mod extract;

#[cfg(test)]
mod turns_test;

pub(crate) use extract::facts_in;
pub(crate) use gloss::gloss_of_fact;
pub(crate) use rewrite::{forms_in_facts, words_of_facts};
pub(crate) use table::WordMark;
pub(crate) use tables::{TABLES, table_of};
