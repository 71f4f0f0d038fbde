//! `amemctl import` of a text into a brain of amemd.

use amem_importing::RunId;
use clap::Args;
use uuid::Uuid;

use crate::appending::{TextImport, TextImportOutput};
use crate::entries::{ImportText, TextFormat};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::context::CommandContext;
use crate::render::{TextPage, count, plural, printable};

#[derive(Debug, Args)]
#[command(next_help_heading = "Conversations, notes and events, into a brain of amemd")]
pub(crate) struct ImportTextArgs {
    /// The session of Markdown notes [default: the name of their file]
    #[arg(long, value_name = "KEY")]
    pub(crate) session: Option<String>,
    /// Import the text again, though it was imported before.
    #[arg(long, conflicts_with = "run_id")]
    again: bool,
    /// Repeat an import under its id, without writing anything twice.
    #[arg(long, value_name = "UUID")]
    run_id: Option<Uuid>,
    /// The brain, by an older option.
    #[arg(
        long = "brain",
        value_name = "NAME",
        hide = true,
        conflicts_with = "brain"
    )]
    pub(crate) brain_name: Option<String>,
}

impl ImportTextArgs {
    pub(crate) fn is_given(&self) -> bool {
        self.session.is_some() || self.again || self.run_id.is_some()
    }

    pub(crate) fn import(
        &self,
        cx: &mut CommandContext,
        text: &ImportText,
        brain: &str,
    ) -> Result<Exit, Failure> {
        if self.session.is_some() && text.form != TextFormat::Markdown {
            return Err(Failure::argument(
                format!(
                    "--session applies to Markdown notes, and this is read as {}",
                    text.form.name()
                ),
                "omit it: each line names its session",
            ));
        }
        let run = match self.run_id {
            Some(id) => Some(RunId::repeated(id)?),
            None => self.again.then(RunId::new),
        };
        let append = TextImport { brain, text, run };
        let (named, appended) = append.run(cx)?;
        cx.answer(Some(&named), &appended, |page| write(&appended, page))?;
        Ok(Exit::Ok)
    }
}

fn write(appended: &TextImportOutput, page: &mut TextPage) {
    page.title(printable(&appended.brain));
    let made = if appended.made { "new" } else { "as before" };
    page.field("brain", made);
    page.field("read as", appended.format);
    page.field(
        "holds",
        format!(
            "{} more, in {}, with {}",
            plural(appended.events - appended.already_there, "event"),
            plural(appended.sessions, "session"),
            plural(appended.edges, "edge")
        ),
    );
    if appended.known > 0 {
        let known = plural(appended.known, "event");
        page.field(
            "known",
            format!("{known} of this export are in the brain already"),
        );
    }
    if appended.changed > 0 {
        let lines: Vec<String> = appended.changed_lines.iter().map(u64::to_string).collect();
        let more = if appended.changed > lines.len() as u64 {
            " …"
        } else {
            ""
        };
        page.field(
            "differ",
            format!(
                "{} from the event of the same origin, which stays as it is: line {}{more}",
                plural(appended.changed, "line"),
                lines.join(", ")
            ),
        );
    }
    if appended.already_there > 0 {
        let there = plural(appended.already_there, "event");
        page.field("repeated", format!("{there} had been written before"));
    }
    let marked = [
        ("pinned", appended.pinned),
        ("forgotten", appended.forgotten),
    ];
    for (name, n) in marked.into_iter().filter(|(_, n)| *n > 0) {
        page.field(name, plural(n, "event"));
    }
    for lost in &appended.lost {
        page.field("left out", format!("{} {}", count(lost.count), lost.what));
    }
    if appended.lsn > 0 {
        page.field("commit", count(appended.lsn));
        page.field("run id", &appended.run);
    }
}
