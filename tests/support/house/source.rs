//! A crate as its modules: the tree that `mod` declarations span, with what each module defines and imports.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use syn::spanned::Spanned;
use syn::visit::Visit;

/// One file of a crate, parsed.
pub(super) struct SourceFile {
    /// Relative to the workspace.
    pub(super) path: String,
    pub(super) text: String,
    pub(super) syntax: syn::File,
    pub(super) module: usize,
}

/// One module; an inline module shares the file of its parent.
pub(super) struct Module {
    /// From the root of the crate, which is empty.
    pub(super) path: Vec<String>,
    pub(super) parent: Option<usize>,
    pub(super) file: usize,
    pub(super) children: BTreeMap<String, usize>,
    pub(super) items: BTreeSet<String>,
    pub(super) uses: Vec<Use>,
}

/// One name that a `use` brings into a module.
pub(super) struct Use {
    /// `*` stands for all names of the path.
    pub(super) name: String,
    pub(super) path: Vec<String>,
    /// Visible outside the module: a re-export.
    pub(super) is_reexport: bool,
    pub(super) line: usize,
}

/// A crate, from one root.
pub(super) struct Crate {
    pub(super) files: Vec<SourceFile>,
    pub(super) modules: Vec<Module>,
}

impl Crate {
    /// Parses a root and every file that belongs to it outside of tests.
    pub(super) fn parse(workspace: &Path, root: &Path) -> Self {
        let mut out = Self {
            files: Vec::new(),
            modules: Vec::new(),
        };
        let folder = root.parent().expect("a root has a folder").to_path_buf();
        out.add_file(workspace, root, &folder, None, Vec::new());
        out
    }

    fn add_file(
        &mut self,
        workspace: &Path,
        path: &Path,
        folder: &Path,
        parent: Option<usize>,
        name: Vec<String>,
    ) -> usize {
        let text = fs::read_to_string(path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
        let syntax = syn::parse_file(&text).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
        let (file, module) = (self.files.len(), self.modules.len());
        let relative = path
            .strip_prefix(workspace)
            .unwrap_or(path)
            .to_string_lossy();
        let path = relative.replace('\\', "/");
        let items = syntax.items.clone();
        self.files.push(SourceFile {
            path,
            text,
            syntax,
            module,
        });
        self.add_module(file, parent, name);
        self.add_items(workspace, module, &items, folder);
        module
    }

    fn add_module(&mut self, file: usize, parent: Option<usize>, path: Vec<String>) -> usize {
        let (children, items, uses) = Default::default();
        let module = Module {
            path,
            parent,
            file,
            children,
            items,
            uses,
        };
        self.modules.push(module);
        self.modules.len() - 1
    }

    /// Records what a module defines and imports; `folder` holds the files of its children.
    fn add_items(&mut self, workspace: &Path, module: usize, items: &[syn::Item], folder: &Path) {
        for item in items.iter().filter(|item| !is_test(attributes(item))) {
            match item {
                syn::Item::Mod(child) => self.add_child(workspace, module, child, folder),
                syn::Item::Use(_) => {}
                item => self.modules[module].items.extend(name(item)),
            }
        }
        let mut found = UseVisitor(Vec::new());
        items.iter().for_each(|item| found.visit_item(item));
        self.modules[module].uses.extend(found.0);
    }

    fn add_child(&mut self, workspace: &Path, module: usize, child: &syn::ItemMod, folder: &Path) {
        let name = child.ident.to_string();
        let mut path = self.modules[module].path.clone();
        path.push(name.clone());
        let below = folder.join(&name);
        let index = if let Some((_, items)) = &child.content {
            let index = self.add_module(self.modules[module].file, Some(module), path);
            self.add_items(workspace, index, items, &below);
            index
        } else {
            let given = path_attribute(&child.attrs).map(|path| folder.join(path));
            let alone = folder.join(format!("{name}.rs"));
            let candidates = given.into_iter().chain([alone, below.join("mod.rs")]);
            let file: Option<PathBuf> = candidates.into_iter().find(|path| path.exists());
            let file = file.unwrap_or_else(|| panic!("{}: no file of {path:?}", folder.display()));
            self.add_file(workspace, &file, &below, Some(module), path)
        };
        self.modules[module].children.insert(name, index);
    }
}

/// Collects the `use` declarations of one module: those of its functions too, not those of its inline modules.
struct UseVisitor(Vec<Use>);

impl<'a> Visit<'a> for UseVisitor {
    fn visit_item(&mut self, item: &'a syn::Item) {
        if !is_test(attributes(item)) && !matches!(item, syn::Item::Mod(_)) {
            syn::visit::visit_item(self, item);
        }
    }

    fn visit_item_use(&mut self, item: &'a syn::ItemUse) {
        let is_reexport = !matches!(item.vis, syn::Visibility::Inherited);
        let line = item.span().start().line;
        self.add(&item.tree, &mut Vec::new(), is_reexport, line);
    }
}

impl UseVisitor {
    fn add(
        &mut self,
        tree: &syn::UseTree,
        front: &mut Vec<String>,
        is_reexport: bool,
        line: usize,
    ) {
        let depth = front.len();
        let mut name = None;
        match tree {
            syn::UseTree::Path(path) => {
                front.push(path.ident.to_string());
                self.add(&path.tree, front, is_reexport, line);
            }
            syn::UseTree::Group(group) => {
                for tree in &group.items {
                    self.add(tree, front, is_reexport, line);
                }
            }
            syn::UseTree::Glob(_) => name = Some("*".to_owned()),
            syn::UseTree::Name(last) if last.ident == "self" => name = front.last().cloned(),
            syn::UseTree::Name(last) => {
                front.push(last.ident.to_string());
                name = Some(last.ident.to_string());
            }
            syn::UseTree::Rename(last) => {
                if last.ident != "self" {
                    front.push(last.ident.to_string());
                }
                name = Some(last.rename.to_string());
            }
        }
        if let Some(name) = name {
            let path = front.clone();
            self.0.push(Use {
                name,
                path,
                is_reexport,
                line,
            });
        }
        front.truncate(depth);
    }
}

/// True of what is compiled for tests alone.
pub(super) fn is_test(attributes: &[syn::Attribute]) -> bool {
    attributes.iter().any(|attribute| {
        let syn::Meta::List(list) = &attribute.meta else {
            return false;
        };
        let tokens = list.tokens.to_string().replace(' ', "");
        list.path.is_ident("cfg") && (tokens == "test" || tokens.starts_with("all(test,"))
    })
}

/// The value of `#[path = "…"]`.
fn path_attribute(attributes: &[syn::Attribute]) -> Option<String> {
    let mut values = attributes
        .iter()
        .filter_map(|attribute| match &attribute.meta {
            syn::Meta::NameValue(pair) if pair.path.is_ident("path") => Some(&pair.value),
            _ => None,
        });
    match values.next()? {
        syn::Expr::Lit(syn::ExprLit {
            lit: syn::Lit::Str(text),
            ..
        }) => Some(text.value()),
        _ => None,
    }
}

pub(super) fn attributes(item: &syn::Item) -> &[syn::Attribute] {
    use syn::Item;
    match item {
        Item::Const(i) => &i.attrs,
        Item::Enum(i) => &i.attrs,
        Item::ExternCrate(i) => &i.attrs,
        Item::Fn(i) => &i.attrs,
        Item::ForeignMod(i) => &i.attrs,
        Item::Impl(i) => &i.attrs,
        Item::Macro(i) => &i.attrs,
        Item::Mod(i) => &i.attrs,
        Item::Static(i) => &i.attrs,
        Item::Struct(i) => &i.attrs,
        Item::Trait(i) => &i.attrs,
        Item::Type(i) => &i.attrs,
        Item::Union(i) => &i.attrs,
        Item::Use(i) => &i.attrs,
        _ => &[],
    }
}

/// The name that an item defines in its module.
fn name(item: &syn::Item) -> Option<String> {
    use syn::Item;
    let ident = match item {
        Item::Const(i) => &i.ident,
        Item::Enum(i) => &i.ident,
        Item::Fn(i) => &i.sig.ident,
        Item::Macro(i) => i.ident.as_ref()?,
        Item::Static(i) => &i.ident,
        Item::Struct(i) => &i.ident,
        Item::Trait(i) => &i.ident,
        Item::Type(i) => &i.ident,
        Item::Union(i) => &i.ident,
        _ => return None,
    };
    Some(ident.to_string())
}
