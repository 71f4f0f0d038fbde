//! Commits: groups of requests that share one sync.
//!
//! `commit` takes a group of requests. Each is checked against the brain as the ones before it left it, becomes frames,
//! and is applied; then the group is synced once, published, and answered. A refused request leaves no trace and fails
//! no neighbour. A failed write or sync poisons: what was not answered may or may not be there, and nothing is written
//! until the brain has been recovered from its file.

use std::time::Instant;

use amem_format::view::View;
use amem_format::{ActorId, Micros, limits};

use crate::error::{Error, Result};
use crate::limits::GROUP_BUFFER_BYTES_KEPT;
use crate::log::requests;
use crate::log::store::Store;
use crate::mutation::{Answer, Mutation, Request};
use crate::plan::{self, Plan, belief};
use crate::range;

impl Store {
    /// Executes one request.
    pub fn execute(&mut self, request: Request) -> Result<Answer> {
        match self.commit(std::slice::from_ref(&request)).pop() {
            Some(answer) => answer,
            None => Err(Error::invalid("request", "there is none")),
        }
    }

    /// Executes a group of requests: one sync for all. Answers come in the order of the requests.
    ///
    /// Erased content is hidden when this returns; it is gone once `checkpoint` has made a new generation
    /// (`erase_pending`).
    pub fn commit(&mut self, requests: &[Request]) -> Vec<Result<Answer>> {
        if let Some(error) = self.overwritten() {
            return requests.iter().map(|_| Err(error.again())).collect();
        }
        if let Some(why) = &self.poison {
            return requests
                .iter()
                .map(|_| Err(Error::Poisoned { why: why.clone() }))
                .collect();
        }
        let now = self.folder.disk().now();
        let checked = self.check_writable(now).and_then(|()| self.check_path());
        if let Err(error) = checked {
            return requests.iter().map(|_| Err(error.again())).collect();
        }
        let mut answers = Vec::with_capacity(requests.len());
        let mut wrote = false;
        self.group.clear();
        // The buffer of one large group is not kept for small ones.
        self.group.shrink_to(GROUP_BUFFER_BYTES_KEPT);
        for request in requests {
            let answer = self.accept(request, now, &mut wrote);
            if let Some(why) = &self.poison {
                return requests
                    .iter()
                    .map(|_| Err(Error::OutcomeUnknown { why: why.clone() }))
                    .collect();
            }
            answers.push(answer);
        }
        if wrote && let Err(why) = self.publish() {
            self.poison(why.clone());
            // Refusals stand; accepted requests may or may not be there.
            return answers
                .into_iter()
                .map(|answer| answer.and_then(|_| Err(Error::OutcomeUnknown { why: why.clone() })))
                .collect();
        }
        answers
    }

    /// Writes and applies one request, not yet synced.
    fn accept(&mut self, request: &Request, now: Micros, wrote: &mut bool) -> Result<Answer> {
        let view = self.brain.pending_view();
        let body = match request.request_id {
            None => 0,
            Some(id) => {
                let body = requests::body_hash(request)?;
                if let Some(answer) = requests::recall(&view, id, body)? {
                    return Ok(answer);
                }
                body
            }
        };
        self.check_conditions(&view, request)?;
        let mut plan = match &request.mutation {
            Mutation::OpenSession { key } => {
                plan::plan_open_session(&view, key, &request.agent, now)?
            }
            mutation => plan::plan_within(&view, mutation, now, self.edges_max)?,
        };
        let mut answer = plan.answer.clone();
        if plan.payloads.is_empty() && request.request_id.is_none() {
            (answer.lsn, answer.time) = (view.lsn(), view.time());
            return Ok(answer);
        }
        let (actor, is_new) = self.actor(&view, request, &plan)?;
        let payloads = self.payloads(&mut plan, (actor, is_new), request, body, &mut answer)?;
        drop(view);
        range::check_next(answer.lsn, plan.time)?;
        let total: usize = payloads.iter().map(Vec::len).sum();
        let is_large = match &request.mutation {
            Mutation::Merge(other) => total > other.journal_bytes,
            _ => false,
        };
        if is_large {
            // The frames of the group so far come first.
            if *wrote && let Err(why) = self.publish() {
                self.poison(why.clone());
                return Err(Error::OutcomeUnknown { why });
            }
            self.group.clear();
            *wrote = false;
            self.write_generation(&plan, &payloads, actor)?;
        } else {
            self.write(&plan, &payloads, actor)?;
            *wrote = true;
        }
        if is_new {
            let name = (request.principal.clone(), request.agent.clone());
            self.actors.insert(name, actor);
        }
        Ok(answer)
    }

    fn check_conditions(&mut self, view: &View, request: &Request) -> Result<()> {
        if let Some(expected) = request.expected_lsn {
            let newest = match self.newest_change {
                Some(newest) => newest,
                None => *self.newest_change.insert(belief::newest_change(view)?),
            };
            if expected < newest {
                return Err(Error::Aborted {
                    what: "the newest LSN",
                    expected: expected.to_string(),
                    found: view.lsn().to_string(),
                });
            }
        }
        for event in &request.unless_erased {
            if view.node(*event)?.is_erased() {
                return Err(Error::Aborted {
                    what: "a text that this was made of",
                    expected: "there".into(),
                    found: "erased".into(),
                });
            }
        }
        if let Some((event, expected)) = request.expected_head {
            view.node(event)?;
            let found = belief::newest_head(view, event)?;
            if found != expected {
                return Err(Error::OtherHead {
                    event,
                    expected,
                    found,
                });
            }
        }
        Ok(())
    }

    /// The caller's number, and whether a frame has to introduce it.
    fn actor(&mut self, view: &View, request: &Request, plan: &Plan) -> Result<(ActorId, bool)> {
        if request.principal.is_empty() && request.agent.is_empty() {
            return Ok((ActorId(0), false));
        }
        for text in [&request.principal, &request.agent] {
            let max = limits::NAME_BYTES_MAX as u64;
            amem_format::Error::check_limit(
                "the name of an actor (bytes)",
                text.len() as u64,
                max,
            )?;
        }
        let key = (request.principal.clone(), request.agent.clone());
        if let Some(&id) = self.actors.get(&key) {
            return Ok((id, false));
        }
        if let Some(id) = view.find_actor(&request.principal, &request.agent)? {
            self.actors.insert(key, id);
            return Ok((id, false));
        }
        let known =
            view.brain().base().actors()?.len() + u64::from(view.brain().delta().actors.len());
        let (at, is_new) = match plan.actors.iter().position(|named| *named == key) {
            Some(at) => (at, false),
            None => (plan.actors.len(), true),
        };
        Ok((ActorId((known as usize + at + 1) as u32), is_new))
    }

    /// Syncs what was written and lets readers see it.
    fn publish(&mut self) -> Result<(), String> {
        // For metrics only: nothing that is written depends on it.
        let begun = Instant::now();
        let synced = if self.grown {
            self.file.sync()
        } else {
            let at = self.position.at - self.group.len() as u64;
            self.file.sync_part(at, &self.group)
        };
        self.sync_time = begun.elapsed();
        synced.map_err(|e| format!("syncing frames: {e}"))?;
        self.grown = false;
        // What follows overwrites the cell by which an overwritten file is known.
        let overwritten = self.compare();
        if let Some(what) = overwritten.map_err(|e| format!("reading the file: {e}"))? {
            return Err(self.note_overwritten(what).to_string());
        }
        let log = &self.brain.delta().log;
        log.publish(log.applied());
        self.store_committed(0)?;
        self.published = self.position.at;
        self.seals = [self.seals[1], self.last_seal.take().or(self.seals[1])];
        Ok(())
    }
}
