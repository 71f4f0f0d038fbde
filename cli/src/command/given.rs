//! `amemctl given`: what sessions of agents were given, and what was learnt from them.

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

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  amemctl given
  amemctl given 5f3a
  amemctl given 5f3a --json

A prompt is shown once it is stored. What is erased is shown as gone: the list has ids, and no texts of its own.")]
pub(crate) struct GivenArgs {
    /// The session, or the beginning of its id; all sessions if it is left out
    session: Option<String>,
    /// The brain [default: memories]
    #[arg(long, env = "AMEM_BRAIN", value_name = "NAME", hide_env_values = true)]
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
    turns: u32,
    learned: Vec<GivenJson>,
}

#[derive(Serialize)]
struct GivenJson {
    id: String,
    event: u64,
    /// None if it is gone.
    memory: Option<String>,
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

fn memories(given: &[v1::GivenMemory]) -> Vec<GivenJson> {
    let of = |one: &v1::GivenMemory| GivenJson {
        id: one.id.clone(),
        event: one.event_id,
        memory: Some(one.memory.clone()).filter(|memory| !memory.is_empty()),
    };
    given.iter().map(of).collect()
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
            turns: entry.turns,
            learned: memories(&entry.learned),
        })
    }
}

impl GivenArgs {
    pub(crate) fn run(&self, cx: &mut CommandContext) -> Result<Exit, Failure> {
        let request = v1::ListGivenRequest {
            brain: self.brain.clone().unwrap_or_default(),
            session: self.session.clone().unwrap_or_default(),
            ..v1::ListGivenRequest::default()
        };
        let remote = cx.daemon()?;
        let mut answer = v1::ListGivenResponse::default();
        answer.entries = all_pages(|page_token| {
            let request = v1::ListGivenRequest {
                page_token,
                ..request.clone()
            };
            let page = remote.call(remote.client.hooks().list_given(request))?;
            match self.session.is_some() {
                true => answer.sessions = page.sessions,
                false => answer.sessions.extend(page.sessions),
            }
            Ok((page.entries, page.next_page_token))
        })?;
        let output = GivenOutput {
            sessions: answer
                .sessions
                .iter()
                .map(SessionJson::of)
                .collect::<Result<_, _>>()?,
            entries: answer
                .entries
                .iter()
                .map(EntryJson::of)
                .collect::<Result<_, _>>()?,
        };
        let is_one = self.session.is_some();
        cx.answer(None, &output, |page| {
            match (is_one, output.sessions.first()) {
                (true, Some(session)) => one(session, &output.entries, page),
                _ => all(&output.sessions, page),
            }
        })?;
        Ok(Exit::Ok)
    }
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
        for memory in &entry.learned {
            page.line(format!("  learned [e{}] {}", memory.event, text(memory)));
        }
    }
}

fn text(memory: &GivenJson) -> String {
    let text = memory.memory.as_deref().unwrap_or("(gone)");
    printable(text)
}
