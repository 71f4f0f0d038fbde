//! Packed matrices and their products with rows.
//!
//! A packed matrix holds panels of 48 columns, the last one narrower; in a panel, the numbers of one step of the depth
//! are beside each other. So a product reads a panel once from front to back, and every load is of a whole cache line.

use amem_kernels::{
    Kernels, LANES, LaneBlock, PanelView, RowBlock, TILE_COLUMNS, TILE_LANES, TILE_ROWS, Tile,
};

/// Rows of numbers whose starts are `stride` apart.
#[derive(Debug, Clone, Copy)]
pub(crate) struct RowsView<'a> {
    pub(crate) numbers: &'a [f32],
    pub(crate) stride: usize,
    pub(crate) count: usize,
    /// Numbers of a row.
    pub(crate) width: usize,
}

impl<'a> RowsView<'a> {
    /// Rows that follow each other without a gap.
    pub(crate) fn dense(numbers: &'a [f32], width: usize) -> Self {
        Self {
            numbers,
            stride: width,
            count: numbers.len() / width.max(1),
            width,
        }
    }

    pub(crate) fn row(&self, at: usize) -> &'a [f32] {
        &self.numbers[at * self.stride..][..self.width]
    }
}

/// Where a product is written: rows of the result begin `stride` apart.
#[derive(Debug)]
pub(crate) struct ProductRows<'a> {
    pub(crate) numbers: &'a mut [f32],
    pub(crate) stride: usize,
}

/// A matrix of `depth` rows and `columns` columns, packed for products with it.
#[derive(Debug, Default)]
pub(crate) struct PackedMatrix {
    depth: usize,
    columns: usize,
    blocks: Vec<LaneBlock>,
}

impl PackedMatrix {
    /// Packs the transposed matrix: each row of the source becomes a column.
    pub(crate) fn transposed(source: RowsView<'_>) -> Self {
        let mut matrix = Self::default();
        matrix.pack_transposed(source);
        matrix
    }

    /// The same in the memory of another matrix.
    pub(crate) fn pack_transposed(&mut self, source: RowsView<'_>) {
        self.resize(source.width, source.count);
        for (first, lanes, panel) in panels_mut(&mut self.blocks, self.depth, self.columns) {
            for lane in 0..lanes {
                let first = first + lane * LANES;
                let rows: [&[f32]; LANES] = std::array::from_fn(|i| {
                    if first + i < source.count {
                        source.row(first + i)
                    } else {
                        &[]
                    }
                });
                for (step, blocks) in panel.chunks_exact_mut(lanes).enumerate() {
                    let number = |i: usize| rows[i].get(step).copied().unwrap_or_default();
                    blocks[lane] = LaneBlock(std::array::from_fn(number));
                }
            }
        }
    }

    /// Packs the source as it is.
    pub(crate) fn pack(&mut self, source: RowsView<'_>) {
        self.resize(source.count, source.width);
        for (first, lanes, panel) in panels_mut(&mut self.blocks, self.depth, self.columns) {
            for (step, blocks) in panel.chunks_exact_mut(lanes).enumerate() {
                let row = &source.row(step)[first..];
                for (block, numbers) in blocks.iter_mut().zip(row.chunks(LANES)) {
                    if let Ok(numbers) = numbers.try_into() {
                        *block = LaneBlock(numbers);
                    } else {
                        *block = LaneBlock::ZERO;
                        block.0[..numbers.len()].copy_from_slice(numbers);
                    }
                }
            }
        }
    }

    /// Its depth and its columns.
    pub(crate) fn shape(&self) -> (usize, usize) {
        (self.depth, self.columns)
    }

    fn resize(&mut self, depth: usize, columns: usize) {
        (self.depth, self.columns) = (depth, columns);
        let blocks = depth * columns.div_ceil(LANES);
        self.blocks.resize(blocks, LaneBlock::ZERO);
    }

    /// Writes the products of rows and this matrix, plus a number for each column if there are such.
    pub(crate) fn multiply(
        &self,
        kernels: Kernels,
        rows: RowsView<'_>,
        shifts: Option<&[f32]>,
        out: ProductRows<'_>,
    ) {
        assert_eq!(rows.width, self.depth, "rows of another depth");
        let blocks = rows.count.div_ceil(TILE_ROWS).max(1);
        let mut tile = Tile::ZERO;
        let mut at = 0;
        for first_column in (0..self.columns).step_by(TILE_COLUMNS) {
            let width = TILE_COLUMNS.min(self.columns - first_column);
            let lanes = width.div_ceil(LANES);
            let panel = &self.blocks[at..][..self.depth * lanes];
            at += panel.len();
            let behind = &self.blocks[at..];
            let behind = &behind[..panel.len().min(behind.len())];
            for block in 0..blocks {
                // Blocks of nearly equal height: the last one alone would use few registers.
                let first = block * rows.count / blocks;
                let count = (block + 1) * rows.count / blocks - first;
                if count == 0 {
                    continue;
                }
                let part = RowBlock {
                    numbers: &rows.numbers[first * rows.stride..],
                    stride: rows.stride,
                    count,
                    depth: self.depth,
                };
                // While one panel is multiplied, the first blocks of rows prefetch the next one, about a line for each
                // step of the depth: a question has few rows, and would wait for memory.
                let share = self.depth * lanes.div_ceil(blocks);
                let from = (block * share).min(behind.len());
                let share = from..(from + share).min(behind.len());
                let panel = PanelView {
                    blocks: panel,
                    lanes,
                    next: &behind[share],
                };
                kernels.tile(part, panel, &mut tile);
                for (r, sums) in tile.0.iter().enumerate().take(count) {
                    let out = &mut out.numbers[(first + r) * out.stride + first_column..][..width];
                    match shifts.map(|shifts| &shifts[first_column..][..width]) {
                        Some(shifts) => {
                            for ((out, sum), shift) in out.iter_mut().zip(sums).zip(shifts) {
                                *out = sum + shift;
                            }
                        }
                        None => out.copy_from_slice(&sums[..width]),
                    }
                }
            }
        }
    }
}

/// The panels of a matrix: the first column, the lane blocks of a step, the blocks.
fn panels_mut(
    blocks: &mut [LaneBlock],
    depth: usize,
    columns: usize,
) -> impl Iterator<Item = (usize, usize, &mut [LaneBlock])> {
    let mut rest = blocks;
    (0..columns).step_by(TILE_COLUMNS).map(move |first| {
        let lanes = (columns - first).div_ceil(LANES).min(TILE_LANES);
        let panel;
        (panel, rest) = std::mem::take(&mut rest).split_at_mut(depth * lanes);
        (first, lanes, panel)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn numbers(count: usize, seed: u32) -> Vec<f32> {
        let mut state = seed;
        let next = |_| {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (state >> 8) as f32 / (1 << 23) as f32 - 1.0
        };
        (0..count).map(next).collect()
    }

    /// Numbers that no product may change.
    const UNTOUCHED: f32 = 7.0;

    fn check(rows: usize, depth: usize, columns: usize) {
        let place = format!("{rows} × {depth} × {columns}");
        let (a, b, shifts) = (
            numbers(rows * (depth + 3), 1),
            numbers(depth * columns, 2),
            numbers(columns, 3),
        );
        let a = RowsView {
            numbers: &a,
            stride: depth + 3,
            count: rows,
            width: depth,
        };
        let flipped: Vec<f32> = (0..columns)
            .flat_map(|c| (0..depth).map(move |k| (k, c)))
            .map(|(k, c)| b[k * columns + c])
            .collect();
        let view = |numbers, count, width| RowsView {
            numbers,
            stride: width,
            count,
            width,
        };
        // A matrix that was larger before: what it held must not be seen.
        let mut packed = PackedMatrix::default();
        packed.pack(RowsView::dense(&[9.0; 90 * 100], 100));
        packed.pack(view(&b, depth, columns));
        let transposed = PackedMatrix::transposed(view(&flipped, columns, depth));
        for kernels in Kernels::all() {
            for (matrix, shifts) in [(&packed, None), (&transposed, Some(&shifts[..]))] {
                let stride = columns + 2;
                let mut out = vec![UNTOUCHED; rows * stride];
                let product = ProductRows {
                    numbers: &mut out,
                    stride,
                };
                matrix.multiply(kernels, a, shifts, product);
                for (r, out) in out.chunks(stride).enumerate() {
                    assert_eq!(out[columns..], [UNTOUCHED; 2], "{place}: past the columns");
                    for (c, found) in out[..columns].iter().enumerate() {
                        let product =
                            |k: usize| f64::from(a.row(r)[k]) * f64::from(b[k * columns + c]);
                        let sum: f64 = (0..depth).map(product).sum();
                        let expected = sum + shifts.map_or(0.0, |s| f64::from(s[c]));
                        let off = (f64::from(*found) - expected).abs();
                        let bound = 1e-6 + 1e-7 * depth as f64;
                        assert!(off < bound, "{kernels:?} {place}: {off} at {r}, {c}");
                    }
                }
            }
        }
    }

    #[test]
    fn products_are_the_plain_ones_at_many_shapes() {
        for rows in [0, 1, 2, 7, 8, 9, 15, 16, 17, 33] {
            for (depth, columns) in [(1, 1), (2, 15), (8, 16), (32, 17), (31, 47), (16, 48)] {
                check(rows, depth, columns);
            }
            for (depth, columns) in [(5, 49), (32, 64), (33, 96), (7, 100), (64, 145)] {
                check(rows, depth, columns);
            }
        }
        check(3, 0, 20);
        check(20, 384, 384);
    }
}
