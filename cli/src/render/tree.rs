//! Trees, drawn with lines.

#[derive(Debug, Default)]
pub(crate) struct Branch {
    /// One printable line.
    pub(crate) text: String,
    pub(crate) children: Vec<Branch>,
}

/// Iterative: a chain may be longer than the stack is deep.
pub(crate) fn tree(root: &Branch) -> Vec<String> {
    let mut lines = vec![root.text.clone()];
    let mut todo: Vec<(&Branch, String, bool)> = Vec::new();
    push_children(&mut todo, root, "");
    while let Some((branch, indent, is_last)) = todo.pop() {
        let (corner, beyond) = if is_last {
            ("└─ ", "   ")
        } else {
            ("├─ ", "│  ")
        };
        lines.push(format!("{indent}{corner}{}", branch.text));
        // Deeper levels are not indented further.
        let indent = if indent.chars().count() < INDENT_MAX {
            format!("{indent}{beyond}")
        } else {
            indent
        };
        push_children(&mut todo, branch, &indent);
    }
    lines
}

const INDENT_MAX: usize = 120;

fn push_children<'b>(todo: &mut Vec<(&'b Branch, String, bool)>, of: &'b Branch, indent: &str) {
    let last = of.children.len().saturating_sub(1);
    for (at, child) in of.children.iter().enumerate().rev() {
        todo.push((child, indent.to_owned(), at == last));
    }
}

impl Drop for Branch {
    /// Iterative: a long chain would overflow the stack.
    fn drop(&mut self) {
        let mut todo = std::mem::take(&mut self.children);
        while let Some(mut branch) = todo.pop() {
            todo.append(&mut branch.children);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn leaf(text: &str, children: Vec<Branch>) -> Branch {
        Branch {
            text: text.to_owned(),
            children,
        }
    }

    #[test]
    fn branches_hang_from_their_parents() {
        let root = leaf(
            "a",
            vec![
                leaf("b", vec![leaf("c", vec![]), leaf("d", vec![])]),
                leaf("e", vec![leaf("f", vec![])]),
            ],
        );
        let expected = ["a", "├─ b", "│  ├─ c", "│  └─ d", "└─ e", "   └─ f"];
        assert_eq!(tree(&root), expected);
    }

    #[test]
    fn a_long_chain_is_drawn_and_dropped() {
        let mut root = leaf("end", vec![]);
        for _ in 0..200_000 {
            root = leaf("on", vec![root]);
        }
        assert_eq!(tree(&root).len(), 200_001);
    }
}
