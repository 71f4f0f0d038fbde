//! A brain and its writer.
//!
//! `commit` takes a group of requests: each is held against the brain as the ones before it left it, becomes
//! frames, and is applied; then the group is synced once, published, and answered. A refused request leaves
//! no trace and fails no neighbour. Any failed write or sync poisons: what was not answered may be there or
//! not, and nothing is written any more until the brain has been recovered from its file.

use std::collections::HashMap;
use std::io;
use std::sync::Arc;
use std::time::{Duration, Instant};

use amem_format::brain::Brain;
use amem_format::journal::frame;
use amem_format::journal::live::{self, LOOK};
use amem_format::journal::scan::Position;
use amem_format::view::View;
use amem_format::{ActorId, Lsn, Micros, limits};

use crate::disk::File;
use crate::error::{Error, Result};
use crate::log::path_check::Lost;
use crate::log::requests;
use crate::mutation::{Answer, Mutation, Request};
use crate::names::folder::Folder;
use crate::plan;
use crate::plan::belief;

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
    pub(crate) group: Vec<u8>,
    actors: HashMap<(String, String), ActorId>,
    /// Why nothing is written any more.
    pub(crate) poison: Option<String>,
    /// What became of it, if it has lost its name.
    pub(crate) lost: Option<Lost>,
    /// It had not been closed in order.
    pub(crate) recovered: bool,
    /// The newest commit that is more than a count of uses, once somebody has asked.
    pub(crate) newest_change: Option<Lsn>,
    /// How long the last sync of a group took.
    sync_time: Duration,
    /// The most edges there may be: `limits::EDGES_MAX`, but in tests.
    pub(crate) edges_max: u64,
}

impl Store {
    /// Opens a brain of the folder, and recovers it if it was not closed in order.
    pub fn open(folder: &Folder, name: &str) -> Result<Self> {
        crate::log::recovery::open(folder, name)
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
            lost: None,
            recovered: false,
            newest_change: None,
            sync_time: Duration::ZERO,
            edges_max: limits::EDGES_MAX,
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
            self.poison(why.clone());
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
        let (actor, is_new) = self.actor(&view, request)?;
        let payloads = self.payloads(&mut plan, (actor, is_new), request, body, &mut answer)?;
        drop(view);
        let total: usize = payloads.iter().map(Vec::len).sum();
        let is_large = match &request.mutation {
            Mutation::Merge(other) => total > other.journal_bytes,
            _ => false,
        };
        if is_large {
            // What the group has so far comes first.
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
        Ok((ActorId(known as u32 + 1), true))
    }

    /// Syncs what was written and lets readers see it.
    fn publish(&mut self) -> Result<(), String> {
        // For figures only: nothing that is written depends on it.
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
        let log = &self.brain.delta().log;
        log.publish(log.applied());
        self.store_committed(0)
    }

    /// Nothing more is committed to the file: what it has is not known.
    pub(crate) fn poison(&mut self, why: String) {
        if let Some(page) = self.brain.live_page() {
            // Where that fails as well, it is told to nobody but who asks us.
            drop(self.file.store_cell(page, live::DOUBT, 1));
        }
        self.poison = Some(why);
    }

    /// Tells readers how far frames are published.
    pub(crate) fn store_committed(&self, flags: u64) -> Result<(), String> {
        let page = self.brain.live_page().ok_or("the brain has no journal")?;
        self.file
            .store_cell(page, live::COMMITTED, self.position.at | flags)
            .map_err(|e| format!("publishing: {e}"))
    }

    /// Tells readers of this boot that the file is owned, and how far it is committed.
    pub(crate) fn take_ownership(&self) -> io::Result<()> {
        let page = self.brain.live_page();
        let page = page.ok_or_else(|| io::Error::other("the brain has no journal"))?;
        own(
            &self.folder,
            &self.name,
            &*self.file,
            page,
            self.position.at,
        )
    }

    /// How long the last sync of a group took.
    pub fn sync_time(&self) -> Duration {
        self.sync_time
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
