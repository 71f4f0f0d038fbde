//! The journal: frames accepted since the base was made (FORMAT.md, "The journal").
//!
//! ```text
//! [head page, 4096][live page, 4096][frame][frame]…[zeros]
//! ```

pub mod field;
pub mod frame;
pub mod head;
pub mod live;
pub mod op;
mod operands;
pub mod scan;
