//! The scope of a memory: a user, an agent, an app, a run.
//!
//! A memory with a user and an agent is found by requests that name both, or either: a request matches the fields that
//! it names. At least one field is always named; an empty one is refused, because it would match by accident.

use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};
use crate::limits::SCOPE_BYTES_MAX;

/// The fields of a scope as filters and clients name them, in the order of `FactScope::fields`.
pub const SCOPE_FIELDS: [&str; 4] = ["user_id", "agent_id", "app_id", "run_id"];

/// Whose memory it is.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FactScope {
    /// The person.
    #[serde(rename = "user_id", default, skip_serializing_if = "Option::is_none")]
    pub user: Option<String>,
    /// The agent.
    #[serde(rename = "agent_id", default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    /// The application.
    #[serde(rename = "app_id", default, skip_serializing_if = "Option::is_none")]
    pub app: Option<String>,
    /// The conversation.
    #[serde(rename = "run_id", default, skip_serializing_if = "Option::is_none")]
    pub run: Option<String>,
}

impl FactScope {
    /// The scope of one user.
    pub fn user(user: impl Into<String>) -> Self {
        Self {
            user: Some(user.into()),
            ..Self::default()
        }
    }

    /// Names and values, in the order of `SCOPE_FIELDS`.
    pub fn fields(&self) -> impl Iterator<Item = (&'static str, Option<&str>)> {
        let values = [&self.user, &self.agent, &self.app, &self.run];
        SCOPE_FIELDS
            .into_iter()
            .zip(values.map(|value| value.as_deref()))
    }

    /// An error unless a field is named, and each can be one.
    pub fn validate(&self) -> Result<()> {
        for (field, value) in self.fields() {
            let Some(value) = value else { continue };
            let why = if value.trim().is_empty() {
                "is empty: name it, or leave it out".to_owned()
            } else if value == "*" {
                "is \"*\": a memory belongs to one of them".to_owned()
            } else if value.len() > SCOPE_BYTES_MAX {
                format!("has {} bytes, {SCOPE_BYTES_MAX} are the most", value.len())
            } else if value.chars().any(char::is_control) {
                "has a control character".to_owned()
            } else {
                continue;
            };
            return Err(Error::BadScope { field, why });
        }
        if self.fields().all(|(_, value)| value.is_none()) {
            return Err(Error::NoScope);
        }
        Ok(())
    }

    /// True if a memory of the scope `of` matches every field that this scope names.
    pub fn covers(&self, of: &Self) -> bool {
        let mut pairs = self.fields().zip(of.fields());
        pairs.all(|((_, wanted), (_, found))| wanted.is_none() || wanted == found)
    }

    /// True if what is said in this scope may change a memory of the scope `of`: it covers it, and names its person if
    /// there is one. What an agent hears from nobody in particular says nothing about one of its users.
    pub fn may_change(&self, of: &Self) -> bool {
        self.covers(of) && (of.user.is_none() || of.user == self.user)
    }

    /// This scope with the fields of a token's scope beneath: a request cannot leave them out or replace them.
    pub fn within(&self, token: &Self) -> Result<Self> {
        let join = |field: &'static str, own: &Option<String>, theirs: &Option<String>| match theirs
        {
            None => Ok(own.clone()),
            Some(_) if own.is_none() || own == theirs => Ok(theirs.clone()),
            Some(theirs) => Err(Error::BadScope {
                field,
                why: format!("is outside of the token's scope ({theirs:?})"),
            }),
        };
        Ok(Self {
            user: join("user_id", &self.user, &token.user)?,
            agent: join("agent_id", &self.agent, &token.agent)?,
            app: join("app_id", &self.app, &token.app)?,
            run: join("run_id", &self.run, &token.run)?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(user: &str, agent: &str) -> FactScope {
        let some = |text: &str| (!text.is_empty()).then(|| text.to_owned());
        FactScope {
            user: some(user),
            agent: some(agent),
            ..FactScope::default()
        }
    }

    #[test]
    fn a_scope_names_at_least_one_field_and_no_wildcard() {
        assert_eq!(FactScope::default().validate(), Err(Error::NoScope));
        assert!(of("alice", "").validate().is_ok());
        let long = "x".repeat(SCOPE_BYTES_MAX + 1);
        for bad in ["*", "  ", "a\nb", long.as_str()] {
            let error = FactScope::user(bad).validate().unwrap_err();
            assert_eq!(error.code(), "ScopeError", "{bad:?}: {error}");
        }
    }

    #[test]
    fn a_scope_covers_memories_that_have_all_of_its_fields() {
        let memory = of("alice", "helper");
        assert!(of("alice", "").covers(&memory) && of("alice", "helper").covers(&memory));
        assert!(!of("bob", "").covers(&memory) && !of("alice", "other").covers(&memory));
        assert!(!of("alice", "helper").covers(&of("alice", "")));
    }

    #[test]
    fn what_an_agent_hears_changes_the_memories_of_no_user() {
        let (alice, both, helper) = (of("alice", ""), of("alice", "helper"), of("", "helper"));
        assert!(alice.may_change(&both) && both.may_change(&both) && helper.may_change(&helper));
        assert!(helper.covers(&both) && !helper.may_change(&both));
    }

    #[test]
    fn a_token_cannot_be_widened() {
        let token = FactScope::user("alice");
        assert_eq!(of("", "helper").within(&token), Ok(of("alice", "helper")));
        assert!(of("bob", "").within(&token).is_err());
        assert_eq!(
            of("bob", "").within(&FactScope::default()),
            Ok(of("bob", ""))
        );
    }
}
