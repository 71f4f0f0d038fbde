//! One token: its name, what it is for, and the hash by which it is known.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use amem_store::folder;
use tokio_rustls::rustls::crypto::ring;
use tonic::Code;

use crate::auth::Role;
use crate::auth::digest::{Digest, hex};
use crate::limits::{TOKEN_BRAINS_MAX, TOKEN_NAME_BYTES_MAX};
use crate::refusal::{Refusal, Result};

/// Random bytes of a token. It can't be guessed, so a hash that is quick to compute keeps it as safe as a slow one.
const RANDOM_BYTES: usize = 32;

/// How a token begins: whoever searches texts for secrets that were left in them finds it.
const PREFIX: &str = "amem_";

/// A token as it is kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Token {
    /// Its name: its callers are `token:NAME`.
    pub(crate) name: String,
    /// What its callers may do.
    pub(crate) role: Role,
    /// The brains that it is for, in order; none: all.
    pub(crate) brains: Vec<String>,
    /// When it was made, in seconds since 1970.
    pub(crate) created_secs: u64,
    /// The hash of what callers show.
    pub(super) digest: Digest,
}

impl Token {
    /// A new one, and what its callers show.
    pub(super) fn new(name: &str, role: Role, brains: &[String]) -> Result<(Self, String)> {
        check_name(name).map_err(|why| Refusal::invalid("name", why))?;
        let brains = in_order(brains.to_vec()).map_err(|why| Refusal::invalid("brains", why))?;
        let mut random = [0; RANDOM_BYTES];
        let filled = ring::default_provider().secure_random.fill(&mut random);
        filled.map_err(|_| {
            let message = "the system gives no random bytes: try again";
            Refusal::new(Code::Unavailable, "RANDOM", message)
        })?;
        let secret = format!("{PREFIX}{}", hex(&random));
        let digest = Digest::of(secret.as_bytes());
        let token = Self {
            name: name.to_owned(),
            role,
            brains,
            created_secs: now_secs(),
            digest: digest.ok_or_else(|| Refusal::internal("there is no SHA-256"))?,
        };
        Ok((token, secret))
    }

    /// When it was made.
    pub(crate) fn created(&self) -> SystemTime {
        let since = Duration::from_secs(self.created_secs);
        UNIX_EPOCH.checked_add(since).unwrap_or(UNIX_EPOCH)
    }
}

/// Refuses what is no name: names stand in commits and logs, and in the file without a way to escape anything.
pub(super) fn check_name(name: &str) -> std::result::Result<(), String> {
    let is_part = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte);
    match (1..=TOKEN_NAME_BYTES_MAX).contains(&name.len()) && name.bytes().all(is_part) {
        true => Ok(()),
        false => Err(format!(
            "{name:?} is no name of a token: it has 1 to {TOKEN_NAME_BYTES_MAX} letters, digits, '-', '_' and '.'"
        )),
    }
}

/// Names of brains, each once; refuses what is none.
pub(super) fn in_order(mut brains: Vec<String>) -> std::result::Result<Vec<String>, String> {
    brains.sort_unstable();
    brains.dedup();
    if brains.len() > TOKEN_BRAINS_MAX {
        return Err(format!(
            "a token is for at most {TOKEN_BRAINS_MAX} brains, or for all"
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
