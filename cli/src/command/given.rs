//! Sessions of agents: `amemctl sessions`, `amemctl sessions show SESSION`, and `amemctl given`, their name of before.
//!
//! Each prompt with what it got, what was close and was not given, and why; what was learnt from turns, and the
//! sentences of which no memory was formed.

use amem_client::v1;
use clap::Args;

use crate::connection::remote::whole_list;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::context::CommandContext;
use crate::render::{Align, Column, TextPage, clipped, plural, printable};
use crate::when;

/// The brain, if the command names none.
const BRAIN_VARIABLE: &str = "AMEM_BRAIN";

#[derive(Debug, Args)]
pub(crate) struct GivenArgs {
    /// The session, or the beginning of its id; all sessions if it is left out
    session: Option<String>,
    /// The brain [default: memories]
    #[arg(long, value_name = "NAME")]
    brain: Option<String>,
}

fn moment(moment: v1::HookMoment) -> &'static str {
    match moment {
        v1::HookMoment::Start => "start",
        v1::HookMoment::Prompt => "prompt",
        v1::HookMoment::Answer => "answer",
        v1::HookMoment::Compaction => "compaction",
        v1::HookMoment::End => "end",
        v1::HookMoment::Unspecified => "unknown",
    }
}

impl GivenArgs {
    pub(crate) fn run(&self, cx: &mut CommandContext) -> Result<Exit, Failure> {
        match &self.session {
            Some(session) => show(cx, self.brain.as_deref(), Some(session)),
            None => list(cx, self.brain.as_deref()),
        }
    }
}

/// The brain that is named, or that of the environment; empty for the default.
fn brain_of(named: Option<&str>) -> String {
    match named {
        Some(name) => name.to_owned(),
        None => std::env::var(BRAIN_VARIABLE).unwrap_or_default(),
    }
}

/// Shows the sessions of a brain.
pub(crate) fn list(cx: &mut CommandContext, brain: Option<&str>) -> Result<Exit, Failure> {
    let request = v1::ListGivenRequest {
        brain: brain_of(brain),
        ..v1::ListGivenRequest::default()
    };
    let remote = cx.daemon()?;
    let answer = whole_list(
        |page_token| {
            let request = v1::ListGivenRequest {
                page_token,
                ..request.clone()
            };
            remote.call(remote.client.hooks().list_given(request))
        },
        |answer| (&mut answer.sessions, &mut answer.next_page_token),
    )?;
    cx.message(None, &answer, |page| {
        page.rows(&SESSIONS, &answer.sessions);
        page.aside(plural(answer.sessions.len() as u64, "session"));
    })?;
    Ok(Exit::Ok)
}

/// Shows a session of a brain, by its id or the beginning of it; the last one if none is named.
pub(crate) fn show(
    cx: &mut CommandContext,
    brain: Option<&str>,
    session: Option<&str>,
) -> Result<Exit, Failure> {
    let brain = brain_of(brain);
    let remote = cx.daemon()?;
    let session = match session {
        Some(session) => session.to_owned(),
        None => {
            let newest = v1::ListGivenRequest {
                brain: brain.clone(),
                page_size: 1,
                ..v1::ListGivenRequest::default()
            };
            let page = remote.call(remote.client.hooks().list_given(newest))?;
            let newest = page.sessions.into_iter().next();
            let newest = newest.ok_or_else(|| {
                Failure::argument(
                    "there is no session of an agent yet",
                    "`amemctl connect` sets the hooks of agents up",
                )
            })?;
            newest.session
        }
    };
    let request = v1::ListGivenRequest {
        brain,
        session,
        ..v1::ListGivenRequest::default()
    };
    let answer = whole_list(
        |page_token| {
            let request = v1::ListGivenRequest {
                page_token,
                ..request.clone()
            };
            remote.call(remote.client.hooks().list_given(request))
        },
        |answer| (&mut answer.entries, &mut answer.next_page_token),
    )?;
    cx.message(None, &answer, |page| {
        if let Some(session) = answer.sessions.first() {
            one(session, &answer.entries, page);
        }
    })?;
    Ok(Exit::Ok)
}

const SESSIONS: [Column<v1::GivenSession>; 7] = [
    ("SESSION", Align::Left, |session| {
        clipped(&session.session, 36)
    }),
    ("CLIENT", Align::Left, |session| session.client.clone()),
    ("PROJECT", Align::Left, |session| {
        clipped(project(session), 40)
    }),
    ("LAST", Align::Left, |session| when::short_of(session.to)),
    ("GIVEN", Align::Right, |session| session.given.to_string()),
    ("TURNS", Align::Right, |session| session.turns.to_string()),
    ("FACTS", Align::Right, |session| session.facts.to_string()),
];

fn project(session: &v1::GivenSession) -> &str {
    match session.project.as_str() {
        "" => "-",
        project => project,
    }
}

fn one(session: &v1::GivenSession, entries: &[v1::GivenEntry], page: &mut TextPage) {
    page.title(format!("{} {}", session.client, session.session));
    page.field("project", project(session));
    page.field("from", when::short_of(session.from));
    page.field("to", when::short_of(session.to));
    for entry in entries {
        page.line("");
        let mut head = format!("{}  {}", when::short_of(entry.time), moment(entry.moment()));
        if entry.turns > 0 {
            head.push_str(&format!(
                "  {} stored",
                plural(u64::from(entry.turns), "turn")
            ));
        } else if entry.given.is_empty() {
            head.push_str("  given nothing");
        } else {
            head.push_str(&format!("  given {} tokens", entry.tokens));
        }
        page.line(head);
        match (entry.prompt.is_empty(), entry.prompt_chars) {
            (true, 0) => {}
            (true, chars) => page.line(format!("  > a prompt of {chars} characters")),
            (false, _) => page.line(format!("  > {}", clipped(&printable(&entry.prompt), 200))),
        }
        for memory in &entry.given {
            page.line(format!("  gave [e{}] {}", memory.event_id, text(memory)));
        }
        if entry.short_prompt {
            page.line("  too few words to look for");
        }
        for near in &entry.near {
            let why = why_not(near);
            let memory = near.memory.clone().unwrap_or_default();
            page.line(format!(
                "  close [e{}] {why}: {}",
                memory.event_id,
                clipped(&text(&memory), 200)
            ));
        }
        for memory in &entry.learned {
            page.line(format!("  learned [e{}] {}", memory.event_id, text(memory)));
        }
        for sentence in &entry.unformed {
            page.line(format!("  formed nothing: {}", printable(sentence)));
        }
    }
}

/// Why a memory was not given, in words.
fn why_not(near: &v1::NearMemory) -> String {
    match near.why() {
        v1::NotGivenReason::Relevance => {
            format!("relevance {:.2} is below {:.2}", near.relevance, near.floor)
        }
        v1::NotGivenReason::Had => format!("relevance {:.2}, the session had it", near.relevance),
        v1::NotGivenReason::Said => format!(
            "relevance {:.2}, it was said in the session",
            near.relevance
        ),
        v1::NotGivenReason::Room | v1::NotGivenReason::Unspecified => {
            format!("relevance {:.2}, no room", near.relevance)
        }
    }
}

fn text(memory: &v1::GivenMemory) -> String {
    let text = match memory.memory.as_str() {
        "" => "(gone)".to_owned(),
        text => printable(text),
    };
    match memory.quarantined {
        true => format!("{text} (in quarantine)"),
        false => text,
    }
}
