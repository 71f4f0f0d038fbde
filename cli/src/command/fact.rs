//! `amemctl fact`: memories about users and agents, found in what they say.

use amem_client::v1;
use amem_format::Micros;
use clap::{Args, Subcommand};

use crate::args::event_id::EventId;
use crate::brain::target::BrainTarget;
use crate::brain::writable::Writable;
use crate::command::add::session;
use crate::command::fact_args::{FactBrainArgs, FactScopeArgs, FactTimeArgs, options};
use crate::command::fact_entities::EntitiesArgs;
use crate::command::fact_export::ExportFactArgs;
use crate::command::fact_feedback::FeedbackArgs;
use crate::command::fact_forget::ForgetPersonArgs;
use crate::command::fact_graph::{GraphArgs, RelationsArgs};
use crate::command::fact_input;
use crate::command::fact_output::{
    memories, write_added, write_deleted, write_fact, write_facts, write_history, write_hits,
    write_pending, write_scopes,
};
use crate::command::fact_review::ReviewArgs;
use crate::command::models::ProbeModelArgs;
use crate::connection::remote::whole_list;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::confirm::confirm;
use crate::output::context::CommandContext;
use crate::render::plural;
use crate::when::{parse_time, timestamp};

#[derive(Debug, Args)]
pub(crate) struct FactArgs {
    #[command(subcommand)]
    act: FactCommand,
}

#[derive(Debug, Subcommand)]
enum FactCommand {
    /// Finds facts in a text or a conversation, and remembers them.
    Add(AddFactArgs),
    /// Finds memories that answer a question.
    Search(SearchFactArgs),
    /// Shows a memory.
    Get(OneFactArgs),
    /// Lists memories.
    #[command(visible_alias = "ls")]
    List(ListFactArgs),
    /// Gives a memory a new text.
    Update(UpdateFactArgs),
    /// Ends a memory, or all of a scope; their history stays.
    Delete(DeleteFactArgs),
    /// Shows the versions of a memory, and the sentences that they are from.
    History(OneFactArgs),
    /// Erases everything of a scope, history and conversations too.
    Reset(ResetFactArgs),
    /// Lists the users, agents, apps and runs that have memories.
    Users(UsersArgs),
    /// Lists work that is left: facts that are not formed yet.
    Pending(PendingFactArgs),
    /// Lists memories that wait for a review, and decides about them.
    Review(ReviewArgs),
    /// Lists who and what memories name, or shows all that is known about one of them.
    Entities(EntitiesArgs),
    /// Lists how they are related.
    Relations(RelationsArgs),
    /// Draws them and their relations as a graph.
    Graph(GraphArgs),
    /// Erases a person from every brain, or what a user said about one.
    Forget(ForgetPersonArgs),
    /// Erases a turn, and the memories that only it supported.
    EraseSource(EraseSourceArgs),
    /// Tries which form of questions a model answers.
    ProbeModel(ProbeModelArgs),
    /// Says what you think of a memory.
    Feedback(FeedbackArgs),
    /// Prints all memories of a scope, one a line, as JSON.
    Export(ExportFactArgs),
}

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  amemctl fact add \"I live in Porto and I'm allergic to nuts\" --user ada
  amemctl fact add - --user ada < conversation.jsonl
  amemctl fact add \"Deploys happen on Tuesdays\" --of-agent builder --as-is

With - it reads stdin: JSON lines or a JSON array with role and content (and optionally name and timestamp), lines that
begin with user: or assistant:, or plain text.")]
struct AddFactArgs {
    /// What was said; - reads stdin.
    text: String,
    #[command(flatten)]
    scope: FactScopeArgs,
    /// Remember each message as it is, without looking for facts.
    #[arg(long)]
    as_is: bool,
    /// Show what would be remembered, and store nothing.
    #[arg(long)]
    dry_run: bool,
    /// Remember what the agent says as well.
    #[arg(long)]
    assistant_facts: bool,
    /// Keys of each memory, a JSON object.
    #[arg(long, value_name = "JSON")]
    metadata_json: Option<String>,
    /// When it was said.
    #[arg(long, value_name = "TIME", value_parser = parse_time)]
    said_at: Option<Micros>,
    /// When the memories end by themselves.
    #[arg(long, value_name = "TIME", value_parser = parse_time)]
    expires_at: Option<Micros>,
    /// The session of turns and memories: a number, or a key; amemd opens a session for a new key.
    #[arg(long)]
    session: Option<String>,
    /// Show what each stage did - observe, extract, store, relate - and what each fact relates.
    #[arg(long)]
    explain: bool,
    /// A repetition under this key gets the same answer and stores nothing.
    #[arg(long, value_name = "KEY")]
    key: Option<String>,
}

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  amemctl fact search \"where does she live\" --user ada
  amemctl fact search food --user ada --threshold 0.5 --explain
  amemctl fact search home --user ada --filter-json '{\"tag\": \"work\"}'")]
struct SearchFactArgs {
    /// The question.
    query: String,
    #[command(flatten)]
    scope: FactScopeArgs,
    /// What must hold as well, as JSON.
    #[arg(long, value_name = "JSON")]
    filter_json: Option<String>,
    /// At most this many.
    #[arg(long, default_value_t = 10, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1000))]
    limit: u32,
    /// Only hits of at least this score, 0 to 1.
    #[arg(long, default_value_t = 0.0, value_name = "0..1", value_parser = crate::args::text::parse_unit)]
    threshold: f32,
    #[command(flatten)]
    time: FactTimeArgs,
    /// Show the parts of scores.
    #[arg(long)]
    explain: bool,
    /// Add memories of who and what the question names, and of what is related to them.
    #[arg(long)]
    graph: bool,
}

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  amemctl fact get 0b51a1b2-3c4d-4e5f-8a6b-7c8d9e0f1a2b
  amemctl fact get e43
  amemctl fact history 0b51a1b2-3c4d-4e5f-8a6b-7c8d9e0f1a2b
  amemctl fact history 0b51a1b2-3c4d-4e5f-8a6b-7c8d9e0f1a2b --json

`amemctl fact ls` and `amemctl fact search` show ids; `get` also takes those of `amemctl ask`, of turns too.")]
struct OneFactArgs {
    /// Its id; for `get` also that of a turn, or of an event, such as e43.
    id: String,
    #[command(flatten)]
    of: FactBrainArgs,
}

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  amemctl fact ls --user ada
  amemctl fact ls --user ada --as-of \"a week ago\"
  amemctl fact ls --filter-json '{\"OR\": [{\"user_id\": \"ada\"}, {\"user_id\": \"bob\"}]}'")]
struct ListFactArgs {
    #[command(flatten)]
    scope: FactScopeArgs,
    /// What must hold as well, as JSON.
    #[arg(long, value_name = "JSON")]
    filter_json: Option<String>,
    #[command(flatten)]
    time: FactTimeArgs,
}

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  amemctl fact update 0b51a1b2-3c4d-4e5f-8a6b-7c8d9e0f1a2b \"User lives in Rome\"
  amemctl fact update 0b51a1b2-3c4d-4e5f-8a6b-7c8d9e0f1a2b --metadata-json '{\"tag\": \"home\"}'

The version before stays in its history.")]
struct UpdateFactArgs {
    /// Its id.
    id: String,
    /// The new text.
    text: Option<String>,
    /// The new keys, all of them, a JSON object.
    #[arg(long, value_name = "JSON")]
    metadata_json: Option<String>,
    /// Fail if the memory has another text than this.
    #[arg(long, value_name = "TEXT")]
    expected: Option<String>,
    #[command(flatten)]
    of: FactBrainArgs,
}

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  amemctl fact delete 0b51a1b2-3c4d-4e5f-8a6b-7c8d9e0f1a2b
  amemctl fact delete --all --user ada --yes")]
struct DeleteFactArgs {
    /// Its id.
    #[arg(required_unless_present = "all", conflicts_with = "all")]
    id: Option<String>,
    /// Every memory of the scope.
    #[arg(long)]
    all: bool,
    #[command(flatten)]
    scope: FactScopeArgs,
    /// What must hold as well, as JSON, with --all.
    #[arg(long, value_name = "JSON", requires = "all")]
    filter_json: Option<String>,
    /// Do not ask.
    #[arg(long)]
    yes: bool,
}

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  amemctl fact users
  amemctl fact users --app mail
  amemctl fact users --brain work --json

With a scope it counts the memories of that scope only.")]
struct UsersArgs {
    #[command(flatten)]
    scope: FactScopeArgs,
}

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  amemctl fact pending
  amemctl fact pending --user ada --retry")]
struct PendingFactArgs {
    #[command(flatten)]
    scope: FactScopeArgs,
    /// Try it again now.
    #[arg(long)]
    retry: bool,
}

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  amemctl fact erase-source 0b51a1b2-3c4d-4e5f-8a6b-7c8d9e0f1a2b

The turn is gone from every file of the brain; so are the memories that are from it alone.")]
struct EraseSourceArgs {
    /// The turn, as `amemctl fact history --json` shows it.
    turn: String,
    #[command(flatten)]
    of: FactBrainArgs,
    /// Do not ask.
    #[arg(long)]
    yes: bool,
}

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  amemctl fact reset --user ada --yes
  amemctl fact reset --everything

Nothing of it can be restored. `amemctl fact delete --all` ends memories and keeps their history.")]
struct ResetFactArgs {
    #[command(flatten)]
    scope: FactScopeArgs,
    /// All scopes of the brain.
    #[arg(long)]
    everything: bool,
    /// Do not ask.
    #[arg(long)]
    yes: bool,
}

impl FactArgs {
    pub(crate) fn run(&self, cx: &mut CommandContext) -> Result<Exit, Failure> {
        match &self.act {
            FactCommand::Add(add) => add.run(cx),
            FactCommand::Search(search) => search.run(cx),
            FactCommand::Get(get) => get.get(cx),
            FactCommand::List(list) => list.run(cx),
            FactCommand::Update(update) => update.run(cx),
            FactCommand::Delete(delete) => delete.run(cx),
            FactCommand::History(history) => history.history(cx),
            FactCommand::Reset(reset) => reset.run(cx),
            FactCommand::Entities(entities) => entities.run(cx),
            FactCommand::Relations(relations) => relations.run(cx),
            FactCommand::Graph(graph) => graph.run(cx),
            FactCommand::Forget(person) => person.run(cx),
            FactCommand::Users(users) => users.run(cx),
            FactCommand::Pending(pending) => pending.run(cx),
            FactCommand::Review(review) => review.run(cx),
            FactCommand::EraseSource(erase) => erase.run(cx),
            FactCommand::ProbeModel(probe) => probe.run(cx),
            FactCommand::Feedback(feedback) => feedback.run(cx),
            FactCommand::Export(export) => export.run(cx),
        }
    }
}

impl AddFactArgs {
    fn run(&self, cx: &mut CommandContext) -> Result<Exit, Failure> {
        let session_id = match &self.session {
            Some(name) => self.session(cx, name)?,
            None => 0,
        };
        let request = v1::AddFactsRequest {
            brain: self.scope.brain(),
            session_id,
            messages: fact_input::messages(&self.text)?,
            scope: self.scope.scope(),
            infer: Some(!self.as_is),
            dry_run: self.dry_run,
            metadata_json: self.metadata_json.clone().unwrap_or_default(),
            timestamp: self.said_at.map(timestamp),
            expires_at: self.expires_at.map(timestamp),
            idempotency_key: self.key.clone().unwrap_or_default(),
            assistant_facts: self.assistant_facts,
            options: options(cx),
            ..Default::default()
        };
        let remote = cx.daemon()?;
        let answer = remote.call(remote.client.facts().add_facts(request))?;
        cx.message(None, &answer, |page| {
            write_added(&answer, self.dry_run, self.explain, page);
        })?;
        Ok(Exit::Ok)
    }
}

impl AddFactArgs {
    /// The session of a name. The brain of facts is made by its first call.
    fn session(&self, cx: &mut CommandContext, name: &str) -> Result<u32, Failure> {
        let request = v1::ListFactsRequest {
            brain: self.scope.brain(),
            scope: self.scope.scope(),
            page_size: 1,
            ..Default::default()
        };
        let remote = cx.daemon()?;
        remote.call(remote.client.facts().list_facts(request))?;
        let mut brain = Writable::open(cx, &BrainTarget::Name(self.scope.brain()))?;
        session(cx, &mut brain, None, name)
    }
}

impl SearchFactArgs {
    fn run(&self, cx: &mut CommandContext) -> Result<Exit, Failure> {
        let request = v1::SearchFactsRequest {
            brain: self.scope.brain(),
            query: self.query.clone(),
            scope: self.scope.scope(),
            filter_json: self.filter_json.clone().unwrap_or_default(),
            limit: self.limit,
            threshold: self.threshold,
            as_of: self.time.as_of(),
            at: self.time.at(),
            explain: self.explain,
            graph: self.graph,
        };
        let remote = cx.daemon()?;
        let answer = remote.call(remote.client.facts().search_facts(request))?;
        cx.message(None, &answer, |page| write_hits(&answer, page))?;
        Ok(Exit::Ok)
    }
}

impl OneFactArgs {
    /// The event, of an id such as e43.
    fn event(&self) -> Option<u64> {
        match self.id.parse() {
            Ok(EventId::Number(event)) => Some(event),
            Ok(EventId::Last) | Err(_) => None,
        }
    }

    fn get(&self, cx: &mut CommandContext) -> Result<Exit, Failure> {
        let event_id = self.event();
        let request = v1::GetFactRequest {
            brain: self.of.brain.clone(),
            id: match event_id {
                Some(_) => String::new(),
                None => self.id.clone(),
            },
            event_id,
            ..Default::default()
        };
        let remote = cx.daemon()?;
        let answer = remote.call(remote.client.facts().get_fact(request))?;
        let fact = answer.fact.clone().unwrap_or_default();
        cx.message(None, &answer, |page| {
            write_fact(&fact, answer.feedback.as_ref(), page);
        })?;
        Ok(Exit::Ok)
    }

    fn history(&self, cx: &mut CommandContext) -> Result<Exit, Failure> {
        let remote = cx.daemon()?;
        let answer = whole_list(
            |page_token| {
                let request = v1::GetFactHistoryRequest {
                    brain: self.of.brain.clone(),
                    id: self.id.clone(),
                    page_size: 1_000,
                    page_token,
                    ..Default::default()
                };
                remote.call(remote.client.facts().get_fact_history(request))
            },
            |answer| (&mut answer.records, &mut answer.next_page_token),
        )?;
        cx.message(None, &answer, |page| write_history(&answer, page))?;
        Ok(Exit::Ok)
    }
}

impl ListFactArgs {
    fn run(&self, cx: &mut CommandContext) -> Result<Exit, Failure> {
        let remote = cx.daemon()?;
        let answer = whole_list(
            |page_token| {
                let request = v1::ListFactsRequest {
                    brain: self.scope.brain(),
                    scope: self.scope.scope(),
                    filter_json: self.filter_json.clone().unwrap_or_default(),
                    page_size: 1_000,
                    page_token,
                    as_of: self.time.as_of(),
                    at: self.time.at(),
                    with_said: false,
                };
                remote.call(remote.client.facts().list_facts(request))
            },
            |answer| (&mut answer.facts, &mut answer.next_page_token),
        )?;
        cx.message(None, &answer, |page| write_facts(&answer.facts, page))?;
        Ok(Exit::Ok)
    }
}

impl UpdateFactArgs {
    fn run(&self, cx: &mut CommandContext) -> Result<Exit, Failure> {
        let request = v1::UpdateFactRequest {
            brain: self.of.brain.clone(),
            id: self.id.clone(),
            text: self.text.clone(),
            metadata_json: self.metadata_json.clone(),
            expected_text: self.expected.clone(),
            options: options(cx),
            ..Default::default()
        };
        let remote = cx.daemon()?;
        let answer = remote.call(remote.client.facts().update_fact(request))?;
        let fact = answer.fact.clone().unwrap_or_default();
        cx.changed(None, &answer, |page| write_fact(&fact, None, page))?;
        Ok(Exit::Ok)
    }
}

impl DeleteFactArgs {
    fn run(&self, cx: &mut CommandContext) -> Result<Exit, Failure> {
        let Some(id) = &self.id else {
            return self.all(cx);
        };
        let request = v1::DeleteFactRequest {
            brain: self.scope.brain(),
            id: id.clone(),
            scope: self.scope.scope(),
            options: options(cx),
            ..Default::default()
        };
        let remote = cx.daemon()?;
        let answer = remote.call(remote.client.facts().delete_fact(request))?;
        cx.changed(None, &answer, |page| write_deleted(1, page))?;
        Ok(Exit::Ok)
    }

    fn all(&self, cx: &mut CommandContext) -> Result<Exit, Failure> {
        if !self.yes {
            let question = "End all memories of the scope?";
            confirm(cx, "", question, "--yes")?;
        }
        let request = v1::DeleteFactsRequest {
            brain: self.scope.brain(),
            scope: self.scope.scope(),
            filter_json: self.filter_json.clone().unwrap_or_default(),
            options: options(cx),
        };
        let remote = cx.daemon()?;
        let answer = remote.call(remote.client.facts().delete_facts(request))?;
        cx.changed(None, &answer, |page| write_deleted(answer.deleted, page))?;
        Ok(Exit::Ok)
    }
}

impl ResetFactArgs {
    fn run(&self, cx: &mut CommandContext) -> Result<Exit, Failure> {
        if !self.yes {
            let question =
                "Erase all memories of the scope, their history and their conversations?";
            confirm(cx, "", question, "--yes")?;
        }
        let request = v1::ResetFactsRequest {
            brain: self.scope.brain(),
            scope: self.scope.scope(),
            everything: self.everything,
            options: options(cx),
        };
        let remote = cx.daemon()?;
        let answer = remote.call(remote.client.facts().reset_facts(request))?;
        cx.changed(None, &answer, |page| {
            page.line(format!("{} erased", plural(answer.events, "event")));
        })?;
        Ok(Exit::Ok)
    }
}

impl UsersArgs {
    fn run(&self, cx: &mut CommandContext) -> Result<Exit, Failure> {
        let remote = cx.daemon()?;
        let answer = whole_list(
            |page_token| {
                let request = v1::ListFactScopesRequest {
                    brain: self.scope.brain(),
                    scope: self.scope.scope(),
                    page_token,
                    ..Default::default()
                };
                remote.call(remote.client.facts().list_fact_scopes(request))
            },
            |answer| (&mut answer.scopes, &mut answer.next_page_token),
        )?;
        cx.message(None, &answer, |page| write_scopes(&answer.scopes, page))?;
        Ok(Exit::Ok)
    }
}

impl PendingFactArgs {
    fn run(&self, cx: &mut CommandContext) -> Result<Exit, Failure> {
        let (brain, scope) = (self.scope.brain(), self.scope.scope());
        let options = options(cx);
        let remote = cx.daemon()?;
        if self.retry {
            let request = v1::RetryPendingFactsRequest {
                brain,
                scope,
                options,
            };
            let answer = remote.call(remote.client.facts().retry_pending_facts(request))?;
            cx.message(None, &answer, |page| {
                write_pending(&answer.pending, Some(answer.done), page);
            })?;
            return Ok(Exit::Ok);
        }
        let answer = whole_list(
            |page_token| {
                let request = v1::ListPendingFactsRequest {
                    brain: brain.clone(),
                    scope: scope.clone(),
                    page_token,
                    ..Default::default()
                };
                remote.call(remote.client.facts().list_pending_facts(request))
            },
            |answer| (&mut answer.pending, &mut answer.next_page_token),
        )?;
        cx.message(None, &answer, |page| {
            write_pending(&answer.pending, None, page);
        })?;
        Ok(Exit::Ok)
    }
}

impl EraseSourceArgs {
    fn run(&self, cx: &mut CommandContext) -> Result<Exit, Failure> {
        if !self.yes {
            let question = "Erase this turn, and the memories that only it supported?";
            confirm(cx, "", question, "--yes")?;
        }
        let request = v1::EraseFactSourceRequest {
            brain: self.of.brain.clone(),
            turn_id: self.turn.clone(),
            options: options(cx),
            ..Default::default()
        };
        let remote = cx.daemon()?;
        let answer = remote.call(remote.client.facts().erase_fact_source(request))?;
        cx.changed(None, &answer, |page| {
            let count = memories(answer.fact_ids.len() as u64);
            page.line(format!("the turn is erased, and {count} with it"));
        })?;
        Ok(Exit::Ok)
    }
}
