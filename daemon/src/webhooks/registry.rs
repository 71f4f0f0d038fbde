//! The webhooks of the daemon, their changes, and which of them are due.
//!
//! A change by a request is durable before it is answered; positions are written every `WEBHOOKS_WRITE_EVERY`. Every
//! method may wait for the disk.

use std::collections::{HashMap, HashSet};
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard};

use amem_engine::OpenBrain;
use amem_facts::FactChange;
use amem_format::view::View;
use amem_format::{Micros, NodeId};
use amem_locks::LockResultExt;
use amem_proto::answer::Code;
use uuid::Uuid;

use super::client::{Post, Starter, check};
use super::file::WebhooksFile;
use super::webhook::{Webhook, WebhookChange, WebhookEvent, WebhookPosition, WebhookProgress};
use crate::config::{Config, WebhookHosts};
use crate::error;
use crate::limits::{WEBHOOK_AGAIN_AFTER_MAX, WEBHOOKS_MAX};
use crate::metrics::DaemonMetrics;
use crate::refusal::{Refusal, Result};

/// The webhooks of the daemon; all clones are the same.
#[derive(Debug, Clone)]
pub(crate) struct Webhooks(Arc<WebhooksSite>);

struct WebhooksSite {
    hosts: WebhookHosts,
    post: Post,
    metrics: DaemonMetrics,
    file: WebhooksFile,
    state: Mutex<WebhooksState>,
    marks: Mutex<WebhookMarks>,
}

impl fmt::Debug for WebhooksSite {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("Webhooks")
            .field("hosts", &self.hosts)
            .finish_non_exhaustive()
    }
}

#[derive(Debug, Default)]
struct WebhooksState {
    list: Vec<Webhook>,
    /// True if positions have changed since the file was written.
    is_unwritten: bool,
    /// Why the last write failed.
    trouble: Option<String>,
    /// Those that were sent everything when they were looked at last.
    idle: HashSet<Uuid>,
}

/// What goes on. Its lock is not held while the file is written: the ends of turns and erases take it on threads of the
/// runtime.
#[derive(Debug, Default)]
struct WebhookMarks {
    /// Those that are being sent something.
    running: HashSet<Uuid>,
    /// Erases in progress, by brain.
    erasing: HashMap<String, usize>,
}

impl WebhooksState {
    fn get(&self, id: Uuid) -> Result<&Webhook> {
        let found = self.list.iter().find(|webhook| webhook.id == id);
        found.ok_or_else(|| unknown_webhook(&id.to_string()))
    }

    /// True if it may have something to send.
    fn is_behind(&self, webhook: &Webhook, open: &HashMap<&str, WebhookPosition>) -> bool {
        let progress = &webhook.progress;
        match open.get(webhook.brain.as_str()) {
            Some(end) => progress.position != Some(*end) || !progress.erased.is_empty(),
            // A closed brain has no new events since it was looked at.
            None => !self.idle.contains(&webhook.id),
        }
    }
}

/// The refusal of an id that no webhook has, or one that the caller may not see.
pub(crate) fn unknown_webhook(id: &str) -> Refusal {
    let message = format!("there is no webhook {id:?}: list those of the brain");
    Refusal::new(Code::NotFound, "UNKNOWN_WEBHOOK", message)
}

/// True if the time of a try has come. A time beyond the longest pause was written by a clock that was ahead.
fn is_past(next_try: Option<i64>, now: Micros) -> bool {
    let longest = i64::try_from(WEBHOOK_AGAIN_AFTER_MAX.as_micros()).unwrap_or(i64::MAX);
    next_try.is_none_or(|at| at <= now.0 || at > now.0.saturating_add(longest))
}

/// An erase in progress: until it is dropped, nothing is said of what it takes.
#[derive(Debug)]
pub(crate) struct Erasure {
    webhooks: Webhooks,
    brain: String,
}

impl Drop for Erasure {
    fn drop(&mut self) {
        let mut marks = self.webhooks.marks();
        if let Some(count) = marks.erasing.get_mut(&self.brain) {
            *count -= 1;
            if *count == 0 {
                marks.erasing.remove(&self.brain);
            }
        }
    }
}

/// A webhook that is being sent something; another turn of it begins after the end of this one.
#[derive(Debug)]
pub(super) struct WebhookTurn {
    webhooks: Webhooks,
    pub(super) id: Uuid,
}

impl Drop for WebhookTurn {
    fn drop(&mut self) {
        self.webhooks.marks().running.remove(&self.id);
    }
}

impl Webhooks {
    /// Reads the webhooks; `None` if no hosts are configured.
    pub(crate) fn start(
        config: &Config,
        starter: Option<Starter>,
        metrics: &DaemonMetrics,
    ) -> error::Result<Option<Self>> {
        check(config, starter)?;
        let (false, Some(starter)) = (config.webhook_hosts.is_empty(), starter) else {
            return Ok(None);
        };
        let file = WebhooksFile::new(&config.folder);
        let list = file.read()?;
        let site = WebhooksSite {
            hosts: config.webhook_hosts.clone(),
            post: starter().map_err(error::Error::Webhooks)?,
            metrics: metrics.clone(),
            file,
            marks: Mutex::default(),
            state: Mutex::new(WebhooksState {
                list,
                ..WebhooksState::default()
            }),
        };
        let this = Self(Arc::new(site));
        this.count(&this.state());
        Ok(Some(this))
    }

    fn state(&self) -> MutexGuard<'_, WebhooksState> {
        let state = self.0.state.lock();
        state.unpoisoned()
    }

    fn marks(&self) -> MutexGuard<'_, WebhookMarks> {
        let marks = self.0.marks.lock();
        marks.unpoisoned()
    }

    pub(super) fn hosts(&self) -> &WebhookHosts {
        &self.0.hosts
    }

    pub(super) fn post(&self) -> &Post {
        &self.0.post
    }

    pub(super) fn metrics(&self) -> &DaemonMetrics {
        &self.0.metrics
    }

    fn count(&self, state: &WebhooksState) {
        let paused = state.list.iter().filter(|webhook| !webhook.is_active);
        self.0.metrics.webhooks_paused().set(paused.count() as u64);
    }

    /// Writes a new list, and puts it in force.
    fn put(&self, state: &mut WebhooksState, list: Vec<Webhook>) -> Result<()> {
        self.0.file.write(&list).map_err(|error| {
            let message = format!("nothing was changed: {error}");
            Refusal::new(Code::FailedPrecondition, "WEBHOOKS_FILE", message)
        })?;
        state.list = list;
        state.is_unwritten = false;
        self.count(state);
        Ok(())
    }

    fn check_url(&self, change: &WebhookChange) -> Result<()> {
        change.validate()?;
        if let Some(url) = &change.url {
            let target = self.0.hosts.target(url);
            target.map_err(|why| Refusal::invalid("url", why))?;
        }
        Ok(())
    }

    /// Creates a webhook of a brain, to be sent what comes after a position.
    pub(crate) fn create(
        &self,
        brain: &str,
        change: WebhookChange,
        position: Option<WebhookPosition>,
        now: Micros,
    ) -> Result<Webhook> {
        self.check_url(&change)?;
        if change.url.is_none() {
            return Err(Refusal::invalid("url", "it is missing"));
        }
        let webhook = Webhook::new(brain, change, position, now)?;
        let mut state = self.state();
        if state.list.len() >= WEBHOOKS_MAX {
            let message = format!("there are {WEBHOOKS_MAX} webhooks, the limit: delete one");
            return Err(Refusal::new(Code::ResourceExhausted, "LIMIT", message));
        }
        let mut list = state.list.clone();
        list.push(webhook.clone());
        self.put(&mut state, list)?;
        Ok(webhook)
    }

    /// The webhooks of a brain, in the order of their creation.
    pub(crate) fn list(&self, brain: &str) -> Vec<Webhook> {
        let state = self.state();
        let of_brain = state.list.iter().filter(|webhook| webhook.brain == brain);
        of_brain.cloned().collect()
    }

    pub(crate) fn get(&self, id: Uuid) -> Result<Webhook> {
        self.state().get(id).cloned()
    }

    pub(crate) fn change(&self, id: Uuid, change: WebhookChange, now: Micros) -> Result<Webhook> {
        self.check_url(&change)?;
        let mut state = self.state();
        state.get(id)?;
        let mut list = state.list.clone();
        let changed = list.iter_mut().find(|webhook| webhook.id == id);
        let changed = changed.ok_or_else(|| unknown_webhook(&id.to_string()))?;
        changed.change(change, now);
        let changed = changed.clone();
        self.put(&mut state, list)?;
        // It may have been idle because it was inactive.
        state.idle.remove(&id);
        Ok(changed)
    }

    pub(crate) fn delete(&self, id: Uuid) -> Result<()> {
        let mut state = self.state();
        state.get(id)?;
        let mut list = state.list.clone();
        list.retain(|webhook| webhook.id != id);
        state.idle.remove(&id);
        self.put(&mut state, list)
    }

    /// Notes which memories an erase takes, before it takes them: afterwards nothing has their ids.
    pub(crate) fn before_erase(&self, brain: &str, view: &View, events: &[NodeId]) -> Erasure {
        *self.marks().erasing.entry(brain.to_owned()).or_default() += 1;
        let mut state = self.state();
        let erasure = Erasure {
            webhooks: self.clone(),
            brain: brain.to_owned(),
        };
        let is_sent = |webhook: &Webhook| {
            webhook.brain == brain && webhook.events.contains(&WebhookEvent::Delete)
        };
        if !state.list.iter().any(is_sent) {
            return erasure;
        }
        let ids = match FactChange::current_among(view, events) {
            Ok(ids) if ids.is_empty() => return erasure,
            Ok(ids) => ids,
            Err(error) => {
                let why = error.to_string();
                tracing::error!(brain, why, "webhooks are not sent what an erase takes");
                return erasure;
            }
        };
        for webhook in state.list.iter_mut().filter(|webhook| is_sent(webhook)) {
            let dropped = webhook.progress.erase(view.nodes(), &ids);
            if dropped > 0 {
                let webhook = webhook.id.to_string();
                tracing::error!(
                    brain,
                    webhook,
                    dropped,
                    "a webhook is not sent erased memories"
                );
            }
        }
        state.is_unwritten = true;
        self.write(&mut state);
        erasure
    }

    pub(super) fn is_erasing(&self, brain: &str) -> bool {
        self.marks().erasing.contains_key(brain)
    }

    /// Begins the turns of the webhooks that are due, at most so many; those that waited the longest come first.
    pub(super) fn due(
        &self,
        open: &[Arc<OpenBrain>],
        now: Micros,
        most: usize,
    ) -> Vec<WebhookTurn> {
        let ends: HashMap<&str, WebhookPosition> = open
            .iter()
            .map(|brain| (brain.name.as_str(), WebhookPosition::end(&brain.view())))
            .collect();
        let state = self.state();
        let mut marks = self.marks();
        let mut due: Vec<_> = state
            .list
            .iter()
            .filter(|webhook| {
                webhook.is_active
                    && !marks.running.contains(&webhook.id)
                    && is_past(webhook.progress.next_try, now)
                    && state.is_behind(webhook, &ends)
            })
            .map(|webhook| (webhook.progress.next_try, webhook.id))
            .collect();
        due.sort_unstable();
        due.truncate(most);
        let due: Vec<_> = due.into_iter().map(|(_, id)| id).collect();
        marks.running.extend(&due);
        drop((state, marks));
        let turn = |id| WebhookTurn {
            webhooks: self.clone(),
            id,
        };
        due.into_iter().map(turn).collect()
    }

    /// A webhook in its turn; `None` if it was deleted or is not active any more.
    pub(super) fn active(&self, turn: &WebhookTurn) -> Option<Webhook> {
        let webhook = self.get(turn.id).ok()?;
        webhook.is_active.then_some(webhook)
    }

    /// Notes progress of a webhook, which may have been deleted meanwhile; true if it is active afterwards.
    pub(super) fn progress(
        &self,
        turn: &WebhookTurn,
        note: impl FnOnce(&mut WebhookProgress, &mut bool),
    ) -> bool {
        let mut state = self.state();
        let found = state.list.iter_mut().find(|webhook| webhook.id == turn.id);
        let Some(webhook) = found else {
            return false;
        };
        note(&mut webhook.progress, &mut webhook.is_active);
        let is_active = webhook.is_active;
        state.is_unwritten = true;
        self.count(&state);
        is_active
    }

    /// Notes whether a webhook has been sent everything.
    pub(super) fn idle(&self, turn: &WebhookTurn, is_idle: bool) {
        let mut state = self.state();
        if is_idle {
            state.idle.insert(turn.id);
        } else {
            state.idle.remove(&turn.id);
        }
    }

    /// Writes the positions, if they have changed.
    pub(crate) fn keep(&self) {
        let mut state = self.state();
        if state.is_unwritten {
            self.write(&mut state);
        }
    }

    /// Positions that cannot be written are tried again later; a failure is logged once.
    fn write(&self, state: &mut WebhooksState) {
        let trouble = self.0.file.write(&state.list).err();
        let trouble = trouble.map(|error| error.to_string());
        state.is_unwritten = trouble.is_some();
        if trouble.is_some() && trouble != state.trouble {
            tracing::warn!(
                file = %self.0.file.path().display(),
                why = trouble,
                "the file of webhooks can't be written: after a restart changes are sent again"
            );
        }
        state.trouble = trouble;
    }
}
