//! One token: its name, its rights, and its hash.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use amem_memory::FactScope;
use amem_proto::answer::Code;
use amem_store::folder;
use tokio_rustls::rustls::crypto::ring;

use crate::auth::Role;
use crate::auth::digest::{Digest, hex};
use crate::limits::{TOKEN_BRAINS_MAX, TOKEN_NAME_BYTES_MAX};
use crate::refusal::{Refusal, Result};

/// Random bytes of a token: too many to guess, so a fast hash is as safe as a slow one.
const RANDOM_BYTES: usize = 32;

/// The prefix of a token, by which scanners find leaked ones.
const PREFIX: &str = "amem_";

/// What the callers of a token may do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct TokenRights {
    pub(crate) role: Role,
    /// The brains that it is for, sorted; all if empty.
    pub(crate) brains: Vec<String>,
    /// Whose memories it is for: then it is for nothing else. At least one field is set.
    pub(crate) scope: Option<FactScope>,
}

impl TokenRights {
    /// A role for all brains.
    #[cfg(test)]
    pub(crate) fn of(role: Role) -> Self {
        Self {
            role,
            brains: Vec::new(),
            scope: None,
        }
    }

    /// Sorts the brains. Errors: the field that is invalid, and why.
    pub(super) fn checked(self) -> std::result::Result<Self, (&'static str, String)> {
        let brains = in_order(self.brains).map_err(|why| ("brains", why))?;
        if let Some(scope) = &self.scope {
            scope.validate().map_err(|e| ("scope", e.to_string()))?;
            if self.role == Role::Admin {
                let why = "a token with a scope administers nothing: set READ or WRITE";
                return Err(("permission", why.to_owned()));
            }
        }
        Ok(Self { brains, ..self })
    }
}

/// A token as it is stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Token {
    /// The principal of its callers is `token:NAME`.
    pub(crate) name: String,
    pub(crate) rights: TokenRights,
    /// Seconds since 1970.
    pub(crate) created_secs: u64,
    /// The hash of the secret.
    pub(super) digest: Digest,
}

impl Token {
    /// A new token, and its secret.
    pub(super) fn new(name: &str, rights: &TokenRights) -> Result<(Self, String)> {
        check_name(name).map_err(|why| Refusal::invalid("name", why))?;
        let rights = rights.clone().checked();
        let rights = rights.map_err(|(field, why)| Refusal::invalid(field, why))?;
        let mut random = [0; RANDOM_BYTES];
        let filled = ring::default_provider().secure_random.fill(&mut random);
        filled.map_err(|_| {
            let message = "the system has no random bytes: try again";
            Refusal::new(Code::Unavailable, "RANDOM", message)
        })?;
        let secret = format!("{PREFIX}{}", hex(&random));
        let digest = Digest::of(secret.as_bytes());
        let token = Self {
            name: name.to_owned(),
            rights,
            created_secs: now_secs(),
            digest: digest.ok_or_else(|| Refusal::internal("there is no SHA-256"))?,
        };
        Ok((token, secret))
    }

    pub(crate) fn created(&self) -> SystemTime {
        let since = Duration::from_secs(self.created_secs);
        UNIX_EPOCH.checked_add(since).unwrap_or(UNIX_EPOCH)
    }
}

/// Refuses an invalid name: names are in commits, logs, and the file, which has no escapes.
pub(super) fn check_name(name: &str) -> std::result::Result<(), String> {
    let is_part = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte);
    if (1..=TOKEN_NAME_BYTES_MAX).contains(&name.len()) && name.bytes().all(is_part) {
        return Ok(());
    }
    Err(format!(
        "{name:?} is not a valid token name: use 1 to {TOKEN_NAME_BYTES_MAX} letters, digits, '-', '_' and '.'"
    ))
}

/// Sorts and deduplicates names of brains; refuses invalid ones.
fn in_order(mut brains: Vec<String>) -> std::result::Result<Vec<String>, String> {
    brains.sort_unstable();
    brains.dedup();
    if brains.len() > TOKEN_BRAINS_MAX {
        return Err(format!(
            "a token may name at most {TOKEN_BRAINS_MAX} brains, or none to apply to all"
        ));
    }
    for brain in &brains {
        folder::file_name(brain).map_err(|why| why.to_string())?;
    }
    Ok(brains)
}

fn now_secs() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    since.map_or(0, |since| since.as_secs())
}
