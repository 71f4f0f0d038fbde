//! The events whose attributes may match a filter, as an ascending list that is read in both directions.
//!
//! They are the events that the indexes of base and journal propose, and those whose attributes the journal changed.
//! The list misses no match but may contain events that do not match: the filter decides.

use crate::filter::Filter;
use amem_format::base::values::{EventList, ValueIndex};
use amem_format::error::Result;
use amem_format::types::NodeId;
use amem_format::view::View;

/// An upper bound for gathering ids from several lists or the journal, as a share of the base's events. If more events
/// match, a full scan finds them soon.
const GATHERED_SHARE: u64 = 8;
/// Fewer ids than this are always gathered.
const GATHERED_MIN: u64 = 64;

/// The events of a view that may match a filter.
#[derive(Debug, Clone)]
pub(crate) struct ValueIds<'v> {
    base: ProposedIds<'v>,
    /// Events that the indexes do not cover: they have too many values, or the journal changed them. And those of the
    /// journal that its index proposes. Ascending.
    always: Vec<u32>,
    /// Every event from here on is in the list: from the end of the base if most events of the journal have a value.
    all_from: u32,
    end: u32,
    len: u64,
}

/// The events that the base's index proposes.
#[derive(Debug, Clone)]
enum ProposedIds<'v> {
    /// Ascending.
    Gathered(Vec<u32>),
    List {
        values: ValueIndex<'v>,
        list: EventList<'v>,
        block: Option<u32>,
        decoded: Vec<u32>,
    },
}

impl<'v> ValueIds<'v> {
    /// `None` if the filter requires no value, or the base has no index of values.
    pub(crate) fn new(view: &'v View, filter: &Filter) -> Result<Option<Self>> {
        let (base, delta) = (view.brain().base(), view.brain().delta());
        let values = base.values()?;
        if view.before_base() || (values.is_none() && !base.attributes()?.ids().is_empty()) {
            return Ok(None);
        }
        let recent = view.recent_values()?;
        let of_base = |hash| values.map_or(Ok(0), |values| values.count(hash));
        let count = |hash| Ok(of_base(hash)? + recent.count(hash));
        let Some(need) = filter.needs(&count)? else {
            return Ok(None);
        };
        let untold = values.map_or(&[][..], |values| values.unlisted());
        let changes = &delta.events.described;
        let few = GATHERED_MIN.max(base.nodes() / GATHERED_SHARE);
        let is_one = need.hashes.len() == 1;
        if u64::from(changes.len()) + untold.len() as u64 > few || (!is_one && need.count > few) {
            return Ok(None);
        }
        // Ids fit 32 bits (`NODES_MAX`).
        let (base_end, end) = (base.nodes() as u32, view.nodes() as u32);
        let changed = changes.iter().copied().filter(|&id| id < end);
        let mut always: Vec<u32> = changed.chain(untold.iter().copied()).collect();
        let added = end.saturating_sub(base_end);
        let listed: u64 = need.hashes.iter().map(|&hash| recent.count(hash)).sum();
        let is_gathered = listed <= GATHERED_MIN.max(u64::from(added) / GATHERED_SHARE);
        if is_gathered {
            let listed = need
                .hashes
                .iter()
                .flat_map(|&hash| recent.events(hash, added));
            let unlisted = recent.unlisted().filter(|&at| at < added);
            always.extend(listed.chain(unlisted).map(|at| base_end + at));
        }
        sort(&mut always);
        let proposed = match (values, is_one) {
            (Some(values), true) => ProposedIds::one(values, need.hashes[0])?,
            (Some(values), false) => ProposedIds::gathered(values, &need.hashes)?,
            (None, _) => ProposedIds::Gathered(Vec::new()),
        };
        let all_from = if is_gathered { end } else { base_end };
        let in_base: u64 = need
            .hashes
            .iter()
            .map(|&hash| of_base(hash))
            .sum::<Result<_>>()?;
        Ok(Some(Self {
            len: in_base + always.len() as u64 + u64::from(end.saturating_sub(all_from)),
            base: proposed,
            always,
            all_from,
            end,
        }))
    }

    /// An upper bound of the number of events.
    pub(crate) fn len(&self) -> u64 {
        self.len
    }

    pub(crate) fn contains(&mut self, id: NodeId) -> Result<bool> {
        let id = id.0 as u32;
        Ok(id >= self.all_from
            || self.always.binary_search(&id).is_ok()
            || self.base.first_from(id)? == Some(id))
    }

    /// The first event at or after `id`.
    pub(crate) fn first_from(&mut self, id: u32) -> Result<Option<u32>> {
        let always = self.always.partition_point(|&at| at < id);
        let always = self.always.get(always).copied();
        let found = [self.base.first_from(id)?, always];
        if let Some(found) = found.into_iter().flatten().min() {
            return Ok(Some(found));
        }
        let recent = id.max(self.all_from);
        Ok((recent < self.end).then_some(recent))
    }

    /// The last event before `id`.
    pub(crate) fn last_before(&mut self, id: u32) -> Result<Option<u32>> {
        let id = id.min(self.end);
        if id > self.all_from {
            return Ok(Some(id - 1));
        }
        let always = self.always.partition_point(|&at| at < id);
        let always = always.checked_sub(1).map(|at| self.always[at]);
        Ok(self.base.last_before(id)?.max(always))
    }
}

impl<'v> ProposedIds<'v> {
    fn one(values: ValueIndex<'v>, hash: u64) -> Result<Self> {
        let list = values.find(hash)?;
        Ok(list.map_or(Self::Gathered(Vec::new()), |list| Self::List {
            values,
            list,
            block: None,
            decoded: Vec::new(),
        }))
    }

    fn gathered(values: ValueIndex<'v>, hashes: &[u64]) -> Result<Self> {
        let mut ids = Vec::new();
        for &hash in hashes {
            if let Some(list) = values.find(hash)? {
                values.append_all(&list, &mut ids)?;
            }
        }
        sort(&mut ids);
        Ok(Self::Gathered(ids))
    }

    fn first_from(&mut self, id: u32) -> Result<Option<u32>> {
        let ids = self.block_around(id)?;
        let at = ids.partition_point(|&at| at < id);
        Ok(ids.get(at).copied())
    }

    fn last_before(&mut self, id: u32) -> Result<Option<u32>> {
        let ids = self.block_around(id)?;
        if let Some(at) = ids.partition_point(|&at| at < id).checked_sub(1) {
            return Ok(Some(ids[at]));
        }
        // All events of earlier blocks are before `id`.
        match self {
            Self::List {
                block: Some(block @ 1..),
                ..
            } => {
                let before = *block - 1;
                Ok(self.load(before)?.last().copied())
            }
            _ => Ok(None),
        }
    }

    /// The events around `id`: the first at or after `id`, if any, is among them; the last before it is among them or
    /// ends the block before.
    fn block_around(&mut self, id: u32) -> Result<&[u32]> {
        let block = match self {
            Self::Gathered(_) => 0,
            Self::List {
                list,
                block,
                decoded,
                ..
            } => match (*block, decoded.first(), decoded.last()) {
                (Some(block), Some(first), Some(last)) if (first..=last).contains(&&id) => block,
                _ => list.block_of(id),
            },
        };
        self.load(block)
    }

    fn load(&mut self, wanted: u32) -> Result<&[u32]> {
        match self {
            Self::Gathered(ids) => Ok(ids),
            Self::List {
                values,
                list,
                block,
                decoded,
            } => {
                if *block != Some(wanted) {
                    *block = None;
                    values.decode(list, wanted, decoded)?;
                    *block = Some(wanted);
                }
                Ok(decoded)
            }
        }
    }
}

fn sort(ids: &mut Vec<u32>) {
    ids.sort_unstable();
    ids.dedup();
}
