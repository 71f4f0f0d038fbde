//! Fact memory by HTTP, over TCP on this machine, beside the same calls by gRPC over the daemon's Unix socket.
//!
//! The limit of an add is an ingest of the same text, that of a search the same search, that of 64 callers with a
//! connection each an echo of tonic with 64 calls in flight, whose messages are as long as the answer. Compared: texts
//! of a memory and of the first hit with what was added, and how many memories there are in the end.

use std::cell::{Cell, RefCell};
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Instant;

use amem_client::{Client, v1};
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::runtime::Runtime;

use super::super::list;
use super::super::measure::{Contest, Outcome, median, same};
use super::super::table::{Findings, Measurement};
use super::super::world::World;
use super::facts::{EVENTS, as_they_are, ingest, scope, text};
use crate::latency::peers::Peers;
use crate::latency::{self, echo};

/// Memories of the scope.
const SCOPE: u64 = 1_000;
/// Callers that each have a connection.
const MANY: usize = 64;
/// Calls of a turn: adds, searches, and gets of many.
const ADDS: u64 = 60;
const SEARCHES: u64 = 200;
const GETS: usize = 20_000;
/// The head and the body of an answer are shorter.
const ANSWER_BYTES_MAX: usize = 1 << 20;

/// A connection that stays open.
struct WebConnection {
    stream: TcpStream,
    read: Vec<u8>,
}

/// The daemon, and its clients.
struct WebSetup {
    runtime: Runtime,
    client: Client,
    echo: Client,
    address: SocketAddr,
    token: String,
    web: RefCell<WebConnection>,
    /// The next number of a text.
    next: Cell<u64>,
    /// A memory, and its text.
    known: (String, String),
    _peers: Peers,
}

/// All rows.
pub(super) fn run(world: &World, findings: &mut Findings) -> Outcome<()> {
    let folder = world.path().join("http");
    let peers = Peers::with_http(&folder)?;
    let address = peers.http.ok_or("the daemon has no address for HTTP")?;
    let runtime = Runtime::new()?;
    let client = runtime.block_on(Client::connect_unix(&peers.daemon_socket))?;
    let echo = runtime.block_on(Client::connect_unix(&peers.echo_socket))?;
    let token = v1::CreateTokenRequest {
        name: "report".into(),
        permission: v1::Permission::Write.into(),
        ..v1::CreateTokenRequest::default()
    };
    let token = runtime.block_on(client.admin().create_token(token))?;
    let web = runtime.block_on(WebConnection::open(address))?;
    let mut setup = WebSetup {
        runtime,
        client,
        echo,
        address,
        token: token.into_inner().token,
        web: RefCell::new(web),
        next: Cell::new(0),
        known: Default::default(),
        _peers: peers,
    };
    setup.fill()?;
    setup.search(findings)?;
    setup.get(findings)?;
    setup.add(findings)
}

impl WebConnection {
    async fn open(address: SocketAddr) -> Outcome<Self> {
        let stream = TcpStream::connect(address).await?;
        stream.set_nodelay(true)?;
        Ok(Self {
            stream,
            read: Vec::new(),
        })
    }

    /// Sends a request; the body of its answer.
    async fn call(&mut self, request: &[u8]) -> std::io::Result<Vec<u8>> {
        self.stream.write_all(request).await?;
        self.read.clear();
        let mut length = None;
        loop {
            if let Some((head, bytes)) = length
                && self.read.len() >= head + bytes
            {
                return Ok(self.read.split_off(head));
            }
            if self.read.len() > ANSWER_BYTES_MAX
                || self.stream.read_buf(&mut self.read).await? == 0
            {
                return Err(std::io::ErrorKind::UnexpectedEof.into());
            }
            if length.is_none() {
                length = head(&self.read)?;
            }
        }
    }
}

/// The bytes of a head that is there, and those of the body that it announces.
fn head(read: &[u8]) -> std::io::Result<Option<(usize, usize)>> {
    let Some(end) = read.windows(4).position(|four| four == b"\r\n\r\n") else {
        return Ok(None);
    };
    let head = String::from_utf8_lossy(&read[..end]);
    let wrong = || std::io::Error::other(head.clone());
    if !head.starts_with("HTTP/1.1 200 ") {
        return Err(wrong());
    }
    let length = head.lines().find_map(|line| {
        let (name, value) = line.split_once(':')?;
        name.eq_ignore_ascii_case("content-length")
            .then(|| value.trim().parse().ok())?
    });
    Ok(Some((end + 4, length.ok_or_else(wrong)?)))
}

impl WebSetup {
    /// Reserves numbers of texts; returns the first.
    fn take(&self, count: u64) -> u64 {
        let first = self.next.get();
        self.next.set(first + count);
        first
    }

    /// The bytes of a request.
    fn request(&self, method: &str, target: &str, body: &Value) -> Vec<u8> {
        let Self { address, token, .. } = self;
        let body = match body {
            Value::Null => String::new(),
            body => body.to_string(),
        };
        let head = format!(
            "{method} {target} HTTP/1.1\r\nhost: {address}\r\nauthorization: Bearer {token}\r\n\
             content-type: application/json\r\ncontent-length: {}\r\n\r\n",
            body.len()
        );
        [head.as_bytes(), body.as_bytes()].concat()
    }

    fn call(&self, method: &str, target: &str, body: &Value) -> Outcome<Value> {
        let request = self.request(method, target, body);
        let mut web = self.web.borrow_mut();
        let answer = self.runtime.block_on(web.call(&request))?;
        Ok(serde_json::from_slice(&answer)?)
    }

    fn fill(&mut self) -> Outcome<()> {
        let first = self.take(SCOPE);
        let request = as_they_are(scope(0), (first..first + SCOPE).map(text));
        let mut facts = self.client.facts();
        let added = self
            .runtime
            .block_on(facts.add_facts(request))?
            .into_inner();
        same("AddFacts", &(added.results.len() as u64), &SCOPE)?;
        let one = &added.results[7];
        self.known = (one.id.clone(), one.memory.clone());
        let request = v1::CreateBrainRequest {
            brain: EVENTS.into(),
            ..v1::CreateBrainRequest::default()
        };
        self.runtime
            .block_on(self.client.brains().create_brain(request))?;
        Ok(())
    }

    /// A question whose best answer is the text of the number.
    fn question(&self, at: &Cell<u64>) -> (String, String) {
        at.set(at.get() + 1);
        let known = text(at.get() % SCOPE);
        let words: Vec<_> = known.split(' ').skip(2).take(3).collect();
        (words.join(" "), known)
    }

    fn search(&self, findings: &mut Findings) -> Outcome<()> {
        let at = Cell::new(0);
        let web = || -> Outcome<(Value, String)> {
            let (query, known) = self.question(&at);
            let body = json!({"query": query, "user_id": "user-0"});
            Ok((self.call("POST", "/v3/memories/search/", &body)?, known))
        };
        let grpc = || -> Outcome<v1::SearchFactsResponse> {
            let request = v1::SearchFactsRequest {
                query: self.question(&at).0,
                scope: scope(0),
                ..v1::SearchFactsRequest::default()
            };
            let mut facts = self.client.facts();
            Ok(self
                .runtime
                .block_on(facts.search_facts(request))?
                .into_inner())
        };
        let (found, known) = web()?;
        same(
            "a search by HTTP",
            &found["results"][0]["memory"],
            &json!(known),
        )?;
        let medians = Contest::new()
            .turn("web", || each(SEARCHES, &web))
            .turn("grpc", || each(SEARCHES, &grpc))
            .run()?;
        findings.add(Measurement {
            row: list::HTTP_SEARCH,
            ours: medians.of("web"),
            limit: medians.of("grpc"),
            note: "the limit is the same search by gRPC".into(),
            ..Measurement::default()
        });
        Ok(())
    }

    fn get(&self, findings: &mut Findings) -> Outcome<()> {
        let path = format!("/v1/memories/{}/", self.known.0);
        let answer = self.call("GET", &path, &Value::Null)?;
        same("a get by HTTP", &answer["memory"], &json!(self.known.1))?;
        let bytes = answer.to_string().len();
        let event = v1::Event {
            text: "x".repeat(bytes),
            ..v1::Event::default()
        };
        let message = v1::GetEventsResponse {
            events: vec![event],
            ..v1::GetEventsResponse::default()
        };
        let channel = self.echo.channel();
        let echo = move |_| {
            let (channel, message) = (channel.clone(), message.clone());
            async move { echo::call(channel, message).await.map(drop) }
        };
        let request: Arc<[u8]> = self.request("GET", &path, &Value::Null).into();
        let medians = Contest::new()
            .turn("web", || self.many(&request))
            .turn("echo", || {
                let calls = latency::measure(MANY, GETS, echo.clone());
                let (_, took) = self.runtime.block_on(calls)?;
                Ok(GETS as f64 / took.as_secs_f64())
            })
            .run()?;
        findings.add(Measurement {
            row: list::HTTP_GET_MANY,
            ours: medians.of("web"),
            limit: medians.of("echo"),
            note: format!("the limit is an echo of {bytes} bytes, as many as the answer has"),
            ..Measurement::default()
        });
        Ok(())
    }

    /// Calls a second of many callers, whose connections are open before.
    fn many(&self, request: &Arc<[u8]>) -> Outcome<f64> {
        self.runtime.block_on(async {
            let mut connections = Vec::new();
            for _ in 0..MANY {
                connections.push(WebConnection::open(self.address).await?);
            }
            let began = Instant::now();
            let callers: Vec<_> = connections
                .into_iter()
                .map(|mut connection| {
                    let request = request.clone();
                    tokio::spawn(async move {
                        for _ in 0..GETS / MANY {
                            connection.call(&request).await?;
                        }
                        std::io::Result::Ok(())
                    })
                })
                .collect();
            for caller in callers {
                caller.await??;
            }
            let calls = GETS / MANY * MANY;
            Ok(calls as f64 / began.elapsed().as_secs_f64())
        })
    }

    fn add(&self, findings: &mut Findings) -> Outcome<()> {
        let added = Cell::new(0_u64);
        let web = || -> Outcome<Value> {
            added.set(added.get() + 1);
            let text = text(self.take(1));
            let body = json!({"messages": text, "infer": false, "user_id": "user-1"});
            self.call("POST", "/v3/memories/add/", &body)
        };
        let grpc = || -> Outcome<v1::IngestResponse> {
            let request = ingest(text(self.take(1)));
            let mut memory = self.client.memory();
            Ok(self.runtime.block_on(memory.ingest(request))?.into_inner())
        };
        let medians = Contest::new()
            .turn("web", || each(ADDS, &web))
            .turn("grpc", || each(ADDS, &grpc))
            .run()?;
        let target = "/v3/memories/?page=1&page_size=1";
        let listed = self.call("POST", target, &json!({"filters": {"user_id": "user-1"}}))?;
        same("adds by HTTP", &listed["count"], &json!(added.get()))?;
        findings.add(Measurement {
            row: list::HTTP_ADD,
            ours: medians.of("web"),
            limit: medians.of("grpc"),
            note: "the limit is an ingest by gRPC of one event with the same text".into(),
            ..Measurement::default()
        });
        Ok(())
    }
}

/// The median seconds of a call that is made some times.
fn each<T>(calls: u64, call: &impl Fn() -> Outcome<T>) -> Outcome<f64> {
    let mut times = Vec::new();
    for _ in 0..calls {
        let began = Instant::now();
        call()?;
        times.push(began.elapsed().as_secs_f64());
    }
    Ok(median(times))
}
