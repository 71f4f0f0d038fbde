//! The list of tokens, and its changes.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use amem_proto::answer::Code;
use subtle::{Choice, ConditionallySelectable};

use super::file;
use super::token::{Token, TokenRights};
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

    pub(crate) fn list(&self) -> &[Token] {
        &self.list
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// The token with this hash. The search takes the same time whichever token matches, and if none does.
    pub(crate) fn find(&self, digest: &Digest) -> Option<&Token> {
        let (mut found, mut at) = (Choice::from(0), 0_u64);
        for (index, token) in self.list.iter().enumerate() {
            let is = token.digest.is(digest);
            at.conditional_assign(&(index as u64), is);
            found |= is;
        }
        bool::from(found).then(|| self.list.get(at as usize))?
    }

    /// Creates a token, writes the file, and returns the secret of the token.
    pub(crate) fn create(&self, name: &str, rights: &TokenRights) -> Result<(Self, String)> {
        let mut tokens = self.reread()?;
        let (token, secret) = Token::new(name, rights)?;
        if tokens.iter().any(|other| other.name == name) {
            let message = format!("a token {name:?} exists: revoke it first, or use another name");
            return Err(Refusal::new(Code::AlreadyExists, "TOKEN_EXISTS", message));
        }
        if tokens.len() >= TOKENS_MAX {
            let message = format!("there are {TOKENS_MAX} tokens, the limit: revoke one");
            return Err(Refusal::new(Code::ResourceExhausted, "LIMIT", message));
        }
        tokens.push(token);
        Ok((self.written(tokens)?, secret))
    }

    /// Revokes a token, and writes the file.
    pub(crate) fn revoke(&self, name: &str) -> Result<Self> {
        let mut tokens = self.reread()?;
        let before = tokens.len();
        tokens.retain(|token| token.name != name);
        if tokens.len() == before {
            let message = format!("there is no token {name:?}: `amemctl token list` shows all");
            return Err(Refusal::new(Code::NotFound, "UNKNOWN_TOKEN", message));
        }
        self.written(tokens)
    }

    /// Reads the file again: a change by hand must survive.
    fn reread(&self) -> Result<Vec<Token>> {
        file::read(&self.path).map_err(tokens_file)
    }

    fn written(&self, tokens: Vec<Token>) -> Result<Self> {
        let next = Self::of(&self.path, tokens);
        file::write(&self.path, &next.list).map_err(tokens_file)?;
        Ok(next)
    }
}

fn tokens_file(error: error::Error) -> Refusal {
    let message = format!("nothing was changed: {error}");
    Refusal::new(Code::FailedPrecondition, "TOKENS_FILE", message)
}

#[cfg(test)]
mod tests;
