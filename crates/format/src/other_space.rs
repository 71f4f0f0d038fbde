//! Vectors of another vector space for the events of a brain, while a generation of that space is built.

use std::borrow::Cow;
use std::fmt::Debug;

use uuid::Uuid;

use crate::error::Result;
use crate::types::NodeId;

/// A vector for each event.
pub trait EventVectors: Debug + Send + Sync {
    /// The vector of an event; `None` if it has none.
    fn vector(&self, id: NodeId) -> Result<Option<&[f32]>>;
}

/// A vector space, and the vectors of a brain's events in it.
#[derive(Debug)]
pub struct OtherSpace {
    /// The space.
    pub space: Uuid,
    /// Numbers in a vector.
    pub dimension: u32,
    /// The vectors.
    pub vectors: Box<dyn EventVectors>,
    /// True if the brain is of the space already: its own vectors stay, and these are for events without.
    pub keeps_own: bool,
}

impl OtherSpace {
    /// The vector of an event that has `own` in the brain. Zeros stay zeros: what they are of is never searched.
    pub fn vector_for<'v>(
        &'v self,
        id: NodeId,
        own: Option<&'v [f32]>,
    ) -> Result<Option<Cow<'v, [f32]>>> {
        if let Some(own) = own.filter(|_| self.keeps_own) {
            return Ok(Some(Cow::Borrowed(own)));
        }
        if let Some(made) = self.vectors.vector(id)? {
            return Ok(Some(Cow::Borrowed(made)));
        }
        let is_zero = own.is_some_and(|own| own.iter().all(|x| *x == 0.0));
        Ok(is_zero.then(|| Cow::Owned(vec![0.0; self.dimension as usize])))
    }
}
