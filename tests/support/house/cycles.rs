//! Cycles of imports: sets of files, and of modules with all that is below them, that need each other.

use std::collections::{BTreeMap, BTreeSet};

use super::imports::Imports;
use super::source::Crate;

/// Files or modules of one crate of which each needs every other.
pub struct Cycle {
    /// Files by path; modules as `crate::name`.
    pub members: Vec<String>,
    /// The imports that close it, as `file:line: path`.
    pub imports: Vec<String>,
}

/// Cycles between files.
pub(super) fn between_files(of: &Crate, imports: &Imports) -> Vec<Cycle> {
    let edges = imports.keys().copied().collect();
    let name = |file: usize| of.files[file].path.clone();
    cycles(&edges)
        .into_iter()
        .map(|members| cycle(of, imports, &members, name, Some))
        .collect()
}

/// Cycles between modules of one parent, each taken with all that is below it.
pub(super) fn between_modules(of: &Crate, imports: &Imports) -> Vec<Cycle> {
    let mut out = Vec::new();
    for (parent, module) in of
        .modules
        .iter()
        .enumerate()
        .filter(|(_, m)| m.children.len() > 1)
    {
        let depth = module.path.len();
        let by_name: BTreeMap<_, _> = module
            .children
            .iter()
            .map(|(name, child)| (name, *child))
            .collect();
        let child_of = |file: usize| {
            let path = &of.modules[of.files[file].module].path;
            let is_below = path.len() > depth && path[..depth] == of.modules[parent].path[..];
            is_below
                .then(|| by_name.get(&path[depth]).copied())
                .flatten()
        };
        let ends = imports
            .keys()
            .filter_map(|(from, to)| Some((child_of(*from)?, child_of(*to)?)));
        let edges: BTreeSet<_> = ends.filter(|(from, to)| from != to).collect();
        let name = |module: usize| format!("crate::{}", of.modules[module].path.join("::"));
        out.extend(
            cycles(&edges)
                .iter()
                .map(|members| cycle(of, imports, members, name, child_of)),
        );
    }
    out
}

fn cycle(
    of: &Crate,
    imports: &Imports,
    members: &BTreeSet<usize>,
    name: impl Fn(usize) -> String,
    member_of: impl Fn(usize) -> Option<usize>,
) -> Cycle {
    let inside = |file: usize| member_of(file).filter(|member| members.contains(member));
    let closing = imports.iter().filter(|((from, to), _)| {
        inside(*from).is_some_and(|from| inside(*to).is_some_and(|to| from != to))
    });
    let show = |((from, to), import): (&(usize, usize), &super::Import)| {
        let (from, to) = (&of.files[*from].path, &of.files[*to].path);
        format!("{from}:{}: {} ({to})", import.line, import.path)
    };
    let members = members.iter().map(|member| name(*member)).collect();
    Cycle {
        members,
        imports: closing.map(show).collect(),
    }
}

/// The sets of more than one node that reach each other.
fn cycles(edges: &BTreeSet<(usize, usize)>) -> Vec<BTreeSet<usize>> {
    let mut forward = BTreeMap::<usize, Vec<usize>>::new();
    for (from, to) in edges {
        forward.entry(*from).or_default().push(*to);
    }
    let reached: BTreeMap<_, _> = forward
        .keys()
        .map(|node| (*node, reachable(&forward, *node)))
        .collect();
    let mut out: Vec<BTreeSet<usize>> = Vec::new();
    for (node, to) in &reached {
        if !to.contains(node) || out.iter().any(|set| set.contains(node)) {
            continue;
        }
        let back = |other: &&usize| reached.get(other).is_some_and(|set| set.contains(node));
        out.push(to.iter().filter(back).copied().collect());
    }
    out
}

/// What can be reached from a node in one step or more.
fn reachable(forward: &BTreeMap<usize, Vec<usize>>, from: usize) -> BTreeSet<usize> {
    let (mut out, mut open) = (BTreeSet::new(), vec![from]);
    while let Some(node) = open.pop() {
        for next in forward.get(&node).into_iter().flatten() {
            if out.insert(*next) {
                open.push(*next);
            }
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cycle_is_what_reaches_itself() {
        let check = |edges: &[(usize, usize)], expected: &[&[usize]]| {
            let found = cycles(&edges.iter().copied().collect());
            let expected: Vec<BTreeSet<_>> = expected
                .iter()
                .map(|set| set.iter().copied().collect())
                .collect();
            assert_eq!(found, expected, "{edges:?}");
        };
        check(&[], &[]);
        check(&[(0, 1), (1, 2), (0, 2)], &[]);
        check(&[(0, 1), (1, 0), (1, 2)], &[&[0, 1]]);
        check(
            &[(0, 1), (1, 2), (2, 0), (2, 3), (3, 4), (4, 3)],
            &[&[0, 1, 2], &[3, 4]],
        );
    }
}
