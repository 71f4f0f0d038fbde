//! What a request asks for, checked, before any brain is looked at.
//!
//! Each service has what it needs beside it; a caller may be anybody, so what makes no sense is refused in words, and
//! nothing is asked of a brain for that. Not here: mutations (`Asks`) and questions (`amem_proto::answer`).

use crate::refusal::Result;

/// A request that can make no sense, whatever brain it is for.
pub trait Says {
    /// That, in our own types.
    type What;

    /// What it says, if it makes sense.
    fn said(self) -> Result<Self::What>;
}
