//! A file that was kept aside in the place of the brain whose name it had.
//!
//! Promises: what the brain was is kept aside before, durably; from the first moment to the last there is a brain of
//! that name, and nobody can make another meanwhile; whatever fails, what was kept aside stays.

use std::sync::Arc;

use amem_store::{ImportReport, quarantine};
use tonic::Code;

use super::{Brains, blocking, to_its_end};
use crate::access::Caller;
use crate::open_brain::OpenBrain;
use crate::refusal::{Refusal, Result};

impl Brains {
    /// Makes a kept file the brain of a name; what that brain was is kept aside, and said as which file. Whoever asks
    /// meanwhile waits for the one or has the other: there is always a brain of that name.
    pub(crate) async fn take_kept(
        &self,
        caller: &Caller,
        name: &str,
        file: &str,
    ) -> Result<(ImportReport, Option<String>)> {
        let brain = match self.get(caller, name).await {
            Ok(brain) => Some(brain),
            Err(refusal) if refusal.code == Code::NotFound => None,
            Err(refusal) => return Err(refusal),
        };
        let (mut place, brains) = (self.take(name).await?, self.clone());
        let (name, file) = (name.to_owned(), file.to_owned());
        to_its_end(async move {
            let is_same = match (place.as_ref(), &brain) {
                (Some(open), Some(brain)) => Arc::ptr_eq(open, brain),
                (open, brain) => open.is_none() && brain.is_none(),
            };
            if !is_same {
                let message = format!("the brain {name:?} was opened anew meanwhile: ask again");
                return Err(Refusal::new(Code::Unavailable, "CLOSED", message));
            }
            let taken = brains.take_at(&name, &file, brain).await;
            *place = None;
            brains.leave(&name, place);
            taken
        })
        .await
    }

    async fn take_at(
        &self,
        name: &str,
        file: &str,
        brain: Option<Arc<OpenBrain>>,
    ) -> Result<(ImportReport, Option<String>)> {
        let before = match brain {
            Some(brain) => Some(brain.retire().await?),
            None => None,
        };
        let (folder, of, theirs) = (self.0.folder.clone(), name.to_owned(), file.to_owned());
        let taken = blocking(move || quarantine::take(&folder, &theirs, &of, true)).await?;
        match taken {
            Ok(imported) => {
                self.0.known.forget(name);
                self.forget(name).await;
                tracing::info!(brain = name, file, before, "taken");
                Ok((imported, before))
            }
            Err(error) => {
                // Whether the name was exchanged before that is not known: what ours had stays kept, and is listed.
                tracing::warn!(brain = name, file, before, %error, "not taken, or not to its end");
                Err(error.into())
            }
        }
    }
}
