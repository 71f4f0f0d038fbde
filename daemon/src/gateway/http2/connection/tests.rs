//! A Unix client's bytes on their way to the server.

use std::sync::Arc;
use std::time::Duration;

use super::*;
use crate::config::Limits;
use crate::control::LiveConfig;
use crate::ingress::Peer;
use crate::ingress::connection_limit::ConnectionLimit;
use crate::ingress::session::{CallerIdentity, SessionState};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::UnixStream;

/// A connection, its state, and the client's end of it.
fn connection(first_call_after: Duration) -> (Http2Stream, Arc<SessionState>, UnixStream) {
    let (ours, theirs) = UnixStream::pair().unwrap();
    let peer = Peer::Unix { uid: 1, gid: 1 };
    let live = LiveConfig::with(Limits::default());
    let slot = ConnectionLimit::default().acquire(peer.key(), &live);
    let slot = slot.unwrap();
    let session = slot.session();
    let guard = ConnectionGuard::new(peer.key(), slot, first_call_after);
    let connection = Http2Stream::new(PeerStream::Unix(ours), guard);
    (connection, session, theirs)
}

#[tokio::test]
async fn headers_that_grow_arrive_whole_and_little_is_held_ahead() {
    let (mut connection, _, mut client) = connection(Duration::from_secs(60));
    let frame = |payload: &[u8]| {
        let [_, a, b, c] = (payload.len() as u32).to_be_bytes();
        [&[a, b, c, 1, 4, 0, 0, 0, 1][..], payload].concat()
    };
    let mut input = frame(&[&[0x40, 1, b'x', 0x7f, 0xa1, 0x1e][..], &[b'v'; 4000]].concat());
    let blocks = 1500;
    for _ in 0..blocks {
        input.extend(frame(&[0xbe]));
    }
    let writing = tokio::spawn(async move {
        client.write_all(&input).await.unwrap();
    });
    let mut said = Vec::new();
    let mut part = [0; 8192];
    loop {
        let bytes = connection.read(&mut part).await.unwrap();
        if bytes == 0 {
            break;
        }
        said.extend_from_slice(&part[..bytes]);
        let held = connection.ahead.bytes.capacity();
        assert!(held <= 4 * AHEAD_BYTES, "{held} bytes are held");
    }
    writing.await.unwrap();
    let values = said.iter().filter(|byte| **byte == b'v').count();
    assert_eq!(values, (blocks + 1) * 4000);
}

/// Accepted until this change.
#[derive(Debug)]
struct Until(u64);

impl CallerIdentity for Until {
    fn is_accepted(&self, live: &LiveConfig) -> bool {
        live.change < self.0
    }
}

#[tokio::test]
async fn a_connection_of_which_no_call_is_accepted_is_closed_and_another_is_not() {
    let (mut stranger, _, _client) = connection(Duration::from_millis(20));
    let mut said = vec![0; PREFACE.len()];
    stranger.read_exact(&mut said).await.unwrap();
    let error = stranger.read(&mut said).await.unwrap_err();
    assert_eq!(error.kind(), io::ErrorKind::TimedOut);

    let (mut known, session, mut client) = connection(Duration::from_millis(20));
    let live = LiveConfig::with(Limits::default());
    session.authorize(&live, || Box::new(Until(u64::MAX)));
    known.read_exact(&mut said).await.unwrap();
    tokio::time::sleep(Duration::from_millis(40)).await;
    client
        .write_all(&[0, 0, 0, 4, 0, 0, 0, 0, 0])
        .await
        .unwrap();
    assert_eq!(known.read(&mut said).await.unwrap(), 9);
}

#[tokio::test]
async fn a_connection_whose_caller_is_accepted_no_more_is_closed_when_its_place_is_needed() {
    let mut live = LiveConfig::with(Limits {
        connections_per_user: 1,
        ..Limits::default()
    });
    let (ours, _theirs) = UnixStream::pair().unwrap();
    let peer = Peer::Unix { uid: 1, gid: 1 };
    let (limit, key) = (ConnectionLimit::default(), peer.key());
    let slot = limit.acquire(key.clone(), &live).unwrap();
    let session = slot.session();
    let guard = ConnectionGuard::new(peer.key(), slot, Duration::from_secs(60));
    let mut connection = Http2Stream::new(PeerStream::Unix(ours), guard);
    session.authorize(&live, || Box::new(Until(2)));
    let mut said = vec![0; PREFACE.len()];
    connection.read_exact(&mut said).await.unwrap();
    let reading = tokio::spawn(async move { connection.read(&mut said).await });
    tokio::task::yield_now().await;
    limit.acquire(key.clone(), &live).unwrap_err();
    live.change = 2;
    let _slot = limit.acquire(key, &live).unwrap();
    let closed = tokio::time::timeout(Duration::from_secs(20), reading).await;
    let error = closed.expect("it stays open").unwrap().unwrap_err();
    assert_eq!(error.kind(), io::ErrorKind::TimedOut);
}
