//! The description of all routes, in OpenAPI 3.1, and a page for people made of it.
//!
//! Made of the table of routes, of the descriptors for the calls of amem.v1, and of `fragment.json` for the routes of
//! fact memory, of items and of the pages. Promises: a call is described by itself, with the comments of its `.proto`
//! file; the page loads nothing.

mod comments;
mod fragment;
mod schemas;

mod document;
mod page;

pub(crate) use document::description;
pub(super) use document::document;
pub(super) use page::page;
