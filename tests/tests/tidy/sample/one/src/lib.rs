//! A crate with two cycles, measured by the test `tidy`; it is never compiled.

mod facade;
mod left;
pub mod parent;
mod right;

pub use facade::Shown;

#[cfg(test)]
mod tests;
