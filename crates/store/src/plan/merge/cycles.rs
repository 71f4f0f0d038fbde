//! Which events replace each other in a cycle, found in one pass over the edges.

use std::collections::HashMap;

use amem_format::NodeId;

use crate::error::Result;

/// What the pass knows of an event.
struct Visit {
    /// When it was visited.
    met: usize,
    /// The earliest visited event that it is known to lead back to.
    back: usize,
    /// Its component, once that is complete.
    component: Option<usize>,
}

/// The strongly connected component of every event that can be reached from `starts`, by a number (Tarjan, without
/// recursion). Two events share one if each leads to the other.
pub(super) fn components(
    starts: impl IntoIterator<Item = NodeId>,
    mut next: impl FnMut(NodeId) -> Result<Vec<NodeId>>,
) -> Result<HashMap<NodeId, usize>> {
    let mut seen: HashMap<NodeId, Visit> = HashMap::new();
    let (mut open, mut path) = (Vec::new(), Vec::new());
    let mut components = 0;
    for start in starts {
        let mut enter = (!seen.contains_key(&start)).then_some(start);
        loop {
            if let Some(id) = enter.take() {
                let met = seen.len();
                let (back, component) = (met, None);
                seen.insert(
                    id,
                    Visit {
                        met,
                        back,
                        component,
                    },
                );
                open.push(id);
                path.push((id, next(id)?));
            }
            let Some((id, left)) = path.last_mut() else {
                break;
            };
            let id = *id;
            if let Some(to) = left.pop() {
                match seen.get(&to) {
                    None => enter = Some(to),
                    Some(it) if it.component.is_none() => {
                        let met = it.met;
                        leads_back(&mut seen, id, met);
                    }
                    Some(_) => {}
                }
                continue;
            }
            path.pop();
            let (met, back) = seen.get(&id).map_or((0, 0), |it| (it.met, it.back));
            if let Some((before, _)) = path.last() {
                leads_back(&mut seen, *before, back);
            }
            if met == back {
                while let Some(member) = open.pop() {
                    if let Some(it) = seen.get_mut(&member) {
                        it.component = Some(components);
                    }
                    if member == id {
                        break;
                    }
                }
                components += 1;
            }
        }
    }
    let of = |(id, it): (NodeId, Visit)| Some((id, it.component?));
    Ok(seen.into_iter().filter_map(of).collect())
}

fn leads_back(seen: &mut HashMap<NodeId, Visit>, id: NodeId, met: usize) {
    if let Some(it) = seen.get_mut(&id) {
        it.back = it.back.min(met);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What can be reached, by a walk from each event.
    fn reaches(edges: &[(u64, u64)], from: u64, to: u64) -> bool {
        let (mut seen, mut queue) = (vec![from], vec![from]);
        while let Some(id) = queue.pop() {
            for &(a, b) in edges {
                if a == id && !seen.contains(&b) {
                    seen.push(b);
                    queue.push(b);
                }
            }
        }
        seen.contains(&to)
    }

    #[test]
    fn two_events_are_in_one_component_if_each_leads_to_the_other() {
        let mut state = 1u64;
        let mut below = |n: u64| {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1);
            (state >> 33) % n
        };
        for round in 0..200 {
            let edges: Vec<(u64, u64)> = (0..round % 20).map(|_| (below(9), below(9))).collect();
            let next = |id: NodeId| {
                let of = edges.iter().filter(|(a, _)| *a == id.0);
                Ok(of.map(|(_, b)| NodeId(*b)).collect())
            };
            let found = components((0..9).map(NodeId), next).unwrap();
            for (a, b) in (0..9).flat_map(|a| (0..9).map(move |b| (a, b))) {
                let expected = reaches(&edges, a, b) && reaches(&edges, b, a);
                let same = found[&NodeId(a)] == found[&NodeId(b)];
                assert_eq!(same, expected, "{edges:?}: {a} and {b}");
            }
        }
    }

    #[test]
    fn a_long_chain_is_no_component_and_takes_no_stack() {
        let n = 200_000;
        let next = |id: NodeId| {
            Ok((id.0 + 1 < n)
                .then_some(NodeId(id.0 + 1))
                .into_iter()
                .collect())
        };
        let found = components([NodeId(0)], next).unwrap();
        let different: std::collections::HashSet<_> = found.values().collect();
        assert_eq!(different.len(), n as usize);
    }
}
