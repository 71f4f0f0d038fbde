//! Two files of which one is needed by, and one needs, the module beside it.

pub(crate) mod above;
pub(crate) mod below;
