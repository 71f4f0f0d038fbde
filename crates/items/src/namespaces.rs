//! The namespaces that have items, in order.

use std::collections::BTreeMap;

use amem_format::types::Micros;
use amem_format::view::View;
use amem_query::planner::events_with;

use crate::error::{Error, Result};
use crate::item_name::{NamespacePattern, place_digest};
use crate::limits::{ITEM_PAGE_BYTES, NAMESPACE_PAGE_MAX, OFFSET_MAX};
use crate::record::{ItemAttributes, NAMESPACE_KIND, path};
use crate::stored_item::StoredItem;

/// Asks for namespaces.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct NamespaceList {
    /// Which.
    pub pattern: NamespacePattern,
    /// Of longer namespaces these first labels; `None` for all labels.
    pub depth_max: Option<usize>,
    /// Those behind this one; `None` for all.
    pub after: Option<Vec<String>>,
    /// Namespaces to leave out before the first, at most `limits::OFFSET_MAX`.
    pub skip: usize,
    /// Namespaces, at most `limits::NAMESPACE_PAGE_MAX`.
    pub limit: usize,
}

/// Namespaces in order.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct NamespacePage {
    /// The labels of each.
    pub namespaces: Vec<Vec<String>>,
    /// True if there are more.
    pub has_more: bool,
}

impl NamespaceList {
    pub(crate) fn run(&self, view: &View, now: Micros) -> Result<NamespacePage> {
        Error::check("the number of namespaces", self.limit, NAMESPACE_PAGE_MAX)?;
        Error::check("the number left out", self.skip, OFFSET_MAX)?;
        let mut page = NamespacePage::default();
        let (mut skip, mut bytes) = (self.skip, 0);
        for (shown, namespaces) in self.matching(view)? {
            if self.after.as_ref().is_some_and(|after| shown <= *after) {
                continue;
            }
            let mut has_items = false;
            for labels in &namespaces {
                has_items = has_items || has_item(view, labels, now)?;
            }
            if !has_items {
                continue;
            }
            if skip > 0 {
                skip -= 1;
                continue;
            }
            bytes += shown.iter().map(String::len).sum::<usize>();
            if page.namespaces.len() == self.limit || bytes > ITEM_PAGE_BYTES {
                page.has_more = true;
                break;
            }
            page.namespaces.push(shown);
        }
        Ok(page)
    }

    /// Namespaces that ever had items, by what is shown of them.
    fn matching(&self, view: &View) -> Result<BTreeMap<Vec<String>, Vec<Vec<String>>>> {
        let mut found: BTreeMap<Vec<String>, Vec<Vec<String>>> = BTreeMap::new();
        for id in events_with(view, path::NAMESPACES, NAMESPACE_KIND)? {
            let namespace = ItemAttributes::read(&view.node(id)?)?.namespace;
            let Some(labels) = namespace.map(|namespace| namespace.labels) else {
                continue;
            };
            if self.pattern.matches(&labels) {
                let depth = self.depth_max.unwrap_or(usize::MAX).min(labels.len());
                let of_shown = found.entry(labels[..depth].to_vec()).or_default();
                if !of_shown.contains(&labels) {
                    of_shown.push(labels);
                }
            }
        }
        Ok(found)
    }
}

/// True if an item is directly in a namespace: the newest ones are looked at first.
fn has_item(view: &View, labels: &[String], now: Micros) -> Result<bool> {
    let ids = events_with(view, path::PLACE, &place_digest(labels))?;
    for id in ids.into_iter().rev() {
        if let Some(item) = StoredItem::at(view, id)?
            && item.name.namespace() == labels
            && !item.is_expired(now)
        {
            return Ok(true);
        }
    }
    Ok(false)
}
