//! `amemctl merge`: merges another brain into one of amemd.

use std::path::Path;

use amem_client::v1;
use amem_client::v1::merge_brain_request::Part;
use amem_client::v1::merge_options::From;
use clap::Args;

use crate::brain::target::{self, BrainTarget};
use crate::brain::upload::Upload;
use crate::brain::writable::{Writable, WriteArgs, write_commit};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::context::CommandContext;
use crate::render::{TextPage, plural};

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  amemctl merge work laptop --dry-run       what another brain of amemd would bring
  amemctl merge work usb/work.amem          what a copy has learned since

Events are the same if they were first recorded at the same moment, with the same type and text. Both
corrections of one belief stay, and `amemctl conflicts BRAIN` shows them; of other changes the later one wins,
by its time in the brain where it was made. Erased events do not come back. The attribute amem.origin of a
merged event names its source. Merging again changes nothing; to make two brains or more equal, merge each into
the others, in any order.")]
pub(crate) struct MergeArgs {
    #[arg(help = target::NAME_HELP)]
    brain: BrainTarget,
    /// The other brain: its name at the daemon, or a file (ends in .amem, or has a slash).
    other: BrainTarget,
    /// Change nothing; show what would be done.
    #[arg(short = 'n', long)]
    dry_run: bool,
    #[command(flatten)]
    writing: WriteArgs,
}

const NOTHING: &str = "nothing";

/// What a merge brought, or would bring.
pub(super) struct MergeOutput {
    pub(super) answer: v1::MergeBrainResponse,
    is_same_lineage: bool,
}

impl MergeArgs {
    pub(crate) fn run(&self, cx: &mut CommandContext) -> Result<Exit, Failure> {
        let mut brain = Writable::open(cx, &self.brain)?;
        let options = v1::MergeOptions {
            options: Some(self.writing.options(cx)),
            dry_run: self.dry_run,
            ..Default::default()
        };
        let output = match &self.other {
            BrainTarget::Name(name) => run(cx, &mut brain, options, From::FromBrain(name.clone()))?,
            BrainTarget::Path(path) => send(cx, &mut brain, options, path)?,
        };
        cx.changed(Some(&brain.named), &output.answer, |page| {
            output.write(page)
        })?;
        Ok(Exit::Ok)
    }
}

/// Merges a brain or a quarantined file that the daemon has.
pub(super) fn run(
    cx: &mut CommandContext,
    brain: &mut Writable,
    mut options: v1::MergeOptions,
    from: From,
) -> Result<MergeOutput, Failure> {
    options.brain = brain.opened.served()?.brain.name().to_owned();
    options.from = Some(from);
    let first = v1::MergeBrainRequest {
        part: Some(Part::Options(options)),
    };
    let remote = cx.daemon()?;
    let mut brains = remote.client.brains();
    let answer = remote.call(brains.merge_brain(tokio_stream::iter([first])))?;
    Ok(MergeOutput::of(brain, answer))
}

fn send(
    cx: &mut CommandContext,
    brain: &mut Writable,
    mut options: v1::MergeOptions,
    path: &Path,
) -> Result<MergeOutput, Failure> {
    let file = Upload::open(path)?;
    options.brain = brain.opened.served()?.brain.name().to_owned();
    options.from = Some(From::FromFileBytes(file.bytes));
    let first = v1::MergeBrainRequest {
        part: Some(Part::Options(options)),
    };
    let data = |data| v1::MergeBrainRequest {
        part: Some(Part::Data(data)),
    };
    let then = "comparing the brains …";
    let answer = file.send(cx, (first, data), then, |client, parts| async move {
        client.brains().merge_brain(parts).await
    })?;
    Ok(MergeOutput::of(brain, answer))
}

impl MergeOutput {
    fn of(brain: &mut Writable, answer: v1::MergeBrainResponse) -> Self {
        let lineage = brain.opened.named(None).lineage;
        if let Some(commit) = &answer.commit {
            brain.named.committed(commit);
        }
        Self {
            is_same_lineage: lineage.is_some_and(|id| id.to_string() == answer.from_lineage),
            answer,
        }
    }

    /// What the merge did not bring, in one line; `None` if it brought everything.
    pub(super) fn left_out(&self) -> Option<String> {
        let counts = [
            (self.answer.dropped_edges, "edge", "that no brain can hold"),
            (
                self.answer.changed_values,
                "value",
                "that no brain can hold",
            ),
            (self.answer.cycles, "edge", "on a cycle of supersedes edges"),
            (self.answer.other_vectors, "vector", "of another space"),
            (
                self.answer.withheld,
                "event",
                "that may have been erased here",
            ),
        ];
        let some = counts.iter().filter(|(count, ..)| *count > 0);
        let some: Vec<_> = some
            .map(|(count, what, which)| format!("{} {which}", plural(*count, what)))
            .collect();
        (!some.is_empty()).then(|| some.join(", "))
    }

    /// What the other has and the brain lacks, in one line.
    pub(super) fn more(&self) -> String {
        let changes = self.answer.changed + self.answer.retracted + self.answer.touched;
        let more = [
            (self.answer.events, "event"),
            (self.answer.edges, "edge"),
            (changes, "change"),
            (self.answer.sessions, "session"),
            (self.answer.dropped_edges, "impossible edge"),
            (self.answer.changed_values, "impossible value"),
            (self.answer.cycles, "circular edge"),
            (self.answer.other_vectors, "foreign vector"),
            (self.answer.withheld, "withheld event"),
        ];
        let more = more.iter().filter(|(count, _)| *count > 0);
        let more: Vec<_> = more.map(|(count, what)| plural(*count, what)).collect();
        if more.is_empty() {
            NOTHING.to_owned()
        } else {
            more.join(", ")
        }
    }

    pub(super) fn write(&self, page: &mut TextPage) {
        page.line(match (self.answer.same_instance, self.is_same_lineage) {
            (true, _) if self.more() == NOTHING => "a copy of this brain with nothing new",
            (true, _) => "another copy with the same instance id, which has more: a disk may have been cloned",
            (_, true) => "two descendants of one brain",
            _ => "an unrelated brain",
        });
        let known = plural(self.answer.matched, "event");
        page.field("known", format!("{known} of the other"));
        let new = [
            plural(self.answer.events, "event"),
            plural(self.answer.edges, "edge"),
            plural(self.answer.sessions, "session"),
        ];
        page.field("new", new.join(", "));
        let rows = [
            (
                "changed",
                self.answer.changed,
                "event",
                "changed there later than here",
            ),
            (
                "used",
                self.answer.touched,
                "event",
                "used there more often than here",
            ),
            (
                "retracted",
                self.answer.retracted,
                "edge",
                "retracted there",
            ),
            (
                "left out",
                self.answer.cycles,
                "edge",
                "on a cycle of supersedes edges of both",
            ),
            (
                "vectors",
                self.answer.other_vectors,
                "vector",
                "of another space",
            ),
            (
                "erased there",
                self.answer.erased_there,
                "event",
                "intact here; `amemctl erase` erases it here",
            ),
            (
                "withheld",
                self.answer.withheld,
                "event",
                "which may have been erased here: more events of their moment than before",
            ),
            (
                "no place",
                self.answer.dropped_edges,
                "edge",
                "to itself, repeated, or to nothing, which no brain can hold",
            ),
            (
                "not the same",
                self.answer.changed_values,
                "event or edge",
                "with a value that no brain can hold: clamped, or left out",
            ),
        ];
        for (name, count, what, why) in rows {
            if count > 0 {
                page.field(name, format!("{}, {why}", plural(count, what)));
            }
        }
        if self.answer.same_instance && self.more() != NOTHING {
            page.aside("if both continue, export one and import it again: that gives it an instance of its own");
        }
        match &self.answer.commit {
            Some(commit) => write_commit(commit, page),
            None => page.aside("nothing was changed"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn merged(dropped_edges: u64, cycles: u64, other_vectors: u64) -> MergeOutput {
        MergeOutput {
            is_same_lineage: true,
            answer: v1::MergeBrainResponse {
                matched: 7,
                events: 1,
                edges: 1,
                retracted: 1,
                changed: 1,
                touched: 1,
                sessions: 1,
                cycles,
                other_vectors,
                erased_there: 1,
                dropped_edges,
                ..v1::MergeBrainResponse::default()
            },
        }
    }

    #[test]
    fn what_a_merge_did_not_bring_is_left_out_whichever_kind_it_is() {
        assert_eq!(merged(0, 0, 0).left_out(), None);
        for (merged, expected) in [
            (merged(2, 0, 0), "2 edges that no brain can hold"),
            (merged(0, 1, 0), "1 edge on a cycle of supersedes edges"),
            (merged(0, 0, 3), "3 vectors of another space"),
        ] {
            assert_eq!(merged.left_out().as_deref(), Some(expected));
        }
        let more = merged(0, 1, 3).more();
        assert!(
            more.ends_with("1 circular edge, 3 foreign vectors"),
            "{more}"
        );
    }
}
