//! Resolve: from an event to what replaced it.
//!
//! Supersedes edges lead from a replacement to what it replaces. The query follows them upward, from the event to all
//! its replacements, through forgotten ones as well. A *head* is a shown replacement without a shown replacement. The
//! newest head, the one with the highest id, is the answer; with several heads the belief is contested.
//!
//! Imported edges may form cycles. The query visits them once and reports them; if every path ends in a cycle, the
//! newest shown event is the head.

use crate::answer::{AnswerStamp, check_limit};
use crate::graph::visited::NodeMap;
use crate::limits::{PAGE_MAX, VISITED_MAX};
use crate::planner::scope::{Scope, Sight, Visibility};
use amem_format::error::{Error, Result};
use amem_format::types::{EdgeType, NodeId};
use amem_format::view::{Direction, GraphReader, View};

/// Finds what replaced an event. The event itself may be forgotten.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Resolve {
    /// The event.
    pub event: NodeId,
    /// Maximum events of the chain, and maximum heads, 1 to `limits::PAGE_MAX`, the default. A longer chain loses its
    /// start, a longer list of heads its oldest.
    pub limit: usize,
    /// User, agent and run.
    pub scope: Scope,
    /// Count forgotten replacements.
    pub include_forgotten: bool,
}

impl Default for Resolve {
    fn default() -> Self {
        Self {
            event: NodeId(0),
            limit: PAGE_MAX,
            scope: Scope::default(),
            include_forgotten: false,
        }
    }
}

/// The heads of an event, and the chain to the newest.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Resolution {
    /// The origin of the answer.
    pub answered: AnswerStamp,
    /// The newest head.
    pub head: NodeId,
    /// All heads, the newest first.
    pub heads: Vec<NodeId>,
    /// The number of heads; above 1 the belief is contested.
    pub head_count: usize,
    /// The events from the one asked about to the head, by the fewest edges; of several such chains, the one with the
    /// lowest ids.
    pub chain: Vec<ChainEvent>,
    /// The full length of the chain.
    pub chain_len: usize,
    /// True if replacements of the event form a cycle.
    pub is_cyclic: bool,
}

impl Resolution {
    /// True if several heads remain.
    pub fn is_contested(&self) -> bool {
        self.head_count > 1
    }
}

/// An event of a chain.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ChainEvent {
    /// The event.
    pub id: NodeId,
    /// The event is forgotten: it appears only because the chain leads through it.
    pub is_stub: bool,
}

impl Resolve {
    /// Runs the query on a view.
    pub fn run(&self, view: &View) -> Result<Resolution> {
        check_limit(self.limit)?;
        let sight = Sight::new(&self.scope, self.include_forgotten)?;
        if sight.of(&view.node(self.event)?)? == Visibility::Outside {
            // Returns the same error as every other query.
            sight.open(view, self.event)?;
        }
        let upward = ReplacementGraph::from(view, &sight, self.event)?;
        let mut heads = upward.heads();
        let Some(&head) = heads.first() else {
            return Err(Error::Forgotten { id: self.event });
        };
        let mut chain = upward.chain(head);
        let chain_len = chain.len();
        chain.drain(..chain_len.saturating_sub(self.limit));
        let answer = Resolution {
            answered: AnswerStamp::by(view),
            head: upward.nodes[head].link.id,
            head_count: heads.len(),
            heads: {
                heads.truncate(self.limit);
                heads.iter().map(|&at| upward.nodes[at].link.id).collect()
            },
            chain_len,
            chain,
            is_cyclic: upward.is_cyclic(),
        };
        Ok(answer)
    }
}

/// The heads of an event, the newest first.
pub(crate) fn heads(view: &View, sight: &Sight, event: NodeId) -> Result<Vec<NodeId>> {
    let upward = ReplacementGraph::from(view, sight, event)?;
    let heads = upward.heads().into_iter();
    Ok(heads.map(|at| upward.nodes[at].link.id).collect())
}

/// The direct replacements of an event, without those out of scope, in order of id.
pub(crate) fn replacements(view: &View, sight: &Sight, event: NodeId) -> Result<Vec<ChainEvent>> {
    let mut found = Vec::new();
    each_replacement(&view.graph()?, sight, event, |link| found.push(link))?;
    Ok(found)
}

fn each_replacement(
    web: &GraphReader<'_>,
    sight: &Sight,
    event: NodeId,
    mut found: impl FnMut(ChainEvent),
) -> Result<()> {
    let mut look = |id| -> Result<()> {
        let seen = sight.at(web, id)?;
        if seen != Visibility::Outside {
            let is_stub = seen == Visibility::Stub;
            found(ChainEvent { id, is_stub });
        }
        Ok(())
    };
    if let Some((others, types)) = web.plain(event, Direction::Incoming) {
        for (&other, &edge_type) in others.iter().zip(types) {
            if EdgeType(edge_type) == EdgeType::SUPERSEDES {
                look(NodeId(other.into()))?;
            }
        }
        return Ok(());
    }
    for tie in web.edges_of(event, Direction::Incoming)?.iter() {
        if tie.edge_type == EdgeType::SUPERSEDES {
            look(tie.other)?;
        }
    }
    Ok(())
}

/// Initial capacity for replacements.
const CAPACITY: usize = 128;

/// All direct and indirect replacements of an event.
struct ReplacementGraph {
    nodes: Vec<ReplacementNode>,
    /// (replaced, replacement) as indexes into `nodes`, by the first.
    edges: Vec<(u32, u32)>,
}

struct ReplacementNode {
    link: ChainEvent,
    /// The index of the event that led to it.
    parent: u32,
}

impl ReplacementGraph {
    fn from(view: &View, sight: &Sight, event: NodeId) -> Result<Self> {
        let web = view.graph()?;
        let is_stub = sight.at(&web, event)? == Visibility::Stub;
        let link = ChainEvent { id: event, is_stub };
        let mut nodes = Vec::with_capacity(CAPACITY);
        nodes.push(ReplacementNode { link, parent: 0 });
        let mut places = NodeMap::new();
        places.put(event, 0);
        let mut edges = Vec::with_capacity(CAPACITY);
        let mut at = 0;
        while let Some(&ReplacementNode { link: below, .. }) = nodes.get(at as usize) {
            each_replacement(&web, sight, below.id, |link| {
                let place = nodes.len() as u32;
                match places.put(link.id, place) {
                    Some(known) => edges.push((at, known)),
                    None => {
                        edges.push((at, place));
                        nodes.push(ReplacementNode { link, parent: at });
                    }
                }
            })?;
            Error::check_limit(
                "the number of replacements of an event",
                nodes.len() as u64,
                VISITED_MAX as u64,
            )?;
            at += 1;
        }
        Ok(Self { nodes, edges })
    }

    /// True if every event is shown.
    fn is_all_shown(&self) -> bool {
        self.nodes.iter().all(|node| !node.link.is_stub)
    }

    /// The indexes of the heads, the newest first.
    fn heads(&self) -> Vec<usize> {
        let is_replaced = self.replaced();
        let is_shown = |at: usize| !self.nodes[at].link.is_stub;
        let newest_first = |mut places: Vec<usize>| {
            places.sort_unstable_by_key(|&at| std::cmp::Reverse(self.nodes[at].link.id));
            places
        };
        let shown = (0..self.nodes.len()).filter(|&at| is_shown(at));
        let heads = newest_first(shown.clone().filter(|&at| !is_replaced[at]).collect());
        if heads.is_empty() {
            let mut shown = newest_first(shown.collect());
            shown.truncate(1);
            return shown;
        }
        heads
    }

    /// For each event, whether it has a shown replacement, directly or behind hidden ones.
    fn replaced(&self) -> Vec<bool> {
        let mut is_replaced = vec![false; self.nodes.len()];
        if self.is_all_shown() {
            for &(replaced, _) in &self.edges {
                is_replaced[replaced as usize] = true;
            }
            return is_replaced;
        }
        // Walks down from every shown event: all events reached are replaced.
        let mut below: Vec<Vec<usize>> = vec![Vec::new(); self.nodes.len()];
        for &(replaced, replacement) in &self.edges {
            below[replacement as usize].push(replaced as usize);
        }
        let is_shown = |at: usize| !self.nodes[at].link.is_stub;
        let mut todo: Vec<usize> = (0..self.nodes.len()).filter(|&at| is_shown(at)).collect();
        while let Some(at) = todo.pop() {
            for &replaced in &below[at] {
                if !std::mem::replace(&mut is_replaced[replaced], true) && !is_shown(replaced) {
                    todo.push(replaced);
                }
            }
        }
        is_replaced
    }

    /// The chain from the event to an index.
    fn chain(&self, to: usize) -> Vec<ChainEvent> {
        let mut chain = Vec::with_capacity(self.nodes.len());
        let mut at = to;
        chain.push(self.nodes[at].link);
        while at != 0 {
            at = self.nodes[at].parent as usize;
            chain.push(self.nodes[at].link);
        }
        chain.reverse();
        chain
    }

    /// True if the edges form a cycle, so that no order has every replacement after what it replaces.
    fn is_cyclic(&self) -> bool {
        let id = |at: u32| self.nodes[at as usize].link.id;
        if self.edges.iter().all(|&(a, b)| id(a) < id(b)) {
            // Newer events replace older ones: the ids give such an order.
            return false;
        }
        let mut above = vec![Vec::new(); self.nodes.len()];
        let mut waits_for = vec![0usize; self.nodes.len()];
        for &(replaced, replacement) in &self.edges {
            above[replaced as usize].push(replacement as usize);
            waits_for[replacement as usize] += 1;
        }
        let mut ready: Vec<usize> = (0..self.nodes.len())
            .filter(|&at| waits_for[at] == 0)
            .collect();
        let mut ordered = 0;
        while let Some(at) = ready.pop() {
            ordered += 1;
            for &replacement in &above[at] {
                waits_for[replacement] -= 1;
                if waits_for[replacement] == 0 {
                    ready.push(replacement);
                }
            }
        }
        ordered < self.nodes.len()
    }
}
