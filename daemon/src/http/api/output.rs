//! What a handler answers.

use amem_proto::v1;
use axum::body::Bytes;
use hyper::StatusCode;
use hyper::header::{
    CACHE_CONTROL, CONTENT_ENCODING, CONTENT_TYPE, ETAG, HeaderMap, HeaderName, HeaderValue, VARY,
};
use serde_json::Value;

use super::body::waiting;
use super::coding::Coding;
use crate::calls::AnswerStream;
use crate::limits::HTTP_PACKED_BYTES_MIN;

/// The type of a stream of events.
pub(super) const EVENT_STREAM: &str = "text/event-stream";

/// The form of lists in an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ListForm {
    /// `{"results": […]}`.
    Object,
    /// `[…]` for mem0's earlier clients, unless they ask for pages or for `output_format` v1.1.
    BareForMem0,
}

/// An answer before it is sent.
#[derive(Debug)]
pub(super) struct Output {
    pub(super) status: StatusCode,
    pub(super) headers: HeaderMap,
    pub(super) body: OutputBody,
}

/// The body of an answer.
#[derive(Debug)]
pub(super) enum OutputBody {
    Whole(Bytes),
    /// The messages of a subscription, as server-sent events.
    Events(AnswerStream<v1::SubscribeResponse>),
}

impl Output {
    /// JSON.
    pub(super) fn json(status: StatusCode, value: &Value) -> Self {
        Self {
            status,
            ..Self::json_bytes(value.to_string().into_bytes())
        }
    }

    /// JSON that is text already.
    pub(super) fn json_bytes(body: Vec<u8>) -> Self {
        Self::of_type("application/json", body)
    }

    /// A page of text.
    pub(super) fn text(status: StatusCode, content_type: &'static str, text: String) -> Self {
        Self {
            status,
            ..Self::of_type(content_type, text.into_bytes())
        }
    }

    /// No body.
    pub(super) fn empty(status: StatusCode) -> Self {
        Self {
            status,
            headers: HeaderMap::new(),
            body: OutputBody::Whole(Bytes::new()),
        }
    }

    /// Events, as they come.
    pub(super) fn events(messages: AnswerStream<v1::SubscribeResponse>) -> Self {
        let content_type = HeaderValue::from_static(EVENT_STREAM);
        let no_store = HeaderValue::from_static("no-store");
        Self {
            status: StatusCode::OK,
            headers: [(CONTENT_TYPE, content_type), (CACHE_CONTROL, no_store)]
                .into_iter()
                .collect(),
            body: OutputBody::Events(messages),
        }
    }

    fn of_type(content_type: &'static str, body: Vec<u8>) -> Self {
        let content_type = HeaderValue::from_static(content_type);
        Self {
            status: StatusCode::OK,
            headers: [(CONTENT_TYPE, content_type)].into_iter().collect(),
            body: OutputBody::Whole(body.into()),
        }
    }

    /// The answer in the coding that its caller prefers, if it is long. One with a tag stays as it is: a tag is that of
    /// the same bytes each time.
    pub(super) async fn packed(mut self, asked: &HeaderMap) -> Self {
        let OutputBody::Whole(bytes) = &mut self.body else {
            return self;
        };
        if bytes.len() < HTTP_PACKED_BYTES_MIN || self.headers.contains_key(ETAG) {
            return self;
        }
        let vary = HeaderValue::from_static("accept-encoding");
        self.headers.append(VARY, vary);
        let Some(coding) = Coding::accepted(asked) else {
            return self;
        };
        let whole = bytes.clone();
        match waiting(move || coding.pack(&whole)).await {
            Ok(Ok(packed)) if packed.len() < bytes.len() => {
                *bytes = packed.into();
                self.headers.insert(CONTENT_ENCODING, coding.name());
            }
            Ok(Ok(_)) => {}
            Ok(Err(why)) => tracing::warn!(%why, "an answer is sent as it is"),
            Err(why) => tracing::warn!(why = &*why.message, "an answer is sent as it is"),
        }
        self
    }

    /// The same with a header.
    pub(super) fn with(mut self, name: &'static str, value: &'static str) -> Self {
        let name = HeaderName::from_static(name);
        self.headers.insert(name, HeaderValue::from_static(value));
        self
    }
}

impl From<Value> for Output {
    fn from(value: Value) -> Self {
        Self::json(StatusCode::OK, &value)
    }
}
