//! The calls of ItemService.

use std::sync::Arc;

use amem_facts::{EngineBrain, SpaceEmbedder};
use amem_items::limits::ITEM_PAGE_BYTES;
use amem_items::{Error, ItemRead, Items, KeptRequest};
use amem_memory::bytes_hash;
use amem_memory::store::Embedder;
use amem_proto::answer::moment;
use amem_proto::v1;
use prost::Message;
use tokio::runtime::Handle as RuntimeHandle;

use super::fact_memory::now;
use super::facts::options;
use super::gateway::{Gateway, Handle};
use super::item_messages::{self as convert, BatchOp};
use crate::auth::{Caller, Role};
use crate::refusal::{Refusal, Result};

/// Does what a reading left to do, if its caller may write: times to live begin again, or the call fails; expired items
/// are hidden, or the next call hides them.
fn finish<T>(items: &Items<'_>, read: ItemRead<T>, may_write: bool) -> amem_items::Result<T> {
    if may_write && read.has_work() {
        items.refresh(&read)?;
        if let Err(error) = items.forget_expired(&read) {
            tracing::warn!(why = error.to_string(), "cannot forget expired items");
        }
    }
    let mut done = ItemRead::<()>::default();
    Ok(done.join(read))
}

impl Gateway {
    /// Runs work on the items of the brain of a request, on a thread that may wait. The work learns whether the caller
    /// may write.
    async fn with_items<T: Send + 'static>(
        &self,
        caller: &Caller,
        brain: &str,
        agent: &str,
        work: impl FnOnce(&Items<'_>, bool) -> amem_items::Result<T> + Send + 'static,
    ) -> Result<T> {
        let brain = self.fact_brain(caller, brain).await?;
        let may_write = caller.rights.of(&brain.name) >= Some(Role::Write);
        let state = self.items.state(&brain);
        let embedder = SpaceEmbedder::of(&brain.view(), self.models.embedder().as_ref());
        let runtime = RuntimeHandle::current();
        let (author, space) = ((caller.principal.as_str(), agent), embedder.space());
        let opened = EngineBrain::new(brain, runtime, author, space);
        let run = move || {
            let items = Items {
                brain: &opened,
                state: &state,
                embedder: &embedder,
                now: now(),
            };
            Ok(work(&items, may_write)?)
        };
        self.fact_calls.of_process(caller).run(run).await
    }
}

/// The agent of a change, and under what it is repeated.
fn write_options(
    asked: Option<v1::WriteOptions>,
    request: &impl Message,
) -> Result<(String, Option<KeptRequest>)> {
    let (agent, id) = options(asked)?;
    let kept = id.map(|id| KeptRequest {
        id,
        hash: bytes_hash(&request.encode_to_vec()),
    });
    Ok((agent, kept))
}

impl Handle for v1::PutItemRequest {
    type Response = v1::PutItemResponse;

    async fn handle(
        mut request: Self::Valid,
        gateway: &Arc<Gateway>,
        caller: &Caller,
    ) -> Result<Self::Response> {
        let (agent, kept) = write_options(request.options.take(), &request)?;
        let put = convert::required("put", request.put)?;
        if put.value_json.is_none() {
            let why = "it is not set: set it, or delete the item by DeleteItem";
            return Err(Refusal::invalid("put.value_json", why));
        }
        let change = convert::change(put)?;
        let work = move |items: &Items<'_>, _| {
            items.change(&[change], kept.as_ref())?;
            Ok(moment(&items.view()))
        };
        let moment = gateway
            .with_items(caller, &request.brain, &agent, work)
            .await?;
        Ok(v1::PutItemResponse {
            moment: Some(moment),
        })
    }
}

impl Handle for v1::GetItemRequest {
    type Response = v1::GetItemResponse;

    async fn handle(
        request: Self::Valid,
        gateway: &Arc<Gateway>,
        caller: &Caller,
    ) -> Result<Self::Response> {
        let (name, is_refreshing) = convert::name(convert::required("get", request.get)?)?;
        let work = move |items: &Items<'_>, may_write| {
            let view = items.view();
            let read = items.get(&view, &name, is_refreshing)?;
            Ok((moment(&view), finish(items, read, may_write)?))
        };
        let (moment, item) = gateway.with_items(caller, &request.brain, "", work).await?;
        Ok(v1::GetItemResponse {
            moment: Some(moment),
            item: item.map(convert::item),
        })
    }
}

impl Handle for v1::DeleteItemRequest {
    type Response = v1::DeleteItemResponse;

    async fn handle(
        mut request: Self::Valid,
        gateway: &Arc<Gateway>,
        caller: &Caller,
    ) -> Result<Self::Response> {
        let (agent, kept) = write_options(request.options.take(), &request)?;
        let change = convert::change(v1::ItemPut {
            namespace: request.namespace,
            key: request.key,
            ..v1::ItemPut::default()
        })?;
        let work = move |items: &Items<'_>, _| {
            let deleted = items.change(&[change], kept.as_ref())?;
            Ok((moment(&items.view()), deleted == [true]))
        };
        let (moment, deleted) = gateway
            .with_items(caller, &request.brain, &agent, work)
            .await?;
        Ok(v1::DeleteItemResponse {
            moment: Some(moment),
            deleted,
        })
    }
}

impl Handle for v1::SearchItemsRequest {
    type Response = v1::SearchItemsResponse;

    async fn handle(
        request: Self::Valid,
        gateway: &Arc<Gateway>,
        caller: &Caller,
    ) -> Result<Self::Response> {
        let search = convert::search(convert::required("search", request.search)?)?;
        let work = move |items: &Items<'_>, may_write| {
            let view = items.view();
            let read = items.search(&view, &search)?;
            Ok((moment(&view), finish(items, read, may_write)?))
        };
        let (moment, ranking) = gateway.with_items(caller, &request.brain, "", work).await?;
        Ok(v1::SearchItemsResponse {
            moment: Some(moment),
            hits: ranking.hits.into_iter().map(convert::hit).collect(),
            left_off: u32::try_from(ranking.left_off).unwrap_or(u32::MAX),
        })
    }
}

impl Handle for v1::ListItemNamespacesRequest {
    type Response = v1::ListItemNamespacesResponse;

    async fn handle(
        mut request: Self::Valid,
        gateway: &Arc<Gateway>,
        caller: &Caller,
    ) -> Result<Self::Response> {
        let brain = std::mem::take(&mut request.brain);
        let list = convert::namespaces(request)?;
        let work = move |items: &Items<'_>, _| {
            let view = items.view();
            Ok((moment(&view), items.namespaces(&view, &list)?))
        };
        let (moment, page) = gateway.with_items(caller, &brain, "", work).await?;
        Ok(v1::ListItemNamespacesResponse {
            moment: Some(moment),
            next_page_token: match page.has_more {
                true => convert::page_token(&page.namespaces),
                false => String::new(),
            },
            namespaces: convert::labels(page.namespaces),
        })
    }
}

/// Executes the reads of a batch on one state; a change has an empty result.
fn read_all(
    items: &Items<'_>,
    ops: &[BatchOp],
) -> amem_items::Result<ItemRead<Vec<v1::ItemResult>>> {
    let view = items.view();
    let mut read = ItemRead::default();
    let (mut results, mut bytes) = (Vec::with_capacity(ops.len()), 0);
    let too_large = || Error::AnswerTooLarge {
        limit: ITEM_PAGE_BYTES as u64,
    };
    for op in ops {
        let mut result = v1::ItemResult::default();
        match op {
            BatchOp::Get(name, is_refreshing) => {
                let item = read.join(items.get(&view, name, *is_refreshing)?);
                result.item = item.map(convert::item);
            }
            BatchOp::Search(search) => {
                let ranking = read.join(items.search(&view, search)?);
                if ranking.left_off > 0 {
                    return Err(too_large());
                }
                result.hits = ranking.hits.into_iter().map(convert::hit).collect();
            }
            BatchOp::List(list) => {
                let page = items.namespaces(&view, list)?;
                result.namespaces = convert::labels(page.namespaces);
            }
            BatchOp::Change => {}
        }
        bytes += result.encoded_len();
        // The first result has room, whatever it is.
        if bytes > ITEM_PAGE_BYTES && results.iter().any(|one| *one != v1::ItemResult::default()) {
            return Err(too_large());
        }
        results.push(result);
    }
    Ok(read.map(|()| results))
}

impl Handle for v1::BatchItemsRequest {
    type Response = v1::BatchItemsResponse;

    async fn handle(
        mut request: Self::Valid,
        gateway: &Arc<Gateway>,
        caller: &Caller,
    ) -> Result<Self::Response> {
        let (agent, kept) = write_options(request.options.take(), &request)?;
        let (ops, changes) = convert::batch(request.ops)?;
        let work = move |items: &Items<'_>, may_write| {
            let read = read_all(items, &ops)?;
            let results = finish(items, read, may_write)?;
            if !changes.is_empty() {
                items.change(&changes, kept.as_ref())?;
            }
            Ok((moment(&items.view()), results))
        };
        let (moment, results) = gateway
            .with_items(caller, &request.brain, &agent, work)
            .await?;
        Ok(v1::BatchItemsResponse {
            moment: Some(moment),
            results,
        })
    }
}
