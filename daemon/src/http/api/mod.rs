//! REST: fact memory over HTTP and JSON, for the specification's clients and for those of mem0 (`facts`); and the calls
//! of amem.v1 with the JSON of their messages (`rpc`).
//!
//! A request has its row in `routes`, passes the guards of `gateway` with `head_guard` among them, and comes to
//! `serve`: its body and options, and the row's handler. Handlers (`facts`) make messages of `amem_proto` and call
//! `Gateway::fact_as`, as gRPC does, so that scopes of tokens, roles and limits hold.
//!
//! Promises: one identity, one connection limit, one quota and one table of rates with gRPC; every answer is typed; no
//! secret and no value of a header is logged. Not here: metrics without authentication (`http::server`).

mod json;
mod options;

mod coding;
mod cors;
mod errors;

mod body;

mod output;

mod conditions;

mod background;
mod recent;

mod call;
mod route;

mod facts;
mod mcp;

mod hooks;
mod openapi;
mod pages;
mod rpc;
mod store;

mod encoding;
mod head_guard;
mod serve;

mod routes;

mod service;

pub(crate) use encoding::Rest;
pub(crate) use openapi::description;
pub(crate) use service::router;
