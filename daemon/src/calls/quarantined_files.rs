//! Files that the daemon quarantined: lists them, discards one, or makes a brain of it.
//!
//! Promises: a file is removed only once the brain that is made of it exists.

use std::sync::Arc;

use amem_proto::answer::timestamp;
use amem_proto::v1;
use amem_proto::v1::resolve_kept_file_request::Action;
use amem_store::Error as Store;
use amem_store::quarantine::{self, QuarantineReason, QuarantinedFile};

use super::brain;
use super::gateway::{Gateway, page_size};
use super::validate::Validate;
use crate::auth::{Caller, Role};
use crate::brains::to_its_end;
use crate::refusal::{Refusal, Result};

/// A quarantined file, if the caller has this role for the brain whose name it had. NOT_FOUND also if the caller does
/// not see that brain.
pub(super) async fn find(
    gateway: &Gateway,
    caller: &Caller,
    file: &str,
    role: Role,
) -> Result<QuarantinedFile> {
    let (folder, name) = (gateway.brains.folder().clone(), file.to_owned());
    let known = gateway
        .scans
        .of(&caller.principal)
        .run(move || Ok(quarantine::find(&folder, &name)?))
        .await?;
    if !caller.sees(&known.brain) {
        return Err(Store::NotQuarantined { file: file.into() }.into());
    }
    caller.check(&known.brain, role)?;
    Ok(known)
}

/// Lists the files of brains that the caller sees, by name.
pub(super) async fn list(
    gateway: &Gateway,
    caller: &Caller,
    request: v1::ListKeptFilesRequest,
) -> Result<v1::ListKeptFilesResponse> {
    let folder = gateway.brains.folder().clone();
    let scans = gateway.scans.of(&caller.principal);
    let mut files = scans.run(move || Ok(quarantine::list(&folder)?)).await?;
    // A token is the last name of its page.
    files.retain(|kept| kept.file > request.page_token && caller.sees(&kept.brain));
    let size = page_size(request.page_size);
    let more = files.len() > size;
    files.truncate(size);
    Ok(v1::ListKeptFilesResponse {
        next_page_token: match files.last() {
            Some(last) if more => last.file.clone(),
            _ => String::new(),
        },
        files: files.into_iter().map(file).collect(),
    })
}

fn file(kept: QuarantinedFile) -> v1::KeptFile {
    let reason = match kept.reason {
        QuarantineReason::Conflict => v1::KeptReason::Conflict,
        QuarantineReason::Recovered => v1::KeptReason::Recovered,
        QuarantineReason::Original => v1::KeptReason::Original,
    };
    let (lineage, events) = kept.base.map_or((String::new(), 0), |(lineage, events)| {
        (lineage.to_string(), events)
    });
    v1::KeptFile {
        file: kept.file,
        reason: reason.into(),
        brain: kept.brain,
        bytes: kept.bytes,
        time: Some(timestamp(kept.time)),
        lineage,
        events,
        trouble: kept.problem.unwrap_or_default(),
    }
}

/// What becomes of a quarantined file.
pub enum Resolution {
    Discard,
    /// It takes the place of its brain.
    ReplaceBrain,
    /// A brain of this name is made of it.
    RestoreAs(String),
}

impl Validate for v1::ResolveKeptFileRequest {
    /// The file's name, and what becomes of it.
    type Valid = (String, Resolution);

    fn validate(self) -> Result<Self::Valid> {
        let resolution = match self.action {
            Some(Action::Discard(true)) => Resolution::Discard,
            Some(Action::Take(true)) => Resolution::ReplaceBrain,
            Some(Action::RestoreAs(name)) => Resolution::RestoreAs(name),
            _ => {
                let why = "set discard, take or restore_as";
                return Err(Refusal::invalid("action", why));
            }
        };
        Ok((self.file, resolution))
    }
}

/// Discards a file, puts it in place of its brain, or makes another brain of it.
pub(super) async fn resolve(
    gateway: Arc<Gateway>,
    caller: Caller,
    (file, resolution): (String, Resolution),
) -> Result<v1::ResolveKeptFileResponse> {
    let brains = gateway.brains.clone();
    let folder = brains.folder().clone();
    let known = find(&gateway, &caller, &file, caller.needs).await?;
    let (name, imported, before) = match resolution {
        Resolution::Discard => {
            gateway
                .scans
                .of(&caller.principal)
                .run(move || Ok(quarantine::discard(&folder, &file)?))
                .await?;
            return Ok(v1::ResolveKeptFileResponse::default());
        }
        Resolution::ReplaceBrain => {
            // A file that cannot be read replaces nothing.
            let of = file.clone();
            gateway
                .scans
                .of(&caller.principal)
                .run(move || Ok(quarantine::read(&folder, &of)?))
                .await?;
            let taken = brains
                .replace_with_quarantined(&caller, &known.brain, &file)
                .await;
            let (imported, before) = taken?;
            (known.brain, imported, before)
        }
        Resolution::RestoreAs(name) => {
            caller.check_all(caller.needs)?;
            let (of, principal) = (name.clone(), caller.principal.clone());
            let made = to_its_end(async move {
                let made = move || Ok(quarantine::restore(&folder, &file, &of, true)?);
                gateway.scans.of(&principal).run(made).await
            });
            (name, made.await?, None)
        }
    };
    let brain = brains.get(&caller, &name).await?;
    let listed =
        |kept: Option<String>| kept.map_or(String::new(), |kept| quarantine::listed(&kept).into());
    Ok(v1::ResolveKeptFileResponse {
        info: Some(brain::info(&brain.name, &brain.view())),
        kept_file: listed(before),
        dropped_edges: imported.lossy.dropped_edges,
        changed: imported.lossy.changed,
        original: listed(imported.original),
    })
}
