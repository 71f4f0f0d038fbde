//! The calls of amem.v1 over HTTP and JSON: everything that gRPC has and that is no stream, and subscriptions as
//! server-sent events.
//!
//! `table` makes a route of each call from the list that the build makes of the `.proto` files; `message` translates
//! between JSON and messages by their descriptors. A new call, or a new field, is here by itself.
//! Promises: canonical JSON of protobuf; a request is read strictly; role, scope, quota, deadline and latency are those
//! of the call. Not here: what a call does (`calls`), streams of requests, files.

mod message;

mod request;

mod brains;
mod subscribe;
mod table;

mod events;

pub(super) use events::{EventBody, failure_event, part_kind};
pub(super) use table::ROUTES;
