//! reader.
