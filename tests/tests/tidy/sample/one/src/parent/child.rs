//! Needs its parent.

pub struct Child(pub super::Parent);
