//! The bodies of requests: read whole, checked and unpacked.
//!
//! Promises: a request that is too large, packed or not, of another type, or cut off is refused. Not here: how long a
//! body may take, and what counts its bytes (`gateway`), what is in it (`json`), how it is packed (`coding`).

use std::future::poll_fn;
use std::pin::Pin;
use std::sync::LazyLock;

use amem_engine::tasks::{AnyAnswer, AnyWork, typed, untyped};
use amem_proto::answer::Code;
use axum::body::{Body, HttpBody};
use hyper::HeaderMap;
use hyper::header::{CONTENT_LENGTH, CONTENT_TYPE};
use tokio::sync::Semaphore;

use super::coding::{Coding, too_large};
use crate::gateway::refusal_in;
use crate::ingress::load::HeldBytes;
use crate::limits::HTTP_BODY_BYTES_MAX;
use crate::refusal::{Refusal, Result};

/// Reads the body of a request.
pub(super) async fn receive(
    headers: &HeaderMap,
    mut body: Body,
    held: &HeldBytes,
) -> Result<Vec<u8>> {
    let bytes_max = HTTP_BODY_BYTES_MAX as u64;
    if announced(headers).is_some_and(|bytes| bytes > bytes_max) {
        return Err(too_large(bytes_max));
    }
    let coding = Coding::of_body(headers)?;
    let mut bytes = Vec::new();
    while let Some(frame) = poll_fn(|cx| Pin::new(&mut body).poll_frame(cx)).await {
        let frame = frame.map_err(|why| {
            let refused = refusal_in(&why).cloned();
            refused.unwrap_or_else(|| {
                let message = format!("the body is incomplete ({why}): send all of it");
                Refusal::new(Code::InvalidArgument, "BODY", message)
            })
        })?;
        if let Ok(part) = frame.into_data() {
            bytes.extend_from_slice(&part);
        }
    }
    if bytes.is_empty() {
        return Ok(bytes);
    }
    check_type(headers)?;
    match coding {
        None => Ok(bytes),
        Some(coding) => unpacked(coding, bytes, bytes_max, held).await,
    }
}

/// The bytes of a packed body. While it is unpacked, it counts as a whole body beside itself.
async fn unpacked(
    coding: Coding,
    packed: Vec<u8>,
    bytes_max: u64,
    held: &HeldBytes,
) -> Result<Vec<u8>> {
    held.hold(packed.len() as u64 + bytes_max)?;
    let bytes = waiting(move || coding.unpack(&packed, bytes_max)).await??;
    held.hold(bytes.len() as u64)?;
    Ok(bytes)
}

/// Bodies that are packed, unpacked or read at a time: half of the processors, so that callers with many large bodies
/// leave the other half to those with small ones.
static LARGE_BODIES: LazyLock<Semaphore> = LazyLock::new(|| {
    let cpus = std::thread::available_parallelism().map_or(1, usize::from);
    Semaphore::new((cpus / 2).max(1))
});

/// Runs work on a large body on a thread that may wait, in its turn.
pub(super) fn waiting<T: Send + 'static>(
    work: impl FnOnce() -> T + Send + 'static,
) -> impl Future<Output = Result<T>> + Send {
    let work = untyped(work);
    async move { Ok(typed(waiting_untyped(work).await?)?) }
}

async fn waiting_untyped(work: AnyWork) -> Result<AnyAnswer> {
    let turn = LARGE_BODIES.acquire().await;
    let _turn = turn.map_err(|why| Refusal::internal(format!("no body is read: {why}")))?;
    let done = tokio::task::spawn_blocking(work).await;
    done.map_err(|why| Refusal::internal(format!("a body was not read or made: {why}")))
}

fn announced(headers: &HeaderMap) -> Option<u64> {
    headers.get(CONTENT_LENGTH)?.to_str().ok()?.parse().ok()
}

/// A body is JSON, in UTF-8. Browsers send bodies of some other types to foreign hosts without asking them.
fn check_type(headers: &HeaderMap) -> Result<()> {
    let refused = |found: &str| {
        let message = format!("the content type of the body is {found}: send application/json");
        Refusal::new(Code::InvalidArgument, "MEDIA_TYPE", message)
    };
    let Some(value) = headers.get(CONTENT_TYPE) else {
        return Err(refused("not set"));
    };
    let text = value.to_str().map_err(|_| refused("not text"))?;
    let mut parts = text.split(';').map(str::trim);
    let is_json = parts
        .next()
        .is_some_and(|kind| kind.eq_ignore_ascii_case("application/json"));
    let is_utf8 = parts.all(|parameter| {
        let charset = parameter.split_once('=');
        charset.is_none_or(|(name, value)| {
            !name.eq_ignore_ascii_case("charset")
                || value.trim_matches('"').eq_ignore_ascii_case("utf-8")
        })
    });
    if is_json && is_utf8 {
        return Ok(());
    }
    Err(refused(&format!("{text:?}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_body_is_json_in_utf_8() {
        for (value, good) in [
            (Some("application/json"), true),
            (Some("Application/JSON; charset=UTF-8"), true),
            (Some("application/json;charset=\"utf-8\""), true),
            (Some("application/json; charset=latin1"), false),
            (Some("text/plain"), false),
            (Some("application/x-www-form-urlencoded"), false),
            (None, false),
        ] {
            let headers = value.map(|value| (CONTENT_TYPE, value.parse().unwrap()));
            let checked = check_type(&headers.into_iter().collect());
            assert_eq!(checked.is_ok(), good, "{value:?}");
        }
    }
}
