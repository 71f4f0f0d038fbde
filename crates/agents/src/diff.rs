//! The lines that differ between two texts, with three lines around each.

/// Lines shown around a change.
const CONTEXT: usize = 3;

/// Lines that are compared in full; of more, the whole range is shown as replaced.
const COMPARED_MAX: usize = 4000;

/// Characters of a line that are shown. Settings of programs may be one line with everything in it.
const COLUMNS_MAX: usize = 200;

#[derive(Debug, Clone, Copy, PartialEq)]
enum LineChange {
    Same(usize, usize),
    Removed(usize),
    Added(usize),
}

/// The lines of a unified diff, without its header.
pub(crate) fn diff(before: &str, after: &str) -> Vec<String> {
    let (old, new): (Vec<_>, Vec<_>) = (before.lines().collect(), after.lines().collect());
    let changes = changes(&old, &new);
    let is_near = |at: usize| {
        let from = at.saturating_sub(CONTEXT);
        let until = (at + CONTEXT + 1).min(changes.len());
        changes[from..until]
            .iter()
            .any(|change| !matches!(change, LineChange::Same(..)))
    };
    let mut out = Vec::new();
    let mut is_open = false;
    for (at, change) in changes.iter().enumerate() {
        if !is_near(at) {
            is_open = false;
            continue;
        }
        if !is_open {
            let (from, to) = position(&changes[at..]);
            out.push(format!("@@ -{from} +{to} @@"));
            is_open = true;
        }
        out.push(match *change {
            LineChange::Same(_, at) => format!(" {}", clipped(new[at])),
            LineChange::Removed(at) => format!("-{}", clipped(old[at])),
            LineChange::Added(at) => format!("+{}", clipped(new[at])),
        });
    }
    out
}

/// The numbers of the first lines, from 1.
fn position(changes: &[LineChange]) -> (usize, usize) {
    let old = changes.iter().find_map(|change| match change {
        LineChange::Same(old, _) | LineChange::Removed(old) => Some(*old),
        LineChange::Added(_) => None,
    });
    let new = changes.iter().find_map(|change| match change {
        LineChange::Same(_, new) | LineChange::Added(new) => Some(*new),
        LineChange::Removed(_) => None,
    });
    (old.map_or(0, |at| at + 1), new.map_or(0, |at| at + 1))
}

fn clipped(line: &str) -> String {
    match line.char_indices().nth(COLUMNS_MAX) {
        Some((end, _)) => format!("{}…", &line[..end]),
        None => line.to_owned(),
    }
}

fn changes(old: &[&str], new: &[&str]) -> Vec<LineChange> {
    let front = old.iter().zip(new).take_while(|(a, b)| a == b).count();
    let back = old[front..].iter().rev().zip(new[front..].iter().rev());
    let back = back.take_while(|(a, b)| a == b).count();
    let (a, b) = (&old[front..old.len() - back], &new[front..new.len() - back]);
    let mut out: Vec<_> = (0..front).map(|at| LineChange::Same(at, at)).collect();
    if a.len().max(b.len()) > COMPARED_MAX {
        out.extend((0..a.len()).map(|at| LineChange::Removed(front + at)));
        out.extend((0..b.len()).map(|at| LineChange::Added(front + at)));
    } else {
        middle(a, b, front, &mut out);
    }
    let (old_end, new_end) = (old.len() - back, new.len() - back);
    out.extend((0..back).map(|at| LineChange::Same(old_end + at, new_end + at)));
    out
}

/// By the longest common subsequence.
fn middle(a: &[&str], b: &[&str], front: usize, out: &mut Vec<LineChange>) {
    let width = b.len() + 1;
    let mut longest = vec![0_u16; (a.len() + 1) * width];
    for i in (0..a.len()).rev() {
        for j in (0..b.len()).rev() {
            longest[i * width + j] = if a[i] == b[j] {
                longest[(i + 1) * width + j + 1] + 1
            } else {
                longest[(i + 1) * width + j].max(longest[i * width + j + 1])
            };
        }
    }
    let (mut i, mut j) = (0, 0);
    while i < a.len() || j < b.len() {
        let is_same = i < a.len() && j < b.len() && a[i] == b[j];
        if is_same {
            out.push(LineChange::Same(front + i, front + j));
            (i, j) = (i + 1, j + 1);
        } else if j == b.len()
            || (i < a.len() && longest[(i + 1) * width + j] >= longest[i * width + j + 1])
        {
            out.push(LineChange::Removed(front + i));
            i += 1;
        } else {
            out.push(LineChange::Added(front + j));
            j += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn changed_lines_are_shown_with_their_surroundings() {
        let before = "a\nb\nc\nd\ne\nf\n";
        let after = "a\nb\nc\nd\nE\nf\ng\n";
        let shown = diff(before, after);
        assert_eq!(
            shown,
            ["@@ -2 +2 @@", " b", " c", " d", "-e", "+E", " f", "+g"]
        );
        assert_eq!(diff(before, before), Vec::<String>::new());
        assert_eq!(diff("", "x\n"), ["@@ -0 +1 @@", "+x"]);
        let long = "y".repeat(300);
        assert_eq!(diff("", &long)[1].chars().count(), COLUMNS_MAX + 2);
    }
}
