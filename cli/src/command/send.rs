//! Uploads a file as a new brain of amemd, or in the place of one.
//!
//! Promises: memory is bounded by a part; a live brain is sent as `cp` would copy it.

use std::path::Path;

use amem_client::v1;
use amem_client::v1::import_brain_request::Part;

use crate::brain::upload::Upload;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::json::brain::BrainName;
use crate::output::context::{CommandContext, message_json};
use crate::render::{agree, bytes, plural};

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
        let mut data = message_json(&made)?;
        data["format"] = self.format.into();
        data["bytes"] = file_bytes.into();
        let opened = v1::OpenBrainResponse {
            moment: made.moment.clone(),
            info: made.info.clone(),
            ..Default::default()
        };
        let named = BrainName::served(&opened);
        cx.answer(Some(&named), &data, |page| {
            page.title(self.brain);
            page.field("read as", self.format);
            let holds = [plural(made.events, "event"), plural(made.edges, "edge")].join(", ");
            page.field("holds", format!("{holds}, of {}", bytes(file_bytes)));
            if made.renumbered > 0 {
                let events = plural(made.renumbered, "event");
                page.field(
                    "renumbered",
                    format!("{events}; amem.origin_id has the id before"),
                );
            }
            if made.dropped_edges > 0 {
                let edges = plural(made.dropped_edges, "edge");
                let ends = agree(
                    made.dropped_edges,
                    "that repeats another, or ends at itself or at nothing",
                    "that repeat another, or end at themselves or at nothing",
                );
                page.field("left out", format!("{edges} {ends}"));
            }
            if made.changed > 0 {
                let values = plural(made.changed, "value");
                page.field("changed", format!("{values} that no brain can hold"));
            }
            if !made.kept_file.is_empty() {
                page.field("before", format!("quarantined as {}", made.kept_file));
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
