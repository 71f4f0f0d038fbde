//! A client that is up to no good, as a process: `amem-abuser KIND SOCKET BRAIN` goes on until its standard input ends,
//! and then says what it did.
//!
//! The kinds: `silent` connections that say nothing, `slow` ones that send a byte now and then, `unread` answers,
//! `large` ones behind a closed window, `pings` that are never listened to, `resets` of calls just begun, `oversized`
//! headers, messages and frames. By TLS, with the address in the place of the socket and the file of its certificate
//! in that of the brain: `tls-half` greetings, `tls-garbage` in their place, `tls-unfinished` handshakes, `tls-
//! closing` connections that end with their handshake, and all of them together (`tls`). By HTTP, with the address in
//! the place of the socket and the file of a token in that of the brain: `http-slow` bodies, `http-unread` answers and
//! subscriptions, `http-packed` bodies that unpack to gigabytes, `http-heads` of thousands of headers, `http-pairs` of
//! content-length and transfer-encoding, `http-deep` JSON, and all of them together (`http`).

#![forbid(unsafe_code)]

mod frames;
mod handshakes;
mod requests;

use std::process::ExitCode;
use std::rc::Rc;
use std::time::Duration;

use amem_client::v1;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::UnixStream;
use tokio::task::LocalSet;
use tokio::time::sleep;

use crate::frames::{CONTINUATION, DATA, END_HEADERS, HEADERS, PING, RST_STREAM, call, frame};
use crate::frames::{SETTINGS, headers_of, message, opening};

/// Connections that only hold a place.
const HELD: usize = 64;
/// Connections that keep the daemon busy.
const BUSY: usize = 4;
/// Calls of a connection whose answers are not read.
const UNREAD_CALLS: u32 = 48;
/// Events of an answer that is nearly as large as any may be, where each has a text as long as any may be.
const LARGE_EVENTS: u64 = 3;
/// How long until a connection that was closed is opened again.
const AGAIN_AFTER: Duration = Duration::from_millis(20);

/// What was done.
#[derive(Debug, Default)]
struct Sums {
    connections: std::cell::Cell<u64>,
    /// Frames, or bytes of those that send single ones.
    sent: std::cell::Cell<u64>,
}

impl Sums {
    fn sent(&self, count: u64) {
        self.sent.set(self.sent.get() + count);
    }
}

struct Abuser {
    socket: String,
    brain: String,
    sums: Sums,
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let [kind, socket, brain] = &args[..] else {
        println!("usage: amem-abuser KIND SOCKET BRAIN");
        return ExitCode::FAILURE;
    };
    let abuser = Rc::new(Abuser {
        socket: socket.clone(),
        brain: brain.clone(),
        sums: Sums::default(),
    });
    let connections = match kind.as_str() {
        "resets" | "pings" | "oversized" => BUSY,
        "tls" | "http" => HELD + BUSY,
        "tls-garbage" | "tls-closing" => 4 * BUSY,
        "tls-half" | "tls-unfinished" => HELD,
        "silent" | "slow" | "http-slow" => HELD,
        "http-unread" => HELD / 4,
        "http-packed" | "http-heads" | "http-pairs" | "http-deep" => 4 * BUSY,
        "unread" | "large" => HELD / 4,
        _ => {
            println!("{kind} is no kind of abuse");
            return ExitCode::FAILURE;
        }
    };
    let (tell, ended) = tokio::sync::oneshot::channel();
    std::thread::spawn(move || {
        drop(std::io::Read::read_to_end(
            &mut std::io::stdin(),
            &mut Vec::new(),
        ));
        tell.send(())
    });
    let tasks = LocalSet::new();
    for number in 0..connections {
        let (abuser, kind) = (abuser.clone(), kind.clone());
        tasks.spawn_local(async move { abuser.again_and_again(&kind, number).await });
    }
    println!("ready");
    drop(tasks.run_until(ended).await);
    let Sums { connections, sent } = &abuser.sums;
    println!("{} connections, {} sent", connections.get(), sent.get());
    ExitCode::SUCCESS
}

impl Abuser {
    async fn again_and_again(&self, kind: &str, number: usize) {
        if kind.starts_with("tls") {
            return handshakes::again_and_again(self, kind, number).await;
        }
        if kind.starts_with("http") {
            return requests::again_and_again(self, kind, number).await;
        }
        loop {
            if let Ok(stream) = UnixStream::connect(&self.socket).await {
                self.sums.connections.set(self.sums.connections.get() + 1);
                // A connection that is closed is what is wanted; then comes the next.
                drop(self.one(kind, number, stream).await);
            }
            sleep(AGAIN_AFTER).await;
        }
    }

    async fn one(&self, kind: &str, number: usize, mut stream: UnixStream) -> std::io::Result<()> {
        match kind {
            "silent" => stream.read(&mut [0; 1]).await.map(drop),
            "slow" => self.slow(stream).await,
            "unread" => self.unread(stream).await,
            "large" => self.large(stream).await,
            "pings" => self.pings(stream).await,
            "resets" => self.resets(stream).await,
            _ => self.oversized(number, stream).await,
        }
    }

    /// A call whose message comes a byte at a time.
    async fn slow(&self, mut stream: UnixStream) -> std::io::Result<()> {
        stream.write_all(&opening(65_535)).await?;
        let head = frame(HEADERS, END_HEADERS, 1, &headers_of("MemoryService/Ingest"));
        stream.write_all(&head).await?;
        // The frame says that 16,000 bytes come, of a message of as many.
        stream
            .write_all(&[0, 0x3E, 0x80, DATA, 0, 0, 0, 0, 1])
            .await?;
        stream.write_all(&[0, 0, 0, 0x3E, 0x7B]).await?;
        loop {
            stream.write_all(b"x").await?;
            self.sums.sent(1);
            sleep(Duration::from_millis(200)).await;
        }
    }

    /// Questions with large answers, and subscriptions, with the largest windows; nothing is read.
    async fn unread(&self, mut stream: UnixStream) -> std::io::Result<()> {
        stream.write_all(&opening(0x7FFF_FFFF)).await?;
        let events = v1::GetEventsRequest {
            brain: self.brain.clone(),
            event_ids: (0..1000).collect(),
            ..Default::default()
        };
        let follow = v1::SubscribeRequest {
            brain: self.brain.clone(),
            after_lsn: Some(0),
            ..Default::default()
        };
        for n in 0..UNREAD_CALLS {
            let bytes = match n % 2 {
                0 => call(2 * n + 1, "QueryService/GetEvents", &message(&events)),
                _ => call(2 * n + 1, "MemoryService/Subscribe", &message(&follow)),
            };
            stream.write_all(&bytes).await?;
            self.sums.sent(1);
        }
        std::future::pending().await
    }

    /// Questions with the largest answers, for which the client has no room.
    async fn large(&self, mut stream: UnixStream) -> std::io::Result<()> {
        stream.write_all(&opening(0)).await?;
        let events = v1::GetEventsRequest {
            brain: self.brain.clone(),
            event_ids: (0..LARGE_EVENTS).collect(),
            ..Default::default()
        };
        let events = message(&events);
        for n in 0..UNREAD_CALLS {
            let bytes = call(2 * n + 1, "QueryService/GetEvents", &events);
            stream.write_all(&bytes).await?;
            self.sums.sent(1);
        }
        std::future::pending().await
    }

    /// Each ping asks for an answer, and each of the settings for a confirmation.
    async fn pings(&self, mut stream: UnixStream) -> std::io::Result<()> {
        stream.write_all(&opening(65_535)).await?;
        let two = [frame(PING, 0, 0, b"12345678"), frame(SETTINGS, 0, 0, &[])].concat();
        let many = two.repeat(500);
        loop {
            stream.write_all(&many).await?;
            self.sums.sent(1000);
        }
    }

    /// Calls that are taken back as soon as they are begun.
    async fn resets(&self, stream: UnixStream) -> std::io::Result<()> {
        let (mut from, mut to) = stream.into_split();
        to.write_all(&opening(65_535)).await?;
        let listening = tokio::task::spawn_local(async move {
            let mut heard = vec![0; 64 << 10];
            while let Ok(1..) = from.read(&mut heard).await {}
        });
        let events = v1::GetEventsRequest {
            brain: self.brain.clone(),
            event_ids: (0..1000).collect(),
            ..Default::default()
        };
        let events = message(&events);
        let mut stream_id = 1;
        while !listening.is_finished() && stream_id < 0x7FFF_0000 {
            let mut bytes = Vec::new();
            for _ in 0..50 {
                bytes.extend(call(stream_id, "QueryService/GetEvents", &events));
                bytes.extend(frame(RST_STREAM, 0, stream_id, &8_u32.to_be_bytes()));
                stream_id += 2;
            }
            to.write_all(&bytes).await?;
            self.sums.sent(50);
            tokio::task::yield_now().await;
        }
        Ok(())
    }

    /// What is larger than it may be, each in its turn.
    async fn oversized(&self, number: usize, mut stream: UnixStream) -> std::io::Result<()> {
        stream.write_all(&opening(65_535)).await?;
        let turn = self.sums.connections.get() as usize + number;
        let bytes = match turn % 5 {
            // A block of headers without end.
            0 => {
                let mut endless = frame(HEADERS, 0, 1, &headers_of("QueryService/GetEvents"));
                for _ in 0..64 {
                    endless.extend(frame(CONTINUATION, 0, 1, &[0x10; 16_000]));
                }
                endless
            }
            // Headers that are too long together.
            1 => {
                let mut block = headers_of("QueryService/GetEvents");
                for n in 0..12_u8 {
                    block.extend([0x00, 3, b'x', b'-', b'a' + n, 0x7F, 0x81, 0x0F]);
                    block.extend([b'y'; 2048]);
                }
                let (first, rest) = block.split_at(16_000);
                [
                    frame(HEADERS, 0, 1, first),
                    frame(CONTINUATION, END_HEADERS, 1, rest),
                ]
                .concat()
            }
            // A message that says it has four gigabytes.
            2 => {
                let mut told = vec![0, 0xFF, 0xFF, 0xFF, 0xFF];
                told.resize(16_000, b'x');
                call(1, "MemoryService/Ingest", &told)
            }
            // A frame that is larger than any may be.
            3 => {
                let mut huge = vec![0xFF, 0xFF, 0xFF, DATA, 0, 0, 0, 0, 1];
                huge.resize(1 << 20, b'x');
                huge
            }
            // A message of 20 MiB, as far as the window lets it.
            _ => {
                let head = frame(HEADERS, END_HEADERS, 1, &headers_of("MemoryService/Ingest"));
                let mut bytes = [head, frame(DATA, 0, 1, &[0, 0x01, 0x40, 0, 0])].concat();
                for _ in 0..64 {
                    bytes.extend(frame(DATA, 0, 1, &[b'x'; 16_000]));
                }
                bytes
            }
        };
        self.sums.sent(1);
        let (mut from, mut to) = stream.split();
        let mut heard = vec![0; 64 << 10];
        tokio::select! {
            written = to.write_all(&bytes) => written?,
            () = sleep(Duration::from_millis(200)) => {}
        }
        // What it is answered is heard for a moment, so that it is not all about a reset of ours.
        let listen = async { while let Ok(1..) = from.read(&mut heard).await {} };
        drop(tokio::time::timeout(Duration::from_millis(50), listen).await);
        Ok(())
    }
}
