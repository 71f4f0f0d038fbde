//! The commands: one file each, with its options and its `run`.

mod add;
mod brain;
mod complete;
mod compress;
mod conflicts;
mod context;
mod correct;
mod daemon;
mod demo;
mod dump_journal;
mod erase;
mod export;
mod fading;
mod get;
mod import;
mod import_file;
mod import_text;
mod info;
mod jobs;
mod link;
mod mark;
mod merge;
mod path;
mod quarantine;
mod query;
mod receive;
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
use crate::output::context::Context;
use mark::MarkAction;

/// What to do.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// The brains of amemd: create, ls, info, rm.
    Brain(brain::BrainArgs),
    /// What a brain is and holds.
    Info(info::InfoArgs),
    /// Adds an event to a brain.
    Add(add::AddArgs),
    /// Replaces a belief by another, and keeps both.
    Correct(correct::CorrectArgs),
    /// Ties two events.
    Link(link::LinkArgs),
    /// Takes an edge back.
    Unlink(link::UnlinkArgs),
    /// Shows events, whole.
    Get(get::GetArgs),
    /// Lists events that meet conditions.
    #[command(visible_alias = "ls")]
    Query(query::QueryArgs),
    /// Finds events that fit a question.
    Search(search::SearchArgs),
    /// Finds events like another.
    Similar(similar::SimilarArgs),
    /// Packs the best of a brain into a budget of tokens, for a prompt.
    Context(context::ContextArgs),
    /// Shows what is believed now instead of an event.
    Resolve(resolve::ResolveArgs),
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
    /// Lists what contradicts what, and contested beliefs; or files that were kept aside.
    Conflicts(conflicts::ConflictsArgs),
    /// The sessions of a brain: list, show, open, close.
    Sessions(sessions::SessionsArgs),
    /// Makes an episode of a session.
    Compress(compress::CompressArgs),
    /// Computes strengths as of now.
    Decay(upkeep::DecayArgs),
    /// Lists events that are nearly forgotten by themselves.
    Fading(fading::FadingArgs),
    /// Keeps events from fading.
    Pin(mark::MarkArgs),
    /// Lets events fade again.
    Unpin(mark::MarkArgs),
    /// Hides events.
    Forget(mark::MarkArgs),
    /// Shows forgotten events again.
    Restore(mark::MarkArgs),
    /// Takes events' texts away for good.
    Erase(erase::EraseArgs),
    /// Shows commits as they are made.
    Watch(watch::WatchArgs),
    /// Brings conversations, notes, events and files of others in.
    Import(import::ImportArgs),
    /// Brings what another brain has into one of amemd.
    Merge(merge::MergeArgs),
    /// Writes a brain in another form.
    Export(export::ExportArgs),
    /// Checks every byte of a brain.
    Verify(verify::VerifyArgs),
    /// Saves what is whole of a damaged file into a new one.
    Repair(repair::RepairArgs),
    /// Shows the journal: every commit since the last checkpoint.
    DumpJournal(dump_journal::DumpJournalArgs),
    /// Folds a brain's journal into a new base.
    Checkpoint(upkeep::CheckpointArgs),
    /// Tells whether amemd runs, and how it is.
    Status(status::StatusArgs),
    /// Shows what amemd does by itself, and when; runs it now.
    Jobs(jobs::JobsArgs),
    /// Shows what amemd is doing, once a second.
    Top(top::TopArgs),
    /// Tokens for callers by TCP: create, list, revoke.
    Token(token::TokenArgs),
    /// Has amemd read its settings again.
    Reload(daemon::ReloadArgs),
    /// Ends amemd.
    Shutdown(daemon::ShutdownArgs),
    /// amemd as a service that begins by itself: install, uninstall, status.
    Service(service::ServiceArgs),
    /// Shows what amemd is for, and checks it, on a daemon and a folder of its own.
    Demo(demo::DemoArgs),
    /// Prints completions for a shell.
    Completions(complete::CompletionsArgs),
    /// Prints the manual page, or writes one for each command.
    Man(complete::ManArgs),
    /// Becomes the daemon that another command starts.
    #[command(name = crate::connection::autostart::START, hide = true)]
    StartDaemon(start_daemon::StartDaemonArgs),
}

impl Command {
    pub(crate) fn run(&self, cx: &mut Context) -> Result<Exit, Failure> {
        match self {
            Self::Brain(command) => command.run(cx),
            Self::Info(command) => command.run(cx),
            Self::Add(command) => command.run(cx),
            Self::Correct(command) => command.run(cx),
            Self::Link(command) => command.run(cx),
            Self::Unlink(command) => command.run(cx),
            Self::Get(command) => command.run(cx),
            Self::Query(command) => command.run(cx),
            Self::Search(command) => command.run(cx),
            Self::Similar(command) => command.run(cx),
            Self::Context(command) => command.run(cx),
            Self::Resolve(command) => command.run(cx),
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
            Self::Repair(command) => command.run(cx),
            Self::DumpJournal(command) => command.run(cx),
            Self::Checkpoint(command) => command.run(cx),
            Self::Status(command) => command.run(cx),
            Self::Jobs(command) => command.run(cx),
            Self::Top(command) => command.run(cx),
            Self::Token(command) => command.run(cx),
            Self::Reload(command) => command.run(cx),
            Self::Shutdown(command) => command.run(cx),
            Self::Service(command) => command.run(cx),
            Self::Demo(command) => command.run(cx),
            Self::Completions(command) => command.run(cx),
            Self::Man(command) => command.run(cx),
            Self::StartDaemon(command) => Err(command.run()),
        }
    }
}
