//! What a message says that asks for no mutation, in our own types.
//!
//! Each service has what it needs beside it; a caller may be anybody, so what makes no sense is refused in words, and
//! nothing is asked of a brain for that. Not here: mutations (`Asks`) and questions (`amem_proto::answer`).

use crate::refusal::Result;

/// A message that says something else than a number or a name that a brain, or a folder of them, has or has not.
pub trait Says {
    /// That, in our own types.
    type What;

    /// What it says, if it makes sense.
    fn said(self) -> Result<Self::What>;
}
