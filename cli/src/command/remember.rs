//! `amemctl remember`: stores a statement, as an agent does with the tool `remember`.

use amem_format::Micros;
use amem_mcp::MemoryPlace;
use amem_mcp::commands::{Reach, RememberedStatement, STATEMENT_KINDS, Statement, StatementError};
use clap::{Args, ValueEnum};
use serde_json::json;

use crate::command::ask::PlaceArgs;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::mcp::DaemonCalls;
use crate::output::context::CommandContext;
use crate::render::printable;
use crate::when::parse_time;

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  amemctl remember \"Staging listens on port 6432\"
  amemctl remember \"We use pnpm\" --kind decision --because e12
  amemctl remember \"I prefer short answers\" --scope user

The statement belongs to the project of the working folder, else to you. What is known already is not stored again; what
the statement is close to is shown. `amemctl fact add` looks for facts in what people say.")]
pub(crate) struct RememberArgs {
    /// The statement, one to three sentences.
    #[arg(required = true)]
    text: Vec<String>,
    #[command(flatten)]
    place: PlaceArgs,
    /// Of the project, or of the user in every project [default: project, where there is one]
    #[arg(long, value_name = "SCOPE")]
    scope: Option<StatementScope>,
    /// What it is.
    #[arg(long, value_name = "KIND", default_value = STATEMENT_KINDS[0], value_parser = STATEMENT_KINDS)]
    kind: String,
    /// A memory that it rests on, such as e43; can be repeated.
    #[arg(long, value_name = "ID")]
    because: Vec<String>,
    /// When it happened [default: now]
    #[arg(long, value_name = "TIME", value_parser = parse_time)]
    happened_at: Option<Micros>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum StatementScope {
    /// What holds in the project.
    Project,
    /// What holds for the user, in every project.
    User,
}

impl RememberArgs {
    pub(crate) fn run(&self, cx: &mut CommandContext) -> Result<Exit, Failure> {
        let place = self.place.place()?;
        let statement = Statement {
            text: self.text.join(" ").trim().to_owned(),
            kind: self.kind.clone(),
            because: self.because.clone(),
            reach: match self.scope {
                None => Reach::All,
                Some(StatementScope::Project) => Reach::Project,
                Some(StatementScope::User) => Reach::User,
            },
            happened_at: self.happened_at,
        };
        if statement.text.is_empty() {
            let remedy =
                "say what to remember: `amemctl remember \"Staging listens on port 6432\"`";
            return Err(Failure::argument("the statement is empty", remedy));
        }
        let done = store(cx, &place, &statement)?;
        let data = json!({
            "eventId": done.event_id.to_string(),
            "stored": !done.was_known,
            "quarantined": done.is_quarantined,
            "answer": done.words,
        });
        cx.done(None, &data, |page| {
            for line in done.words.lines() {
                page.line(printable(line));
            }
        })?;
        Ok(Exit::Ok)
    }
}

fn store(
    cx: &mut CommandContext,
    place: &MemoryPlace,
    statement: &Statement,
) -> Result<RememberedStatement, Failure> {
    let agent = cx.reach().agent.clone();
    let remote = cx.daemon()?;
    let calls = DaemonCalls::of_command(remote.client.clone());
    let stored = remote.wait(async {
        match amem_mcp::commands::remember(&calls, place, &agent, statement).await {
            Ok(done) => Ok(Ok(done)),
            Err(StatementError::Words(words)) => Ok(Err(words)),
            Err(StatementError::Refused(refusal)) => Err(*refusal),
        }
    })?;
    stored.map_err(|words| Failure::argument(words, "`amemctl remember --help` shows examples"))
}
