//! Outgoing HTTP: one client for models, webhooks and what comes.
//!
//! ```
//! use amem_outbound::{BaseUrl, FrameReader, FrameSyntax, ProxyRules};
//!
//! let url = BaseUrl::parse("https://openrouter.ai/api/v1/")?;
//! assert_eq!((url.target.host.as_str(), url.target.port), ("openrouter.ai", 443));
//!
//! let rules = ProxyRules::new("http://proxy.example:3128", &|_| None)?;
//! assert_eq!(rules.to(&url.target).map(|proxy| proxy.port), Some(3128));
//!
//! let mut frames = FrameReader::new(FrameSyntax::Events);
//! assert_eq!(frames.feed(b"data: one\n\ndata: tw"), ["one"]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! A connection goes to an address that its caller judged (`AddressJudge`), through a proxy if the rules name one, with
//! TLS if the URL says so; hyper-util's client keeps connections for later requests.
//!
//! Promises: a name is looked up once for each connection, and the address that was judged is the one that is called;
//! a redirect is an answer like any other, so no key follows it; errors repeat no user and no password of a proxy.
//! Not here: which hosts may be called, what is sent, how long an answer may take.

#![forbid(unsafe_code)]

pub mod limits;

mod address;
mod frames;
mod target;
mod tls;

mod base_url;
mod proxy;

mod connector;

mod client;

pub use address::{AddressKind, address_kind, is_loopback_name};
pub use base_url::BaseUrl;
pub use client::{BodyReader, HttpAnswer, HttpClient, HttpSetup};
pub use connector::{AddressJudge, ConnectFailure, Connector, Transport};
pub use frames::{FrameReader, FrameSyntax};
pub use proxy::{ProxyAddress, ProxyRules};
pub use target::ConnectTarget;
pub use tls::tls_connector;
