//! `amemctl token`: tokens of TCP callers.
//!
//! Promises: a token is printed once, when it is created, on stdout only; no list has it.

use std::fmt;

use amem_client::v1;
use clap::{Args, Subcommand, ValueEnum};
use serde::Serialize;

use crate::args::scope::ScopeArgs;
use crate::connection::remote::{Remote, all_pages};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::json::event::Time;
use crate::output::context::CommandContext;
use crate::render::{Align, TextPage, TextTable, plural, printable};
use crate::when;

/// Tokens per request.
const PAGE: u32 = 200;

#[derive(Debug, Args)]
pub(crate) struct TokenArgs {
    #[command(subcommand)]
    act: TokenCommand,
}

#[derive(Debug, Subcommand)]
enum TokenCommand {
    /// Creates a token, and prints it once.
    Create(CreateTokenArgs),
    /// Lists the tokens, without their secrets.
    #[command(visible_alias = "ls")]
    List(ListTokensArgs),
    /// Revokes a token at once.
    Revoke(RevokeArgs),
}

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  (umask 077; amemctl token create laptop > laptop.token)
  amemctl token create ci --role read --brain work --json | jq -r .data.token
  (umask 077; amemctl token create ada-phone --user ada > ada.token)
  amemctl --address 127.0.0.1:7411 --token-file laptop.token brain ls

amemd stores a hash: the token cannot be shown again. Callers are token:NAME in commits and in the log. The
setting tcp.listen of amemd enables TCP.

With --user, --of-agent, --app or --run its callers may use `amemctl fact` only, within that scope.")]
struct CreateTokenArgs {
    /// Its name: letters, digits, -, _ and dots.
    name: String,
    /// What its callers may do.
    #[arg(long, value_enum, default_value_t = TokenRole::Write)]
    role: TokenRole,
    /// Only this brain; may be repeated. Its callers learn nothing of other brains.
    #[arg(long = "brain", value_name = "NAME")]
    brains: Vec<String>,
    #[command(flatten)]
    whose: ScopeArgs,
}

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  amemctl token list
  amemctl token list --json")]
struct ListTokensArgs {}

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  amemctl token revoke laptop

Its callers are refused from then on, also on open connections; their streams end.")]
struct RevokeArgs {
    /// Its name.
    name: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum, Serialize)]
#[serde(rename_all = "lowercase")]
enum TokenRole {
    /// Query brains.
    Read,
    /// Also change brains.
    Write,
    /// Also remove brains and control amemd.
    Admin,
}

#[derive(Serialize)]
struct CreateTokenOutput<'a> {
    name: &'a str,
    role: TokenRole,
    /// Empty: all.
    brains: &'a [String],
    /// Not there: no limit.
    #[serde(skip_serializing_if = "Option::is_none")]
    scope: Option<TokenScope>,
    token: String,
}

/// Whose memories a token is for.
#[derive(Serialize)]
struct TokenScope {
    #[serde(skip_serializing_if = "Option::is_none")]
    user: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    agent: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    app: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    run: Option<String>,
}

impl From<v1::Scope> for TokenScope {
    fn from(scope: v1::Scope) -> Self {
        Self {
            user: scope.user,
            agent: scope.agent,
            app: scope.app,
            run: scope.run,
        }
    }
}

impl fmt::Display for TokenScope {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let fields = [
            ("user", &self.user),
            ("agent", &self.agent),
            ("app", &self.app),
            ("run", &self.run),
        ];
        let named = fields
            .iter()
            .filter_map(|(name, value)| Some((name, value.as_ref()?)));
        for (at, (name, value)) in named.enumerate() {
            let separator = if at == 0 { "" } else { ", " };
            write!(out, "{separator}{name} {value}")?;
        }
        Ok(())
    }
}

#[derive(Serialize)]
struct TokenList {
    tokens: Vec<TokenRow>,
}

#[derive(Serialize)]
struct TokenRow {
    name: String,
    role: &'static str,
    /// Empty: all.
    brains: Vec<String>,
    /// Not there: no limit.
    #[serde(skip_serializing_if = "Option::is_none")]
    scope: Option<TokenScope>,
    created: Option<Time>,
}

#[derive(Serialize)]
struct RevokeOutput<'a> {
    name: &'a str,
}

impl TokenRole {
    fn permission(self) -> v1::Permission {
        match self {
            Self::Read => v1::Permission::Read,
            Self::Write => v1::Permission::Write,
            Self::Admin => v1::Permission::Admin,
        }
    }
}

impl TokenArgs {
    pub(crate) fn run(&self, cx: &mut CommandContext) -> Result<Exit, Failure> {
        match &self.act {
            TokenCommand::Create(create) => create.run(cx),
            TokenCommand::List(_) => list(cx),
            TokenCommand::Revoke(revoke) => revoke.run(cx),
        }
    }
}

impl CreateTokenArgs {
    fn run(&self, cx: &mut CommandContext) -> Result<Exit, Failure> {
        let request = v1::CreateTokenRequest {
            name: self.name.clone(),
            permission: self.role.permission().into(),
            brains: self.brains.clone(),
            scope: self.whose.scope(),
        };
        let remote = cx.reach().running()?;
        let answer = remote.call(remote.client.admin().create_token(request))?;
        let output = CreateTokenOutput {
            name: &self.name,
            role: self.role,
            brains: &self.brains,
            scope: self.whose.scope().map(TokenScope::from),
            token: answer.token,
        };
        // Only the token goes to stdout: it is redirected into a file.
        cx.answer(None, &output, |page| page.line(printable(&output.token)))?;
        if !cx.is_json() {
            let name = printable(&self.name);
            cx.note(&format!(
                "this is token {name}; it is not shown again: store it in a file that only its user may read"
            ));
        }
        Ok(Exit::Ok)
    }
}

fn list(cx: &mut CommandContext) -> Result<Exit, Failure> {
    let remote = cx.reach().running()?;
    let rows = tokens(&remote)?.iter().map(row).collect::<Result<_, _>>()?;
    let output = TokenList { tokens: rows };
    cx.answer(None, &output, |page| write(&output, page))?;
    Ok(Exit::Ok)
}

fn tokens(remote: &Remote) -> Result<Vec<v1::Token>, Failure> {
    Ok(all_pages(|page_token| {
        let request = v1::ListTokensRequest {
            page_size: PAGE,
            page_token,
        };
        let answer = remote.call(remote.client.admin().list_tokens(request))?;
        Ok((answer.tokens, answer.next_page_token))
    })?)
}

fn row(token: &v1::Token) -> Result<TokenRow, Failure> {
    Ok(TokenRow {
        name: token.name.clone(),
        role: match token.permission() {
            v1::Permission::Read => "read",
            v1::Permission::Write => "write",
            v1::Permission::Admin => "admin",
            v1::Permission::Unspecified => "unknown",
        },
        brains: token.brains.clone(),
        scope: token.scope.clone().map(TokenScope::from),
        created: Time::maybe(token.create_time)?,
    })
}

fn write(output: &TokenList, page: &mut TextPage) {
    let mut table = TextTable::new(&[
        ("token", Align::Left),
        ("role", Align::Left),
        ("made", Align::Left),
        ("brains", Align::Left),
        ("memories of", Align::Left),
    ]);
    for token in &output.tokens {
        let made = token.created.map(|made| when::short(made.0));
        table.row(vec![
            token.name.clone(),
            token.role.to_owned(),
            made.unwrap_or_else(|| "-".to_owned()),
            if token.brains.is_empty() {
                "all".to_owned()
            } else {
                token.brains.join(", ")
            },
            token
                .scope
                .as_ref()
                .map_or_else(|| "all".to_owned(), TokenScope::to_string),
        ]);
    }
    table.write(page);
    page.aside(match output.tokens.len() {
        0 => "there is no token: `amemctl token create NAME` creates one".to_owned(),
        n => plural(n as u64, "token"),
    });
}

impl RevokeArgs {
    fn run(&self, cx: &mut CommandContext) -> Result<Exit, Failure> {
        let request = v1::RevokeTokenRequest {
            name: self.name.clone(),
        };
        let remote = cx.reach().running()?;
        remote.call(remote.client.admin().revoke_token(request))?;
        let output = RevokeOutput { name: &self.name };
        cx.done(None, &output, |page| {
            page.line(format!("token {} is revoked", printable(output.name)));
        })?;
        Ok(Exit::Ok)
    }
}
