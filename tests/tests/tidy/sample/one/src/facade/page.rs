//! Needs what its parent defines.

use super::Twice;

pub struct Page(Twice);
