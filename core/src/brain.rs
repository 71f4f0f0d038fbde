//! brain.
