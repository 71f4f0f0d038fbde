//! `amemctl sessions`: sessions of agents, and the conversations that events belong to.

use amem_client::{Timestamp, v1};
use amem_format::view::AsOf;
use clap::{Args, Subcommand, ValueEnum};

use super::given;
use crate::args::selection::{MomentArgs, SessionName, session};
use crate::brain::opened::BrainHandle;
use crate::brain::target::{self, BrainTarget};
use crate::brain::writable::{Writable, WriteArgs};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::listing::{self, TimeAxis};
use crate::output::context::{CommandContext, message_json, messages_json};
use crate::render::{Align, Column, Detail, TextPage, count, plural};
use crate::when::{self, parse_moment};

/// Default for --limit of `show`.
const EVENTS: u32 = 20;

/// Sessions per request of --all: their outcomes fit into one answer.
const PAGE: u32 = 500;

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  amemctl sessions
  amemctl sessions show
  amemctl sessions show 5f3a --json
  amemctl sessions list work

Without a command it lists the sessions of agents: what each prompt of them got is shown by `sessions show SESSION`.")]
pub(crate) struct SessionsArgs {
    #[command(subcommand)]
    act: Option<SessionsCommand>,
}

#[derive(Debug, Subcommand)]
enum SessionsCommand {
    /// Lists sessions, the newest first.
    #[command(visible_alias = "ls")]
    List(ListArgs),
    /// Shows what each prompt of an agent's session got and why, or a brain's session and its events.
    Show(ShowArgs),
    /// Opens a session under your key, again if it is closed, or shows which one is open under it.
    Open(OpenArgs),
    /// Closes a session, with an outcome.
    Close(CloseArgs),
}

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  amemctl sessions list work
  amemctl sessions list work --state open --oldest
  amemctl sessions list work --all --json")]
struct ListArgs {
    #[arg(help = target::HELP)]
    brain: BrainTarget,
    /// Only open or only closed sessions.
    #[arg(long, value_enum)]
    state: Option<StateFilter>,
    /// Oldest first.
    #[arg(long)]
    oldest: bool,
    /// At most this many.
    #[arg(long, default_value_t = 50, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    limit: u32,
    /// All sessions.
    #[arg(long, conflicts_with_all = ["limit", "after"])]
    all: bool,
    /// Continue after a page, with the token at its end.
    #[arg(long, value_name = "TOKEN")]
    after: Option<String>,
    /// As of a moment: an LSN, or a time such as "2 days ago".
    #[arg(long, value_name = "LSN|TIME", value_parser = parse_moment)]
    as_of: Option<AsOf>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum StateFilter {
    Open,
    Closed,
}

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  amemctl sessions show
  amemctl sessions show 5f3a
  amemctl sessions show work standup
  amemctl sessions show work 7 --limit 100

One name is an agent's session, or the beginning of its id; the last session if there is none. A prompt is shown once it
is stored. What is erased is shown as gone: what sessions were given is kept as ids, without texts.")]
struct ShowArgs {
    /// An agent's session; or a brain, and the number or key of its session.
    #[arg(value_names = ["BRAIN", "SESSION"], num_args = 0..=2)]
    names: Vec<String>,
    /// The brain of an agent's session [default: memories].
    #[arg(long = "brain", value_name = "NAME")]
    agents: Option<String>,
    /// At most this many events, from the first.
    #[arg(long, default_value_t = EVENTS, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    limit: u32,
    #[command(flatten)]
    looking: MomentArgs,
}

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  amemctl sessions open work standup
  id=$(amemctl -q sessions open work \"$(uuidgen)\")")]
struct OpenArgs {
    #[arg(help = target::NAME_HELP)]
    brain: BrainTarget,
    /// The key: any text.
    key: String,
    #[command(flatten)]
    writing: WriteArgs,
}

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  amemctl sessions close work standup
  amemctl sessions close work 7 --outcome \"deployed\"")]
struct CloseArgs {
    #[arg(help = target::NAME_HELP)]
    brain: BrainTarget,
    /// The session: its number or its key.
    session: String,
    /// The outcome.
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
    outcome: Option<String>,
    #[command(flatten)]
    writing: WriteArgs,
}

impl SessionsArgs {
    pub(crate) fn run(&self, cx: &mut CommandContext) -> Result<Exit, Failure> {
        match &self.act {
            None => given::list(cx, None),
            Some(SessionsCommand::List(list)) => list.run(cx),
            Some(SessionsCommand::Show(show)) => show.run(cx),
            Some(SessionsCommand::Open(open)) => open.run(cx),
            Some(SessionsCommand::Close(close)) => close.run(cx),
        }
    }
}

impl ListArgs {
    fn run(&self, cx: &mut CommandContext) -> Result<Exit, Failure> {
        let opened = BrainHandle::open(cx, &self.brain)?;
        let state = match self.state {
            None => v1::SessionState::Unspecified,
            Some(StateFilter::Open) => v1::SessionState::Open,
            Some(StateFilter::Closed) => v1::SessionState::Closed,
        };
        let mut request = v1::ListSessionsRequest {
            state: state.into(),
            oldest_first: self.oldest,
            page_size: if self.all { PAGE } else { self.limit },
            page_token: self.after.clone().unwrap_or_default(),
            as_of: when::as_of(self.as_of),
            ..Default::default()
        };
        let mut answer = opened.ask(cx, request.clone())?;
        let mut sessions = std::mem::take(&mut answer.sessions);
        while self.all && !answer.next_page_token.is_empty() {
            request.page_token = std::mem::take(&mut answer.next_page_token);
            answer = opened.ask(cx, request.clone())?;
            sessions.append(&mut answer.sessions);
        }
        answer.sessions = sessions;
        let named = opened.named(answer.moment.as_ref());
        cx.message(Some(&named), &answer, |page| {
            page.rows(&SESSIONS, &answer.sessions);
            page.aside(plural(answer.sessions.len() as u64, "session"));
            listing::write_next(&answer.next_page_token, page);
            opened.write_notes(page);
        })?;
        Ok(Exit::Ok)
    }
}

impl ShowArgs {
    fn run(&self, cx: &mut CommandContext) -> Result<Exit, Failure> {
        let agents = self.agents.as_deref();
        match self.names.as_slice() {
            [brain, _] if agents.is_some() => Err(Failure::argument(
                format!("--brain and the brain {brain} name two"),
                "give --brain for an agent's session, and BRAIN SESSION for a brain's",
            )),
            [brain, name] => self.of_brain(cx, brain, name),
            names => given::show(cx, agents, names.first().map(String::as_str)),
        }
    }

    fn of_brain(&self, cx: &mut CommandContext, brain: &str, name: &str) -> Result<Exit, Failure> {
        let target = match brain.parse::<BrainTarget>() {
            Ok(target) => target,
            Err(never) => match never {},
        };
        let opened = BrainHandle::open(cx, &target)?;
        let found = session(cx, &opened, name)?;
        let request = v1::GetSessionRequest {
            session: Some(v1::get_session_request::Session::SessionId(found.id)),
            as_of: self.looking.as_of(),
            ..Default::default()
        };
        let mut answer = opened.ask(cx, request)?;
        answer.session.get_or_insert(found.clone());
        let events = v1::PatternRequest {
            selection: Some(v1::Selection {
                session_ids: vec![found.id],
                include_forgotten: self.looking.include_forgotten,
                include_compressed: true,
                ..Default::default()
            }),
            order: v1::Order::Oldest.into(),
            page_size: self.limit,
            as_of: self.looking.as_of(),
            ..Default::default()
        };
        let listed = opened.ask(cx, events)?;
        let object = || {
            let mut data = message_json(&answer)?;
            data["events"] = messages_json(&listed.events)?;
            data["nextPageToken"] = listed.next_page_token.clone().into();
            Ok(data)
        };
        let moment = answer.moment.as_ref();
        cx.object(Some(&opened.named(moment)), object, |page| {
            write_one(&answer, &listed, page);
            opened.write_notes(page);
        })?;
        Ok(Exit::Ok)
    }
}

impl OpenArgs {
    fn run(&self, cx: &mut CommandContext) -> Result<Exit, Failure> {
        let key = match SessionName::of(&self.key) {
            SessionName::Key(key) if !key.is_empty() => key,
            SessionName::Key(_) => {
                return Err(Failure::argument(
                    "the key is empty",
                    "give the session one",
                ));
            }
            SessionName::Number(number) => {
                return Err(Failure::argument(
                    format!("{number} would be read as the number of a session"),
                    format!("write key:{number} for the key"),
                ));
            }
        };
        let mut brain = Writable::open(cx, &self.brain)?;
        let request = v1::OpenSessionRequest {
            key: key.to_owned(),
            options: Some(self.writing.options(cx)),
            ..Default::default()
        };
        let answer = brain.write(cx, request)?;
        let is_quiet = cx.is_quiet();
        cx.message(Some(&brain.named), &answer, |page| {
            let id = answer.session_id;
            if is_quiet {
                page.line(id)
            } else {
                page.line(format!("session {id} ({key})"))
            }
        })?;
        Ok(Exit::Ok)
    }
}

impl CloseArgs {
    fn run(&self, cx: &mut CommandContext) -> Result<Exit, Failure> {
        let mut brain = Writable::open(cx, &self.brain)?;
        let found = session(cx, &brain.opened, &self.session)?;
        let request = v1::CloseSessionRequest {
            session_id: found.id,
            outcome: self.outcome.clone().unwrap_or_default(),
            options: Some(self.writing.options(cx)),
            ..Default::default()
        };
        let answer = brain.write(cx, request)?;
        cx.changed(Some(&brain.named), &answer, |page| {
            page.line(format!("session {} is closed", found.id));
        })?;
        Ok(Exit::Ok)
    }
}

const SESSIONS: [Column<v1::Session>; 6] = [
    ("id", Align::Right, |session| session.id.to_string()),
    ("key", Align::Left, |session| or_dash(&session.key)),
    ("agent", Align::Left, |session| or_dash(&session.agent)),
    ("opened", Align::Left, |session| {
        when::short_or_dash(session.opened_at)
    }),
    ("last event", Align::Left, |session| {
        when::short_or_dash(session.last_event_at)
    }),
    ("state", Align::Left, |session| {
        state(session.closed_at, &session.outcome)
    }),
];

const SPANS: [Column<v1::SessionSpan>; 4] = [
    ("opened", Align::Left, |span| {
        when::short_or_dash(span.opened_at)
    }),
    ("state", Align::Left, |span| {
        state(span.closed_at, &span.outcome)
    }),
    ("events", Align::Right, |span| count(span.event_count)),
    ("episodes", Align::Left, |span| {
        let ids: Vec<String> = span.episode_ids.iter().map(u64::to_string).collect();
        or_dash(&ids.join(" "))
    }),
];

const DETAILS: [Detail<v1::Session>; 5] = [
    ("key", |session| session.key.clone()),
    ("agent", |session| session.agent.clone()),
    ("opened", |session| when::long_of(session.opened_at)),
    ("last event", |session| when::long_of(session.last_event_at)),
    ("state", |session| {
        state(session.closed_at, &session.outcome)
    }),
];

fn or_dash(text: &str) -> String {
    match text {
        "" => "-".to_owned(),
        text => text.to_owned(),
    }
}

fn state(closed_at: Option<Timestamp>, outcome: &str) -> String {
    match (closed_at, outcome) {
        (None, _) => "open".to_owned(),
        (at, "") => format!("closed {}", when::short_of(at)),
        (at, outcome) => format!("closed {}: {outcome}", when::short_of(at)),
    }
}

/// The spans of a session that was opened again.
fn write_spans(session: &v1::Session, page: &mut TextPage) {
    if session.span_count < 2 {
        return;
    }
    page.field("spans", count(session.span_count));
    page.line("");
    page.rows(&SPANS, &session.spans);
    let hidden = session.span_count - session.spans.len() as u64;
    if hidden > 0 {
        page.aside(format!("{} before these", plural(hidden, "span")));
    }
}

fn write_one(answer: &v1::GetSessionResponse, listed: &v1::PatternResponse, page: &mut TextPage) {
    let session = answer.session.clone().unwrap_or_default();
    page.title(format!("session {}", session.id));
    page.details(&DETAILS, &session);
    page.field("events", count(answer.event_count));
    write_spans(&session, page);
    if listed.events.is_empty() {
        return;
    }
    page.line("");
    listing::table(&listed.events, TimeAxis::Happened, page);
    if !listed.next_page_token.is_empty() {
        page.aside("there are more: --limit shows them");
    }
}
