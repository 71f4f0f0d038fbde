//! Lists brains and problems.

use std::collections::HashMap;
use std::sync::Arc;

use amem_store::folder;
use amem_store::folder::SUFFIX;

use super::engine::Engine;
use super::known_brains::BrainIdentity;
use super::problems::{NamedProblem, Problem};
use super::summary::BrainSummary;
use crate::error::Result;
use crate::open_brain::OpenBrain;
use crate::tasks::blocking;

impl Engine {
    /// The names of all files of the folder that are brains or may be, in order.
    pub(super) async fn names(&self) -> Result<Vec<String>> {
        let folder = self.0.folder.clone();
        let mut names = blocking(move || folder.names()).await??;
        names.retain(|name| folder::file_name(name).is_ok());
        names.sort_unstable();
        Ok(names)
    }

    /// The open brains, by name. One that is being opened or closed at this moment is left out.
    pub fn open_brains(&self) -> Vec<Arc<OpenBrain>> {
        let slots = self.slots();
        let open = slots
            .values()
            .filter_map(|slot| slot.try_lock().ok()?.clone());
        let mut brains: Vec<_> = open.filter(|brain| !brain.is_closed()).collect();
        brains.sort_unstable_by(|a, b| a.name.cmp(&b.name));
        brains
    }

    /// The identities of the brains that were open here, or adopted, by name.
    pub fn identities(&self) -> HashMap<String, BrainIdentity> {
        self.0.known.identities()
    }

    /// What open brains hold, by name.
    pub async fn summaries_of_open(
        &self,
        brains: Vec<Arc<OpenBrain>>,
    ) -> Result<HashMap<String, BrainSummary>> {
        let summary = |brain: &Arc<OpenBrain>| {
            let bytes = std::fs::metadata(&brain.path).map_or(0, |meta| meta.len());
            (brain.name.clone(), BrainSummary::of(&brain.view(), bytes))
        };
        blocking(move || brains.iter().map(summary).collect()).await
    }

    /// Summaries of these closed brains, by name. Each file is read once and again only after it has changed.
    pub async fn summaries(&self, names: Vec<String>) -> Result<HashMap<String, BrainSummary>> {
        let engine = self.clone();
        blocking(move || {
            let mut summaries = HashMap::new();
            for name in names {
                let path = engine.0.path.join(format!("{name}{SUFFIX}"));
                let known = engine.0.known.summary(&name);
                let Some(summary) = BrainSummary::read(&path, known) else {
                    continue;
                };
                engine.0.known.note_summary(&name, summary);
                summaries.insert(name, summary.1);
            }
            summaries
        })
        .await
    }

    /// The names of brains for which `is_wanted` holds, open or not, in order, and how many files of such names may yet
    /// become brains. Rejected files are neither.
    pub async fn list(&self, is_wanted: impl Fn(&str) -> bool) -> Result<(Vec<String>, u64)> {
        let mut names = self.names().await?;
        names.retain(|name| is_wanted(name));
        let known = self.0.known.names();
        let problems = self.problems();
        let mut waiting = 0;
        names.retain(|name| match problems.get(name) {
            Some(problem) => !problem.is_rejected,
            None => {
                let is_known = known.contains(name);
                waiting += u64::from(!is_known);
                is_known
            }
        });
        Ok((names, waiting))
    }

    /// Why a name is not served; none if it is, or there is no such name.
    pub fn problem(&self, name: &str) -> Option<Problem> {
        self.problems().get(name).cloned()
    }

    /// How many brains could not be opened when that was tried last, and how many files were rejected, of the names for
    /// which `is_wanted` holds.
    pub fn problem_counts(&self, is_wanted: impl Fn(&str) -> bool) -> (u64, u64) {
        self.problems().counts(is_wanted)
    }

    /// The first `most` of them, brains before files.
    pub fn first_problems(
        &self,
        most: usize,
        is_wanted: impl Fn(&str) -> bool,
    ) -> Vec<NamedProblem> {
        self.problems().first(most, is_wanted)
    }

    /// At most `most` of them whose names follow `after`, and whether there are more.
    pub fn problem_page(
        &self,
        after: &str,
        most: usize,
        is_wanted: impl Fn(&str) -> bool,
    ) -> (Vec<NamedProblem>, bool) {
        self.problems().page(after, most, is_wanted)
    }
}
