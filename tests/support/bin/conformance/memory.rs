//! A memory in which nothing is known: the suite asks how requests are answered, not what is remembered.

use amem_mcp::rmcp::model::Extensions;
use amem_mcp::{CallResult, MemoryCalls, MemoryPlace, MemorySource, OpenMemory};
use amem_proto::v1;
use jiff::tz::TimeZone;

/// Opens the empty memory.
#[derive(Debug, Clone, Copy)]
pub(crate) struct NoMemory;

impl MemorySource for NoMemory {
    type Calls = Self;

    async fn open(&self, _extensions: &Extensions) -> Result<OpenMemory<Self>, String> {
        let place = MemoryPlace {
            brain: String::new(),
            project: None,
            user: "suite".to_owned(),
            zone: TimeZone::UTC,
            naming: None,
            notice: None,
        };
        Ok(OpenMemory { calls: Self, place })
    }
}

macro_rules! nothing_known {
    ($($call:ident $request:ident $response:ident;)*) => {
        impl MemoryCalls for NoMemory {
            $(async fn $call(&self, _request: v1::$request) -> CallResult<v1::$response> {
                Ok(v1::$response::default())
            })*
        }
    };
}

nothing_known! {
    add_facts AddFactsRequest AddFactsResponse;
    recall RecallRequest RecallResponse;
    search_facts SearchFactsRequest SearchFactsResponse;
    get_fact GetFactRequest GetFactResponse;
    list_facts ListFactsRequest ListFactsResponse;
    update_fact UpdateFactRequest UpdateFactResponse;
    delete_fact DeleteFactRequest DeleteFactResponse;
    get_fact_history GetFactHistoryRequest GetFactHistoryResponse;
}
