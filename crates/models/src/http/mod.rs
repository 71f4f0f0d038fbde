//! One request over HTTP/1.1: address, proxy, TLS, connection, answer.

mod address;
mod base_url;
mod connection;
mod exchange;
mod frames;
mod pool;
mod proxy;
mod tls;

pub(crate) use base_url::BaseUrl;
pub(crate) use exchange::{HttpAnswer, HttpClient, HttpSetup, too_long};
pub(crate) use frames::{FrameReader, FrameSyntax};
pub(crate) use proxy::ProxyRules;
