//! The tokens that are in force, and changes of them.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use subtle::{Choice, ConditionallySelectable};
use tonic::Code;

use super::file;
use super::token::Token;
use crate::auth::Role;
use crate::auth::digest::Digest;
use crate::error;
use crate::limits::TOKENS_MAX;
use crate::refusal::{Refusal, Result};

/// The tokens of a file; clones are cheap.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tokens {
    path: PathBuf,
    /// By name.
    list: Arc<[Token]>,
}

impl Tokens {
    /// Reads them; none if there is no file yet.
    pub fn load(path: &Path) -> error::Result<Self> {
        Ok(Self::of(path, file::read(path)?))
    }

    fn of(path: &Path, mut list: Vec<Token>) -> Self {
        list.sort_unstable_by(|a, b| a.name.cmp(&b.name));
        Self {
            path: path.to_owned(),
            list: list.into(),
        }
    }

    /// All of them, by name.
    pub(crate) fn list(&self) -> &[Token] {
        &self.list
    }

    /// True if nobody can show one.
    pub(crate) fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// The one that has this hash. Each is looked at to its end, so that the time tells nothing of them.
    pub(crate) fn find(&self, shown: &Digest) -> Option<&Token> {
        let (mut found, mut at) = (Choice::from(0), 0_u64);
        for (index, token) in self.list.iter().enumerate() {
            let is = token.digest.is(shown);
            at.conditional_assign(&(index as u64), is);
            found |= is;
        }
        bool::from(found).then(|| self.list.get(at as usize))?
    }

    /// Makes one, and says what its callers show; it is in the file before that.
    pub(crate) fn create(
        &self,
        name: &str,
        role: Role,
        brains: &[String],
    ) -> Result<(Self, String)> {
        let mut tokens = self.again()?;
        let (token, secret) = Token::new(name, role, brains)?;
        if tokens.iter().any(|other| other.name == name) {
            let message =
                format!("there is a token {name:?} already: revoke it first, or take another name");
            return Err(Refusal::new(Code::AlreadyExists, "TOKEN_EXISTS", message));
        }
        if tokens.len() >= TOKENS_MAX {
            let message =
                format!("there are {TOKENS_MAX} tokens, the most there may be: revoke one");
            return Err(Refusal::new(Code::ResourceExhausted, "LIMIT", message));
        }
        tokens.push(token);
        Ok((self.written(tokens)?, secret))
    }

    /// Takes one away.
    pub(crate) fn revoke(&self, name: &str) -> Result<Self> {
        let mut tokens = self.again()?;
        let before = tokens.len();
        tokens.retain(|token| token.name != name);
        if tokens.len() == before {
            let message = format!("there is no token {name:?}: `amemctl token list` shows all");
            return Err(Refusal::new(Code::NotFound, "UNKNOWN_TOKEN", message));
        }
        self.written(tokens)
    }

    /// What is in the file now: a change by hand is not undone by the next one of ours.
    fn again(&self) -> Result<Vec<Token>> {
        file::read(&self.path).map_err(refused)
    }

    fn written(&self, tokens: Vec<Token>) -> Result<Self> {
        let next = Self::of(&self.path, tokens);
        file::write(&self.path, &next.list).map_err(refused)?;
        Ok(next)
    }
}

fn refused(error: error::Error) -> Refusal {
    let message = format!("nothing was changed: {error}");
    Refusal::new(Code::FailedPrecondition, "TOKENS_FILE", message)
}

#[cfg(test)]
mod tests;
