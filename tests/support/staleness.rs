//! Where writers tell readers what they were answered: a page of cells that all of them map.

/// Writers around one brain.
pub const WRITERS: usize = 4;
/// Bytes of the cells.
pub const CELLS_BYTES: u64 = 4096;
/// The cell that is not 0 once it is over.
pub const OVER: u64 = CELLS_BYTES - 8;

/// A writer's place in the cells. Each of its two cells is on a line of its own.
#[derive(Debug, Clone, Copy)]
pub struct Slot(pub usize);

impl Slot {
    /// The cell with the LSN of the last answer.
    pub const fn lsn(self) -> usize {
        128 * self.0
    }

    /// The cell with the id of the last answer, plus 1.
    pub const fn id(self) -> usize {
        128 * self.0 + 64
    }

    /// What it writes.
    pub fn text(self, n: u64) -> String {
        format!("writer {} says {n}", self.0)
    }

    /// True if it wrote this.
    pub fn has_written(self, text: &str) -> bool {
        text.starts_with(&format!("writer {} says ", self.0))
    }
}

const _: () = assert!(Slot(WRITERS).lsn() as u64 <= OVER);
