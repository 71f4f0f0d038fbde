//! Between two files of the module beside it.

use crate::first::below::Twice as Renamed;

pub(crate) struct Middle(Renamed);

impl Middle {
    pub(crate) const NUMBER: u32 = 1;
}

#[cfg(test)]
struct Page;
