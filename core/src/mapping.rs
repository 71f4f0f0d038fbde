//! mapping.
