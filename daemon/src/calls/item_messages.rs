//! Messages of ItemService from and to the types of items.

use amem_items::limits::{BATCH_OPS_MAX, ITEM_HITS_DEFAULT, NAMESPACE_PAGE_MAX};
use amem_items::{
    Error, Item, ItemChange, ItemFilter, ItemHit, ItemIndex, ItemName, ItemPut, ItemSearch,
    NamespaceList, NamespacePattern, Prefix,
};
use amem_proto::answer::{Code, timestamp};
use amem_proto::{Duration, v1};

use super::validate::unknown_page_token;
use crate::refusal::{Refusal, Result};

impl From<Error> for Refusal {
    fn from(error: Error) -> Self {
        let (code, reason) = match error {
            Error::Engine(error) => return error.into(),
            Error::Invalid { .. } => (Code::InvalidArgument, "INVALID"),
            Error::TooLarge { .. } => (Code::InvalidArgument, "LIMIT"),
            Error::AnswerTooLarge { .. } => (Code::InvalidArgument, "ANSWER_SIZE"),
            Error::RequestReused { .. } => (Code::AlreadyExists, "REQUEST_REUSED"),
        };
        Self::new(code, reason, error.to_string())
    }
}

/// A part of a request that must be set.
pub(super) fn required<T>(field: &'static str, part: Option<T>) -> Result<T> {
    part.ok_or_else(|| Refusal::invalid(field, "it is not set: set it"))
}

/// Microseconds; what is no duration is out of every range.
fn micros(duration: Duration) -> i64 {
    let nanos = i64::from(duration.nanos);
    let whole = duration.seconds.checked_mul(1_000_000);
    whole
        .and_then(|whole| whole.checked_add(nanos / 1_000))
        .unwrap_or(i64::MAX)
}

fn duration(micros: i64) -> Duration {
    Duration {
        seconds: micros.div_euclid(1_000_000),
        // Less than a second.
        nanos: (micros.rem_euclid(1_000_000) * 1_000) as i32,
    }
}

fn index(index: Option<v1::ItemIndex>) -> Result<ItemIndex> {
    let Some(index) = index else {
        return Ok(ItemIndex::Texts);
    };
    match (index.none, index.paths.is_empty()) {
        (true, false) => {
            let why = "it says none and names paths: say one or the other";
            Err(Refusal::invalid("index", why))
        }
        (true, true) => Ok(ItemIndex::Nothing),
        (false, true) => Ok(ItemIndex::Texts),
        (false, false) => Ok(ItemIndex::Paths(index.paths)),
    }
}

/// A change: without a value a deletion.
pub(super) fn change(put: v1::ItemPut) -> Result<ItemChange> {
    let name = ItemName::new(put.namespace, put.key)?;
    let Some(value_json) = put.value_json else {
        return Ok(ItemChange::Delete(name));
    };
    let ttl = put.ttl.map(micros);
    let put = ItemPut::new(name, value_json, &index(put.index)?, ttl)?;
    Ok(ItemChange::Put(put))
}

pub(super) fn name(get: v1::ItemGet) -> Result<(ItemName, bool)> {
    Ok((ItemName::new(get.namespace, get.key)?, get.refresh_ttl))
}

pub(super) fn search(search: v1::ItemSearch) -> Result<ItemSearch> {
    Ok(ItemSearch {
        prefix: Prefix::new(search.namespace_prefix)?,
        filter: ItemFilter::parse(&search.filter_json)?,
        query: search.query,
        limit: match search.limit {
            0 => ITEM_HITS_DEFAULT,
            limit => limit as usize,
        },
        offset: search.offset as usize,
        is_refreshing: search.refresh_ttl,
    })
}

/// A page of namespaces; its token is the last namespace, whose labels have no periods.
pub(super) fn namespaces(list: v1::ListItemNamespacesRequest) -> Result<NamespaceList> {
    let token = Some(list.page_token).filter(|token| !token.is_empty());
    let after = token.map(|token| {
        let labels: Vec<_> = token.split('.').map(str::to_owned).collect();
        match labels.iter().any(String::is_empty) {
            true => Err(unknown_page_token(&token)),
            false => Ok(labels),
        }
    });
    let page = v1::ItemNamespaceList {
        prefix: list.prefix,
        suffix: list.suffix,
        depth_max: list.depth_max,
        // More than a page is a page.
        limit: list.page_size.min(NAMESPACE_PAGE_MAX as u32),
        skip: list.skip,
    };
    Ok(NamespaceList {
        after: after.transpose()?,
        ..namespaces_of(page)?
    })
}

/// The namespaces that an operation of a batch lists.
fn namespaces_of(list: v1::ItemNamespaceList) -> Result<NamespaceList> {
    Ok(NamespaceList {
        pattern: NamespacePattern::new(list.prefix, list.suffix)?,
        depth_max: Some(list.depth_max as usize).filter(|depth| *depth > 0),
        after: None,
        skip: list.skip as usize,
        limit: match list.limit as usize {
            0 => NAMESPACE_PAGE_MAX,
            asked => asked,
        },
    })
}

/// The token of the page behind these namespaces.
pub(super) fn page_token(namespaces: &[Vec<String>]) -> String {
    namespaces
        .last()
        .map_or(String::new(), |labels| labels.join("."))
}

pub(super) fn item(item: Item) -> v1::Item {
    v1::Item {
        namespace: item.name.namespace().to_vec(),
        key: item.name.key().to_owned(),
        value_json: item.value_json,
        created_at: Some(timestamp(item.created_at)),
        updated_at: Some(timestamp(item.updated_at)),
        expires_at: item.expires_at.map(timestamp),
        ttl: item.ttl.map(duration),
    }
}

pub(super) fn hit(hit: ItemHit) -> v1::ItemHit {
    v1::ItemHit {
        item: Some(item(hit.item)),
        score: hit.score,
    }
}

pub(super) fn labels(namespaces: Vec<Vec<String>>) -> Vec<v1::ItemNamespace> {
    let namespaces = namespaces.into_iter();
    namespaces
        .map(|labels| v1::ItemNamespace { labels })
        .collect()
}

/// An operation of a batch.
#[derive(Debug, Clone)]
pub(super) enum BatchOp {
    Get(ItemName, bool),
    Search(ItemSearch),
    List(NamespaceList),
    /// A change, executed after the others.
    Change,
}

/// The operations of a batch, and its changes.
pub(super) fn batch(ops: Vec<v1::ItemOp>) -> Result<(Vec<BatchOp>, Vec<ItemChange>)> {
    if ops.len() > BATCH_OPS_MAX {
        let (found, limit) = (ops.len() as u64, BATCH_OPS_MAX as u64);
        let what = "the number of operations";
        return Err(Error::TooLarge { what, found, limit }.into());
    }
    let mut changes = Vec::new();
    let mut parsed = Vec::with_capacity(ops.len());
    for op in ops {
        parsed.push(match required("ops.op", op.op)? {
            v1::item_op::Op::Put(put) => {
                changes.push(change(put)?);
                BatchOp::Change
            }
            v1::item_op::Op::Get(get) => {
                let (name, is_refreshing) = name(get)?;
                BatchOp::Get(name, is_refreshing)
            }
            v1::item_op::Op::Search(one) => BatchOp::Search(search(one)?),
            v1::item_op::Op::List(list) => BatchOp::List(namespaces_of(list)?),
        });
    }
    Ok((parsed, changes))
}
