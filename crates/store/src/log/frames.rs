//! From a plan to frames: appended to the group, or written into a new generation.

use amem_format::journal::frame::{self, Header};
use amem_format::journal::op::{self, Commit, Op};
use amem_format::journal::scan::Position;
use amem_format::limits::TRANSACTION_BYTES_MAX;
use amem_format::{ActorId, Lsn};

use crate::error::{Error, Result};
use crate::limits::APPENDED_TRANSACTION_BYTES_MAX;
use crate::log::checkpoint::{Checkpoint, Payloads};
use crate::log::file_mark::FrameSeal;
use crate::log::store::Store;
use crate::mutation::{Answer, Request};
use crate::plan::Plan;

impl Store {
    /// The payloads of a request's frames; completes its answer.
    pub(crate) fn payloads(
        &self,
        plan: &mut Plan,
        (actor, new_actor): (ActorId, bool),
        request: &Request,
        body: u128,
        answer: &mut Answer,
    ) -> Result<Vec<Vec<u8>>> {
        let mut front = Vec::new();
        if new_actor {
            let op = Op::Actor {
                actor,
                principal: &request.principal,
                agent: &request.agent,
            };
            op::check(&op)?;
            op::encode(&mut front, &op);
        }
        let frames = plan.payloads.len()
            + usize::from(!front.is_empty())
            + usize::from(request.request_id.is_some());
        answer.lsn = Lsn(self.position.lsn.0 + frames as u64);
        answer.time = plan.time;
        let mut payloads = Vec::with_capacity(frames);
        // Actors are numbered in the order in which they are named.
        let names_others = !plan.actors.is_empty();
        if names_others {
            payloads.append(&mut plan.payloads);
        }
        if !front.is_empty() {
            payloads.push(front);
        }
        payloads.append(&mut plan.payloads);
        if let Some(id) = request.request_id {
            let json =
                serde_json::to_vec(&answer).map_err(|e| Error::invalid("answer", e.to_string()))?;
            let max = amem_format::limits::ANSWER_BYTES_MAX as u64;
            let what = "the answer to a request (bytes)";
            amem_format::Error::check_limit(what, json.len() as u64, max)?;
            let op = Op::Request {
                id,
                body,
                answer: &json,
            };
            op::check(&op)?;
            let mut last = Vec::new();
            op::encode(&mut last, &op);
            payloads.push(last);
        }
        Ok(payloads)
    }

    pub(crate) fn write(
        &mut self,
        plan: &Plan,
        payloads: &[Vec<u8>],
        actor: ActorId,
    ) -> Result<()> {
        let total: usize = payloads.iter().map(Vec::len).sum();
        amem_format::Error::check_limit(
            "a transaction (bytes)",
            total as u64,
            APPENDED_TRANSACTION_BYTES_MAX as u64,
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
            self.poison(why.clone());
            return Err(Error::OutcomeUnknown { why });
        }
        Ok(())
    }

    /// Makes a new generation that has a merge too large to be appended to the journal. An error leaves nothing of it.
    pub(crate) fn write_generation(
        &mut self,
        plan: &Plan,
        payloads: &[Vec<u8>],
        actor: ActorId,
    ) -> Result<()> {
        let (bytes, max) = (
            payloads
                .iter()
                .map(|payload| frame::encoded_len(payload.len()))
                .sum::<usize>(),
            TRANSACTION_BYTES_MAX,
        );
        if bytes > max {
            return Err(Error::MergeTooLarge {
                of: "its commit",
                bytes: bytes as u64,
                max: max as u64,
            });
        }
        let mut checkpoint = Checkpoint::begin(self)?;
        checkpoint.write_base()?;
        checkpoint.carry_round(&self.brain.clone())?;
        let added = Payloads {
            list: payloads,
            time: plan.time,
            actor,
        };
        checkpoint.add(plan.kind, &added)?;
        self.install(checkpoint).map(drop)
    }

    /// Writes the group's frames from index `from` on, and applies them. An error poisons.
    fn append(&mut self, from: usize) -> Result<(), String> {
        let (at, bytes) = (self.position.at, &self.group[from..]);
        let end = at + bytes.len() as u64;
        self.file
            .write_at(at, bytes)
            .map_err(|e| format!("writing a frame: {e}"))?;
        self.map_to(end)?;
        // `write` made the frames and their checksums; only their operations are decoded again.
        let frames = frame::split(bytes, at).map_err(|e| e.to_string())?;
        let Some(last) = frames.last() else {
            return Err("a transaction has no frame".into());
        };
        let (header, seal) = (last.header, FrameSeal::of(last));
        let commit = Commit {
            lsn: header.lsn,
            time: header.time,
            actor: header.actor,
            kind: header.kind,
        };
        let after = Position {
            at: last.end,
            lsn: header.lsn,
            checksum: last.checksum,
        };
        self.brain
            .apply(commit, at, &frames, end)
            .map_err(|e| e.to_string())?;
        if commit.kind != frame::Kind::Touch && self.newest_change.is_some() {
            self.newest_change = Some(commit.lsn);
        }
        self.position = after;
        self.last_seal = Some(seal);
        Ok(())
    }
}
