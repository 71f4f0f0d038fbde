//! Resolve: from an event to what is believed now.
//!
//! Supersedes edges lead from a replacement to what it replaces; they are followed upward, from the event
//! asked about to all its replacements, through forgotten ones as well. A *head* is a replacement that is
//! shown and has no replacement that is shown. The newest head, the one with the highest id, is the answer;
//! if there are several, the belief is contested.
//!
//! Imported edges may form cycles. They are walked once and told; if every way up ends in one, the newest
//! event that is shown is the head.

use crate::answer::{AnswerStamp, check_limit};
use crate::graph::visited::NodeMap;
use crate::limits::{PAGE_MAX, VISITED_MAX};
use crate::planner::scope::{Scope, Sight, Visibility};
use amem_format::error::{Error, Result};
use amem_format::types::{EdgeType, NodeId};
use amem_format::view::{Direction, View, Web};

/// Asks what an event was replaced by. The event itself may be forgotten.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Resolve {
    /// Which.
    pub event: NodeId,
    /// Events of the chain, and heads, at most, 1 to `limits::PAGE_MAX`; that unless told otherwise. Of a
    /// longer chain the end is kept, of more heads the newest.
    pub limit: usize,
    /// User, agent and run.
    pub scope: Scope,
    /// Forgotten replacements count.
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

/// What is believed now, and how it came to that.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Resolution {
    /// Who answered.
    pub answered: AnswerStamp,
    /// The newest head.
    pub head: NodeId,
    /// All heads, the newest first.
    pub heads: Vec<NodeId>,
    /// How many heads there are; above 1 the belief is contested.
    pub head_count: usize,
    /// From the event asked about to the head, by the fewest edges; of several such ways, by the replacements
    /// with the lowest ids.
    pub chain: Vec<ChainEvent>,
    /// How long that chain is.
    pub chain_len: usize,
    /// True if replacements of the event replace each other in a circle.
    pub is_cyclic: bool,
}

impl Resolution {
    /// True if agents disagree about what replaced the event.
    pub fn is_contested(&self) -> bool {
        self.head_count > 1
    }
}

/// An event of a chain.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ChainEvent {
    /// The event.
    pub id: NodeId,
    /// The event is forgotten: it is named only because the chain leads through it.
    pub is_stub: bool,
}

impl Resolve {
    /// Answers from a view.
    pub fn run(&self, view: &View) -> Result<Resolution> {
        check_limit(self.limit)?;
        let sight = Sight::new(&self.scope, self.include_forgotten)?;
        if sight.of(&view.node(self.event)?)? == Visibility::Outside {
            // The error is that of any other query.
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

/// How many heads an event has.
pub(crate) fn heads(view: &View, sight: &Sight, event: NodeId) -> Result<Vec<NodeId>> {
    let upward = ReplacementGraph::from(view, sight, event)?;
    let heads = upward.heads().into_iter();
    Ok(heads.map(|at| upward.nodes[at].link.id).collect())
}

/// The replacements of an event that are shown or lead to one that may be, in order of id.
pub(crate) fn replacements(view: &View, sight: &Sight, event: NodeId) -> Result<Vec<ChainEvent>> {
    let mut found = Vec::new();
    each_replacement(&view.web()?, sight, event, |link| found.push(link))?;
    Ok(found)
}

fn each_replacement(
    web: &Web<'_>,
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
    for tie in web.ties(event, Direction::Incoming)?.iter() {
        if tie.edge_type == EdgeType::SUPERSEDES {
            look(tie.other)?;
        }
    }
    Ok(())
}

/// Replacements for which there is room from the start.
const CAPACITY: usize = 128;

/// All that replaces an event, directly or not.
struct ReplacementGraph {
    nodes: Vec<ReplacementNode>,
    /// (what is replaced, its replacement), as places in `met`; by the first of them.
    edges: Vec<(u32, u32)>,
}

struct ReplacementNode {
    link: ChainEvent,
    /// The place of what it was found from.
    parent: u32,
}

impl ReplacementGraph {
    fn from(view: &View, sight: &Sight, event: NodeId) -> Result<Self> {
        let web = view.web()?;
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
                "the number of events that replace one",
                nodes.len() as u64,
                VISITED_MAX as u64,
            )?;
            at += 1;
        }
        Ok(Self { nodes, edges })
    }

    /// True if all of it is shown.
    fn is_all_shown(&self) -> bool {
        self.nodes.iter().all(|node| !node.link.is_stub)
    }

    /// The places of the heads, the newest first.
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

    /// Of each, whether it has a replacement that is shown, directly or behind hidden ones.
    fn replaced(&self) -> Vec<bool> {
        let mut is_replaced = vec![false; self.nodes.len()];
        if self.is_all_shown() {
            for &(replaced, _) in &self.edges {
                is_replaced[replaced as usize] = true;
            }
            return is_replaced;
        }
        // Downward from whatever is shown: all that is met there is replaced.
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

    /// From the event to a place.
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

    /// True if some of it can't be put in an order in which replacements come after what they replace.
    fn is_cyclic(&self) -> bool {
        let id = |at: u32| self.nodes[at as usize].link.id;
        if self.edges.iter().all(|&(a, b)| id(a) < id(b)) {
            // Newer events replace older ones: that is such an order.
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
