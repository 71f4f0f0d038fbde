//! A brain and its writer.
//!
//! `commit` takes a group of requests: each is held against the brain as the ones before it left it, becomes
//! frames, and is applied; then the group is synced once, published, and answered. A refused request leaves
//! no trace and fails no neighbour. Any failed write or sync poisons: what was not answered may be there or
//! not, and nothing is written any more until the brain has been recovered from its file.

use std::collections::HashMap;
use std::io;
use std::sync::Arc;

use amem_core::brain::Brain;
use amem_core::journal::frame::{self, Header};
use amem_core::journal::live::{self, LOOK};
use amem_core::journal::op::{self, Op};
use amem_core::journal::scan::{self, Next, Position};
use amem_core::limits::TRANSACTION_BYTES_MAX;
use amem_core::view::View;
use amem_core::{ActorId, Lsn, Micros};

use crate::belief;
use crate::disk::File;
use crate::error::{Error, Result};
use crate::folder::Folder;
use crate::mutation::{Answer, Mutation, Request};
use crate::plan::{self, Plan};
use crate::requests;

/// Bytes of frames for which room is kept from one group to the next.
const GROUP_BYTES_KEPT: usize = 4 << 20;

/// The only writer of one brain.
#[derive(Debug)]
pub struct Store {
    pub(crate) folder: Folder,
    pub(crate) name: String,
    /// The brain's file in the folder.
    pub(crate) file_name: String,
    pub(crate) file: Arc<dyn File>,
    pub(crate) brain: Arc<Brain>,
    /// Where the next frame goes.
    pub(crate) position: Position,
    /// Up to where the file is filled with zeros.
    pub(crate) space_end: u64,
    /// The file has grown since it was synced.
    pub(crate) grown: bool,
    /// The frames of the group that is being committed, up to `position`.
    group: Vec<u8>,
    actors: HashMap<(String, String), ActorId>,
    /// Why nothing is written any more.
    pub(crate) poison: Option<String>,
    /// It had not been closed in order.
    pub(crate) recovered: bool,
    /// The newest commit that is more than a count of uses, once somebody has asked.
    newest_change: Option<Lsn>,
}

impl Store {
    /// Opens a brain of the folder, and recovers it if it was not closed in order.
    pub fn open(folder: &Folder, name: &str) -> Result<Self> {
        crate::recovery::open(folder, name)
    }

    pub(crate) fn new(
        folder: Folder,
        name: String,
        file_name: String,
        file: Arc<dyn File>,
        brain: Arc<Brain>,
        position: Position,
        space_end: u64,
    ) -> Self {
        let (actors, poison) = (HashMap::new(), None);
        Self {
            folder,
            name,
            file_name,
            file,
            brain,
            position,
            space_end,
            grown: false,
            group: Vec::new(),
            actors,
            poison,
            recovered: false,
            newest_change: None,
        }
    }

    /// The brain's name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The folder that the brain is in.
    pub fn folder(&self) -> &Folder {
        &self.folder
    }

    /// A view of all that is committed.
    pub fn view(&self) -> View {
        self.brain.view()
    }

    /// The generation that is written now; it changes with each checkpoint.
    pub fn brain(&self) -> &Arc<Brain> {
        &self.brain
    }

    /// Why nothing is written any more, if so.
    pub fn poisoned(&self) -> Option<&str> {
        self.poison.as_deref()
    }

    /// True if the brain had not been closed in order, so that it was recovered when it was opened.
    pub fn was_recovered(&self) -> bool {
        self.recovered
    }

    /// Bytes of frames in the journal.
    pub fn journal_bytes(&self) -> u64 {
        self.brain
            .start()
            .map_or(0, |start| self.position.at - start.at)
    }

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
        if let Some(why) = &self.poison {
            return requests
                .iter()
                .map(|_| Err(Error::Poisoned { why: why.clone() }))
                .collect();
        }
        if let Err(error) = self.hold_name() {
            return requests.iter().map(|_| Err(error.again())).collect();
        }
        let now = self.folder.disk().now();
        let mut answers = Vec::with_capacity(requests.len());
        let mut wrote = false;
        self.group.clear();
        // What one large group needed is not kept for the small ones after it.
        self.group.shrink_to(GROUP_BYTES_KEPT);
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
            self.poison = Some(why.clone());
            // Refusals stand; whatever was accepted may be there or not.
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
                if let Some(answer) = requests::recall(&view, id, body, now)? {
                    return Ok(answer);
                }
                body
            }
        };
        self.check_conditions(&view, request)?;
        let plan = match &request.mutation {
            Mutation::OpenSession { key } => {
                plan::plan_open_session(&view, key, &request.agent, now)?
            }
            mutation => plan::plan(&view, mutation, now)?,
        };
        let mut answer = plan.answer.clone();
        if plan.payloads.is_empty() && request.request_id.is_none() {
            (answer.lsn, answer.time) = (view.lsn(), view.time());
            return Ok(answer);
        }
        let actor = self.actor(&view, request)?;
        self.write(plan, actor, request, body, &mut answer)?;
        *wrote = true;
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
        if let Some((event, expected)) = request.expected_head {
            view.node(event)?;
            let found = belief::newest_head(view, event)?;
            if found != expected {
                return Err(Error::Aborted {
                    what: "the newest head",
                    expected: expected.to_string(),
                    found: found.to_string(),
                });
            }
        }
        Ok(())
    }

    /// The number of who asks, and whether it has to be made known.
    fn actor(&mut self, view: &View, request: &Request) -> Result<(ActorId, bool)> {
        if request.principal.is_empty() && request.agent.is_empty() {
            return Ok((ActorId(0), false));
        }
        for text in [&request.principal, &request.agent] {
            let max = amem_core::limits::NAME_BYTES_MAX as u64;
            amem_core::Error::check_limit("the name of an actor (bytes)", text.len() as u64, max)?;
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
        Ok((ActorId(known as u32 + 1), true))
    }

    fn write(
        &mut self,
        mut plan: Plan,
        (actor, new_actor): (ActorId, bool),
        request: &Request,
        body: u128,
        answer: &mut Answer,
    ) -> Result<()> {
        let mut front = Vec::new();
        if new_actor {
            op::encode(
                &mut front,
                &Op::Actor {
                    actor,
                    principal: &request.principal,
                    agent: &request.agent,
                },
            );
        }
        let frames = plan.payloads.len()
            + usize::from(!front.is_empty())
            + usize::from(request.request_id.is_some());
        answer.lsn = Lsn(self.position.lsn.0 + frames as u64);
        answer.time = plan.time;
        let mut payloads = Vec::with_capacity(frames);
        if !front.is_empty() {
            payloads.push(front);
        }
        payloads.append(&mut plan.payloads);
        if let Some(id) = request.request_id {
            let json =
                serde_json::to_vec(&answer).map_err(|e| Error::invalid("answer", e.to_string()))?;
            let max = amem_core::limits::ANSWER_BYTES_MAX as u64;
            amem_core::Error::check_limit(
                "the answer to a request (bytes)",
                json.len() as u64,
                max,
            )?;
            let mut last = Vec::new();
            op::encode(
                &mut last,
                &Op::Request {
                    id,
                    body,
                    answer: &json,
                },
            );
            payloads.push(last);
        }
        let total: usize = payloads.iter().map(Vec::len).sum();
        amem_core::Error::check_limit(
            "a transaction (bytes)",
            total as u64,
            TRANSACTION_BYTES_MAX as u64,
        )?;
        let before = self.group.len();
        self.group
            .reserve(total + payloads.len() * (frame::HEADER + 8));
        let mut checksum = self.position.checksum;
        for (at, payload) in payloads.iter().enumerate() {
            let header = Header {
                kind: plan.kind,
                more: at + 1 < payloads.len(),
                lsn: Lsn(self.position.lsn.0 + 1 + at as u64),
                time: plan.time,
                actor,
            };
            match frame::encode(&mut self.group, &header, payload, checksum) {
                Ok(next) => checksum = next,
                Err(e) => {
                    self.group.truncate(before);
                    return Err(e.into());
                }
            }
        }
        if let Err(e) = self.make_space((self.group.len() - before) as u64) {
            self.group.truncate(before);
            return Err(e);
        }
        if let Err(why) = self.append(before) {
            self.poison = Some(why.clone());
            return Err(Error::OutcomeUnknown { why });
        }
        if new_actor {
            self.actors
                .insert((request.principal.clone(), request.agent.clone()), actor);
        }
        Ok(())
    }

    /// Writes the group's frames from a place on behind the last one, and applies them. An error poisons.
    fn append(&mut self, from: usize) -> Result<(), String> {
        let (at, bytes) = (self.position.at, &self.group[from..]);
        let end = at + bytes.len() as u64;
        self.file
            .write_at(at, bytes)
            .map_err(|e| format!("writing a frame: {e}"))?;
        if !self.file.maps_live() {
            self.map_again()?;
        }
        match scan::next(bytes, self.position).map_err(|e| e.to_string())? {
            Next::Transaction {
                commit,
                frames,
                after,
            } => {
                self.brain
                    .apply(commit, at, &frames, end)
                    .map_err(|e| e.to_string())?;
                if commit.kind != frame::Kind::Touch && self.newest_change.is_some() {
                    self.newest_change = Some(commit.lsn);
                }
                self.position = after;
                Ok(())
            }
            Next::End { torn } => {
                Err(torn.unwrap_or_else(|| "a frame that was just made is none".into()))
            }
        }
    }

    /// Syncs what was written and lets readers see it.
    fn publish(&mut self) -> Result<(), String> {
        let synced = if self.grown {
            self.file.sync()
        } else {
            let at = self.position.at - self.group.len() as u64;
            self.file.sync_part(at, &self.group)
        };
        synced.map_err(|e| format!("syncing frames: {e}"))?;
        self.grown = false;
        let log = &self.brain.delta().log;
        log.publish(log.applied());
        self.store_committed(0)
    }

    /// Tells readers how far frames are published.
    pub(crate) fn store_committed(&self, flags: u64) -> Result<(), String> {
        let page = self.brain.live_page().ok_or("the brain has no journal")?;
        self.file
            .store_cell(page, live::COMMITTED, self.position.at | flags)
            .map_err(|e| format!("publishing: {e}"))
    }

    /// Tells readers of this boot that the file is owned, and how far it is committed.
    pub(crate) fn take_ownership(&self) -> Result<(), String> {
        let page = self.brain.live_page().ok_or("the brain has no journal")?;
        own(
            &self.folder,
            &self.name,
            &*self.file,
            page,
            self.position.at,
        )
        .map_err(|e| format!("taking ownership: {e}"))
    }

    /// True if something was erased whose bytes are still in the file.
    pub fn erase_pending(&self) -> bool {
        let log = &self.brain.delta().log;
        (0..log.published())
            .filter_map(|at| log.get(at))
            .any(|entry| entry.commit.kind == frame::Kind::Erase)
    }

    /// Closes the brain in order, so that the next open needs no recovery.
    pub fn close(self) -> Result<()> {
        if let Some(why) = self.poison {
            return Err(Error::Poisoned { why });
        }
        let failed = |e| Error::disk("close", &self.file_name, e);
        self.file.sync().map_err(failed)?;
        if let Some(page) = self.brain.live_page() {
            self.file
                .store_cell(page, live::CLEAN, self.position.at)
                .map_err(failed)?;
            self.file.sync().map_err(failed)?;
        }
        Ok(())
    }

    /// Tells readers to look at the rest of the live page.
    pub(crate) fn store_hint(&self, cell: u64, value: u64) -> io::Result<()> {
        let Some(page) = self.brain.live_page() else {
            return Ok(());
        };
        self.file.store_cell(page, cell, value)?;
        self.file
            .store_cell(page, live::COMMITTED, self.position.at | LOOK)
    }
}

/// Tells readers of this boot that a file is owned, and up to where it is committed.
pub(crate) fn own(
    folder: &Folder,
    name: &str,
    file: &dyn File,
    page: u64,
    committed: u64,
) -> io::Result<()> {
    let id = file.id();
    let owner = live::Owner {
        boot: folder.disk().boot_id(),
        device: id.device,
        inode: id.inode,
    };
    file.store_cell(page, live::COMMITTED, committed)?;
    for (at, cell) in owner.cells().into_iter().enumerate() {
        file.store_cell(page, live::OWNER + 8 * at as u64, cell)?;
    }
    file.store_cell(page, live::HOME, folder.home_of(name, id))
}
