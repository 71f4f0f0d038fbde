//! The loops of `body`, compiled for one set of instructions.

/// Methods of a type whose value proves that the processor has the features; fused multiply-add is among them.
macro_rules! bodies {
    ($feature:literal) => {
        pub(super) fn gelu(self, values: &mut [f32]) {
            #[target_feature(enable = $feature)]
            fn inner(values: &mut [f32]) {
                body::gelu::<true>(values);
            }
            // SAFETY: `self` exists, so the processor has these instructions.
            unsafe { inner(values) }
        }

        pub(super) fn gelu_tanh(self, values: &mut [f32]) {
            #[target_feature(enable = $feature)]
            fn inner(values: &mut [f32]) {
                body::gelu_tanh::<true>(values);
            }
            // SAFETY: as above.
            unsafe { inner(values) }
        }

        pub(super) fn softmax(self, scores: &mut [f32], scale: f32) {
            #[target_feature(enable = $feature)]
            fn inner(scores: &mut [f32], scale: f32) {
                body::softmax::<true>(scores, scale);
            }
            // SAFETY: as above.
            unsafe { inner(scores, scale) }
        }

        pub(super) fn normalise(
            self,
            row: &mut [f32],
            gains: &[f32],
            shifts: &[f32],
            epsilon: f32,
        ) {
            #[target_feature(enable = $feature)]
            fn inner(row: &mut [f32], gains: &[f32], shifts: &[f32], epsilon: f32) {
                body::normalise::<true>(row, gains, shifts, epsilon);
            }
            // SAFETY: as above.
            unsafe { inner(row, gains, shifts, epsilon) }
        }

        pub(super) fn add(self, sums: &mut [f32], values: &[f32]) {
            #[target_feature(enable = $feature)]
            fn inner(sums: &mut [f32], values: &[f32]) {
                body::add(sums, values);
            }
            // SAFETY: as above.
            unsafe { inner(sums, values) }
        }
    };
}
pub(super) use bodies;

/// Calls a kernel that is generic in its rows and vectors with the numbers that are known at run time only.
macro_rules! with_size {
    ($rows:expr, $vectors:expr, $kernel:ident, $arguments:tt, [$($row:literal)*], $vector:tt) => {
        match $rows {
            $($row => with_size!(@ $row, $vectors, $kernel, $arguments, $vector),)*
            _ => unreachable!("RowBlock::validate bounds the rows"),
        }
    };
    (@ $row:literal, $vectors:expr, $kernel:ident, $arguments:tt, [$($vector:literal)*]) => {
        match $vectors {
            $($vector => $kernel::<$row, $vector> $arguments,)*
            _ => unreachable!("RowBlock::validate bounds the lanes"),
        }
    };
}
pub(super) use with_size;

/// A register-blocked kernel: `ROWS` rows times `VECTORS` registers of packed columns, every sum in a register.
///
/// The caller has checked by `RowBlock::validate` that the rows are inside the numbers; `at` is the first column.
macro_rules! tile_kernel {
    ($feature:literal, $width:literal, $zero:ident($($nothing:literal)?), $load:ident, $fused:expr, $store:ident) => {
        #[target_feature(enable = $feature)]
        fn tile<const ROWS: usize, const VECTORS: usize>(
            rows: RowBlock<'_>,
            first: usize,
            panel: PanelView<'_>,
            at: usize,
            out: &mut Tile,
        ) {
            let PanelView { blocks, lanes, next } = panel;
            let lines_per_step = next.len().div_ceil(rows.depth.max(1));
            let steps = next.len().checked_div(lines_per_step).unwrap_or(0);
            let mut line = next.as_ptr().cast::<f32>();
            assert!(first + ROWS <= rows.count && at + VECTORS * $width <= lanes * LANES);
            let numbers = rows.numbers.as_ptr();
            let mut sums = [[$zero($($nothing)?); VECTORS]; ROWS];
            for step in 0..rows.depth {
                if step < steps {
                    for _ in 0..lines_per_step {
                        prefetch(line);
                        line = line.wrapping_add(LANES);
                    }
                }
                // SAFETY: the panel has `lanes` blocks of `LANES` numbers for each step (`RowBlock::validate`), and the
                // columns from `at` are within them, as asserted.
                let columns: [_; VECTORS] = std::array::from_fn(|v| unsafe {
                    $load(blocks.as_ptr().cast::<f32>().add(step * lanes * LANES + at + v * $width))
                });
                for (r, sums) in sums.iter_mut().enumerate() {
                    // SAFETY: row first + r is below `count`; its `depth` numbers are inside (`RowBlock::validate`).
                    let x = unsafe { *numbers.add((first + r) * rows.stride + step) };
                    for (sum, column) in sums.iter_mut().zip(columns) {
                        *sum = $fused(x, column, *sum);
                    }
                }
            }
            for (sums, out) in sums.iter().zip(&mut out.0[first..]) {
                for (v, sum) in sums.iter().enumerate() {
                    let out = &mut out[at + v * $width..][..$width];
                    // SAFETY: the slice has as many numbers as the register.
                    unsafe { $store(out.as_mut_ptr(), *sum) };
                }
            }
        }
    };
}
pub(super) use tile_kernel;
