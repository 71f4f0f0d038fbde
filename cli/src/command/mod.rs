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
mod impact;
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
mod service_install;
mod service_status;
mod service_uninstall;
mod sessions;
pub(crate) mod side_edges;
mod similar;
mod start_daemon;
mod status;
mod timeline;
mod token;
mod top;
mod traverse;
mod upkeep;
mod verify;
mod walk;
mod watch;
mod watch_lines;
mod why;

use clap::Subcommand;

use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::context::Context;
use mark::Act;
pub(crate) use walk::type_number as edge_type_number;

/// What to do.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// The brains of amemd: create, ls, info, rm.
    Brain(brain::Brain),
    /// What a brain is and holds.
    Info(info::Info),
    /// Adds an event to a brain.
    Add(add::Add),
    /// Replaces a belief by another, and keeps both.
    Correct(correct::Correct),
    /// Ties two events.
    Link(link::Link),
    /// Takes an edge back.
    Unlink(link::Unlink),
    /// Shows events, whole.
    Get(get::Get),
    /// Lists events that meet conditions.
    #[command(visible_alias = "ls")]
    Query(query::Query),
    /// Finds events that fit a question.
    Search(search::Search),
    /// Finds events like another.
    Similar(similar::Similar),
    /// Packs the best of a brain into a budget of tokens, for a prompt.
    Context(context::Context),
    /// Shows what is believed now instead of an event.
    Resolve(resolve::Resolve),
    /// Shows what an event rests on.
    Why(why::Why),
    /// Shows what rests on an event.
    Impact(impact::Impact),
    /// Shows what can be reached from an event.
    Traverse(traverse::Traverse),
    /// Shows how two events are connected.
    Path(path::Path),
    /// Shows events day by day.
    Timeline(timeline::Timeline),
    /// Lists what contradicts what, and contested beliefs; or files that were kept aside.
    Conflicts(conflicts::Conflicts),
    /// The sessions of a brain: list, show, open, close.
    Sessions(sessions::Sessions),
    /// Makes an episode of a session.
    Compress(compress::Compress),
    /// Computes strengths as of now.
    Decay(upkeep::Decay),
    /// Lists events that are nearly forgotten by themselves.
    Fading(fading::Fading),
    /// Keeps events from fading.
    Pin(mark::Mark),
    /// Lets events fade again.
    Unpin(mark::Mark),
    /// Hides events.
    Forget(mark::Mark),
    /// Shows forgotten events again.
    Restore(mark::Mark),
    /// Takes events' texts away for good.
    Erase(erase::Erase),
    /// Shows commits as they are made.
    Watch(watch::Watch),
    /// Brings conversations, notes, events and files of others in.
    Import(import::Import),
    /// Brings what another brain has into one of amemd.
    Merge(merge::Merge),
    /// Writes a brain in another form.
    Export(export::Export),
    /// Checks every byte of a brain.
    Verify(verify::Verify),
    /// Saves what is whole of a damaged file into a new one.
    Repair(repair::Repair),
    /// Shows the journal: every commit since the last checkpoint.
    DumpJournal(dump_journal::DumpJournal),
    /// Folds a brain's journal into a new base.
    Checkpoint(upkeep::Checkpoint),
    /// Tells whether amemd runs, and how it is.
    Status(status::Status),
    /// Shows what amemd does by itself, and when; runs it now.
    Jobs(jobs::Jobs),
    /// Shows what amemd is doing, once a second.
    Top(top::Top),
    /// Tokens for callers by TCP: create, list, revoke.
    Token(token::Token),
    /// Has amemd read its settings again.
    Reload(daemon::Reload),
    /// Ends amemd.
    Shutdown(daemon::Shutdown),
    /// amemd as a service that begins by itself: install, uninstall, status.
    Service(service::Service),
    /// Shows what amemd is for, and checks it, on a daemon and a folder of its own.
    Demo(demo::DemoArgs),
    /// Prints completions for a shell.
    Completions(complete::Completions),
    /// Prints the manual page, or writes one for each command.
    Man(complete::Man),
    /// Becomes the daemon that another command starts.
    #[command(name = crate::connection::autostart::START, hide = true)]
    StartDaemon(start_daemon::StartDaemon),
}

impl Command {
    /// Its name, as it is typed.
    pub(crate) fn name(&self) -> &'static str {
        match self {
            Self::Brain(_) => "brain",
            Self::Info(_) => "info",
            Self::Add(_) => "add",
            Self::Correct(_) => "correct",
            Self::Link(_) => "link",
            Self::Unlink(_) => "unlink",
            Self::Get(_) => "get",
            Self::Query(_) => "query",
            Self::Search(_) => "search",
            Self::Similar(_) => "similar",
            Self::Context(_) => "context",
            Self::Resolve(_) => "resolve",
            Self::Why(_) => "why",
            Self::Impact(_) => "impact",
            Self::Traverse(_) => "traverse",
            Self::Path(_) => "path",
            Self::Timeline(_) => "timeline",
            Self::Conflicts(_) => "conflicts",
            Self::Sessions(_) => "sessions",
            Self::Compress(_) => "compress",
            Self::Decay(_) => "decay",
            Self::Fading(_) => "fading",
            Self::Pin(_) => "pin",
            Self::Unpin(_) => "unpin",
            Self::Forget(_) => "forget",
            Self::Restore(_) => "restore",
            Self::Erase(_) => "erase",
            Self::Watch(_) => "watch",
            Self::Import(_) => "import",
            Self::Merge(_) => "merge",
            Self::Export(_) => "export",
            Self::Verify(_) => "verify",
            Self::Repair(_) => "repair",
            Self::DumpJournal(_) => "dump-journal",
            Self::Checkpoint(_) => "checkpoint",
            Self::Status(_) => "status",
            Self::Jobs(_) => "jobs",
            Self::Top(_) => "top",
            Self::Token(_) => "token",
            Self::Reload(_) => "reload",
            Self::Shutdown(_) => "shutdown",
            Self::Service(_) => "service",
            Self::Demo(_) => "demo",
            Self::Completions(_) => "completions",
            Self::Man(_) => "man",
            Self::StartDaemon(_) => crate::connection::autostart::START,
        }
    }

    /// Its name with that of what is below it.
    pub(crate) fn full_name(&self) -> String {
        let below = match self {
            Self::Brain(command) => command.name(),
            Self::Sessions(command) => command.name(),
            Self::Service(command) => command.name(),
            Self::Token(command) => command.name(),
            _ => return self.name().to_owned(),
        };
        format!("{} {below}", self.name())
    }

    /// Does it.
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
            Self::Pin(command) => command.run(cx, Act::Pin),
            Self::Unpin(command) => command.run(cx, Act::Unpin),
            Self::Forget(command) => command.run(cx, Act::Forget),
            Self::Restore(command) => command.run(cx, Act::Restore),
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
