//! ExportFacts: the memories of a scope, sent in parts.
//!
//! Promises: all parts are of one moment, while writes go on; memory is bounded by a few parts, and 8 bytes for each
//! event of the scope; an erase is not answered while content is being sent.

use std::sync::Arc;

use amem_engine::tasks::{TaskPanic, caught, spawn_part};
use amem_engine::{JobKind, OpenBrain};
use amem_facts::{ExportedFact, FactCursor, Facts, ListRequest};
use amem_proto::answer::{Code, as_of, moment};
use amem_proto::v1;
use prost::Message;

use super::answers::{AnswerSender, AnswerStream};
use super::fact_memory::now;
use super::fact_messages::{self as convert, filter, scope};
use super::gateway::{Gateway, ScopedRequest};
use super::validate::Validate;
use crate::auth::Caller;
use crate::limits::{EXPORTS_MAX, FACTS_PART_BYTES, FACTS_PART_MAX, PARTS_WAITING_MAX};
use crate::refusal::{Refusal, Result};

impl ScopedRequest for v1::ExportFactsRequest {
    fn scope_mut(&mut self) -> &mut Option<v1::Scope> {
        &mut self.scope
    }
}

/// Sends the memories of a scope.
pub(crate) async fn export(
    gateway: &Arc<Gateway>,
    caller: &Caller,
    mut request: v1::ExportFactsRequest,
) -> Result<AnswerStream<v1::ExportFactsResponse>> {
    let caller = &request.put_within(caller)?;
    let request = request.validate()?;
    let list = ListRequest {
        scope: scope(request.scope),
        filter: filter(&request.filter_json)?,
        with_ended: request.ended,
        now: now(),
        ..ListRequest::default()
    };
    let (as_of, with_history) = (as_of(request.as_of)?, request.history);
    let brain = gateway.fact_brain(caller, &request.brain).await?;
    let turn = gateway.exports.take(caller, 1, EXPORTS_MAX as u64);
    let turn = turn.map_err(|why| {
        let message = format!("too many exports are in progress ({why}): retry later");
        Refusal::new(Code::ResourceExhausted, "LOAD", message)
    })?;
    // From here on erases wait: what is read is sent.
    let sending = brain.sending.clone().read_owned().await;
    // A request without a scope is refused now, not after a first part.
    let begin = move |facts: &Facts<'_>| facts.export(&list, &facts.moment(as_of)?);
    let cursor = gateway.with_facts(caller, &brain, "", begin).await?;
    let job = gateway.brains.jobs().begin(JobKind::Export, &brain.name);
    let (parts, out) = AnswerSender::new(gateway.answers_to(caller), PARTS_WAITING_MAX);
    let sender = FactSender {
        gateway: gateway.clone(),
        caller: caller.clone(),
        brain,
        moment: moment(cursor.moment().view()),
        with_history,
        out: parts.clone(),
    };
    let send = async move {
        let _held = (turn, sending);
        let stopped = |TaskPanic| Err(Refusal::internal("a defect stopped the export"));
        match caught(sender.send_all(cursor))
            .await
            .unwrap_or_else(stopped)
        {
            Ok(count) => job.done(match count {
                1 => "1 memory".to_owned(),
                count => format!("{count} memories"),
            }),
            Err(refusal) => {
                job.failed(&refusal.message);
                parts.fail(refusal);
            }
        }
    };
    spawn_part(send);
    Ok(out)
}

struct FactSender {
    gateway: Arc<Gateway>,
    caller: Caller,
    brain: Arc<OpenBrain>,
    moment: v1::Moment,
    with_history: bool,
    out: AnswerSender<v1::ExportFactsResponse>,
}

impl FactSender {
    /// Sends everything; returns the number of memories.
    async fn send_all(self, mut cursor: FactCursor) -> Result<u64> {
        let with_history = self.with_history;
        let mut count = 0;
        loop {
            let read = move |_: &Facts<'_>| {
                let facts = next_facts(&mut cursor, with_history)?;
                Ok((cursor, facts))
            };
            let read = self.gateway.with_facts(&self.caller, &self.brain, "", read);
            let (rest, facts) = read.await?;
            cursor = rest;
            if facts.is_empty() {
                return Ok(count);
            }
            count += facts.len() as u64;
            let view = cursor.moment().view();
            if view.brain().live().is_some_and(|live| live.must_drop) {
                let generation = view.identity().generation;
                return Err(amem_format::Error::MustDrop { generation }.into());
            }
            for part in parts(facts.into_iter().map(message), FACTS_PART_BYTES) {
                let part = v1::ExportFactsResponse {
                    moment: Some(self.moment.clone()),
                    facts: part,
                };
                let sent = self.out.send(part).await;
                sent.map_err(|gone| gone.refusal("SLOW_READER", "export again"))?;
            }
        }
    }
}

/// The next memories: at most `FACTS_PART_MAX`, and about as many bytes as a part has.
fn next_facts(
    cursor: &mut FactCursor,
    with_history: bool,
) -> amem_facts::Result<Vec<ExportedFact>> {
    let (mut facts, mut bytes) = (Vec::new(), 0);
    while facts.len() < FACTS_PART_MAX && bytes < FACTS_PART_BYTES {
        let Some(fact) = cursor.export_next(with_history)? else {
            break;
        };
        bytes += fact.item.memory.len();
        let texts = fact.history.iter().map(|entry| {
            let turns = entry.turns.iter().map(|turn| turn.text.len());
            let version = entry.record.new_memory.as_ref().map_or(0, String::len);
            version + turns.sum::<usize>()
        });
        bytes += texts.sum::<usize>();
        facts.push(fact);
    }
    Ok(facts)
}

fn message(fact: ExportedFact) -> v1::ExportedFact {
    v1::ExportedFact {
        fact: Some(convert::fact(fact.item)),
        feedback: fact.feedback.map(convert::feedback),
        records: fact.history.into_iter().map(convert::record).collect(),
        more: false,
    }
}

/// Memories in parts of about `bytes` each: a long history goes on in the next part.
fn parts(
    facts: impl Iterator<Item = v1::ExportedFact>,
    bytes: usize,
) -> Vec<Vec<v1::ExportedFact>> {
    let (mut parts, mut part, mut room) = (Vec::new(), Vec::new(), bytes);
    for mut fact in facts {
        let records = std::mem::take(&mut fact.records);
        let beginning = fact.encoded_len() + records.first().map_or(0, Message::encoded_len);
        if beginning > room && !part.is_empty() {
            parts.push(std::mem::take(&mut part));
            room = bytes;
        }
        room = room.saturating_sub(fact.encoded_len());
        for record in records {
            let size = record.encoded_len();
            if size > room && !fact.records.is_empty() {
                let rest = v1::ExportedFact {
                    fact: fact.fact.as_ref().map(|of| v1::Fact {
                        id: of.id.clone(),
                        ..v1::Fact::default()
                    }),
                    ..v1::ExportedFact::default()
                };
                fact.more = true;
                part.push(std::mem::replace(&mut fact, rest));
                parts.push(std::mem::take(&mut part));
                room = bytes;
            }
            room = room.saturating_sub(size);
            fact.records.push(record);
        }
        part.push(fact);
        if room == 0 {
            parts.push(std::mem::take(&mut part));
            room = bytes;
        }
    }
    if !part.is_empty() {
        parts.push(part);
    }
    parts
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fact(id: &str, records: usize) -> v1::ExportedFact {
        let record = |at: usize| v1::FactRecord {
            new_memory: Some(format!("{at:0100}")),
            ..v1::FactRecord::default()
        };
        v1::ExportedFact {
            fact: Some(v1::Fact {
                id: id.into(),
                memory: "m".repeat(50),
                ..v1::Fact::default()
            }),
            records: (0..records).map(record).collect(),
            ..v1::ExportedFact::default()
        }
    }

    #[test]
    fn parts_are_bounded_and_join_to_every_memory_with_all_its_records() {
        for counts in [vec![0, 3, 0], vec![40, 1], vec![1; 30], vec![]] {
            let all = || counts.iter().enumerate();
            let facts = all().map(|(at, records)| fact(&format!("f{at}"), *records));
            let parts = parts(facts, 500);
            let mut joined: Vec<v1::ExportedFact> = Vec::new();
            let mut goes_on = false;
            for part in parts {
                let bytes: usize = part.iter().map(Message::encoded_len).sum();
                assert!(!part.is_empty() && bytes < 800, "{bytes}");
                for (at, mut fact) in part.into_iter().enumerate() {
                    let more = std::mem::take(&mut fact.more);
                    if goes_on {
                        assert_eq!(at, 0);
                        let last = joined.last_mut().unwrap();
                        assert_eq!(
                            last.fact.as_ref().unwrap().id,
                            fact.fact.as_ref().unwrap().id
                        );
                        last.records.append(&mut fact.records);
                    } else {
                        joined.push(fact);
                    }
                    goes_on = more;
                }
            }
            let expected = all().map(|(at, records)| fact(&format!("f{at}"), *records));
            assert_eq!(joined, expected.collect::<Vec<_>>());
        }
    }
}
