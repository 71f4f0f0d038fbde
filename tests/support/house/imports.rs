//! Which file of a crate needs which: every path is followed to the file that defines what it names.
//!
//! A `mod` declaration and a re-export are no import: a parent that shows what its children define does not need them.
//! A private `use` of an item is one, and so is a path in the code, macros included. Names that a macro makes, and
//! methods, are not followed.

use std::collections::BTreeMap;

use proc_macro2::{TokenStream, TokenTree};
use syn::spanned::Spanned;
use syn::visit::Visit;

use super::source::{Crate, attributes, is_test};

/// Re-exports that are followed for one path, at most: names can be defined in a circle.
const STEPS_MAX: usize = 24;

/// One file's need of another, with the first line that shows it.
pub struct Import {
    pub line: usize,
    pub path: String,
}

/// From one file to another, as indices of the crate's files.
pub(super) type Imports = BTreeMap<(usize, usize), Import>;

pub(super) fn imports(of: &Crate) -> Imports {
    let mut out = Imports::new();
    for (index, module) in of.modules.iter().enumerate() {
        for one in module.uses.iter().filter(|one| !one.is_reexport) {
            let path = one.path.clone();
            add(of, &mut out, index, &path, one.line);
        }
    }
    for file in &of.files {
        let mut visitor = PathVisitor {
            of,
            module: file.module,
            out: &mut out,
        };
        visitor.visit_file(&file.syntax);
    }
    out
}

fn add(of: &Crate, out: &mut Imports, module: usize, path: &[String], line: usize) {
    let from = of.modules[module].file;
    if let Some(Target::Item(to)) = resolve(of, module, path, 0)
        && to != from
    {
        let path = path.join("::");
        out.entry((from, to)).or_insert(Import { line, path });
    }
}

/// What a path leads to.
enum Target {
    Module(usize),
    /// Something that this file defines.
    Item(usize),
}

/// Follows a path as it stands in a module; `None` for what other crates or the code around it define.
fn resolve(of: &Crate, module: usize, path: &[String], steps: usize) -> Option<Target> {
    let (first, rest) = path.split_first()?;
    let start = match first.as_str() {
        "crate" => 0,
        "self" => module,
        "super" => of.modules[module].parent?,
        _ => return look_up(of, module, path, steps),
    };
    if rest.is_empty() {
        return Some(Target::Module(start));
    }
    if rest[0] == "super" {
        return resolve(of, start, rest, steps);
    }
    // What a module does not define itself is made by a macro in it.
    look_up(of, start, rest, steps).or(Some(Target::Item(of.modules[start].file)))
}

/// Follows a path from the names of a module.
fn look_up(of: &Crate, module: usize, path: &[String], steps: usize) -> Option<Target> {
    if steps > STEPS_MAX {
        return None;
    }
    let (first, rest) = path.split_first()?;
    let here = &of.modules[module];
    if first == "*" {
        return Some(Target::Item(here.file));
    }
    if let Some(child) = here.children.get(first) {
        let below = || look_up(of, *child, rest, steps + 1);
        return if rest.is_empty() {
            let is_item = here.items.contains(first);
            let named = || named(of, module, path, steps);
            let item = is_item.then_some(Target::Item(here.file)).or_else(named);
            item.or(Some(Target::Module(*child)))
        } else {
            below().or(Some(Target::Item(of.modules[*child].file)))
        };
    }
    if here.items.contains(first) {
        return Some(Target::Item(here.file));
    }
    named(of, module, path, steps).or_else(|| globbed(of, module, path, steps))
}

/// Follows a path whose first name a `use` brings into the module.
fn named(of: &Crate, module: usize, path: &[String], steps: usize) -> Option<Target> {
    let uses = of.modules[module]
        .uses
        .iter()
        .filter(|one| one.name == path[0] && one.path != path);
    for one in uses {
        let whole = [&one.path[..], &path[1..]].concat();
        if let Some(target) = resolve(of, module, &whole, steps + 1) {
            return Some(target);
        }
    }
    None
}

/// Follows a path whose first name may come from a `use` of all names.
fn globbed(of: &Crate, module: usize, path: &[String], steps: usize) -> Option<Target> {
    let globs = of.modules[module].uses.iter().filter(|one| one.name == "*");
    for one in globs {
        let Some(Target::Module(from)) = resolve(of, module, &one.path, steps + 1) else {
            continue;
        };
        if from != module
            && let Some(target) = look_up(of, from, path, steps + 1)
        {
            return Some(target);
        }
    }
    None
}

struct PathVisitor<'a> {
    of: &'a Crate,
    module: usize,
    out: &'a mut Imports,
}

impl<'a> Visit<'a> for PathVisitor<'_> {
    fn visit_item(&mut self, item: &'a syn::Item) {
        if !is_test(attributes(item)) {
            syn::visit::visit_item(self, item);
        }
    }

    fn visit_impl_item_fn(&mut self, item: &'a syn::ImplItemFn) {
        if !is_test(&item.attrs) {
            syn::visit::visit_impl_item_fn(self, item);
        }
    }

    fn visit_item_mod(&mut self, item: &'a syn::ItemMod) {
        let child = self.of.modules[self.module]
            .children
            .get(&item.ident.to_string());
        if let (Some((_, items)), Some(child)) = (&item.content, child) {
            let outer = std::mem::replace(&mut self.module, *child);
            items.iter().for_each(|item| self.visit_item(item));
            self.module = outer;
        }
    }

    fn visit_visibility(&mut self, _: &'a syn::Visibility) {}

    fn visit_attribute(&mut self, _: &'a syn::Attribute) {}

    fn visit_path(&mut self, path: &'a syn::Path) {
        if path.leading_colon.is_none() {
            let names: Vec<_> = path.segments.iter().map(|s| s.ident.to_string()).collect();
            add(
                self.of,
                self.out,
                self.module,
                &names,
                path.span().start().line,
            );
        }
        syn::visit::visit_path(self, path);
    }

    fn visit_macro(&mut self, one: &'a syn::Macro) {
        self.visit_path(&one.path);
        self.tokens(one.tokens.clone());
    }
}

impl PathVisitor<'_> {
    /// Finds the paths in what a macro is given.
    fn tokens(&mut self, tokens: TokenStream) {
        let tokens: Vec<_> = tokens.into_iter().collect();
        let is = |at: usize, mark: char| matches!(tokens.get(at), Some(TokenTree::Punct(p)) if p.as_char() == mark);
        let mut at = 0;
        while at < tokens.len() {
            match &tokens[at] {
                TokenTree::Group(group) => self.tokens(group.stream()),
                TokenTree::Ident(ident) if at == 0 || !is(at - 1, '.') && !is(at - 1, ':') => {
                    let (mut path, line) = (vec![ident.to_string()], ident.span().start().line);
                    while is(at + 1, ':')
                        && is(at + 2, ':')
                        && let Some(TokenTree::Ident(next)) = tokens.get(at + 3)
                    {
                        path.push(next.to_string());
                        at += 3;
                    }
                    add(self.of, self.out, self.module, &path, line);
                }
                _ => {}
            }
            at += 1;
        }
    }
}
