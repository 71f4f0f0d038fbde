//! `amemctl token`: tokens of TCP callers.
//!
//! Promises: a token is printed once, when it is created, on stdout only; no list has it.

use amem_client::v1;
use clap::{Args, Subcommand, ValueEnum};

use crate::args::scope::{ScopeArgs, scope_text};
use crate::connection::remote::whole_list;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::context::CommandContext;
use crate::render::{Align, Column, plural, printable};
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

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum TokenRole {
    /// Query brains.
    Read,
    /// Also change brains.
    Write,
    /// Also remove brains and control amemd.
    Admin,
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
        // Only the token goes to stdout: it is redirected into a file.
        cx.message(None, &answer, |page| page.line(&answer.token))?;
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
    let answer = whole_list(
        |page_token| {
            let request = v1::ListTokensRequest {
                page_size: PAGE,
                page_token,
            };
            remote.call(remote.client.admin().list_tokens(request))
        },
        |answer| (&mut answer.tokens, &mut answer.next_page_token),
    )?;
    cx.message(None, &answer, |page| {
        page.rows(&COLUMNS, &answer.tokens);
        page.aside(match answer.tokens.len() {
            0 => "there is no token: `amemctl token create NAME` creates one".to_owned(),
            n => plural(n as u64, "token"),
        });
    })?;
    Ok(Exit::Ok)
}

const COLUMNS: [Column<v1::Token>; 5] = [
    ("token", Align::Left, |token| token.name.clone()),
    ("role", Align::Left, |token| {
        let role = token.permission().as_str_name();
        let role = role.strip_prefix("PERMISSION_").unwrap_or(role);
        role.to_ascii_lowercase()
    }),
    ("made", Align::Left, |token| {
        when::short_or_dash(token.create_time)
    }),
    ("brains", Align::Left, |token| {
        match token.brains.as_slice() {
            [] => "all".to_owned(),
            brains => brains.join(", "),
        }
    }),
    ("memories of", Align::Left, |token| match &token.scope {
        None => "all".to_owned(),
        Some(scope) => scope_text(scope),
    }),
];

impl RevokeArgs {
    fn run(&self, cx: &mut CommandContext) -> Result<Exit, Failure> {
        let request = v1::RevokeTokenRequest {
            name: self.name.clone(),
        };
        let remote = cx.reach().running()?;
        let answer = remote.call(remote.client.admin().revoke_token(request))?;
        cx.changed(None, &answer, |page| {
            page.line(format!("token {} is revoked", self.name));
        })?;
        Ok(Exit::Ok)
    }
}
