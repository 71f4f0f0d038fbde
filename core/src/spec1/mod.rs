//! The interchange layout of the specification document.
