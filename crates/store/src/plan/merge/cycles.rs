//! Which events replace each other in a circle, found in one pass over the edges.

use std::collections::HashMap;

use amem_format::NodeId;

use crate::error::Result;

/// How far the pass has come with an event.
struct Seen {
    /// When it was met.
    met: usize,
    /// The first met that it leads back to, as far as that is known.
    back: usize,
    /// Its circle, once that is whole.
    circle: Option<usize>,
}

/// The circle of every event that can be reached from some, by a number: two events have one if each leads to the
/// other. It costs one look at each event and edge (Tarjan's strongly connected components, without recursion).
pub(super) fn circles(
    starts: impl IntoIterator<Item = NodeId>,
    mut next: impl FnMut(NodeId) -> Result<Vec<NodeId>>,
) -> Result<HashMap<NodeId, usize>> {
    let mut seen: HashMap<NodeId, Seen> = HashMap::new();
    let (mut open, mut path) = (Vec::new(), Vec::new());
    let mut circles = 0;
    for start in starts {
        let mut enter = (!seen.contains_key(&start)).then_some(start);
        loop {
            if let Some(id) = enter.take() {
                let met = seen.len();
                let (back, circle) = (met, None);
                seen.insert(id, Seen { met, back, circle });
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
                    Some(it) if it.circle.is_none() => {
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
                        it.circle = Some(circles);
                    }
                    if member == id {
                        break;
                    }
                }
                circles += 1;
            }
        }
    }
    let of = |(id, it): (NodeId, Seen)| Some((id, it.circle?));
    Ok(seen.into_iter().filter_map(of).collect())
}

fn leads_back(seen: &mut HashMap<NodeId, Seen>, id: NodeId, met: usize) {
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
    fn two_events_are_in_one_circle_if_each_leads_to_the_other() {
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
            let found = circles((0..9).map(NodeId), next).unwrap();
            for (a, b) in (0..9).flat_map(|a| (0..9).map(move |b| (a, b))) {
                let expected = reaches(&edges, a, b) && reaches(&edges, b, a);
                let same = found[&NodeId(a)] == found[&NodeId(b)];
                assert_eq!(same, expected, "{edges:?}: {a} and {b}");
            }
        }
    }

    #[test]
    fn a_long_chain_is_no_circle_and_takes_no_stack() {
        let n = 200_000;
        let next = |id: NodeId| {
            Ok((id.0 + 1 < n)
                .then_some(NodeId(id.0 + 1))
                .into_iter()
                .collect())
        };
        let found = circles([NodeId(0)], next).unwrap();
        let different: std::collections::HashSet<_> = found.values().collect();
        assert_eq!(different.len(), n as usize);
    }
}
