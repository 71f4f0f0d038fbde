//! `amemctl merge`: merges another brain into one of amemd.

use std::path::Path;

use amem_client::v1;
use amem_client::v1::merge_brain_request::Part;
use amem_client::v1::merge_options::From;
use clap::Args;
use serde::Serialize;

use crate::brain::target::{self, BrainTarget};
use crate::brain::upload::Upload;
use crate::brain::writable::{Writable, WriteArgs};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::json::commit::CommitJson;
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

#[derive(Serialize)]
pub(super) struct MergeOutput {
    dry_run: bool,
    same_lineage: bool,
    same_instance: bool,
    matched: u64,
    events: u64,
    edges: u64,
    retracted: u64,
    changed: u64,
    touched: u64,
    sessions: u64,
    cycles: u64,
    other_vectors: u64,
    erased_there: u64,
    withheld: u64,
    dropped_edges: u64,
    changed_values: u64,
    commit: Option<CommitJson>,
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
        cx.done(Some(&brain.named), &output, |page| output.write(page))?;
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
    let dry_run = options.dry_run;
    let first = v1::MergeBrainRequest {
        part: Some(Part::Options(options)),
    };
    let remote = cx.daemon()?;
    let mut brains = remote.client.brains();
    let answer = remote.call(brains.merge_brain(tokio_stream::iter([first])))?;
    MergeOutput::of(brain, &answer, dry_run)
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
    let dry_run = options.dry_run;
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
    MergeOutput::of(brain, &answer, dry_run)
}

impl MergeOutput {
    fn of(
        brain: &mut Writable,
        answer: &v1::MergeBrainResponse,
        dry_run: bool,
    ) -> Result<Self, Failure> {
        let lineage = brain.opened.named(None).lineage;
        let commit = answer.commit.as_ref();
        let commit = commit.map(|commit| brain.commit(commit)).transpose()?;
        Ok(Self {
            dry_run,
            same_lineage: lineage.is_some_and(|lineage| lineage.to_string() == answer.from_lineage),
            same_instance: answer.same_instance,
            matched: answer.matched,
            events: answer.events,
            edges: answer.edges,
            retracted: answer.retracted,
            changed: answer.changed,
            touched: answer.touched,
            sessions: answer.sessions,
            cycles: answer.cycles,
            other_vectors: answer.other_vectors,
            erased_there: answer.erased_there,
            withheld: answer.withheld,
            dropped_edges: answer.dropped_edges,
            changed_values: answer.changed_values,
            commit,
        })
    }

    /// Edges and values that no brain can hold.
    pub(super) fn misfits(&self) -> (u64, u64) {
        (self.dropped_edges, self.changed_values)
    }

    /// What the merge did not bring, in one line; `None` if it brought everything.
    pub(super) fn left_out(&self) -> Option<String> {
        let counts = [
            (self.dropped_edges, "edge", "that no brain can hold"),
            (self.changed_values, "value", "that no brain can hold"),
            (self.cycles, "edge", "on a cycle of supersedes edges"),
            (self.other_vectors, "vector", "of another space"),
            (self.withheld, "event", "that may have been erased here"),
        ];
        let some = counts.iter().filter(|(count, ..)| *count > 0);
        let some: Vec<_> = some
            .map(|(count, what, which)| format!("{} {which}", plural(*count, what)))
            .collect();
        (!some.is_empty()).then(|| some.join(", "))
    }

    /// What the other has and the brain lacks, in one line.
    pub(super) fn more(&self) -> String {
        let changes = self.changed + self.retracted + self.touched;
        let more = [
            (self.events, "event"),
            (self.edges, "edge"),
            (changes, "change"),
            (self.sessions, "session"),
            (self.dropped_edges, "impossible edge"),
            (self.changed_values, "impossible value"),
            (self.cycles, "circular edge"),
            (self.other_vectors, "foreign vector"),
            (self.withheld, "withheld event"),
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
        page.line(match (self.same_instance, self.same_lineage) {
            (true, _) if self.more() == NOTHING => "a copy of this brain with nothing new",
            (true, _) => "another copy with the same instance id, which has more: a disk may have been cloned",
            (_, true) => "two descendants of one brain",
            _ => "an unrelated brain",
        });
        let known = plural(self.matched, "event");
        page.field("known", format!("{known} of the other"));
        let new = [
            plural(self.events, "event"),
            plural(self.edges, "edge"),
            plural(self.sessions, "session"),
        ];
        page.field("new", new.join(", "));
        let rows = [
            (
                "changed",
                self.changed,
                "event",
                "changed there later than here",
            ),
            (
                "used",
                self.touched,
                "event",
                "used there more often than here",
            ),
            ("retracted", self.retracted, "edge", "retracted there"),
            (
                "left out",
                self.cycles,
                "edge",
                "on a cycle of supersedes edges of both",
            ),
            ("vectors", self.other_vectors, "vector", "of another space"),
            (
                "erased there",
                self.erased_there,
                "event",
                "intact here; `amemctl erase` erases it here",
            ),
            (
                "withheld",
                self.withheld,
                "event",
                "which may have been erased here: more events of their moment than before",
            ),
            (
                "no place",
                self.dropped_edges,
                "edge",
                "to itself, repeated, or to nothing, which no brain can hold",
            ),
            (
                "not the same",
                self.changed_values,
                "event or edge",
                "with a value that no brain can hold: clamped, or left out",
            ),
        ];
        for (name, count, what, why) in rows {
            if count > 0 {
                page.field(name, format!("{}, {why}", plural(count, what)));
            }
        }
        if self.same_instance && self.more() != NOTHING {
            page.aside("if both continue, export one and import it again: that gives it an instance of its own");
        }
        match &self.commit {
            Some(commit) => commit.write(page),
            None => page.aside("nothing was changed"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn merged(dropped_edges: u64, cycles: u64, other_vectors: u64) -> MergeOutput {
        MergeOutput {
            dry_run: false,
            same_lineage: true,
            same_instance: false,
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
            withheld: 0,
            dropped_edges,
            changed_values: 0,
            commit: None,
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
