//! `amemctl ask`: everything that is known about a question, as agents are given it.

use std::env;

use amem_client::v1;
use amem_mcp::MemoryPlace;
use amem_mcp::commands::{
    ENTRIES_TITLE, EntryLines, Reach, STANDING_TITLE, StandingPart, nothing_found,
};
use amem_mcp::limits::{TOKENS_DEFAULT, TOKENS_MAX, TOKENS_MIN};
use clap::Args;
use serde_json::Value;

use crate::args::scope::ScopeArgs;
use crate::command::fact_args::FactTimeArgs;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::mcp::{SourceOptions, memory_place};
use crate::output::context::CommandContext;
use crate::render::{TextPage, plural, printable};
use crate::when;

/// Ids of entries without room that are named.
const LEFT_OUT_SHOWN: usize = 20;

/// The brain and the project of a memory, as the command line and the working folder say it.
#[derive(Debug, Args)]
pub(super) struct PlaceArgs {
    /// The brain [default: that of .amem.toml, else memories]
    #[arg(long, env = "AMEM_BRAIN", value_name = "NAME", hide_env_values = true)]
    brain: Option<String>,
    /// The project, or its folder as an absolute path [default: that of the working folder]
    #[arg(long, value_name = "PROJECT")]
    project: Option<String>,
}

impl PlaceArgs {
    pub(super) fn place(&self) -> Result<MemoryPlace, Failure> {
        let options = SourceOptions {
            brain: self.brain.clone().filter(|name| !name.is_empty()),
            project: self.project.clone().filter(|name| !name.is_empty()),
        };
        let current = env::current_dir().map_err(|e| Failure::io("find", ".".as_ref(), &e))?;
        let memory = memory_place(&options, current);
        let remedy = "name the project or its folder with --project";
        Ok(memory.map_err(|why| Failure::argument(why, remedy))?.place)
    }
}

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  amemctl ask \"which port does staging use?\"
  amemctl ask \"where does she live\" --user ada --json
  amemctl ask \"where did we deploy before?\" --tokens 300

The answer has what was formed, what was said and what was written, the best first, each with its day, who said it and
its id. Without a scope it is about the project of the working folder and about you, as for an agent there; --user,
--of-agent, --app or --run names another. \"weak\" marks what concerns the same things and may not answer.")]
pub(crate) struct AskArgs {
    /// The question.
    #[arg(required = true)]
    question: Vec<String>,
    #[command(flatten)]
    place: PlaceArgs,
    #[command(flatten)]
    whose: ScopeArgs,
    /// What must hold as well, as JSON; turns have the kind `said`, other events `written`.
    #[arg(long, value_name = "JSON")]
    filter_json: Option<String>,
    /// At most this many entries.
    #[arg(long, default_value_t = 20, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=200))]
    limit: u32,
    /// At most about this many tokens, four characters each; --json has every entry.
    #[arg(long, default_value_t = TOKENS_DEFAULT, value_name = "N", value_parser = clap::value_parser!(u64).range(TOKENS_MIN..=TOKENS_MAX))]
    tokens: u64,
    #[command(flatten)]
    time: FactTimeArgs,
}

/// The filter of a place, and what must hold as well.
fn filter_of(place: &MemoryPlace, filter_json: Option<&str>) -> Result<String, Failure> {
    let and = filter_json.map(serde_json::from_str::<Value>).transpose();
    let and = and.map_err(|why| {
        let message = format!("--filter-json is no JSON: {why}");
        Failure::argument(message, "give an object, such as '{\"kind\": \"said\"}'")
    })?;
    let filter = place.filter(Reach::All, and.into_iter().collect());
    filter.map_err(|why| Failure::argument(why, "name a scope, such as --user ada"))
}

impl AskArgs {
    pub(crate) fn run(&self, cx: &mut CommandContext) -> Result<Exit, Failure> {
        let place = self.place.place()?;
        let scope = self.whose.scope();
        let filter_json = match &scope {
            None => filter_of(&place, self.filter_json.as_deref())?,
            Some(_) => self.filter_json.clone().unwrap_or_default(),
        };
        let whose = match &scope {
            None => place.in_words(),
            Some(_) => format!("the memory of {}", self.whose.in_words()),
        };
        let question = self.question.join(" ");
        let request = v1::RecallRequest {
            brain: place.brain.clone(),
            question: question.clone(),
            scope,
            filter_json,
            limit: self.limit,
            as_of: self.time.as_of(),
            at: self.time.at(),
            zone: when::zone_name(),
            ..v1::RecallRequest::default()
        };
        let remote = cx.daemon()?;
        let answer = remote.call(remote.client.facts().recall(request))?;
        let tokens = self.tokens;
        cx.message(None, &answer, |page| {
            write(&answer, &place, (&question, &whose), tokens, page);
        })?;
        Ok(Exit::Ok)
    }
}

/// The entries for people: the lines that an agent is given.
fn write(
    answer: &v1::RecallResponse,
    place: &MemoryPlace,
    (question, whose): (&str, &str),
    tokens: u64,
    page: &mut TextPage,
) {
    let best = answer.left_out_relevance;
    if answer.entries.is_empty() {
        page.aside(printable(&nothing_found(question, whose, best)));
        let shown = EntryLines::within(tokens, &answer.nearest, place);
        if !shown.lines.is_empty() {
            page.aside("nearest, and likely no answer:");
        }
        for line in &shown.lines {
            page.line(printable(line));
        }
    } else {
        let standing = StandingPart::within(tokens, &answer.standing, place);
        let entries = standing.without_doubles(answer.entries.clone());
        if !standing.lines.is_empty() {
            page.aside(STANDING_TITLE);
            for line in &standing.lines {
                page.line(printable(line));
            }
            page.aside(ENTRIES_TITLE);
        }
        let left = tokens.saturating_sub(standing.tokens());
        let shown = EntryLines::within(left, &entries, place);
        for line in &shown.lines {
            page.line(printable(line));
        }
        if !shown.left_out.is_empty() {
            let ids = shown.left_out.iter().take(LEFT_OUT_SHOWN);
            let ids: Vec<String> = ids.map(|id| format!("[e{id}]")).collect();
            let count = plural(shown.left_out.len() as u64, "hit");
            page.aside(format!(
                "{count} had no room, raise --tokens: {}",
                ids.join(" ")
            ));
        }
        if best > 0.0 {
            page.aside(format!(
                "less relevant ones were left out: the best has relevance {best:.2}"
            ));
        }
    }
    if !answer.words_only.is_empty() {
        let why = printable(&answer.words_only);
        page.aside(format!("only words were compared: {why}"));
    }
}
