//! How long the writer works at one portion of a job: so long a write waits at most for it.
//!
//! Told in time that its thread had a processor, which is the same whatever else the machine does, and in time that
//! went by but for syncs, in which it may have been held up by others.

use std::error::Error;
use std::time::{Duration, Instant};

use amem_format::{EventType, NodeId, SessionId};
use amem_store::mutation::{Episode, Ingest, NewEvent, Part};
use amem_store::{Mutation, Request, Store};

use crate::data::{self, Random};

/// Requests in a portion, as the daemon has them (`amem_engine::limits`).
const PORTION: usize = amem_engine::limits::PORTION;
/// Events of a session in a portion.
const SUMMARY_PORTION: usize = amem_engine::limits::SUMMARY_PORTION;

/// Time of a processor, and time that went by but for a sync.
type Times = (Duration, Duration);

/// Measures portions that come to `much` of each job, and prints the median and the longest.
pub(super) fn run(store: &mut Store, much: u64) -> Result<(), Box<dyn Error>> {
    println!(
        "{:<32}{:>9}{:>10}{:>10}{:>10}{:>10}",
        "the writer's work, ms", "portions", "cpu p50", "longest", "p50", "longest"
    );
    let mut random = Random::new(4);
    let decays = (0..20).map(|_| vec![Mutation::Decay]);
    print("decay", commit(store, decays)?);
    let nodes = store.view().nodes();
    let forgets: Vec<_> = (0..much)
        .map(|_| Mutation::Forget(NodeId(random.below(nodes))))
        .collect();
    let portions = forgets.chunks(PORTION).map(<[_]>::to_vec);
    print("expiry", commit(store, portions)?);
    let first = open(store, "idle", much)?;
    let closes: Vec<_> = (0..much as u32)
        .map(|at| Mutation::CloseSession {
            session: SessionId(first.0 + at),
            outcome: "idle".into(),
        })
        .collect();
    let portions = closes.chunks(PORTION).map(<[_]>::to_vec);
    print("close sessions", commit(store, portions)?);
    let (session, events) = talk(store, &mut random, "in portions", much)?;
    let episode = NodeId(store.view().nodes());
    let portions = events.chunks(SUMMARY_PORTION).enumerate().map(|(at, ids)| {
        let episode = match at {
            0 => Episode::New("a summary".into()),
            _ => Episode::At(episode),
        };
        let events = ids.to_vec();
        vec![Mutation::CompressPart(Part {
            session,
            episode,
            events,
        })]
    });
    print("compression", commit(store, portions)?);
    let (session, _) = talk(store, &mut random, "at once", much)?;
    let whole = Mutation::Compress {
        session,
        text: "a summary".into(),
        vector: None,
    };
    print(
        "a summary at once, by a caller",
        commit(store, [vec![whole]])?,
    );
    Ok(())
}

/// Opens sessions; gives the first.
fn open(store: &mut Store, name: &str, count: u64) -> Result<SessionId, Box<dyn Error>> {
    let opens: Vec<_> = (0..count)
        .map(|at| {
            let key = format!("{name} {at}");
            Request::new(Mutation::OpenSession { key })
        })
        .collect();
    let mut first = None;
    for group in opens.chunks(PORTION) {
        for answer in store.commit(group) {
            first = first.or(answer?.session);
        }
    }
    first.ok_or_else(|| "no session was opened".into())
}

/// A session of a number of events.
fn talk(
    store: &mut Store,
    random: &mut Random,
    name: &str,
    count: u64,
) -> Result<(SessionId, Vec<NodeId>), Box<dyn Error>> {
    let session = open(store, name, 1)?;
    let said = |_| NewEvent {
        session: Some(session),
        ..NewEvent::new(EventType::FACT, data::text(random))
    };
    let ingest = Ingest {
        events: (0..count).map(said).collect(),
        ..Ingest::default()
    };
    let made = store.execute(Request::new(Mutation::Ingest(ingest)))?;
    Ok((session, made.ids))
}

fn commit(
    store: &mut Store,
    portions: impl IntoIterator<Item = Vec<Mutation>>,
) -> Result<Vec<Times>, Box<dyn Error>> {
    let mut times = Vec::new();
    for portion in portions {
        let requests: Vec<_> = portion.into_iter().map(Request::new).collect();
        let (began, cpu) = (Instant::now(), cpu());
        let answers = store.commit(&requests);
        times.push((
            self::cpu().saturating_sub(cpu),
            began.elapsed().saturating_sub(store.sync_time()),
        ));
        for answer in answers {
            answer?;
        }
    }
    Ok(times)
}

/// What this thread had of a processor.
fn cpu() -> Duration {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
}

fn print(name: &str, times: Vec<Times>) {
    let (mut cpu, mut all): (Vec<_>, Vec<_>) = times.into_iter().unzip();
    let [cpu, all] = [&mut cpu, &mut all].map(|times| {
        times.sort_unstable();
        let ms = |at: usize| times.get(at).map_or(0.0, |time| time.as_secs_f64() * 1e3);
        (
            times.len(),
            ms(times.len() / 2),
            ms(times.len().saturating_sub(1)),
        )
    });
    println!(
        "{name:<32}{:>9}{:>10.3}{:>10.3}{:>10.3}{:>10.3}",
        cpu.0, cpu.1, cpu.2, all.1, all.2
    );
}
