//! What `search`, `text` and `similar` share: they ask a brain one question and show a table of the events that were
//! found.

use amem_client::{Question, v1};
use prost::{Message, Name};

use crate::brain::opened::BrainHandle;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::json::event::type_name;
use crate::listing::{self, TimeAxis};
use crate::output::context::CommandContext;
use crate::render::{Align, TextPage, TextTable, float};

/// Asks a question and prints the answer; `write` makes the page.
pub(crate) fn ask_and_print<Q: Question>(
    cx: &mut CommandContext,
    opened: BrainHandle,
    question: Q,
    write: impl FnOnce(&Q::Answer, &mut TextPage),
) -> Result<Exit, Failure>
where
    Q::Answer: Message + Name,
{
    let answer = opened.ask(cx, question)?;
    let moment = Q::moment(&answer);
    cx.message(Some(&opened.named(moment)), &answer, |page| {
        write(&answer, page);
        opened.write_notes(page);
    })?;
    opened.close(cx);
    Ok(Exit::Ok)
}

/// A table of hits: columns of scores, then the event's id, type, time and text.
pub(crate) struct HitTable(TextTable);

impl HitTable {
    pub(crate) fn new(scores: impl IntoIterator<Item = &'static str>) -> Self {
        let scores = scores.into_iter().map(|name| (name, Align::Right));
        let event = [
            ("id", Align::Right),
            ("type", Align::Left),
            ("when", Align::Left),
            ("text", Align::Left),
        ];
        let header: Vec<_> = scores.chain(event).collect();
        Self(TextTable::new(&header))
    }

    /// A hit; `marks` precede its text.
    pub(crate) fn row(&mut self, scores: &[f32], marks: &str, event: Option<&v1::Event>) {
        let event = event.cloned().unwrap_or_default();
        let mut row: Vec<String> = scores.iter().copied().map(float).collect();
        row.extend([
            event.id.to_string(),
            type_name(event.r#type),
            TimeAxis::Happened.short(&event),
            format!("{marks}{}", listing::text(&event)),
        ]);
        self.0.row(row);
    }

    pub(crate) fn write(self, page: &mut TextPage) {
        self.0.write(page);
    }
}
