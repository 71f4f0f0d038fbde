//! Sessions of agents: `amemctl sessions`, `amemctl sessions show SESSION`, and `amemctl given`, their name of before.
//!
//! Each prompt with what it got, what was close and was not given, and why; what was learnt from turns, and the
//! sentences of which no memory was formed.

use amem_client::v1;
use clap::Args;
use serde::Serialize;

use crate::connection::remote::all_pages;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::json::event::Time;
use crate::output::context::CommandContext;
use crate::render::{Align, TextPage, TextTable, clipped, plural, printable};
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

#[derive(Serialize)]
struct GivenOutput {
    sessions: Vec<SessionJson>,
    entries: Vec<EntryJson>,
}

#[derive(Serialize)]
struct SessionJson {
    client: String,
    session: String,
    project: Option<String>,
    from: Time,
    to: Time,
    given: u32,
    turns: u32,
    facts: u32,
}

#[derive(Serialize)]
struct EntryJson {
    time: Time,
    moment: &'static str,
    #[serde(skip_serializing_if = "String::is_empty")]
    prompt: String,
    prompt_chars: u32,
    tokens: u32,
    given: Vec<GivenJson>,
    /// What was close and was not given.
    near: Vec<NearJson>,
    /// True if the prompt has too few words to look for.
    short_prompt: bool,
    turns: u32,
    learned: Vec<GivenJson>,
    /// Sentences of which no memory was formed.
    unformed: Vec<String>,
}

#[derive(Serialize)]
struct NearJson {
    #[serde(flatten)]
    memory: GivenJson,
    relevance: f32,
    floor: f32,
    why: &'static str,
}

#[derive(Serialize)]
struct GivenJson {
    id: String,
    event: u64,
    /// None if it is gone.
    memory: Option<String>,
    quarantined: bool,
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

fn memory(one: &v1::GivenMemory) -> GivenJson {
    GivenJson {
        id: one.id.clone(),
        event: one.event_id,
        memory: Some(one.memory.clone()).filter(|memory| !memory.is_empty()),
        quarantined: one.quarantined,
    }
}

fn memories(given: &[v1::GivenMemory]) -> Vec<GivenJson> {
    given.iter().map(memory).collect()
}

fn near(near: &v1::NearMemory) -> NearJson {
    NearJson {
        memory: memory(&near.memory.clone().unwrap_or_default()),
        relevance: near.relevance,
        floor: near.floor,
        why: match near.why() {
            v1::NotGivenReason::Relevance => "relevance",
            v1::NotGivenReason::Had => "had",
            v1::NotGivenReason::Said => "said",
            v1::NotGivenReason::Room => "room",
            v1::NotGivenReason::Unspecified => "unknown",
        },
    }
}

impl SessionJson {
    fn of(session: &v1::GivenSession) -> Result<Self, Failure> {
        Ok(Self {
            client: session.client.clone(),
            session: session.session.clone(),
            project: Some(session.project.clone()).filter(|project| !project.is_empty()),
            from: Time::of(session.from)?,
            to: Time::of(session.to)?,
            given: session.given,
            turns: session.turns,
            facts: session.facts,
        })
    }
}

impl EntryJson {
    fn of(entry: &v1::GivenEntry) -> Result<Self, Failure> {
        Ok(Self {
            time: Time::of(entry.time)?,
            moment: moment(entry.moment()),
            prompt: entry.prompt.clone(),
            prompt_chars: entry.prompt_chars,
            tokens: entry.tokens,
            given: memories(&entry.given),
            near: entry.near.iter().map(near).collect(),
            short_prompt: entry.short_prompt,
            turns: entry.turns,
            learned: memories(&entry.learned),
            unformed: entry.unformed.clone(),
        })
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
    let sessions = all_pages(|page_token| {
        let request = v1::ListGivenRequest {
            page_token,
            ..request.clone()
        };
        let page = remote.call(remote.client.hooks().list_given(request))?;
        Ok((page.sessions, page.next_page_token))
    })?;
    let output = GivenOutput {
        sessions: sessions
            .iter()
            .map(SessionJson::of)
            .collect::<Result<_, _>>()?,
        entries: Vec::new(),
    };
    cx.answer(None, &output, |page| all(&output.sessions, page))?;
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
    let mut sessions = Vec::new();
    let entries = all_pages(|page_token| {
        let request = v1::ListGivenRequest {
            page_token,
            ..request.clone()
        };
        let page = remote.call(remote.client.hooks().list_given(request))?;
        sessions = page.sessions;
        Ok((page.entries, page.next_page_token))
    })?;
    let output = GivenOutput {
        sessions: sessions
            .iter()
            .map(SessionJson::of)
            .collect::<Result<_, _>>()?,
        entries: entries
            .iter()
            .map(EntryJson::of)
            .collect::<Result<_, _>>()?,
    };
    cx.answer(None, &output, |page| {
        if let Some(session) = output.sessions.first() {
            one(session, &output.entries, page);
        }
    })?;
    Ok(Exit::Ok)
}

fn all(sessions: &[SessionJson], page: &mut TextPage) {
    let mut table = TextTable::new(&[
        ("SESSION", Align::Left),
        ("CLIENT", Align::Left),
        ("PROJECT", Align::Left),
        ("LAST", Align::Left),
        ("GIVEN", Align::Right),
        ("TURNS", Align::Right),
        ("FACTS", Align::Right),
    ]);
    for session in sessions {
        table.row(vec![
            clipped(&session.session, 36),
            session.client.clone(),
            clipped(session.project.as_deref().unwrap_or("-"), 40),
            when::short(session.to.0),
            session.given.to_string(),
            session.turns.to_string(),
            session.facts.to_string(),
        ]);
    }
    if !table.is_empty() {
        table.write(page);
    }
    page.aside(plural(sessions.len() as u64, "session"));
}

fn one(session: &SessionJson, entries: &[EntryJson], page: &mut TextPage) {
    page.title(format!(
        "{} {}",
        session.client,
        printable(&session.session)
    ));
    page.field("project", session.project.as_deref().unwrap_or("-"));
    page.field("from", when::short(session.from.0));
    page.field("to", when::short(session.to.0));
    for entry in entries {
        page.line("");
        let mut head = format!("{}  {}", when::short(entry.time.0), entry.moment);
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
            page.line(format!("  gave [e{}] {}", memory.event, text(memory)));
        }
        if entry.short_prompt {
            page.line("  too few words to look for");
        }
        for near in &entry.near {
            let why = why_not(near);
            page.line(format!(
                "  close [e{}] {why}: {}",
                near.memory.event,
                clipped(&text(&near.memory), 200)
            ));
        }
        for memory in &entry.learned {
            page.line(format!("  learned [e{}] {}", memory.event, text(memory)));
        }
        for sentence in &entry.unformed {
            page.line(format!("  formed nothing: {}", printable(sentence)));
        }
    }
}

/// Why a memory was not given, in words.
fn why_not(near: &NearJson) -> String {
    match near.why {
        "relevance" => format!("relevance {:.2} is below {:.2}", near.relevance, near.floor),
        "had" => format!("relevance {:.2}, the session had it", near.relevance),
        "said" => format!(
            "relevance {:.2}, it was said in the session",
            near.relevance
        ),
        _ => format!("relevance {:.2}, no room", near.relevance),
    }
}

fn text(memory: &GivenJson) -> String {
    let text = printable(memory.memory.as_deref().unwrap_or("(gone)"));
    match memory.quarantined {
        true => format!("{text} (in quarantine)"),
        false => text,
    }
}
