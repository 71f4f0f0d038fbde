//! The structure of the production code, measured: import cycles, type names, long functions, lines.
//!
//! Production code is what the workspace's packages compile without `cfg(test)`; `tests`, `benches` and `fuzz` are left
//! out. The test `tidy` bounds these numbers; the program `amem-house` prints them for any checkout.
//!
//! Not here: which numbers are acceptable (`tests/tidy`).

mod cycles;
mod imports;
mod items;
mod packages;
mod report;
mod source;

pub use cycles::Cycle;
pub use imports::Import;
pub use items::{Function, Item, TypeName};
pub use report::Structure;
