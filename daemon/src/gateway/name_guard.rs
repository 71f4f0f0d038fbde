//! The name of a call in the log and in its answer: the caller's `x-request-id`, or a new one.

use std::time::Instant;

use amem_proto::ids::new_id;
use axum::body::Body;
use hyper::Request;
use hyper::http::{HeaderMap, HeaderName, HeaderValue};
use tracing::Instrument;

use super::encoding::Encoding;
use super::guard::{AnswerFuture, Guard, InnerCall};
use crate::limits::REQUEST_NAME_BYTES_MAX;

/// The header with the name.
const REQUEST_NAME: HeaderName = HeaderName::from_static("x-request-id");

/// The guard: it stands around all others.
#[derive(Debug, Clone, Copy)]
pub(crate) struct NameGuard(pub(crate) &'static dyn Encoding);

impl Guard for NameGuard {
    fn answer(&self, request: Request<Body>, inner: InnerCall) -> AnswerFuture {
        let Self(encoding) = *self;
        let name = request_name(request.headers());
        let (head, body) = request.into_parts();
        // Admission records the principal.
        let span = encoding.span(&head, name.to_str().unwrap_or_default());
        let request = Request::from_parts(head, body);
        let began = Instant::now();
        let answered = async move {
            let mut answer = inner(request).await;
            let status = answer.status().as_u16();
            let failure = encoding.failure(answer.headers(), answer.extensions());
            let reason = failure.as_deref().unwrap_or("OK");
            tracing::debug!(status, reason, took = ?began.elapsed(), "answered");
            answer.headers_mut().insert(REQUEST_NAME, name);
            answer
        };
        Box::pin(answered.instrument(span))
    }
}

/// The caller's name if it is short and printable, else a new one.
fn request_name(headers: &HeaderMap) -> HeaderValue {
    let is_valid = |value: &&HeaderValue| {
        let bytes = value.as_bytes();
        let good = |byte: &u8| byte.is_ascii_alphanumeric() || b"-_.:/+=".contains(byte);
        (1..=REQUEST_NAME_BYTES_MAX).contains(&bytes.len()) && bytes.iter().all(good)
    };
    let mut given = headers.get_all(REQUEST_NAME).iter();
    match (given.next().filter(is_valid), given.next()) {
        (Some(name), None) => name.clone(),
        _ => {
            let fresh = new_id().simple().to_string();
            HeaderValue::try_from(fresh).unwrap_or(HeaderValue::from_static("none"))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::convert::Infallible;
    use std::sync::{Arc, Mutex};

    use hyper::Response;
    use tower::Service;

    use crate::gateway::encoding::tests::ENCODINGS;
    use crate::gateway::guarded;

    /// The lines of a log.
    #[derive(Debug, Clone, Default)]
    struct Lines(Arc<Mutex<Vec<u8>>>);

    impl std::io::Write for Lines {
        fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
            self.0.lock().unwrap().extend_from_slice(bytes);
            Ok(bytes.len())
        }

        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }

    #[tokio::test]
    async fn a_line_has_the_name_of_its_call_whatever_the_filter_and_wherever_it_is_written() {
        let lines = Lines::default();
        let to = lines.clone();
        let log = tracing_subscriber::fmt()
            .json()
            .with_env_filter("warn")
            .with_writer(move || to.clone());
        let _logging = tracing::subscriber::set_default(log.finish());
        let service = tower::service_fn(|_: Request<Body>| async {
            tracing::warn!("in the call");
            let beside = async {
                tracing::warn!("beside it");
                Ok(())
            };
            crate::brains::to_its_end(beside).await.unwrap();
            Ok::<_, Infallible>(Response::new(Body::empty()))
        });
        let request = Request::builder()
            .uri("/a/b")
            .header(REQUEST_NAME, "turn-7");
        let request = request.body(Body::empty()).unwrap();
        let mut service = guarded(NameGuard(ENCODINGS[0]), service);
        service.call(request).await.unwrap();
        let told = String::from_utf8(lines.0.lock().unwrap().clone()).unwrap();
        let told: Vec<serde_json::Value> = told
            .lines()
            .map(|line| serde_json::from_str(line).unwrap())
            .collect();
        assert_eq!(told.len(), 2, "{told:?}");
        for line in told {
            assert_eq!(line["span"]["request_id"], "turn-7", "{line}");
            assert_eq!(line["span"]["method"], "/a/b", "{line}");
        }
    }

    #[tokio::test]
    async fn a_sane_name_is_given_back_and_any_other_is_replaced() {
        let service = tower::service_fn(|_: Request<Body>| async {
            Ok::<_, Infallible>(Response::new(Body::empty()))
        });
        let long = "x".repeat(65);
        for (names, kept) in [
            (vec!["turn-7/step_2"], true),
            (vec![], false),
            (vec![""], false),
            (vec!["two words"], false),
            (vec!["one", "two"], false),
            (vec![&long[..]], false),
            (vec![&long[1..]], true),
        ] {
            let mut request = Request::builder().uri("/a/b");
            for name in &names {
                request = request.header(REQUEST_NAME, *name);
            }
            let request = request.body(()).unwrap();
            for encoding in ENCODINGS {
                let request = request.clone().map(|()| Body::empty());
                let mut service = guarded(NameGuard(encoding), service);
                let answer = service.call(request).await.unwrap();
                let name = answer.headers()[REQUEST_NAME].to_str().unwrap();
                assert_eq!(names.first() == Some(&name), kept, "{names:?}: {name}");
                assert!(kept || name.len() == 32, "{name}");
            }
        }
    }
}
