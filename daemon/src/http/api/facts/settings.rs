//! What clients ask about the server: who they are, and settings. amemd keeps no settings for HTTP clients, and says
//! so.

use amem_proto::answer::Code;
use serde_json::{Value, json};

use super::super::call::RestCall;
use super::super::output::Output;
use crate::refusal::{Refusal, Result};

/// The organisation and the project of every caller: amemd has brains and scopes instead.
const ORGANISATION: &str = "local";
pub(super) const PROJECT: &str = "default";

/// The constructor of mem0's clients asks this.
pub(in super::super) async fn ping(_: &mut RestCall) -> Result<Output> {
    Ok(json!({
        "status": "ok",
        "org_id": ORGANISATION,
        "project_id": PROJECT,
        "user_email": null,
    })
    .into())
}

/// A project without settings.
pub(in super::super) async fn project(call: &mut RestCall) -> Result<Output> {
    let known = [
        "custom_instructions",
        "custom_categories",
        "memory_depth",
        "usecase_setting",
        "retrieval_criteria",
    ];
    let fields = call.options.names("fields")?;
    let asked = |name: &str| fields.is_empty() || fields.iter().any(|field| field == name);
    let mut settings = json!({"id": PROJECT, "org_id": ORGANISATION, "name": PROJECT});
    for name in known.into_iter().filter(|name| asked(name)) {
        settings[name] = Value::Null;
    }
    Ok(settings.into())
}

/// Settings that nothing would follow are not accepted.
pub(in super::super) async fn not_kept(_: &mut RestCall) -> Result<Output> {
    let message = "amemd keeps no projects, members or settings for HTTP clients, so this does nothing: send options with each request, and \
                   set amemd's own in its configuration file";
    Err(Refusal::new(Code::Unimplemented, "NOT_KEPT", message))
}

/// What answers requests, in mem0's words.
pub(in super::super) async fn configuration(call: &mut RestCall) -> Result<Output> {
    Ok(json!({
        "version": "v1.1",
        "vector_store": {"provider": "amemd", "config": {"collection_name": call.brain}},
        "llm": null,
        "graph_store": null,
        "reranker": null,
    })
    .into())
}

pub(in super::super) async fn no_profiles(_: &mut RestCall) -> Result<Output> {
    let message =
        "amemd writes no summaries and no profiles of users: list or search their memories";
    Err(Refusal::new(Code::Unimplemented, "NO_PROFILES", message))
}
