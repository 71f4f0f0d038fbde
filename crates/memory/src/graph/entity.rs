//! Entities and relations, as a fact has them.

use serde::{Deserialize, Serialize};

use crate::limits::{ENTITY_DESCRIPTION_BYTES_MAX, ENTITY_NAME_BYTES_MAX, FACT_ENTITIES_MAX};

/// What an entity is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EntityKind {
    /// A person.
    Person,
    /// A company, a school, a club.
    Organization,
    /// An idea, a language, a field; what has no other kind.
    Concept,
    /// A place.
    Location,
    /// Something that takes place.
    Event,
    /// Software, a programming language, a tool.
    Technology,
    /// Something that is bought and owned.
    Product,
}

impl EntityKind {
    /// All kinds.
    pub const ALL: [Self; 7] = [
        Self::Person,
        Self::Organization,
        Self::Concept,
        Self::Location,
        Self::Event,
        Self::Technology,
        Self::Product,
    ];

    /// Its name, such as `person`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Person => "person",
            Self::Organization => "organization",
            Self::Concept => "concept",
            Self::Location => "location",
            Self::Event => "event",
            Self::Technology => "technology",
            Self::Product => "product",
        }
    }

    /// The kind of a name.
    pub fn of_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.name() == name)
    }
}

/// An entity that a fact names.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct EntityMention {
    /// As the fact writes it.
    pub name: String,
    /// What it is, if the fact tells.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kind: Option<EntityKind>,
    /// What a model says of it.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub description: String,
}

/// How two entities are related.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct EntityRelation {
    /// The name of the one.
    pub source: String,
    /// Such as `works_at`.
    pub relation: String,
    /// The name of the other.
    pub target: String,
}

/// What a fact says of entities.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct FactGraph {
    /// Those that it names, each once.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub entities: Vec<EntityMention>,
    /// How they are related.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub relations: Vec<EntityRelation>,
    /// Pairs of names that it says are of one entity.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub aliases: Vec<(String, String)>,
}

impl FactGraph {
    /// True if it names nothing.
    pub fn is_empty(&self) -> bool {
        self.entities.is_empty()
    }

    /// Adds an entity, or what is new about it.
    pub(crate) fn mention(&mut self, name: &str, kind: Option<EntityKind>) {
        let key = entity_key(name);
        if key.is_empty() {
            return;
        }
        let is_full = self.entities.len() == FACT_ENTITIES_MAX;
        let mut known = self.entities.iter_mut();
        match known.find(|entity| entity_key(&entity.name) == key) {
            Some(entity) => entity.kind = entity.kind.or(kind),
            None if is_full || name.len() > ENTITY_NAME_BYTES_MAX => {}
            None => self.entities.push(EntityMention {
                name: name.to_owned(),
                kind,
                description: String::new(),
            }),
        }
    }

    /// True if it names this entity.
    fn has(&self, name: &str) -> bool {
        let key = entity_key(name);
        self.entities
            .iter()
            .any(|entity| entity_key(&entity.name) == key)
    }

    /// Adds a relation between two entities that it names and that are not one.
    pub(crate) fn relate(&mut self, source: &str, relation: &str, target: &str) {
        let relation = EntityRelation {
            source: source.to_owned(),
            relation: relation.to_owned(),
            target: target.to_owned(),
        };
        let is_one = entity_key(&relation.source) == entity_key(&relation.target);
        let are_named = self.has(&relation.source) && self.has(&relation.target);
        if are_named && !is_one && !self.relations.contains(&relation) {
            self.relations.push(relation);
        }
    }

    /// The part of it that a text names; names of relations in the form of ours.
    pub(crate) fn of_text(&self, text: &str) -> Self {
        let words = format!(" {} ", entity_key(text));
        let is_named = |name: &str| words.contains(&format!(" {} ", entity_key(name)));
        let mut out = Self::default();
        for entity in self.entities.iter().filter(|entity| is_named(&entity.name)) {
            out.mention(&entity.name, entity.kind);
            let known = out.entities.iter_mut().find(|one| one.name == entity.name);
            let is_short = entity.description.len() <= ENTITY_DESCRIPTION_BYTES_MAX;
            if let Some(known) = known.filter(|_| is_short) {
                known.description.clone_from(&entity.description);
            }
        }
        for one in self
            .relations
            .iter()
            .filter(|one| is_named(&one.source) && is_named(&one.target))
        {
            let relation = entity_key(&one.relation).replace(' ', "_");
            if !relation.is_empty() && relation.len() <= ENTITY_NAME_BYTES_MAX {
                out.mention(&one.source, None);
                out.mention(&one.target, None);
                out.relate(&one.source, &relation, &one.target);
            }
        }
        out
    }

    /// Both: what this one says counts first.
    pub(crate) fn joined(mut self, other: Self) -> Self {
        for entity in other.entities {
            self.mention(&entity.name, entity.kind);
        }
        for one in other.relations {
            self.relate(&one.source, &one.relation, &one.target);
        }
        for (one, other) in other.aliases {
            self.alias(&one, &other);
        }
        self
    }

    /// Says that two names are of one entity.
    pub(crate) fn alias(&mut self, one: &str, other: &str) {
        if self.has(one) && self.has(other) && entity_key(one) != entity_key(other) {
            self.aliases.push((one.to_owned(), other.to_owned()));
        }
    }
}

/// The form in which names are compared: two names with one key are of one entity.
///
/// Case, punctuation, spaces, an article before and a possessive behind do not count: `the Acme Corp.` and `ACME
/// corp's` are one.
pub fn entity_key(name: &str) -> String {
    let lower = name.to_lowercase().replace('\u{2019}', "'");
    let words = lower.split(|c: char| !c.is_alphanumeric() && !matches!(c, '\'' | '+' | '#' | '&'));
    let words = words.map(|word| word.strip_suffix("'s").unwrap_or(word));
    let words = words.map(|word| word.trim_matches('\''));
    let words: Vec<&str> = words.filter(|word| !word.is_empty()).collect();
    let words = match words.as_slice() {
        ["the", rest @ ..] if !rest.is_empty() => rest,
        all => all,
    };
    words.join(" ")
}

#[cfg(test)]
mod tests {
    use super::entity_key;

    #[test]
    fn spellings_of_a_name_have_one_key() {
        for (one, other) in [
            ("the Acme Corp.", "ACME corp's"),
            ("O\u{2019}Brien", "O'Brien"),
            ("New  York", "new york"),
            ("Node.js", "node js"),
            ("Saint-Étienne", "saint étienne"),
        ] {
            assert_eq!(entity_key(one), entity_key(other), "{one}");
        }
        assert_ne!(entity_key("C++"), entity_key("C"));
        assert_ne!(entity_key("C#"), entity_key("C"));
        assert_eq!(entity_key("The"), "the");
        assert_eq!(entity_key(" '' "), "");
    }
}
