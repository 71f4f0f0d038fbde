//! Exports: the memories of a scope at once.
//!
//! Creating one remembers whose memories it is of; getting it reads them at that moment. Without a model no schema is
//! filled in: the memories come as they are, and `schema` is named among the ignored options.

use amem_proto::answer::Code;
use amem_proto::v1;
use serde_json::json;
use uuid::Uuid;

use super::super::call::RestCall;
use super::super::output::Output;
use super::super::recent::CreatedExport;
use super::list::first;
use super::shapes::memories;
use crate::limits::{HTTP_EXPORT_FILTERS_BYTES_MAX, HTTP_LISTED_MAX};
use crate::refusal::{Refusal, Result};

pub(in super::super) async fn create(call: &mut RestCall) -> Result<Output> {
    let export = CreatedExport {
        id: Uuid::new_v4().to_string(),
        scope: call.options.scope()?,
        filters: call.options.filters()?,
    };
    if export.filters.len() > HTTP_EXPORT_FILTERS_BYTES_MAX {
        let why =
            format!("more than {HTTP_EXPORT_FILTERS_BYTES_MAX} bytes, the limit of an export");
        return Err(Refusal::invalid("filters", why));
    }
    // What cannot be exported is refused now.
    let request = v1::ListFactsRequest {
        page_size: 1,
        ..request(call, &export)
    };
    call.fact(request).await?;
    let id = export.id.clone();
    call.site
        .exports
        .add(&call.caller.principal, &call.brain, export);
    let message =
        "Memory export request received. Get it by its id: it has the memories of that moment.";
    Ok(json!({"message": message, "id": id}).into())
}

pub(in super::super) async fn get(call: &mut RestCall) -> Result<Output> {
    let id = call.options.text_of(&["memory_export_id", "id"])?;
    let (scope, filters) = (call.options.scope()?, call.options.filters()?);
    let export = match id {
        None => CreatedExport {
            id: String::new(),
            scope,
            filters,
        },
        Some(id) => {
            let found = call
                .site
                .exports
                .find(&call.caller.principal, &call.brain, &id);
            found.ok_or_else(|| {
                let message =
                    format!("there is no export {id}: create it again, or send its filters");
                Refusal::new(Code::NotFound, "UNKNOWN_EXPORT", message)
            })?
        }
    };
    let request = request(call, &export);
    let (facts, has_more) = first(call, request, HTTP_LISTED_MAX).await?;
    if has_more {
        let message = format!(
            "the export has more than {HTTP_LISTED_MAX} memories, the limit by HTTP: use `amemctl fact export`, or a filter"
        );
        return Err(Refusal::new(Code::InvalidArgument, "ANSWER_SIZE", message));
    }
    Ok(json!({"count": facts.len(), "results": memories(&facts)?}).into())
}

fn request(call: &RestCall, export: &CreatedExport) -> v1::ListFactsRequest {
    v1::ListFactsRequest {
        brain: call.brain.clone(),
        scope: export.scope.clone(),
        filter_json: export.filters.clone(),
        ..v1::ListFactsRequest::default()
    }
}
