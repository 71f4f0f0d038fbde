//! Connections that say nothing, say nonsense, or are too many.

use std::path::PathBuf;
use std::time::Duration;

use amem_client::v1;
use amem_client::v1::memory_service_client::MemoryServiceClient;
use amem_tests::daemon::create_bare;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpStream, UnixStream};
use tokio::time::timeout;
use tonic::Code;

use crate::process::{Daemon, Setup, ask, check_refused};
use crate::tokens::{TCP, batch, connect, with};

const PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
const SETTINGS: &[u8] = &[0, 0, 0, 4, 0, 0, 0, 0, 0];

/// A frame of HTTP/2.
fn frame(kind: u8, flags: u8, stream: u8, payload: &[u8]) -> Vec<u8> {
    let [_, a, b, c] = (payload.len() as u32).to_be_bytes();
    [&[a, b, c, kind, flags, 0, 0, 0, stream][..], payload].concat()
}

/// A socket by which calls come in, and how a call of `GetStatus` is encoded there.
struct CallSocket {
    protocol: &'static str,
    socket: PathBuf,
    head: Vec<u8>,
    body: &'static [u8],
    /// The kinds of the first and the last frame of an answer.
    answer: [u8; 2],
}

/// A daemon, and its sockets for calls by HTTP/2: every guard of a connection holds for each of them.
fn sockets(settings: &str) -> (Daemon, [CallSocket; 2]) {
    let place = Setup::new("");
    let http = place.path("http.sock");
    let listen = format!("[http]\nlisten = \"unix:{}\"\n", http.display());
    place.configure(&format!("{listen}{settings}"));
    let grpc = CallSocket {
        protocol: "gRPC",
        socket: place.socket(),
        head: call(b"/amem.v1.AdminService/GetStatus", b"application/grpc"),
        body: &[0; 5],
        answer: [1, 1],
    };
    let rest = CallSocket {
        protocol: "REST",
        socket: http,
        head: call(b"/v1/daemon/get-status", b"application/json"),
        body: b"{}",
        answer: [1, 0],
    };
    (place.start(), [grpc, rest])
}

/// The headers of a call.
fn call(path: &[u8], content_type: &[u8; 16]) -> Vec<u8> {
    [
        &[0x83, 0x86, 0x04, path.len() as u8][..],
        path,
        &[0x01, 9],
        b"localhost",
        &[0x0f, 0x10, 16],
        content_type,
        &[0x00, 2],
        b"te",
        &[8],
        b"trailers",
    ]
    .concat()
}

/// Reads to the next frame of a kind; gives its stream, and what it has.
async fn next(kind: u8, from: &mut UnixStream) -> (u8, Vec<u8>) {
    let reading = async {
        loop {
            let mut head = [0; 9];
            from.read_exact(&mut head).await.unwrap();
            let bytes = u32::from_be_bytes([0, head[0], head[1], head[2]]) as usize;
            let mut payload = vec![0; bytes];
            from.read_exact(&mut payload).await.unwrap();
            if head[3] == kind {
                return (head[8], payload);
            }
        }
    };
    let read = timeout(Duration::from_secs(20), reading).await;
    read.expect("it never comes")
}

/// Reads until the other end closes.
async fn until_closed(stream: &mut (impl AsyncReadExt + Unpin)) -> Vec<u8> {
    let mut said = Vec::new();
    let reading = timeout(Duration::from_secs(20), stream.read_to_end(&mut said));
    // A reset is an end as well.
    drop(reading.await.expect("the connection stays open"));
    said
}

#[tokio::test]
async fn an_idle_connection_is_closed_and_an_active_one_stays() {
    let settings = "[limits]\npreface_millis = 300\n[tcp]\nlisten = \"127.0.0.1:0\"\n\
                    tokens_file = \"tokens.toml\"\n";
    let (daemon, sockets) = sockets(settings);
    for CallSocket { socket, .. } in &sockets {
        let mut speaks = UnixStream::connect(socket).await.unwrap();
        speaks.write_all(PREFACE).await.unwrap();
        speaks.write_all(SETTINGS).await.unwrap();
        let mut answer = [0; 9];
        speaks.read_exact(&mut answer).await.unwrap();
        assert_eq!(answer[3], 4, "the server begins with its settings");

        let mut silent = UnixStream::connect(socket).await.unwrap();
        let mut slow = UnixStream::connect(socket).await.unwrap();
        slow.write_all(&PREFACE[..23]).await.unwrap();
        let mut by_tcp = TcpStream::connect(daemon.tcp.unwrap()).await.unwrap();
        assert!(until_closed(&mut silent).await.is_empty());
        assert!(until_closed(&mut slow).await.is_empty());
        assert!(until_closed(&mut by_tcp).await.is_empty());

        // The one that spoke is served long after: it gets an answer to a ping.
        let ping = [&[0, 0, 8, 6, 0, 0, 0, 0, 0][..], b"12345678"].concat();
        speaks.write_all(&ping).await.unwrap();
        let mut said = Vec::new();
        while !said.windows(8).any(|part| part == b"12345678") {
            let mut part = [0; 64];
            let bytes = timeout(Duration::from_secs(20), speaks.read(&mut part)).await;
            let bytes = bytes.expect("no answer").unwrap();
            assert!(bytes > 0, "it was closed");
            said.extend_from_slice(&part[..bytes]);
        }
    }
    // HTTP/1 is for one of them.
    let mut other = UnixStream::connect(&sockets[0].socket).await.unwrap();
    let get = b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n";
    other.write_all(get).await.unwrap();
    assert!(until_closed(&mut other).await.is_empty());
}

#[tokio::test]
async fn invalid_or_endless_headers_close_their_connection_only() {
    let (daemon, sockets) = sockets("");
    let client = daemon.client().await;
    let header_frame = |kind, flags, payload: &[u8]| frame(kind, flags, 1, payload);
    let mut endless = header_frame(1, 0, &[0x10; 16_000]);
    for _ in 0..6 {
        endless.extend(header_frame(9, 0, &[0x10; 16_000]));
    }
    let bad = [
        header_frame(1, 4, &[0xff; 40]),
        header_frame(9, 4, b"x"),
        endless,
    ];
    for (CallSocket { socket, .. }, bytes) in sockets
        .iter()
        .flat_map(|by| bad.iter().map(move |bad| (by, bad)))
    {
        let mut stream = UnixStream::connect(socket).await.unwrap();
        stream.write_all(PREFACE).await.unwrap();
        stream.write_all(SETTINGS).await.unwrap();
        // It may be closed before it has all.
        drop(stream.write_all(bytes).await);
        until_closed(&mut stream).await;
        ask(client.channel(), &[]).await.unwrap();
    }
}

#[tokio::test]
async fn headers_over_their_limit_are_refused_and_the_next_call_is_served() {
    let daemon = Setup::new(TCP).start();
    let bearer = format!("Bearer {}", daemon.token().await);
    for bytes in [14 << 10, 17 << 10] {
        let large = "x".repeat(bytes);
        let large = ("x-large", large.as_str());
        let by_socket = daemon.client().await.channel();
        let by_tcp = connect(&daemon).await;
        let authorised = ("authorization", bearer.as_str());
        let answers = [
            ask(by_socket, &[large]).await,
            ask(by_tcp, &[authorised, large]).await,
        ];
        for answer in answers {
            let is_served = answer.is_ok();
            assert_eq!(is_served, bytes < 16 << 10, "{bytes}: {answer:?}");
        }
        ask(daemon.client().await.channel(), &[]).await.unwrap();
        ask(connect(&daemon).await, &[authorised]).await.unwrap();
    }
}

#[tokio::test]
async fn streams_over_the_limit_of_a_connection_are_refused_and_the_others_continue() {
    let (_daemon, sockets) = sockets("[limits]\nstreams_per_connection = 2\n");
    for by in sockets {
        let mut caller = UnixStream::connect(&by.socket).await.unwrap();
        caller.write_all(PREFACE).await.unwrap();
        caller.write_all(SETTINGS).await.unwrap();
        // Calls of which the message does not come.
        for stream in [1, 3, 5] {
            let begun = frame(1, 4, stream, &by.head);
            caller.write_all(&begun).await.unwrap();
        }
        let (stream, why) = next(3, &mut caller).await;
        assert_eq!((stream, &why[..]), (5, &[0, 0, 0, 7][..]), "REFUSED_STREAM");
        // One that ends makes room for another: both are answered, with an end of their own.
        for stream in [1, 7] {
            if stream == 7 {
                caller.write_all(&frame(1, 4, 7, &by.head)).await.unwrap();
            }
            let message = frame(0, 1, stream, by.body);
            caller.write_all(&message).await.unwrap();
            for kind in by.answer {
                let protocol = by.protocol;
                assert_eq!(next(kind, &mut caller).await.0, stream, "{protocol} {kind}");
            }
        }
    }
}

#[tokio::test]
async fn a_peer_that_does_not_answer_pings_is_disconnected() {
    let (_daemon, sockets) = sockets("[limits]\nkeepalive_secs = 1\n");
    for by in sockets {
        let mut silent = UnixStream::connect(&by.socket).await.unwrap();
        silent.write_all(PREFACE).await.unwrap();
        silent.write_all(SETTINGS).await.unwrap();
        let (stream, asked) = next(6, &mut silent).await;
        assert_eq!((stream, asked.len()), (0, 8), "a ping");
        // Sooner than a connection without calls is closed.
        until_closed(&mut silent).await;
    }
}

#[tokio::test]
async fn connections_over_the_limit_are_closed_and_slots_become_free() {
    let daemon = Setup::new("[limits]\nconnections_per_user = 2\n").start();
    let socket = daemon.place.socket();
    let known = || async {
        let client = daemon.client().await;
        ask(client.channel(), &[]).await.unwrap();
        client
    };
    let (first, _second) = (known().await, known().await);
    let mut third = UnixStream::connect(&socket).await.unwrap();
    assert!(until_closed(&mut third).await.is_empty());
    daemon.says("limits.connections_per_user");
    drop(first);
    // The daemon sees the end of the first when it sees it: until then there is no place.
    let served = async {
        loop {
            let client = amem_client::Client::connect_unix(&socket).await;
            if let Ok(client) = client
                && ask(client.channel(), &[]).await.is_ok()
            {
                return;
            }
        }
    };
    timeout(Duration::from_secs(20), served)
        .await
        .expect("no place came free");
}

#[tokio::test]
async fn connections_without_an_authorized_call_make_way_for_others() {
    let config = format!("{TCP}[limits]\nconnections_per_user = 3\n");
    let daemon = Setup::new(&config).start();
    let token = daemon.token().await;
    let bearer = format!("Bearer {token}");
    let address = daemon.tcp.unwrap();
    let mut strangers = Vec::new();
    for _ in 0..3 {
        let mut stranger = TcpStream::connect(address).await.unwrap();
        stranger.write_all(b"PRI * HTTP/2.0\r\n").await.unwrap();
        strangers.push(stranger);
    }
    let mut held = Vec::new();
    for _ in 0..3 {
        let channel = connect(&daemon).await;
        ask(channel.clone(), &[("authorization", &bearer)])
            .await
            .unwrap();
        held.push(channel);
    }
    for stranger in &mut strangers {
        assert!(until_closed(stranger).await.is_empty());
    }
    // Those that are known stay.
    let mut more = TcpStream::connect(address).await.unwrap();
    assert!(until_closed(&mut more).await.is_empty());
    daemon.says("limits.connections_per_user");
    for channel in held {
        ask(channel, &[("authorization", &bearer)]).await.unwrap();
    }
}

#[tokio::test]
async fn connections_of_a_token_that_was_revoked_make_way_and_those_of_others_stay() {
    let config = format!("{TCP}[limits]\nconnections_per_user = 2\n");
    let daemon = Setup::new(&config).start();
    // On one connection: of ours, too, there may be two.
    let client = daemon.client().await;
    create_bare(&client, "b").await;
    let mut tokens = Vec::new();
    for (name, permission) in [
        ("gone", v1::Permission::Read),
        ("stays", v1::Permission::Write),
    ] {
        let request = v1::CreateTokenRequest {
            name: name.into(),
            permission: permission.into(),
            ..Default::default()
        };
        let made = client.admin().create_token(request).await;
        tokens.push(made.unwrap().into_inner().token);
    }
    let [gone, stays] = [&tokens[0], &tokens[1]];
    let [by_gone, by_stays] = [gone, stays].map(|token| format!("Bearer {token}"));
    let follows = connect(&daemon).await;
    let subscribe = v1::SubscribeRequest {
        brain: "b".into(),
        ..Default::default()
    };
    let mut memory = MemoryServiceClient::new(follows);
    let changes = memory.subscribe(with(stays, subscribe)).await;
    let mut changes = changes.unwrap().into_inner();
    let idle = connect(&daemon).await;
    ask(idle.clone(), &[("authorization", &by_gone)])
        .await
        .unwrap();
    let mut more = TcpStream::connect(daemon.tcp.unwrap()).await.unwrap();
    assert!(until_closed(&mut more).await.is_empty());

    let revoke = v1::RevokeTokenRequest {
        name: "gone".into(),
    };
    client.admin().revoke_token(revoke).await.unwrap();
    let new = connect(&daemon).await;
    ask(new.clone(), &[("authorization", &by_stays)])
        .await
        .unwrap();
    // The remaining ones are authorized; one of them has made only the earlier call.
    let mut more = TcpStream::connect(daemon.tcp.unwrap()).await.unwrap();
    assert!(until_closed(&mut more).await.is_empty());
    let mut memory = MemoryServiceClient::new(new);
    memory.ingest(with(stays, batch("news"))).await.unwrap();
    loop {
        let message = timeout(Duration::from_secs(20), changes.message()).await;
        if !message.unwrap().unwrap().unwrap().changes.is_empty() {
            break;
        }
    }
}

#[tokio::test]
async fn a_call_is_active_until_its_answer_is_read() {
    let (daemon, sockets) = sockets("[limits]\nrequests_in_flight = 1\n");
    for by in sockets {
        let mut reader = UnixStream::connect(&by.socket).await.unwrap();
        reader.write_all(PREFACE).await.unwrap();
        // Its windows are closed: nothing of the answer but its head can be sent.
        let closed = frame(4, 0, 0, &[0, 4, 0, 0, 0, 0]);
        reader.write_all(&closed).await.unwrap();
        reader.write_all(&frame(1, 4, 1, &by.head)).await.unwrap();
        reader.write_all(&frame(0, 1, 1, by.body)).await.unwrap();
        // Until the head of the answer is here.
        next(1, &mut reader).await;
        let client = daemon.client().await;
        let answer = ask(client.channel(), &[]).await;
        let words = &["requests_in_flight"];
        check_refused(answer, Code::ResourceExhausted, "LOAD", words);
        // Now it reads: the call ends, and there is room.
        let window = 1_000_000_u32.to_be_bytes();
        reader.write_all(&frame(8, 0, 1, &window)).await.unwrap();
        let served = async {
            while ask(client.channel(), &[]).await.is_err() {
                tokio::task::yield_now().await;
            }
        };
        let served = timeout(Duration::from_secs(20), served).await;
        served.unwrap_or_else(|_| panic!("{}: the call is still under way", by.protocol));
    }
}

#[tokio::test]
async fn control_frames_without_end_end_their_connection_with_goaway() {
    const GOAWAY: u8 = 7;
    const ENHANCE_YOUR_CALM: [u8; 4] = [0, 0, 0, 0xb];
    /// More than a connection may send at once, and by far more than it may for a second of this test.
    const FRAMES: usize = 100_000;
    let (_daemon, sockets) = sockets("");
    let floods = [
        ("PING", frame(6, 0, 0, b"12345678")),
        ("PING with ACK", frame(6, 1, 0, b"12345678")),
        ("SETTINGS", frame(4, 0, 0, &[])),
        ("PRIORITY", frame(2, 0, 1, &[0, 0, 0, 0, 7])),
        ("WINDOW_UPDATE", frame(8, 0, 0, &[0, 0, 0, 1])),
        ("an unknown frame", frame(0xfe, 0, 0, b"")),
    ];
    for (by, (name, flood)) in floods
        .iter()
        .flat_map(|flood| sockets.iter().map(move |by| (by, flood)))
    {
        let name = format!("{}: {name}", by.protocol);
        let stream = UnixStream::connect(&by.socket).await.unwrap();
        let (mut from, mut to) = stream.into_split();
        to.write_all(PREFACE).await.unwrap();
        to.write_all(SETTINGS).await.unwrap();
        let flood = flood.repeat(1_000);
        let writing = tokio::spawn(async move {
            for _ in 0..FRAMES / 1_000 {
                // The daemon closes the connection meanwhile.
                if to.write_all(&flood).await.is_err() {
                    return false;
                }
            }
            to.flush().await.is_ok()
        });
        let mut said = Vec::new();
        let reading = timeout(Duration::from_secs(20), from.read_to_end(&mut said)).await;
        // A reset after the last byte is an end, too.
        drop(reading.unwrap_or_else(|_| panic!("{name}: the connection stays open")));
        assert!(!writing.await.unwrap(), "{name}: all were taken");
        let mut rest = &said[..];
        let mut last = Vec::new();
        while let [a, b, c, kind, ..] = *rest {
            let bytes = 9 + u32::from_be_bytes([0, a, b, c]) as usize;
            last = vec![kind];
            last.extend(&rest[9..bytes]);
            rest = &rest[bytes..];
        }
        assert_eq!(last.first(), Some(&GOAWAY), "{name}");
        assert_eq!(last[5..9], ENHANCE_YOUR_CALM, "{name}");
    }
}
