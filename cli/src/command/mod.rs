//! The commands: a file each, with its arguments and its `run`.

mod add;
mod ask;
mod brain;
mod brain_restore;
mod brain_settings;
mod chat;
mod complete;
mod compress;
mod conflicts;
mod connect;
mod context;
mod correct;
mod daemon;
mod demo;
mod dump_journal;
mod erase;
mod events;
mod export;
mod export_form;
mod fact;
mod fact_args;
mod fact_entities;
mod fact_export;
mod fact_feedback;
mod fact_forget;
mod fact_graph;
mod fact_history;
mod fact_input;
mod fact_output;
mod fact_review;
mod fading;
mod get;
mod given;
mod hits;
mod hook;
mod import;
mod import_file;
mod import_sources;
mod import_text;
mod info;
mod jobs;
mod link;
mod logs;
mod mark;
mod mcp;
mod merge;
mod models;
mod path;
mod pipeline;
mod project;
mod quarantine;
mod query;
mod receive;
mod reembed;
mod remember;
mod repair;
mod resolve;
mod search;
mod send;
mod service;
mod service_common;
mod service_install;
mod service_status;
mod service_uninstall;
mod sessions;
mod side_edges;
mod similar;
mod start_daemon;
mod status;
mod text;
mod timeline;
mod token;
mod top;
mod upkeep;
mod verify;
mod walk;
mod walk_tree;
mod watch;
mod watch_lines;

use clap::Subcommand;

use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::context::CommandContext;
use mark::MarkAction;

pub(crate) use hook::HookArgs;
pub(crate) use mcp::McpArgs;

#[derive(Debug, Subcommand)]
pub(crate) enum CliCommand {
    /// Creates, lists, shows and removes brains of amemd.
    Brain(brain::BrainArgs),
    /// Shows what a brain is and holds.
    Info(info::InfoArgs),
    /// Adds an event to a brain.
    Add(add::AddArgs),
    /// Replaces a belief by a new one; the old one stays as history.
    Correct(correct::CorrectArgs),
    /// Sets attributes and vectors of events.
    Events(events::EventsArgs),
    /// Adds an edge between two events.
    Link(link::LinkArgs),
    /// Retracts an edge.
    Unlink(link::UnlinkArgs),
    /// Shows events in full.
    Get(get::GetArgs),
    /// Lists the events that match conditions.
    #[command(visible_alias = "ls")]
    Query(query::QueryArgs),
    /// Finds the events that answer a question.
    Search(search::SearchArgs),
    /// Finds events by words alone.
    Text(text::TextSearchArgs),
    /// Finds, follows, filters and ranks events in one question.
    Pipeline(pipeline::PipelineArgs),
    /// Finds events similar to another.
    Similar(similar::SimilarArgs),
    /// Packs the most relevant events into a token budget, for a prompt.
    Context(context::ContextArgs),
    /// Shows what is believed now in place of an event.
    Resolve(resolve::ResolveArgs),
    /// Remembers facts about users and agents, from what they say.
    Fact(fact::FactArgs),
    /// Answers a question from all that is known here: what was formed, said and written.
    Ask(ask::AskArgs),
    /// Remembers a statement, as an agent does.
    Remember(remember::RememberArgs),
    /// Talks to a model that remembers you.
    Chat(chat::ChatArgs),
    /// Checks the models of the file of models.
    Models(models::ModelsArgs),
    /// Shows what an event rests on.
    Why(walk::WhyArgs),
    /// Shows what rests on an event.
    Impact(walk::ImpactArgs),
    /// Shows what can be reached from an event.
    Traverse(walk::TraverseArgs),
    /// Shows how two events are connected.
    Path(path::PathArgs),
    /// Shows events day by day.
    Timeline(timeline::TimelineArgs),
    /// Lists contradictions and contested beliefs; without a brain, quarantined files.
    Conflicts(conflicts::ConflictsArgs),
    /// Shows what sessions of agents got; lists, opens and closes sessions of brains.
    Sessions(sessions::SessionsArgs),
    /// Summarises a session as an episode.
    Compress(compress::CompressArgs),
    /// Computes the strengths of all events as of now.
    Decay(upkeep::DecayArgs),
    /// Lists events that have almost faded.
    Fading(fading::FadingArgs),
    /// Keeps events from fading.
    Pin(mark::MarkArgs),
    /// Lets events fade again.
    Unpin(mark::MarkArgs),
    /// Hides events.
    Forget(mark::MarkArgs),
    /// Shows forgotten events again.
    Restore(mark::MarkArgs),
    /// Erases the texts of events for good.
    Erase(erase::EraseArgs),
    /// Shows commits as they are made.
    Watch(watch::WatchArgs),
    /// Imports conversations, notes, events and foreign files.
    Import(import::ImportArgs),
    /// Merges another brain into one of amemd.
    Merge(merge::MergeArgs),
    /// Exports a brain in another format.
    Export(export::ExportArgs),
    /// Checks every byte of a brain.
    Verify(verify::VerifyArgs),
    /// Saves what is intact of a damaged file into a new one.
    Repair(repair::RepairArgs),
    /// Shows the journal: every commit since the last checkpoint.
    DumpJournal(dump_journal::DumpJournalArgs),
    /// Makes a new base from a brain's journal.
    Checkpoint(upkeep::CheckpointArgs),
    /// Gives a brain the vectors of another embedder.
    Reembed(reembed::ReembedArgs),
    /// Shows whether amemd runs, and its state.
    Status(status::StatusArgs),
    /// Shows the log of amemd.
    Logs(logs::LogsArgs),
    /// Lists scheduled jobs; runs one now.
    Jobs(jobs::JobsArgs),
    /// Shows what amemd is doing, once a second.
    Top(top::TopArgs),
    /// Gives an agent the memory: writes server and hooks into its settings.
    Connect(connect::ConnectArgs),
    /// Takes server and hooks out of an agent's settings.
    Disconnect(connect::DisconnectArgs),
    /// Answers a moment of an agent's session: what clients run as a hook.
    Hook(hook::HookArgs),
    /// Shows what sessions of agents were given: the earlier name of `sessions` and `sessions show`.
    #[command(hide = true)]
    Given(given::GivenArgs),
    /// Serves memory to an agent, over the Model Context Protocol.
    Mcp(mcp::McpArgs),
    /// Says which folders are which projects.
    Project(project::ProjectArgs),
    /// Creates, lists and revokes tokens for TCP callers.
    Token(token::TokenArgs),
    /// Has amemd reload its settings.
    Reload(daemon::ReloadArgs),
    /// Stops amemd.
    Shutdown(daemon::ShutdownArgs),
    /// Installs amemd as a service, uninstalls it, shows its status.
    Service(service::ServiceArgs),
    /// Shows what amemd promises and checks it, on a daemon of its own.
    Demo(demo::DemoArgs),
    /// Prints completions for a shell.
    Completions(complete::CompletionsArgs),
    /// Prints the manual page, or writes one for each command.
    Man(complete::ManArgs),
    /// Prints what may stand at the cursor of a command line.
    #[command(hide = true)]
    Complete(complete::CompleteArgs),
    /// Becomes the daemon that another command starts.
    #[command(name = crate::connection::autostart::START, hide = true)]
    StartDaemon(start_daemon::StartDaemonArgs),
}

impl CliCommand {
    /// `whole` makes the whole command line, for completions and manual pages.
    pub(crate) fn run(
        &self,
        cx: &mut CommandContext,
        whole: fn() -> clap::Command,
    ) -> Result<Exit, Failure> {
        match self {
            Self::Brain(command) => command.run(cx),
            Self::Info(command) => command.run(cx),
            Self::Add(command) => command.run(cx),
            Self::Correct(command) => command.run(cx),
            Self::Events(command) => command.run(cx),
            Self::Link(command) => command.run(cx),
            Self::Unlink(command) => command.run(cx),
            Self::Get(command) => command.run(cx),
            Self::Query(command) => command.run(cx),
            Self::Search(command) => command.run(cx),
            Self::Text(command) => command.run(cx),
            Self::Pipeline(command) => command.run(cx),
            Self::Similar(command) => command.run(cx),
            Self::Context(command) => command.run(cx),
            Self::Resolve(command) => command.run(cx),
            Self::Fact(command) => command.run(cx),
            Self::Ask(command) => command.run(cx),
            Self::Remember(command) => command.run(cx),
            Self::Chat(command) => command.run(cx),
            Self::Models(command) => command.run(cx),
            Self::Why(command) => command.run(cx),
            Self::Impact(command) => command.run(cx),
            Self::Traverse(command) => command.run(cx),
            Self::Path(command) => command.run(cx),
            Self::Timeline(command) => command.run(cx),
            Self::Conflicts(command) => command.run(cx),
            Self::Sessions(command) => command.run(cx),
            Self::Compress(command) => command.run(cx),
            Self::Decay(command) => command.run(cx),
            Self::Fading(command) => command.run(cx),
            Self::Pin(command) => command.run(cx, MarkAction::Pin),
            Self::Unpin(command) => command.run(cx, MarkAction::Unpin),
            Self::Forget(command) => command.run(cx, MarkAction::Forget),
            Self::Restore(command) => command.run(cx, MarkAction::Restore),
            Self::Erase(command) => command.run(cx),
            Self::Watch(command) => command.run(cx),
            Self::Import(command) => command.run(cx),
            Self::Merge(command) => command.run(cx),
            Self::Export(command) => command.run(cx),
            Self::Verify(command) => command.run(cx),
            Self::Reembed(command) => command.run(cx),
            Self::Repair(command) => command.run(cx),
            Self::DumpJournal(command) => command.run(cx),
            Self::Checkpoint(command) => command.run(cx),
            Self::Status(command) => command.run(cx),
            Self::Logs(command) => command.run(cx),
            Self::Jobs(command) => command.run(cx),
            Self::Top(command) => command.run(cx),
            Self::Connect(command) => command.run(cx),
            Self::Disconnect(command) => command.run(cx),
            Self::Hook(command) => command.run(cx),
            Self::Given(command) => command.run(cx),
            Self::Mcp(command) => command.run(cx),
            Self::Project(command) => command.run(cx),
            Self::Token(command) => command.run(cx),
            Self::Reload(command) => command.run(cx),
            Self::Shutdown(command) => command.run(cx),
            Self::Service(command) => command.run(cx),
            Self::Demo(command) => command.run(cx),
            Self::Completions(command) => command.run(cx, whole()),
            Self::Man(command) => command.run(cx, whole()),
            Self::Complete(command) => command.run(cx, &whole()),
            Self::StartDaemon(command) => Err(command.run()),
        }
    }
}
