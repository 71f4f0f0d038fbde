//! Uploads a file as a new brain of amemd, or in the place of one.
//!
//! Promises: memory is bounded by a part; a live brain is sent as `cp` would copy it.

use std::path::Path;

use amem_client::v1;
use amem_client::v1::import_brain_request::Part;
use serde::Serialize;

use crate::brain::upload::Upload;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::json::brain::BrainName;
use crate::output::context::CommandContext;
use crate::render::{agree, bytes, plural, printable};

#[derive(Serialize)]
struct SendOutput {
    brain: String,
    format: &'static str,
    bytes: u64,
    events: u64,
    edges: u64,
    renumbered: u64,
    dropped_edges: u64,
    changed: u64,
    /// Where what stood there before is quarantined.
    kept_file: Option<String>,
}

pub(super) struct Transfer<'a> {
    pub(super) file: &'a Path,
    pub(super) format: &'static str,
    pub(super) brain: &'a str,
    pub(super) no_embed: bool,
    /// The file takes the place of the brain, if there is one.
    pub(super) replaces: bool,
}

impl Transfer<'_> {
    pub(super) fn run(&self, cx: &mut CommandContext) -> Result<Exit, Failure> {
        let file = Upload::open(self.file)?;
        let file_bytes = file.bytes;
        let made = self.send(cx, file)?;
        let output = SendOutput {
            brain: self.brain.to_owned(),
            format: self.format,
            bytes: file_bytes,
            events: made.events,
            edges: made.edges,
            renumbered: made.renumbered,
            dropped_edges: made.dropped_edges,
            changed: made.changed,
            kept_file: Some(made.kept_file).filter(|kept| !kept.is_empty()),
        };
        let opened = v1::OpenBrainResponse {
            moment: made.moment,
            info: made.info,
            ..Default::default()
        };
        let named = BrainName::served(&opened);
        cx.answer(Some(&named), &output, |page| {
            page.title(printable(&output.brain));
            page.field("read as", output.format);
            let holds = [plural(output.events, "event"), plural(output.edges, "edge")].join(", ");
            page.field("holds", format!("{holds}, of {}", bytes(output.bytes)));
            if output.renumbered > 0 {
                let events = plural(output.renumbered, "event");
                page.field(
                    "renumbered",
                    format!("{events}; amem.origin_id has the id before"),
                );
            }
            if output.dropped_edges > 0 {
                let edges = plural(output.dropped_edges, "edge");
                let ends = agree(
                    output.dropped_edges,
                    "that repeats another, or ends at itself or at nothing",
                    "that repeat another, or end at themselves or at nothing",
                );
                page.field("left out", format!("{edges} {ends}"));
            }
            if output.changed > 0 {
                let values = plural(output.changed, "value");
                page.field("changed", format!("{values} that no brain can hold"));
            }
            if let Some(kept) = &output.kept_file {
                page.field("before", format!("quarantined as {}", printable(kept)));
                page.aside("`amemctl conflicts` lists it, takes it back or deletes it");
            }
        })?;
        Ok(Exit::Ok)
    }

    fn send(
        &self,
        cx: &mut CommandContext,
        file: Upload,
    ) -> Result<v1::ImportBrainResponse, Failure> {
        let options = v1::ImportOptions {
            brain: self.brain.to_owned(),
            file_bytes: file.bytes,
            no_embed: self.no_embed,
            replace: self.replaces,
        };
        let message = |part| v1::ImportBrainRequest { part: Some(part) };
        let data = |data| v1::ImportBrainRequest {
            part: Some(Part::Data(data)),
        };
        let first = message(Part::Options(options));
        let then = "creating and checking the brain …";
        file.send(cx, (first, data), then, |client, parts| async move {
            client.brains().import_brain(parts).await
        })
    }
}
