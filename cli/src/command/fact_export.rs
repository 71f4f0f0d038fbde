//! `amemctl fact export`: all memories of a scope as JSON lines.

use std::path::PathBuf;

use amem_client::v1;
use amem_format::view::AsOf;
use clap::Args;
use serde::Serialize;
use serde_json::Value;

use crate::command::fact_args::FactScopeArgs;
use crate::command::fact_history;
use crate::command::fact_output::{event_name, metadata, rating_name};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::json::event::{Time, number};
use crate::output::context::CommandContext;
use crate::when::{self, parse_moment};

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  amemctl fact export --user ada > ada.jsonl
  amemctl fact export --user ada --history
  amemctl fact export --sqlite history.sqlite
  amemctl fact export --user ada --filter-json '{\"tag\": \"work\"}' | jq -r .memory

Each line is one memory in the spelling that `amemctl import` reads, with `history` if asked for; with --json the lines
are the same. All are of one moment. Memories that ended are left out, except with --ended.

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

/// A memory in the spelling that `amemctl import` and other memory programs read: a file format, not an answer.
#[derive(Serialize)]
struct FactLine {
    id: String,
    memory: String,
    hash: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    user_id: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    agent_id: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    app_id: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    run_id: Option<String>,
    metadata: Value,
    kind: String,
    confidence: Value,
    created_at: Time,
    updated_at: Time,
    expires_at: Option<Time>,
    validity: Option<ValidityLine>,
    quarantined: bool,
    sources: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    feedback: Option<FeedbackLine>,
    #[serde(skip_serializing_if = "Option::is_none")]
    history: Option<Vec<RecordLine>>,
}

#[derive(Serialize)]
struct ValidityLine {
    from: Option<Time>,
    to: Option<Time>,
    precision: String,
}

#[derive(Serialize)]
struct FeedbackLine {
    rating: &'static str,
    #[serde(skip_serializing_if = "String::is_empty")]
    reason: String,
    time: Time,
}

/// A version of a memory, its end, or feedback about it.
#[derive(Serialize)]
struct RecordLine {
    id: String,
    event: &'static str,
    old_memory: Option<String>,
    new_memory: Option<String>,
    time: Time,
    why: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    reason: String,
    sources: Vec<SourceLine>,
    source_count: u32,
    #[serde(skip_serializing_if = "String::is_empty")]
    replaced_by: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    feedback: Option<FeedbackLine>,
}

#[derive(Serialize)]
struct SourceLine {
    id: String,
    role: String,
    text: String,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    is_cut: bool,
    time: Option<Time>,
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

    fn line(&self, exported: &v1::ExportedFact) -> Result<FactLine, Failure> {
        let records = || exported.records.iter().map(record_line).collect();
        let fact = exported.fact.clone().unwrap_or_default();
        let scope = fact.scope.clone().unwrap_or_default();
        let validity = fact.validity.as_ref().map(|validity| {
            Ok::<_, Failure>(ValidityLine {
                from: Time::maybe(validity.from)?,
                to: Time::maybe(validity.to)?,
                precision: validity.precision.clone(),
            })
        });
        Ok(FactLine {
            user_id: scope.user,
            agent_id: scope.agent,
            app_id: scope.app,
            run_id: scope.run,
            metadata: metadata(&fact),
            confidence: number(fact.confidence),
            created_at: Time::of(fact.created_at)?,
            updated_at: Time::of(fact.updated_at)?,
            expires_at: Time::maybe(fact.expires_at)?,
            validity: validity.transpose()?,
            id: fact.id,
            memory: fact.memory,
            hash: fact.hash,
            kind: fact.kind,
            quarantined: fact.quarantined,
            sources: fact.source_ids,
            feedback: exported.feedback.as_ref().map(feedback_line).transpose()?,
            history: self.history.then(records).transpose()?,
        })
    }
}

fn feedback_line(feedback: &v1::FactFeedback) -> Result<FeedbackLine, Failure> {
    Ok(FeedbackLine {
        rating: rating_name(feedback.rating()),
        reason: feedback.reason.clone(),
        time: Time::of(feedback.time)?,
    })
}

fn record_line(record: &v1::FactRecord) -> Result<RecordLine, Failure> {
    let sources = record.sources.iter().map(|source| {
        Ok::<_, Failure>(SourceLine {
            id: source.id.clone(),
            role: source.role.clone(),
            text: source.text.clone(),
            is_cut: source.cut,
            time: Time::maybe(source.time)?,
        })
    });
    Ok(RecordLine {
        id: record.id.clone(),
        event: event_name(record.event()),
        old_memory: record.old_memory.clone(),
        new_memory: record.new_memory.clone(),
        time: Time::of(record.time)?,
        why: record.why.clone(),
        reason: record.reason.clone(),
        sources: sources.collect::<Result<_, _>>()?,
        source_count: record.source_count,
        replaced_by: record.replaced_by_id.clone(),
        feedback: record.feedback.as_ref().map(feedback_line).transpose()?,
    })
}
