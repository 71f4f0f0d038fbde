//! The loops of `vectors` and `layers`: their table, and what is made of it for a set of instructions.

/// Gives a macro the loops: signature, the scalar form, and the form for sets with fused multiply-add.
macro_rules! loops {
    ($then:ident!($($head:tt)*)) => {
        $then! {
            ($($head)*)

            /// The dot product of two vectors of equal length, summed in sixteen lanes.
            pub fn dot(a: &[f32], b: &[f32]) -> f32 = vectors::dot, vectors::dot;

            /// Lower and upper bounds of the rows' dot products with the query.
            pub fn bounds(line: &BoundFormula, sums: &[i32], scales: &[u32], out: DotBounds<'_>) -> ()
                = vectors::bounds, vectors::bounds;

            /// Calls `f` with the indexes, ascending, of the values that are at least `least`. NaN never is.
            pub fn reaching(values: &[f32], least: f32, f: &mut dyn FnMut(usize)) -> ()
                = vectors::reaching, vectors::reaching;

            /// The index of the first greatest value; 0 if every value is NaN.
            pub fn greatest(values: &[f32]) -> usize = vectors::greatest, vectors::greatest;

            /// Quantises a query to integers of one byte.
            pub(crate) fn set(coded: &mut QuantisedQuery, query: &[f32]) -> () = vectors::set, vectors::set;

            /// Writes the codes of a vector minus the centre; returns its scale and error, packed.
            pub fn quantise(off: &[f32], codes: &mut [u8]) -> u32 = vectors::quantise, vectors::quantise;

            /// GELU with the error function, within 4e-7 · max(1, |x|).
            pub fn gelu(values: &mut [f32]) -> () = layers::gelu::<false>, layers::gelu::<true>;

            /// GELU with the hyperbolic tangent.
            pub fn gelu_tanh(values: &mut [f32]) -> () = layers::gelu_tanh::<false>, layers::gelu_tanh::<true>;

            /// Replaces scores by shares of 1: e^(scale · score), divided by the total.
            pub fn softmax(scores: &mut [f32], scale: f32) -> () = layers::softmax::<false>, layers::softmax::<true>;

            /// Shifts and scales a row to mean 0 and variance 1, then by the gains and shifts of its columns.
            pub fn normalise(row: &mut [f32], gains: &[f32], shifts: &[f32], epsilon: f32) -> ()
                = layers::normalise::<false>, layers::normalise::<true>;

            /// Adds the second to the first.
            pub fn add(sums: &mut [f32], values: &[f32]) -> () = layers::add, layers::add;
        }
    };
}
pub(crate) use loops;

/// The loops as methods of a type whose value proves that the processor has the features, with fused multiply-add.
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
macro_rules! compiled {
    (
        ($feature:literal)
        $($(#[$about:meta])* $vis:vis fn $name:ident($($arg:ident: $kind:ty),*) -> $out:ty = $scalar:path, $fused:path;)*
    ) => {
        $(
            #[inline]
            pub(crate) fn $name(self, $($arg: $kind),*) -> $out {
                #[target_feature(enable = $feature)]
                fn inner($($arg: $kind),*) -> $out {
                    $fused($($arg),*)
                }
                // SAFETY: `self` exists, so the processor has these instructions.
                unsafe { inner($($arg),*) }
            }
        )*
    };
}
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
pub(crate) use compiled;

/// Calls a kernel that is generic in its rows and vectors with the numbers that are known at run time only.
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
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
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
pub(crate) use with_size;

/// A register-blocked kernel: `ROWS` rows times `VECTORS` registers of packed columns, every sum in a register.
///
/// The caller has checked by `RowBlock::validate` that the rows are inside the numbers; `at` is the first column.
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
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
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
pub(crate) use tile_kernel;
