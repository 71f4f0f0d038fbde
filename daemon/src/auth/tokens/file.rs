//! The file of the tokens: TOML, read and written as a whole.
//!
//! Promises: a file that others can read is refused; an error names the line and shows nothing of its text; after a
//! crash the file is the old one or the new one.

use std::ffi::OsStr;
use std::fmt::Write;
use std::path::Path;
use std::sync::Arc;

use amem_memory::FactScope;
use amem_store::disk::Disk;
use amem_store::disk::atomic_file;
use amem_store::disk::os::OsDisk;
use serde::Deserialize;

use super::token::{Token, TokenRights, check_name};
use crate::auth::digest::Digest;
use crate::error::{Error, Result};
use crate::limits::{TOKENS_BYTES_MAX, TOKENS_MAX};
use crate::os::folder::make_private;
use amem_host::files::{FileFault, FileKind, TextPosition, read_text};
use amem_host::trust::OthersMay;

/// The prefix of a hash.
const SHA256: &str = "sha256:";

const HEAD: &str = "# The hashes of the tokens of callers by TCP. `amemctl token create` and `revoke` change this file while amemd\n# runs; after \
a change by hand, run `amemctl reload`.\n";

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct TokensFile {
    #[serde(default)]
    token: Vec<TokenEntry>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct TokenEntry {
    name: String,
    role: String,
    #[serde(default)]
    brains: Vec<String>,
    user: Option<String>,
    agent: Option<String>,
    app: Option<String>,
    run: Option<String>,
    created: u64,
    hash: String,
}

/// Reads the tokens; none if there is no file yet.
pub(super) fn read(path: &Path) -> Result<Vec<Token>> {
    // A user that can write the file can add callers; no other user needs to read it.
    let kind = FileKind::Settings(OthersMay::Nothing);
    let text = read_text(path, kind, TOKENS_BYTES_MAX).map_err(|fault| match fault {
        FileFault::Io { source, .. } => Error::io("read the tokens in", path, source),
        fault => wrong(path, fault.why()),
    })?;
    let Some(text) = text else {
        return Ok(Vec::new());
    };
    let written: TokensFile = toml::from_str(&text).map_err(|e| {
        // The text may be a secret in the wrong file: the error does not show it.
        let at = TextPosition::of(&text, e.span().map_or(0, |span| span.start));
        let what = "the file is a list of [[token]] with name, role, optional brains, user, agent, app and run, created (seconds \
                    since 1970) and hash";
        wrong(path, format!("line {} is invalid: {what}", at.line))
    })?;
    tokens(written).map_err(|why| wrong(path, why))
}

fn wrong(path: &Path, why: String) -> Error {
    Error::File {
        origin: format!("tcp.tokens_file {}", path.display()),
        why,
    }
}

fn tokens(written: TokensFile) -> Result<Vec<Token>, String> {
    if written.token.len() > TOKENS_MAX {
        let count = written.token.len();
        return Err(format!("it has {count} tokens, the limit is {TOKENS_MAX}"));
    }
    let mut out: Vec<Token> = Vec::new();
    for (at, entry) in written.token.into_iter().enumerate() {
        let token = token(entry).map_err(|why| format!("token {}: {why}", at + 1))?;
        for other in &out {
            let name = &token.name;
            if other.name == *name {
                return Err(format!("two tokens are named {name:?}: remove one"));
            }
            if other.digest == token.digest {
                let other = &other.name;
                return Err(format!(
                    "{name:?} and {other:?} have the same hash: remove one"
                ));
            }
        }
        out.push(token);
    }
    Ok(out)
}

fn token(entry: TokenEntry) -> Result<Token, String> {
    // An invalid name may be a secret: the error does not show it.
    check_name(&entry.name).map_err(|_| "its name is invalid".to_owned())?;
    let role = entry.role.parse();
    let role = role.map_err(|why| format!("{:?}: {why}", entry.name))?;
    let digest = entry.hash.strip_prefix(SHA256).and_then(Digest::parse);
    let scope = FactScope {
        user: entry.user,
        agent: entry.agent,
        app: entry.app,
        run: entry.run,
    };
    let rights = TokenRights {
        role,
        brains: entry.brains,
        scope: (scope != FactScope::default()).then_some(scope),
    };
    // The reason may quote text of the file: the error does not show it.
    let rights = rights.checked().map_err(|(field, _)| {
        let name = &entry.name;
        match field {
            "brains" => {
                format!("{name:?}: its brains are too many, or one is not the name of a brain")
            }
            "scope" => format!("{name:?}: a user, agent, app or run of it cannot be one"),
            _ => format!("{name:?}: with a user, agent, app or run its role is read or write"),
        }
    })?;
    Ok(Token {
        rights,
        digest: digest.ok_or_else(|| {
            let name = &entry.name;
            format!("{name:?}: its hash must be {SHA256:?} and 64 hexadecimal digits")
        })?,
        created_secs: entry.created,
        name: entry.name,
    })
}

/// A value as TOML writes it. Values of scopes have no control characters.
fn basic_string(value: &str) -> String {
    format!("\"{}\"", value.replace('\\', "\\\\").replace('"', "\\\""))
}

/// Replaces the file.
pub(super) fn write(path: &Path, tokens: &[Token]) -> Result<()> {
    let folder = path.parent().unwrap_or(path);
    make_private(folder)?;
    let mut text = HEAD.to_owned();
    for token in tokens {
        let (name, rights, created) = (&token.name, &token.rights, token.created_secs);
        let TokenRights {
            role,
            brains,
            scope,
        } = rights;
        let hash = token.digest.hex();
        // Writing to a string does not fail, and only values of scopes need escapes.
        _ = write!(text, "\n[[token]]\nname = \"{name}\"\nrole = \"{role}\"\n");
        if !brains.is_empty() {
            _ = writeln!(text, "brains = [\"{}\"]", brains.join("\", \""));
        }
        if let Some(scope) = scope {
            let fields = [
                ("user", &scope.user),
                ("agent", &scope.agent),
                ("app", &scope.app),
                ("run", &scope.run),
            ];
            for (field, value) in fields {
                if let Some(value) = value {
                    _ = writeln!(text, "{field} = {}", basic_string(value));
                }
            }
        }
        _ = write!(text, "created = {created}\nhash = \"{SHA256}{hash}\"\n");
    }
    let name = path.file_name().and_then(OsStr::to_str);
    let name = name.ok_or_else(|| wrong(path, "its name is not UTF-8".into()))?;
    let disk = OsDisk::new(folder).map_err(|e| Error::io("write the tokens into", path, e))?;
    let disk: Arc<dyn Disk> = Arc::new(disk);
    // A random name, as another daemon may write the same file. Its mode is 0600.
    let tmp = format!(".tokens-{:032x}", u128::from_le_bytes(disk.random()));
    let put = atomic_file::write(&disk, "", &tmp, name, text.as_bytes());
    put.map_err(|e| wrong(path, format!("cannot write it: {e}")))
}
