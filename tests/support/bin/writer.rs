//! A client that does not give up: writes one brain through the daemon, and asks again until it is answered.
//!
//! `amem-writer SOCKET BRAIN NAME SEED LEDGER [without-ids] [pause=MILLIS]` writes until its standard input ends:
//! single events, batches with edges, corrections, links and streams, each with a request id that its retries have
//! too. Answers go into LEDGER, one JSON object an answer. `without-ids` leaves the ids out, so that
//! retries double; with `pause` it waits so long after each step.

#![forbid(unsafe_code)]

use std::fs::File;
use std::io::{BufWriter, Read, Write};
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use amem_client::v1::ingest_stream_response::Result as Outcome;
use amem_client::{Client, v1};
use amem_format::EdgeType;
use amem_tests::ledger::Receipt;
use amem_tests::random::Random;
use tonic::{Code, Status};
use uuid::Uuid;

/// How long one request may stay without an answer.
const PATIENCE: Duration = Duration::from_secs(60);
/// How long to wait before asking again.
const AGAIN_AFTER: Duration = Duration::from_millis(3);

type Failure = Box<dyn std::error::Error>;

#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    match write(&args).await {
        Ok(()) => ExitCode::SUCCESS,
        Err(why) => {
            eprintln!("amem-writer: {why}");
            ExitCode::FAILURE
        }
    }
}

async fn write(args: &[String]) -> Result<(), Failure> {
    let [socket, brain, name, seed, ledger, rest @ ..] = args else {
        return Err(
            "usage: amem-writer SOCKET BRAIN NAME SEED LEDGER [without-ids] [pause=MILLIS]".into(),
        );
    };
    let began = Instant::now();
    let client = loop {
        match Client::connect_unix(socket).await {
            Ok(client) => break client,
            Err(why) if began.elapsed() > PATIENCE => return Err(why.into()),
            Err(_) => tokio::time::sleep(AGAIN_AFTER).await,
        }
    };
    let mut writer = Writer {
        client,
        brain: brain.clone(),
        name: name.clone(),
        has_ids: !rest.iter().any(|word| word == "without-ids"),
        random: Random::new(seed.parse()?),
        ledger: BufWriter::new(File::create(ledger)?),
        texts: 0,
        ids: Vec::new(),
    };
    let stop = Arc::new(AtomicBool::new(false));
    let stopped = stop.clone();
    std::thread::spawn(move || {
        drop(std::io::stdin().read_to_end(&mut Vec::new()));
        stopped.store(true, Ordering::Relaxed);
    });
    println!("ready");
    let pause = rest.iter().find_map(|word| word.strip_prefix("pause="));
    let pause = Duration::from_millis(pause.unwrap_or("0").parse()?);
    while !stop.load(Ordering::Relaxed) {
        writer.step().await?;
        tokio::time::sleep(pause).await;
    }
    writer.ledger.flush()?;
    Ok(())
}

struct Writer {
    client: Client,
    brain: String,
    name: String,
    has_ids: bool,
    random: Random,
    ledger: BufWriter<File>,
    /// How many texts were made.
    texts: u64,
    /// Its events that are neither corrected nor linked yet.
    ids: Vec<u64>,
}

impl Writer {
    async fn step(&mut self) -> Result<(), Failure> {
        match self.random.below(10) {
            0..=3 => self.ingest(1).await,
            4..=5 => {
                let events = 2 + self.random.below(7);
                self.ingest(events).await
            }
            6 => self.stream().await,
            7..=8 if !self.ids.is_empty() => self.correct().await,
            9 if self.ids.len() > 1 => self.link().await,
            _ => self.ingest(1).await,
        }
    }

    fn options(&self) -> Option<v1::WriteOptions> {
        Some(v1::WriteOptions {
            agent: self.name.clone(),
            request_id: if self.has_ids {
                Uuid::now_v7().to_string()
            } else {
                String::new()
            },
            ..Default::default()
        })
    }

    fn text(&mut self) -> String {
        self.texts += 1;
        format!("{} says this only once: {}", self.name, self.texts)
    }

    /// New events, each caused by the one before it.
    fn batch(&mut self, events: u64) -> v1::IngestRequest {
        let end = |at| v1::LinkEnd {
            end: Some(v1::link_end::End::BatchIndex(at)),
        };
        let event = |text| v1::NewEvent {
            r#type: v1::EventType::Fact.into(),
            text,
            ..Default::default()
        };
        v1::IngestRequest {
            brain: self.brain.clone(),
            options: self.options(),
            events: (0..events).map(|_| event(self.text())).collect(),
            links: (1..events as u32)
                .map(|at| v1::NewLink {
                    source: Some(end(at)),
                    target: Some(end(at - 1)),
                    r#type: v1::EdgeType::CausedBy.into(),
                    weight: None,
                })
                .collect(),
            ..Default::default()
        }
    }

    fn ingested(
        &mut self,
        request: &v1::IngestRequest,
        done: v1::IngestResponse,
        retries: u64,
    ) -> Result<(), Failure> {
        let texts = request.events.iter().map(|event| event.text.clone());
        let chain = done.event_ids.windows(2);
        let edges = chain.map(|two| (two[1], two[0], EdgeType::CAUSED_BY.0));
        let told = Receipt {
            events: done.event_ids.iter().copied().zip(texts).collect(),
            edges: edges.collect(),
            ..Receipt::default()
        };
        self.ids.extend(&done.event_ids);
        self.tell(told, done.commit, retries)
    }

    async fn ingest(&mut self, events: u64) -> Result<(), Failure> {
        let request = self.batch(events);
        let ask = || async { self.client.memory().ingest(request.clone()).await };
        let (done, retries) = until_answered(ask).await?;
        self.ingested(&request, done.into_inner(), retries)
    }

    async fn correct(&mut self) -> Result<(), Failure> {
        let at = self.random.below(self.ids.len() as u64) as usize;
        let target_id = self.ids.swap_remove(at);
        let text = self.text();
        let request = v1::CorrectRequest {
            brain: self.brain.clone(),
            options: self.options(),
            target_id,
            event: Some(v1::NewEvent {
                text: text.clone(),
                ..Default::default()
            }),
            ..Default::default()
        };
        let ask = || async { self.client.memory().correct(request.clone()).await };
        let (done, retries) = until_answered(ask).await?;
        let done = done.into_inner();
        let told = Receipt {
            events: vec![(done.event_id, text)],
            edges: vec![(done.event_id, target_id, EdgeType::SUPERSEDES.0)],
            ..Receipt::default()
        };
        self.ids.push(done.event_id);
        self.tell(told, done.commit, retries)
    }

    async fn link(&mut self) -> Result<(), Failure> {
        // Each event is a source at most once, so that every link is a commit.
        let at = self.random.below(self.ids.len() as u64) as usize;
        let source_id = self.ids.swap_remove(at);
        let target_id = self.random.pick(&self.ids);
        let request = v1::LinkRequest {
            brain: self.brain.clone(),
            options: self.options(),
            source_id,
            target_id,
            r#type: v1::EdgeType::RelatedTo.into(),
            weight: Some(0.5),
        };
        let ask = || async { self.client.memory().link(request.clone()).await };
        let (done, retries) = until_answered(ask).await?;
        let told = Receipt {
            edges: vec![(source_id, target_id, EdgeType::RELATED_TO.0)],
            ..Receipt::default()
        };
        self.tell(told, done.into_inner().commit, retries)
    }

    /// A stream of batches; those that were not answered are sent again in another one.
    async fn stream(&mut self) -> Result<(), Failure> {
        let count = 2 + self.random.below(5);
        let mut left: Vec<_> = (0..count).map(|_| self.batch(3)).collect();
        let (began, mut retries) = (Instant::now(), 0);
        while !left.is_empty() {
            let (answered, end) = self.send(&left).await;
            for done in answered {
                let request = left.remove(0);
                self.ingested(&request, done, retries)?;
            }
            if let Err(status) = end {
                check_worth_retrying(&status, began)?;
                tokio::time::sleep(AGAIN_AFTER).await;
                retries += 1;
            } else if !left.is_empty() {
                return Err("a stream ended well before all was answered".into());
            }
        }
        Ok(())
    }

    /// Sends batches; gives the answers up to the first that is none.
    async fn send(
        &self,
        batches: &[v1::IngestRequest],
    ) -> (Vec<v1::IngestResponse>, Result<(), Status>) {
        let mut done = Vec::new();
        let messages = batches.iter().cloned().map(|batch| {
            let batch = Some(batch);
            v1::IngestStreamRequest { batch }
        });
        let messages = tokio_stream::iter(messages.collect::<Vec<_>>());
        let answers = self.client.memory().ingest_stream(messages).await;
        let mut answers = match answers {
            Ok(answers) => answers.into_inner(),
            Err(status) => return (done, Err(status)),
        };
        loop {
            match answers.message().await {
                Ok(Some(answer)) => match answer.result {
                    Some(Outcome::Done(one)) => done.push(one),
                    Some(Outcome::Failure(why)) => {
                        let status = Status::new(Code::from(why.code), why.message);
                        return (done, Err(status));
                    }
                    None => return (done, Err(Status::internal("an answer that says nothing"))),
                },
                Ok(None) => return (done, Ok(())),
                Err(status) => return (done, Err(status)),
            }
        }
    }

    fn tell(
        &mut self,
        mut told: Receipt,
        commit: Option<v1::Commit>,
        retries: u64,
    ) -> Result<(), Failure> {
        let commit = commit.ok_or("an answer without a commit")?;
        (told.lsn, told.replayed, told.retries) = (commit.lsn, commit.replayed, retries);
        serde_json::to_writer(&mut self.ledger, &told)?;
        Ok(self.ledger.write_all(b"\n")?)
    }
}

/// Asks until there is an answer; says how often it was asked again.
async fn until_answered<T>(ask: impl AsyncFn() -> Result<T, Status>) -> Result<(T, u64), Failure> {
    let began = Instant::now();
    let mut retries = 0;
    loop {
        match ask().await {
            Ok(done) => return Ok((done, retries)),
            Err(status) => check_worth_retrying(&status, began)?,
        }
        tokio::time::sleep(AGAIN_AFTER).await;
        retries += 1;
    }
}

/// A refusal by the daemon carries details, a lost connection none; only the latter, and what may pass, is asked
/// again.
fn check_worth_retrying(status: &Status, began: Instant) -> Result<(), Failure> {
    let passes = matches!(status.code(), Code::Unavailable | Code::ResourceExhausted);
    if (passes || status.details().is_empty()) && began.elapsed() < PATIENCE {
        return Ok(());
    }
    Err(format!("after {:?}: {status}", began.elapsed()).into())
}
