//! Errors of fact memory in brains.

use amem_engine::Error as EngineError;
use amem_format::Error as FormatError;
use amem_memory::Error as MemoryError;

/// The result of an operation on the memories of a brain.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Why an operation failed. Nothing was stored, unless the engine says that the outcome is unknown.
#[derive(Debug, Clone, thiserror::Error)]
pub enum Error {
    /// The request is wrong, or the memory is not there, or it changed meanwhile.
    #[error(transparent)]
    Memory(#[from] MemoryError),
    /// The brain failed or refused.
    #[error(transparent)]
    Engine(#[from] EngineError),
}

impl From<FormatError> for Error {
    fn from(error: FormatError) -> Self {
        Self::Engine(error.into())
    }
}
