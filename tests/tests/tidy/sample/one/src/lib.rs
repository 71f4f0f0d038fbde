//! A crate with two cycles, measured by the test `tidy`; it is never compiled.

mod facade;
mod first;
pub mod parent;
mod second;

pub use facade::Page;

#[cfg(test)]
mod tests;
