//! Metrics, health and the description of all routes, and the answers to what does not exist.

use std::sync::Arc;

use amem_proto::answer::Code;
use hyper::StatusCode;

use super::call::RestCall;
use super::output::Output;
use crate::http::pages;
use crate::refusal::{Refusal, Result};

const METRICS_TYPE: &str = "text/plain; version=0.0.4; charset=utf-8";
const TEXT_TYPE: &str = "text/plain; charset=utf-8";

pub(super) async fn metrics(call: &mut RestCall) -> Result<Output> {
    // The collection must not hold the folder of the brains when the daemon stops.
    let site = Arc::downgrade(&call.site);
    let gather = async move {
        let site = site.upgrade();
        let site = site.ok_or_else(|| Refusal::internal("the daemon has stopped"))?;
        pages::metrics(&site.sources).await
    };
    let page = call.site.metrics.page(gather).await?;
    Ok(Output::text(StatusCode::OK, METRICS_TYPE, page.to_string()))
}

pub(super) async fn alive(_: &mut RestCall) -> Result<Output> {
    Ok(Output::text(StatusCode::OK, TEXT_TYPE, "alive\n".into()))
}

pub(super) async fn ready(call: &mut RestCall) -> Result<Output> {
    let (is_ready, page) = pages::ready(&call.site.sources);
    let status = if is_ready {
        StatusCode::OK
    } else {
        StatusCode::SERVICE_UNAVAILABLE
    };
    Ok(Output::text(status, TEXT_TYPE, page))
}

/// The description of all routes, for programs.
pub(super) async fn openapi(call: &mut RestCall) -> Result<Output> {
    let text = (call.site.description.document)().to_owned();
    Ok(Output::text(StatusCode::OK, "application/json", text))
}

/// The description of all routes, for people.
pub(super) async fn docs(call: &mut RestCall) -> Result<Output> {
    let page = (call.site.description.page)().to_owned();
    let output = Output::text(StatusCode::OK, "text/html; charset=utf-8", page);
    Ok(output.with(
        "content-security-policy",
        // The page has its style in itself, and nothing else.
        concat!("default-src 'none'; style-src 'un", "safe-inline'"),
    ))
}

pub(super) async fn no_path(_: &mut RestCall) -> Result<Output> {
    let message = "there is no such path here: GET /docs lists all";
    Err(Refusal::new(Code::NotFound, "UNKNOWN_PATH", message))
}

pub(super) async fn no_method(_: &mut RestCall) -> Result<Output> {
    let message = "the path has other methods: the header Allow names them";
    Err(Refusal::new(Code::Unimplemented, "METHOD", message))
}
