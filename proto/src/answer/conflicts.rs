//! ListConflicts: contradictions and contested beliefs, page by page.

use amem_format::NodeId;
use amem_format::view::View;
use amem_query::ListConflicts;
use amem_query::graph::Conflict;

use super::event::EventEncoder;
use super::question::{Evaluate, ids};
use super::refusal::Result;
use super::selection::{count, scope, token};
use super::word::moment;
use crate::limits::{HEADS_MAX, PAGE_ROWS};
use crate::v1;
use crate::v1::conflict::Conflict as ConflictKind;

impl Evaluate for v1::ListConflictsRequest {
    type Answer = v1::ListConflictsResponse;

    fn evaluate(self, view: &View) -> Result<Self::Answer> {
        let page = ListConflicts {
            limit: count(self.page_size, PAGE_ROWS),
            cursor: token(self.page_token),
            scope: scope(self.scope),
            include_forgotten: self.include_forgotten,
        }
        .run(view)?;
        let mut encoder = EventEncoder::new(view);
        let conflicts = page.conflicts.iter().map(|conflict| {
            let kind = match conflict {
                Conflict::Contradiction { source, target } => {
                    ConflictKind::Contradiction(v1::Contradiction {
                        source: Some(encoder.whole(*source)?),
                        target: Some(encoder.whole(*target)?),
                    })
                }
                Conflict::Contested { belief, heads } => {
                    ConflictKind::Contested(v1::ContestedBelief {
                        belief: Some(encoder.whole(*belief)?),
                        heads: encoder.all(&heads[..heads.len().min(HEADS_MAX)])?,
                        head_count: heads.len() as u64,
                    })
                }
            };
            Ok(v1::Conflict {
                conflict: Some(kind),
            })
        });
        Ok(v1::ListConflictsResponse {
            conflicts: conflicts.collect::<Result<_>>()?,
            moment: Some(moment(view)),
            next_page_token: page.next.unwrap_or_default(),
        })
    }

    fn shown(answer: &Self::Answer) -> Vec<NodeId> {
        ids(shown(answer))
    }
}

/// The events that a page shows.
fn shown(page: &v1::ListConflictsResponse) -> Vec<&v1::Event> {
    let mut shown = Vec::new();
    for conflict in &page.conflicts {
        match &conflict.conflict {
            Some(ConflictKind::Contradiction(two)) => {
                shown.extend([&two.source, &two.target].into_iter().flatten())
            }
            Some(ConflictKind::Contested(contested)) => {
                shown.extend(&contested.belief);
                shown.extend(&contested.heads);
            }
            None => {}
        }
    }
    shown
}
