//! The loops of `body`, compiled for one set of instructions.

/// Methods of a type whose value proves that the processor has the features.
macro_rules! bodies {
    ($feature:literal) => {
        pub(super) fn dot(self, a: &[f32], b: &[f32]) -> f32 {
            #[target_feature(enable = $feature)]
            fn inner(a: &[f32], b: &[f32]) -> f32 {
                body::dot(a, b)
            }
            // SAFETY: `self` exists, so the processor has these instructions.
            unsafe { inner(a, b) }
        }

        pub(super) fn bounds(
            self,
            line: &BoundFormula,
            sums: &[i32],
            scales: &[u32],
            out: DotBounds<'_>,
        ) {
            #[target_feature(enable = $feature)]
            fn inner(line: &BoundFormula, sums: &[i32], scales: &[u32], out: DotBounds<'_>) {
                body::bounds(line, sums, scales, out);
            }
            // SAFETY: as above.
            unsafe { inner(line, sums, scales, out) }
        }

        pub(super) fn reaching(self, values: &[f32], least: f32, f: &mut dyn FnMut(usize)) {
            #[target_feature(enable = $feature)]
            fn inner(values: &[f32], least: f32, f: &mut dyn FnMut(usize)) {
                body::reaching(values, least, f);
            }
            // SAFETY: as above.
            unsafe { inner(values, least, f) }
        }

        pub(super) fn greatest(self, values: &[f32]) -> usize {
            #[target_feature(enable = $feature)]
            fn inner(values: &[f32]) -> usize {
                body::greatest(values)
            }
            // SAFETY: as above.
            unsafe { inner(values) }
        }

        pub fn set(self, coded: &mut QuantisedQuery, query: &[f32]) {
            #[target_feature(enable = $feature)]
            fn inner(coded: &mut QuantisedQuery, query: &[f32]) {
                body::set(coded, query);
            }
            // SAFETY: as above.
            unsafe { inner(coded, query) }
        }

        pub(super) fn quantise(self, off: &[f32], codes: &mut [u8]) -> u32 {
            #[target_feature(enable = $feature)]
            fn inner(off: &[f32], codes: &mut [u8]) -> u32 {
                body::quantise(off, codes)
            }
            // SAFETY: as above.
            unsafe { inner(off, codes) }
        }
    };
}
pub(super) use bodies;
