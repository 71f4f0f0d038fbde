//! `amemctl token`: the tokens with which others come in by TCP.
//!
//! Promises: a token is printed once, when it is made, on stdout and nowhere else; no list has it.

use amem_client::v1;
use clap::{Args, Subcommand, ValueEnum};
use serde::Serialize;

use crate::connection::remote::Remote;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::json::event::Time;
use crate::output::context::Context;
use crate::render::{Align, Page, Table, plural, printable};
use crate::when;

/// Tokens that are asked for at a time.
const PAGE: u32 = 200;

/// Options.
#[derive(Debug, Args)]
pub(crate) struct Token {
    #[command(subcommand)]
    act: Act,
}

#[derive(Debug, Subcommand)]
enum Act {
    /// Makes a token, and prints it once.
    Create(Create),
    /// Lists the tokens, without what they are.
    #[command(visible_alias = "ls")]
    List(List),
    /// Takes a token away, at once.
    Revoke(Revoke),
}

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  (umask 077; amemctl token create laptop > laptop.token)
  amemctl token create ci --role read --brain work --json | jq -r .data.token
  amemctl --address 127.0.0.1:7411 --token-file laptop.token brain ls

amemd keeps a hash: what is printed can't be shown again. Callers are token:NAME in commits and in the log. TCP is
switched on by tcp.listen in amemd's settings.")]
struct Create {
    /// Its name: letters, digits, -, _ and dots.
    name: String,
    /// What its callers may do.
    #[arg(long, value_enum, default_value_t = Role::Write)]
    role: Role,
    /// Only with this brain; it may be given again. Of other brains its callers learn nothing.
    #[arg(long = "brain", value_name = "NAME")]
    brains: Vec<String>,
}

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  amemctl token list
  amemctl token list --json")]
struct List {}

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  amemctl token revoke laptop

Who shows it is refused from then on, also on connections that are open; streams in its name end.")]
struct Revoke {
    /// Its name.
    name: String,
}

/// What callers may do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum, Serialize)]
#[serde(rename_all = "lowercase")]
enum Role {
    /// Ask.
    Read,
    /// Change brains, too.
    Write,
    /// Remove them, and steer amemd.
    Admin,
}

#[derive(Serialize)]
struct Created<'a> {
    name: &'a str,
    role: Role,
    /// Empty: all.
    brains: &'a [String],
    token: String,
}

#[derive(Serialize)]
struct Listed {
    tokens: Vec<Row>,
}

#[derive(Serialize)]
struct Row {
    name: String,
    role: &'static str,
    /// Empty: all.
    brains: Vec<String>,
    created: Option<Time>,
}

#[derive(Serialize)]
struct Revoked<'a> {
    name: &'a str,
}

impl Role {
    fn permission(self) -> v1::Permission {
        match self {
            Self::Read => v1::Permission::Read,
            Self::Write => v1::Permission::Write,
            Self::Admin => v1::Permission::Admin,
        }
    }
}

impl Token {
    /// The name of what is to be done.
    pub(crate) fn name(&self) -> &'static str {
        match self.act {
            Act::Create(_) => "create",
            Act::List(_) => "list",
            Act::Revoke(_) => "revoke",
        }
    }

    pub(crate) fn run(&self, cx: &mut Context) -> Result<Exit, Failure> {
        match &self.act {
            Act::Create(create) => create.run(cx),
            Act::List(_) => list(cx),
            Act::Revoke(revoke) => revoke.run(cx),
        }
    }
}

impl Create {
    fn run(&self, cx: &mut Context) -> Result<Exit, Failure> {
        let request = v1::CreateTokenRequest {
            name: self.name.clone(),
            permission: self.role.permission().into(),
            brains: self.brains.clone(),
        };
        let remote = cx.reach().running()?;
        let answer = remote.call(remote.client.admin().create_token(request))?;
        let told = Created {
            name: &self.name,
            role: self.role,
            brains: &self.brains,
            token: answer.token,
        };
        // On stdout stands the token and nothing else: it goes into a file.
        cx.answer(None, &told, |page| page.line(printable(&told.token)))?;
        if !cx.is_json() {
            let name = printable(&self.name);
            cx.note(&format!(
                "this is token {name}; it is not shown again: keep it in a file that only its user may read"
            ));
        }
        Ok(Exit::Ok)
    }
}

fn list(cx: &mut Context) -> Result<Exit, Failure> {
    let remote = cx.reach().running()?;
    let rows = tokens(&remote)?.iter().map(row).collect::<Result<_, _>>()?;
    let told = Listed { tokens: rows };
    cx.answer(None, &told, |page| write(&told, page))?;
    Ok(Exit::Ok)
}

fn tokens(remote: &Remote) -> Result<Vec<v1::Token>, Failure> {
    let mut tokens = Vec::new();
    let mut page_token = String::new();
    loop {
        let request = v1::ListTokensRequest {
            page_size: PAGE,
            page_token,
        };
        let answer = remote.call(remote.client.admin().list_tokens(request))?;
        tokens.extend(answer.tokens);
        page_token = answer.next_page_token;
        if page_token.is_empty() {
            return Ok(tokens);
        }
    }
}

fn row(token: &v1::Token) -> Result<Row, Failure> {
    Ok(Row {
        name: token.name.clone(),
        role: match token.permission() {
            v1::Permission::Read => "read",
            v1::Permission::Write => "write",
            v1::Permission::Admin => "admin",
            v1::Permission::Unspecified => "unknown",
        },
        brains: token.brains.clone(),
        created: token.create_time.map(|t| Time::of(Some(t))).transpose()?,
    })
}

fn write(told: &Listed, page: &mut Page) {
    let mut table = Table::new(&[
        ("token", Align::Left),
        ("role", Align::Left),
        ("made", Align::Left),
        ("brains", Align::Left),
    ]);
    for token in &told.tokens {
        let made = token.created.map(|made| when::short(made.0));
        table.row(vec![
            token.name.clone(),
            token.role.to_owned(),
            made.unwrap_or_else(|| "-".to_owned()),
            match token.brains.is_empty() {
                true => "all".to_owned(),
                false => token.brains.join(", "),
            },
        ]);
    }
    table.write(page);
    page.aside(match told.tokens.len() {
        0 => "there is no token: `amemctl token create NAME` makes one".to_owned(),
        n => plural(n as u64, "token"),
    });
}

impl Revoke {
    fn run(&self, cx: &mut Context) -> Result<Exit, Failure> {
        let request = v1::RevokeTokenRequest {
            name: self.name.clone(),
        };
        let remote = cx.reach().running()?;
        remote.call(remote.client.admin().revoke_token(request))?;
        let told = Revoked { name: &self.name };
        cx.done(None, &told, |page| {
            page.line(format!("token {} is revoked", printable(told.name)));
        })?;
        Ok(Exit::Ok)
    }
}
