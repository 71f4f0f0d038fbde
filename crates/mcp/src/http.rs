//! Streamable HTTP: how the server is configured behind it, the same in the daemon and in the tests of conformance.
//!
//! Not here: the connection, tokens, and which hosts and origins are let in.

use rmcp::transport::streamable_http_server::StreamableHttpServerConfig;

/// Each request by itself, without sessions; answers in JSON; bodies of at most `body_bytes_max`.
#[must_use]
pub fn http_config(body_bytes_max: usize) -> StreamableHttpServerConfig {
    StreamableHttpServerConfig::default()
        .with_legacy_session_mode(false)
        .with_json_response(true)
        .with_max_request_body_bytes(body_bytes_max)
}
