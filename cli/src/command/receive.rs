//! Downloads a brain of amemd, for callers that cannot read its file.
//!
//! Promises: memory is bounded by a part; an incomplete file does not appear.

use std::io::Write;
use std::path::Path;

use amem_client::v1;
use serde_json::json;

use crate::args::text::is_dash;
use crate::brain::new_file::NewFile;
use crate::brain::opened::DaemonBrain;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::json::brain::BrainName;
use crate::output::context::CommandContext;
use crate::output::progress::{Progress, Unit};
use crate::render::bytes;

pub(super) fn run(
    cx: &mut CommandContext,
    served: &DaemonBrain,
    form: v1::ExportForm,
    output: &Path,
) -> Result<Exit, Failure> {
    let mut named = served.named().clone();
    if is_dash(output) {
        take(cx, &mut named, form, |cx, data| {
            let written = cx.stream().write_all(data);
            written.map_err(|e| Failure::output(&e))
        })?;
        return Ok(Exit::Ok);
    }
    let mut file = NewFile::create(output)?;
    take(cx, &mut named, form, |_, data| {
        file.write_all(data)
            .map_err(|e| Failure::io("write", output, &e))
    })?;
    let format = match form {
        v1::ExportForm::Compatible => "compatible",
        _ => "native",
    };
    let (output, written) = (output.display().to_string(), file.publish()?);
    let data = json!({"output": output, "format": format, "bytes": written});
    cx.answer(Some(&named), &data, |page| {
        page.title(&output);
        page.field("format", format);
        page.field("bytes", bytes(written));
    })?;
    Ok(Exit::Ok)
}

fn take(
    cx: &mut CommandContext,
    named: &mut BrainName,
    form: v1::ExportForm,
    mut part: impl FnMut(&mut CommandContext, &[u8]) -> Result<(), Failure>,
) -> Result<(), Failure> {
    let mut progress = Progress::new(cx, Unit::Bytes);
    let request = v1::ExportBrainRequest {
        brain: named.name.clone().unwrap_or_default(),
        form: form.into(),
    };
    let remote = cx.daemon()?;
    let mut brains = remote.client.brains();
    let mut parts = remote.call(brains.export_brain(request))?;
    let (mut taken, mut all) = (0, 0);
    while let Some(came) = cx.daemon()?.next(&mut parts)? {
        if came.offset != taken {
            return Err(cut(taken, came.offset));
        }
        part(cx, &came.data)?;
        taken += came.data.len() as u64;
        all = came.file_bytes;
        if let Some(moment) = &came.moment {
            named.saw(moment);
        }
        progress.show(taken, all);
    }
    // No brain's file is empty.
    if taken == all && all > 0 {
        Ok(())
    } else {
        Err(cut(taken, all))
    }
}

fn cut(taken: u64, expected: u64) -> Failure {
    Failure::new(
        Exit::Unavailable,
        "cut",
        format!("the file is incomplete: {taken} bytes arrived, then a part for offset {expected}"),
        "export it again",
    )
}
