//! `amemctl fact export`: all memories of a scope as JSON lines.

use std::path::PathBuf;

use amem_client::v1;
use amem_format::view::AsOf;
use clap::Args;
use serde::Serialize;

use crate::command::fact_args::FactScopeArgs;
use crate::command::fact_history;
use crate::command::fact_output::{FactOutput, RecordJson};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::context::CommandContext;
use crate::when::{self, parse_moment};

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  amemctl fact export --user ada > ada.jsonl
  amemctl fact export --user ada --history
  amemctl fact export --sqlite history.sqlite
  amemctl fact export --user ada --filter-json '{\"tag\": \"work\"}' | jq -r .memory

Each line is one memory, as `amemctl fact get --json` has it in `data`, with `history` if asked for; with --json the
lines are the same. All are of one moment. Memories that ended are left out, except with --ended.

--sqlite writes the table memory_history into a new database: a row for each version and end, of a scope or of all.
`amemctl import FILE` reads it, and changes nothing in the brain that it is from.")]
pub(super) struct ExportFactArgs {
    #[command(flatten)]
    scope: FactScopeArgs,
    /// What must hold as well, as JSON.
    #[arg(long, value_name = "JSON")]
    filter_json: Option<String>,
    /// With the versions of each memory, the sentences that they are from, and feedback.
    #[arg(long)]
    history: bool,
    /// With memories that ended.
    #[arg(long)]
    ended: bool,
    /// Write the history into a new SQLite database.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["history", "ended"])]
    sqlite: Option<PathBuf>,
    /// What was known at this moment: an LSN or a time.
    #[arg(long, value_name = "MOMENT", value_parser = parse_moment)]
    as_of: Option<AsOf>,
}

#[derive(Serialize)]
struct ExportLine {
    #[serde(flatten)]
    fact: FactOutput,
    #[serde(skip_serializing_if = "Option::is_none")]
    history: Option<Vec<RecordJson>>,
}

impl ExportFactArgs {
    pub(super) fn run(&self, cx: &mut CommandContext) -> Result<Exit, Failure> {
        let request = v1::ExportFactsRequest {
            brain: self.scope.brain(),
            scope: self.scope.scope(),
            filter_json: self.filter_json.clone().unwrap_or_default(),
            history: self.history,
            as_of: when::as_of(self.as_of),
            ended: self.ended,
        };
        if let Some(path) = &self.sqlite {
            return fact_history::export(cx, request, path);
        }
        let remote = cx.daemon()?;
        let mut parts = remote.call(remote.client.facts().export_facts(request))?;
        // A memory whose records go on in the next part.
        let mut begun: Option<v1::ExportedFact> = None;
        while let Some(part) = cx.daemon()?.next(&mut parts)? {
            for fact in part.facts {
                let fact = match begun.take() {
                    Some(mut first) => {
                        first.records.extend(fact.records);
                        first.more = fact.more;
                        first
                    }
                    None => fact,
                };
                if fact.more {
                    begun = Some(fact);
                } else {
                    cx.line(&self.line(&fact)?)?;
                }
            }
        }
        cx.finish()?;
        Ok(Exit::Ok)
    }

    fn line(&self, fact: &v1::ExportedFact) -> Result<ExportLine, Failure> {
        let records = || fact.records.iter().map(RecordJson::of).collect();
        let output = FactOutput::of(fact.fact.as_ref())?;
        Ok(ExportLine {
            fact: output.with_feedback(fact.feedback.as_ref())?,
            history: self.history.then(records).transpose()?,
        })
    }
}
