//! The measurements of a whole workspace, and how they are printed.

use std::collections::BTreeMap;
use std::fmt;
use std::path::Path;

use super::cycles::{Cycle, between_files, between_modules};
use super::imports::imports;
use super::items::{Function, Item, TypeName, contents, facade};
use super::packages;
use super::source::Crate;

/// Lines that a function may have.
const FUNCTION_LINES_MAX: usize = 100;

/// Names that many types may bear.
const COMMON: [&str; 4] = ["Error", "Options", "Config", "Result"];

/// The production code of a workspace.
#[derive(Default)]
pub struct Structure {
    /// Files in the order in which their packages stand in the manifest.
    pub files: Vec<String>,
    /// Modules as `folder: crate::path`, with the file that holds them.
    pub modules: Vec<(String, String)>,
    pub file_cycles: Vec<Cycle>,
    pub module_cycles: Vec<Cycle>,
    pub types: Vec<TypeName>,
    pub functions: Vec<Function>,
    /// By library: the public items that its root shows.
    pub facades: Vec<(String, Vec<Item>)>,
    /// By package: all lines, and lines with code.
    pub lines: Vec<(String, usize, usize)>,
}

impl Structure {
    /// Parses every production package of the workspace in a folder.
    pub fn of(workspace: &Path) -> Self {
        let mut out = Self::default();
        for folder in packages::folders(workspace) {
            let (mut lines, mut code_lines) = (0, 0);
            for root in packages::roots(workspace, &folder) {
                let one = Crate::parse(workspace, &root);
                let (all, code) = out.add(&folder, &one);
                (lines, code_lines) = (lines + all, code_lines + code);
                if root.ends_with("lib.rs") {
                    out.facades.push((folder.clone(), facade(&one)));
                }
            }
            out.lines.push((folder, lines, code_lines));
        }
        out
    }

    fn add(&mut self, folder: &str, one: &Crate) -> (usize, usize) {
        let (mut lines, mut code_lines) = (0, 0);
        let imports = imports(one);
        self.file_cycles.extend(between_files(one, &imports));
        for mut cycle in between_modules(one, &imports) {
            for member in &mut cycle.members {
                *member = format!("{folder}: {member}");
            }
            self.module_cycles.push(cycle);
        }
        for module in &one.modules[1..] {
            let name = format!("{folder}: crate::{}", module.path.join("::"));
            self.modules
                .push((name, one.files[module.file].path.clone()));
        }
        for file in &one.files {
            let contents = contents(file);
            self.files.push(file.path.clone());
            self.types.extend(contents.types);
            self.functions.extend(contents.functions);
            (lines, code_lines) = (lines + contents.lines, code_lines + contents.code_lines);
        }
        (lines, code_lines)
    }

    /// Names that more than one type bears, with these types; the most frequent first.
    pub fn shared_names(&self) -> Vec<(&str, Vec<&TypeName>)> {
        let mut by_name = BTreeMap::<&str, Vec<&TypeName>>::new();
        for one in self
            .types
            .iter()
            .filter(|one| !COMMON.contains(&one.name.as_str()))
        {
            by_name.entry(&one.name).or_default().push(one);
        }
        let mut out: Vec<_> = by_name
            .into_iter()
            .filter(|(_, types)| types.len() > 1)
            .collect();
        out.sort_by_key(|(_, types)| std::cmp::Reverse(types.len()));
        out
    }

    pub fn long_functions(&self) -> Vec<&Function> {
        let mut out: Vec<_> = self
            .functions
            .iter()
            .filter(|f| f.lines > FUNCTION_LINES_MAX)
            .collect();
        out.sort_by_key(|f| std::cmp::Reverse(f.lines));
        out
    }
}

/// How many files or modules stand in cycles.
fn members(cycles: &[Cycle]) -> usize {
    cycles.iter().map(|cycle| cycle.members.len()).sum()
}

impl fmt::Display for Structure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let of_files = members(&self.file_cycles);
        writeln!(f, "files in cycles: {of_files} of {}", self.files.len())?;
        for cycle in &self.file_cycles {
            writeln!(f, "  {}: {}", cycle.members.len(), cycle.members.join(" "))?;
        }
        let of_modules = members(&self.module_cycles);
        writeln!(
            f,
            "modules in cycles with a sibling: {of_modules} of {}",
            self.modules.len()
        )?;
        for cycle in &self.module_cycles {
            writeln!(f, "  {}: {}", cycle.members.len(), cycle.members.join(" "))?;
        }
        let shared = self.shared_names();
        let many = shared.iter().filter(|(_, types)| types.len() > 3).count();
        let count = shared.len();
        writeln!(
            f,
            "types: {}; names of several types: {count}; of more than three: {many}",
            self.types.len()
        )?;
        for (name, types) in &shared {
            let places: Vec<_> = types
                .iter()
                .map(|one| format!("{}:{}", one.file, one.line))
                .collect();
            writeln!(f, "  {} {name}: {}", types.len(), places.join(" "))?;
        }
        let long = self.long_functions();
        writeln!(
            f,
            "functions over {FUNCTION_LINES_MAX} lines: {} of {}",
            long.len(),
            self.functions.len()
        )?;
        for one in long {
            writeln!(f, "  {} {}:{}: {}", one.lines, one.file, one.line, one.name)?;
        }
        writeln!(f, "public items that the root of a library shows:")?;
        for (folder, items) in &self.facades {
            writeln!(f, "  {folder}: {}", items.len())?;
        }
        writeln!(f, "production lines, and of them lines of code:")?;
        for (folder, lines, code) in &self.lines {
            writeln!(f, "  {folder}: {lines} {code}")?;
        }
        let total = self
            .lines
            .iter()
            .fold((0, 0), |sum, one| (sum.0 + one.1, sum.1 + one.2));
        writeln!(f, "  total: {} {}", total.0, total.1)
    }
}
