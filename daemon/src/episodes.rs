//! The texts of episodes: by the language model, if one is set up, else by the sentences of the session itself.
//!
//! Promises: a model that is away, or says what the session does not, leaves the extractive summary.

use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Instant;

use amem_format::SessionId;
use amem_format::view::View;
use amem_locks::LockResultExt;
use amem_memory::model::{EpisodeLine, episode_by_model};
use amem_query::summary::{SUMMARY_BYTES, summarised, summary};

use crate::limits::{EPISODE_LINES_BYTES_MAX, EPISODE_MODEL_AGAIN_AFTER};
use crate::models::Models;

/// Makes the texts of episodes.
#[derive(Debug, Clone)]
pub(crate) struct EpisodeTexts {
    models: Models,
    /// Until when the model is not asked, after it failed: many sessions must not wait for it one after the other.
    away_until: Arc<Mutex<Option<Instant>>>,
}

impl EpisodeTexts {
    pub(crate) fn new(models: Models) -> Self {
        Self {
            models,
            away_until: Arc::default(),
        }
    }

    fn away_until(&self) -> MutexGuard<'_, Option<Instant>> {
        self.away_until.lock().unpoisoned()
    }

    /// What the model makes of a session; `None` without one, and if its answer is of no use.
    fn by_model(&self, view: &View, session: SessionId) -> amem_format::Result<Option<String>> {
        let is_away = self
            .away_until()
            .is_some_and(|until| Instant::now() < until);
        let Some(model) = self.models.language().filter(|_| !is_away) else {
            return Ok(None);
        };
        let mut said: Vec<(Option<String>, String)> = Vec::new();
        let mut bytes = 0;
        for id in summarised(view, session)? {
            let node = view.node(id)?;
            let attributes = node.attributes()?.unwrap_or_default();
            let speaker = attributes.get("speaker").and_then(|name| name.as_str());
            let text = node.text()?.into_owned();
            bytes += text.len();
            said.push((speaker.map(str::to_owned), text));
        }
        // Of a session that is longer than a prompt, its most central sentences.
        if bytes > EPISODE_LINES_BYTES_MAX {
            let central = summary(view, session, EPISODE_LINES_BYTES_MAX)?;
            said = central.into_iter().map(|text| (None, text)).collect();
        }
        if said.is_empty() {
            return Ok(None);
        }
        let lines: Vec<_> = said
            .iter()
            .map(|(speaker, text)| EpisodeLine {
                speaker: speaker.as_deref(),
                text,
            })
            .collect();
        match episode_by_model(model.as_ref(), &lines, SUMMARY_BYTES) {
            Ok(made) => Ok(made),
            Err(why) => {
                tracing::warn!(?why, "an episode was made without the model");
                *self.away_until() = Some(Instant::now() + EPISODE_MODEL_AGAIN_AFTER);
                Ok(None)
            }
        }
    }

    /// The summary of what no episode of a session covers; `None` if there is no sentence. It may wait for the model.
    pub(crate) fn summary(
        &self,
        view: &View,
        session: SessionId,
    ) -> amem_format::Result<Option<String>> {
        match self.by_model(view, session)? {
            Some(made) => Ok(Some(made)),
            None => summary(view, session, SUMMARY_BYTES),
        }
    }
}
