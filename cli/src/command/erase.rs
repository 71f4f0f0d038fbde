//! `amemctl erase`: erases the texts, vectors and attributes of events for good.

use amem_client::{Duration, v1};
use clap::Args;

use crate::args::event_id::EventId;
use crate::brain::target::{self, BrainTarget};
use crate::brain::writable::{Writable, WriteArgs};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::listing::line;
use crate::output::confirm::confirm;
use crate::output::context::{CommandContext, message_json};
use crate::render::plural;

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  amemctl erase work 12
  amemctl erase work 12 13 --yes
  amemctl erase work 12 --dry-run     shows what would be erased

When the command ends, text, vector, attributes and everything derived from them are gone from every file of
amemd; the record, its edges and times stay, flagged. Copies of the file that you made are not erased.
`amemctl forget` hides an event and can be undone; erasing cannot.")]
pub(crate) struct EraseArgs {
    #[arg(help = target::NAME_HELP)]
    brain: BrainTarget,
    /// Events: ids, or "last".
    #[arg(required = true, value_name = "ID")]
    ids: Vec<EventId>,
    /// Do not ask for confirmation.
    #[arg(short, long)]
    yes: bool,
    /// Seconds to wait for readers of earlier files, at most 60.
    #[arg(long, value_name = "SECONDS", default_value_t = 2)]
    wait: u32,
    /// Show what would be erased, and change nothing.
    #[arg(long, conflicts_with = "yes")]
    dry_run: bool,
    #[command(flatten)]
    writing: WriteArgs,
}

impl EraseArgs {
    pub(crate) fn run(&self, cx: &mut CommandContext) -> Result<Exit, Failure> {
        let mut brain = Writable::open(cx, &self.brain)?;
        let ids = EventId::numbers(&self.ids, cx, &brain.opened, None)?;
        let (events, episodes) = touched(cx, &brain, &ids)?;
        if self.dry_run {
            let answer = v1::EraseResponse {
                episode_ids: episodes,
                ..Default::default()
            };
            let asked = v1::EraseRequest {
                event_ids: ids,
                ..Default::default()
            };
            // What would be erased, as the request names it, beside what the answer would say.
            let object = || {
                let mut data = message_json(&answer)?;
                data["eventIds"] = message_json(&asked)?["eventIds"].take();
                Ok(data)
            };
            cx.object(Some(&brain.named), object, |page| {
                tell(&events, &answer.episode_ids, page);
                page.aside("nothing was erased");
            })?;
            return Ok(Exit::Ok);
        }
        if !self.yes {
            let mut page = cx.page();
            tell(&events, &episodes, &mut page);
            let question = format!("erase {} for good?", plural(ids.len() as u64, "event"));
            confirm(cx, page.as_str(), &question, "--yes")?;
        }
        let request = v1::EraseRequest {
            options: Some(self.writing.options(cx)),
            event_ids: ids.clone(),
            reader_wait: Some(Duration {
                seconds: self.wait.into(),
                nanos: 0,
            }),
            ..Default::default()
        };
        let answer = brain.write(cx, request)?;
        cx.changed(Some(&brain.named), &answer, |page| {
            let erased = plural(ids.len() as u64, "event");
            page.line(format!(
                "{erased} erased; no file of this brain has the texts (generation {})",
                answer.generation
            ));
            if !answer.episode_ids.is_empty() {
                page.line(format!(
                    "{} may still mention them: {}",
                    plural(answer.episode_ids.len() as u64, "episode"),
                    joined(&answer.episode_ids)
                ));
            }
            page.line(readers(&answer));
        })?;
        Ok(Exit::Ok)
    }
}

/// Whether a process has an earlier file open.
fn readers(answer: &v1::EraseResponse) -> String {
    if answer.readers_gone.is_some() {
        return "no process has an earlier file open".into();
    }
    if !answer.readers_unknown.is_empty() {
        return format!(
            "whether a process has an earlier file open is unknown: {}",
            answer.readers_unknown
        );
    }
    let named = answer.holders.iter();
    let named: Vec<_> = named
        .map(|holder| format!("{} (process {})", holder.program, holder.process_id))
        .collect();
    let who = match named.as_slice() {
        [] => "a process that amemd cannot see, or in amemd itself".to_owned(),
        named => named.join(", "),
    };
    format!(
        "an earlier file is still open in {who}: it is removed when that process reads again, or ends"
    )
}

/// The events, and the episodes they are part of.
fn touched(
    cx: &mut CommandContext,
    brain: &Writable,
    ids: &[u64],
) -> Result<(Vec<v1::Event>, Vec<u64>), Failure> {
    let request = v1::GetEventsRequest {
        event_ids: ids.to_vec(),
        include_forgotten: true,
        include_edges: true,
        touch: Some(false),
        ..Default::default()
    };
    let events = brain.opened.ask(cx, request)?.events;
    let part_of = i32::from(v1::EdgeType::PartOf);
    let mut wholes: Vec<u64> = events
        .iter()
        .flat_map(|event| event.edges.iter().filter(|edge| edge.source == event.id))
        .filter(|edge| edge.r#type == part_of)
        .map(|edge| edge.target)
        .collect();
    wholes.sort_unstable();
    wholes.dedup();
    let request = v1::GetEventsRequest {
        event_ids: wholes,
        include_forgotten: true,
        touch: Some(false),
        ..Default::default()
    };
    let episode = i32::from(v1::EventType::Episode);
    let episodes = brain.opened.ask(cx, request)?.events.into_iter();
    let episodes = episodes.filter(|event| event.r#type == episode);
    Ok((events, episodes.map(|event| event.id).collect()))
}

fn tell(events: &[v1::Event], episodes: &[u64], page: &mut crate::render::TextPage) {
    for event in events {
        page.drawn(&crate::render::clipped(
            &line(event),
            page.style().columns(),
        ));
    }
    if !episodes.is_empty() {
        page.line(format!(
            "episodes that may mention {}: {}",
            if events.len() == 1 { "it" } else { "them" },
            joined(episodes)
        ));
    }
}

fn joined(ids: &[u64]) -> String {
    let ids: Vec<String> = ids.iter().map(u64::to_string).collect();
    ids.join(", ")
}
