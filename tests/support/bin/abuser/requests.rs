//! Requests by HTTP/1 that take much and give little.

use std::io;
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::{sleep, timeout};

use crate::{AGAIN_AFTER, Abuser};

/// The kinds that go on together.
const KINDS: [&str; 6] = [
    "http-slow",
    "http-unread",
    "http-packed",
    "http-heads",
    "http-pairs",
    "http-deep",
];

/// Requests on a connection whose answers are not read.
const UNREAD_REQUESTS: usize = 24;
/// Bytes of a packed body; each four of them are 128 KiB.
const PACKED_BYTES: usize = 256 << 10;

/// Goes on until the process ends.
pub(crate) async fn again_and_again(abuser: &Abuser, kind: &str, number: usize) {
    let kind = match kind {
        "http" => KINDS[number % KINDS.len()],
        kind => kind,
    };
    let token = match std::fs::read_to_string(&abuser.brain) {
        Ok(token) => token,
        Err(why) => return eprintln!("{}: {why}", abuser.brain),
    };
    loop {
        if let Ok(stream) = TcpStream::connect(&abuser.socket).await {
            let sums = &abuser.sums;
            sums.connections.set(sums.connections.get() + 1);
            // A connection that is closed is what is wanted; then comes the next.
            drop(one(abuser, kind, token.trim(), stream).await);
        }
        sleep(AGAIN_AFTER).await;
    }
}

/// The head of a request with more headers.
fn head(abuser: &Abuser, token: &str, target: &str, headers: &str) -> String {
    let host = &abuser.socket;
    format!(
        "{target} HTTP/1.1\r\nhost: {host}\r\nauthorization: Bearer {token}\r\n\
         content-type: application/json\r\n{headers}\r\n"
    )
}

async fn one(abuser: &Abuser, kind: &str, token: &str, mut stream: TcpStream) -> io::Result<()> {
    let add = |headers: &str| head(abuser, token, "POST /v1/memories/", headers);
    match kind {
        "http-slow" => {
            let head = add("content-length: 100000\r\n");
            stream.write_all(head.as_bytes()).await?;
            loop {
                stream.write_all(b" ").await?;
                abuser.sums.sent(1);
                sleep(Duration::from_millis(200)).await;
            }
        }
        "http-unread" => {
            let ids: Vec<_> = (0..1000).map(|id| id.to_string()).collect();
            let body = format!("{{\"eventIds\":[{}]}}", ids.join(","));
            let length = format!("content-length: {}\r\n", body.len());
            let get = head(abuser, token, "POST /v1/brains/b/get-events", &length) + &body;
            for _ in 0..UNREAD_REQUESTS {
                stream.write_all(get.as_bytes()).await?;
                abuser.sums.sent(1);
            }
            let follow = head(abuser, token, "GET /v1/brains/b/subscribe?after=0", "");
            stream.write_all(follow.as_bytes()).await?;
            std::future::pending().await
        }
        "http-packed" => {
            let body = packed();
            let headers = format!(
                "content-encoding: zstd\r\ncontent-length: {}\r\n",
                body.len()
            );
            loop {
                stream.write_all(add(&headers).as_bytes()).await?;
                stream.write_all(&body).await?;
                abuser.sums.sent(1);
                listen(&mut stream).await?;
                sleep(AGAIN_AFTER).await;
            }
        }
        "http-heads" => {
            stream.write_all(b"GET / HTTP/1.1\r\n").await?;
            for n in 0..10_000 {
                let line = format!("x-{n}: {}\r\n", "y".repeat(200));
                stream.write_all(line.as_bytes()).await?;
                abuser.sums.sent(1);
            }
            listen(&mut stream).await
        }
        "http-pairs" => {
            let request =
                add("content-length: 5\r\ntransfer-encoding: chunked\r\n") + "0\r\n\r\nGET /";
            stream.write_all(request.as_bytes()).await?;
            abuser.sums.sent(1);
            listen(&mut stream).await
        }
        _ => {
            let body = "[".repeat(1 << 20);
            let request = add(&format!("content-length: {}\r\n", body.len())) + &body;
            stream.write_all(request.as_bytes()).await?;
            abuser.sums.sent(1);
            listen(&mut stream).await
        }
    }
}

/// Reads for a moment; an error at the end of the connection.
async fn listen(stream: &mut TcpStream) -> io::Result<()> {
    let mut heard = vec![0; 16 << 10];
    match timeout(Duration::from_secs(1), stream.read(&mut heard)).await {
        Ok(Ok(1..)) | Err(_) => Ok(()),
        Ok(Ok(0)) => Err(io::ErrorKind::UnexpectedEof.into()),
        Ok(Err(why)) => Err(why),
    }
}

/// A frame of zstd: a head for a window of 128 KiB, then blocks that repeat a space as often as one may.
fn packed() -> Vec<u8> {
    let mut frame = vec![0x28, 0xB5, 0x2F, 0xFD, 0x00, 0x38];
    while frame.len() < PACKED_BYTES {
        frame.extend([0x02, 0x00, 0x10, b' ']);
    }
    // The last one has a byte.
    frame.extend([0x0B, 0x00, 0x00, b' ']);
    frame
}
