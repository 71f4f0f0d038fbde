//! What a handler answers.

use hyper::StatusCode;
use hyper::header::{CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue};
use serde_json::Value;

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
    pub(super) body: Vec<u8>,
}

impl Output {
    /// JSON.
    pub(super) fn json(status: StatusCode, value: &Value) -> Self {
        let json = HeaderValue::from_static("application/json");
        Self {
            status,
            headers: [(CONTENT_TYPE, json)].into_iter().collect(),
            body: value.to_string().into_bytes(),
        }
    }

    /// A page of text.
    pub(super) fn text(status: StatusCode, content_type: &'static str, text: String) -> Self {
        let content_type = HeaderValue::from_static(content_type);
        Self {
            status,
            headers: [(CONTENT_TYPE, content_type)].into_iter().collect(),
            body: text.into_bytes(),
        }
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
