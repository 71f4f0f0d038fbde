//! Types, functions, modules and public items of the production code, and how many lines they take.

use std::collections::BTreeSet;

use syn::spanned::Spanned;
use syn::visit::Visit;

use super::source::{Crate, SourceFile, attributes, is_test};

/// A type that the code defines: a struct, an enum, a union, a trait or an alias.
pub struct TypeName {
    pub name: String,
    pub file: String,
    pub line: usize,
}

/// A function with a body.
pub struct Function {
    pub name: String,
    pub file: String,
    pub line: usize,
    /// From `fn` to the closing brace.
    pub lines: usize,
}

/// A public item that a crate's root shows.
pub struct Item {
    pub name: String,
    pub line: usize,
}

/// What one file holds outside of tests.
#[derive(Default)]
pub(super) struct Contents {
    pub(super) types: Vec<TypeName>,
    pub(super) functions: Vec<Function>,
    /// Lines, those of tests left out.
    pub(super) lines: usize,
    /// Of them, lines with code: not blank, not comments alone.
    pub(super) code_lines: usize,
}

pub(super) fn contents(file: &SourceFile) -> Contents {
    let mut visitor = ItemVisitor {
        file: &file.path,
        out: Contents::default(),
        test_lines: BTreeSet::new(),
    };
    visitor.visit_file(&file.syntax);
    let ItemVisitor {
        mut out,
        test_lines,
        ..
    } = visitor;
    for (index, line) in file.text.lines().enumerate() {
        if !test_lines.contains(&(index + 1)) {
            out.lines += 1;
            let line = line.trim_start();
            out.code_lines += usize::from(!line.is_empty() && !line.starts_with("//"));
        }
    }
    out
}

struct ItemVisitor<'a> {
    file: &'a str,
    out: Contents,
    test_lines: BTreeSet<usize>,
}

impl ItemVisitor<'_> {
    /// True if it is for tests alone; then its lines are noted.
    fn skips(&mut self, attributes: &[syn::Attribute], item: &impl Spanned) -> bool {
        let is_test = is_test(attributes);
        if is_test {
            let first = attributes.iter().map(|a| a.span().start().line).min();
            let (start, end) = (item.span().start().line, item.span().end().line);
            self.test_lines
                .extend(first.unwrap_or(start).min(start)..=end);
        }
        is_test
    }

    fn add_type(&mut self, ident: &syn::Ident) {
        let (name, file, line) = (
            ident.to_string(),
            self.file.to_owned(),
            ident.span().start().line,
        );
        self.out.types.push(TypeName { name, file, line });
    }

    fn add_function(&mut self, signature: &syn::Signature, body: &syn::Block) {
        let (start, end) = (signature.span().start().line, body.span().end().line);
        let (name, file) = (signature.ident.to_string(), self.file.to_owned());
        self.out.functions.push(Function {
            name,
            file,
            line: start,
            lines: end - start + 1,
        });
    }
}

impl<'a> Visit<'a> for ItemVisitor<'_> {
    fn visit_item(&mut self, item: &'a syn::Item) {
        if self.skips(attributes(item), item) {
            return;
        }
        match item {
            syn::Item::Struct(i) => self.add_type(&i.ident),
            syn::Item::Enum(i) => self.add_type(&i.ident),
            syn::Item::Union(i) => self.add_type(&i.ident),
            syn::Item::Trait(i) => self.add_type(&i.ident),
            syn::Item::Type(i) => self.add_type(&i.ident),
            syn::Item::Fn(i) => self.add_function(&i.sig, &i.block),
            _ => {}
        }
        syn::visit::visit_item(self, item);
    }

    fn visit_impl_item_fn(&mut self, item: &'a syn::ImplItemFn) {
        if !self.skips(&item.attrs, item) {
            self.add_function(&item.sig, &item.block);
            syn::visit::visit_impl_item_fn(self, item);
        }
    }

    fn visit_trait_item_fn(&mut self, item: &'a syn::TraitItemFn) {
        if let Some(body) = &item.default {
            self.add_function(&item.sig, body);
        }
        syn::visit::visit_trait_item_fn(self, item);
    }
}

/// The public items that a crate's root shows: modules, definitions, and names that it re-exports.
pub(super) fn facade(of: &Crate) -> Vec<Item> {
    let root = &of.files[0].syntax;
    let mut out = Vec::new();
    for item in root.items.iter().filter(|item| !is_test(attributes(item))) {
        let (visibility, name) = match item {
            syn::Item::Const(i) => (&i.vis, i.ident.to_string()),
            syn::Item::Enum(i) => (&i.vis, i.ident.to_string()),
            syn::Item::Fn(i) => (&i.vis, i.sig.ident.to_string()),
            syn::Item::Mod(i) => (&i.vis, i.ident.to_string()),
            syn::Item::Static(i) => (&i.vis, i.ident.to_string()),
            syn::Item::Struct(i) => (&i.vis, i.ident.to_string()),
            syn::Item::Trait(i) => (&i.vis, i.ident.to_string()),
            syn::Item::Type(i) => (&i.vis, i.ident.to_string()),
            _ => continue,
        };
        if matches!(visibility, syn::Visibility::Public(_)) {
            out.push(Item {
                name,
                line: item.span().start().line,
            });
        }
    }
    let uses = root.items.iter().filter_map(|item| match item {
        syn::Item::Use(i) if matches!(i.vis, syn::Visibility::Public(_)) => {
            Some(i.span().start().line)
        }
        _ => None,
    });
    let lines: BTreeSet<_> = uses.collect();
    let shown = of.modules[0]
        .uses
        .iter()
        .filter(|one| lines.contains(&one.line));
    out.extend(shown.map(|one| Item {
        name: one.name.clone(),
        line: one.line,
    }));
    out
}
