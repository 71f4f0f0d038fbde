//! The instruction sets, and the choice of the best that this processor has.

use std::sync::OnceLock;

#[cfg(target_arch = "aarch64")]
use super::neon;
#[cfg(target_arch = "x86_64")]
use super::{avx2, avx512};

use super::body::{self, PanelView, RowBlock, Tile};

/// An instruction set that this processor has.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Kernels {
    /// The plain loops as the compiler translates them.
    Scalar,
    #[cfg(target_arch = "x86_64")]
    /// AVX2 and FMA.
    Avx2(avx2::Avx2),
    #[cfg(target_arch = "x86_64")]
    /// AVX-512 F, BW, DQ and VL.
    Avx512(avx512::Avx512),
    #[cfg(target_arch = "aarch64")]
    /// NEON.
    Neon(neon::Neon),
}

macro_rules! dispatch {
    ($self:ident, $kernels:ident => $call:expr, $scalar:expr) => {
        match $self {
            Self::Scalar => $scalar,
            #[cfg(target_arch = "x86_64")]
            Self::Avx2($kernels) => $call,
            #[cfg(target_arch = "x86_64")]
            Self::Avx512($kernels) => $call,
            #[cfg(target_arch = "aarch64")]
            Self::Neon($kernels) => $call,
        }
    };
}

impl Kernels {
    /// The best that this processor has.
    pub(crate) fn best() -> Self {
        static BEST: OnceLock<Kernels> = OnceLock::new();
        *BEST.get_or_init(|| Self::all().pop().unwrap_or(Self::Scalar))
    }

    /// Every set that this processor has, the best last.
    pub(crate) fn all() -> Vec<Self> {
        #[cfg_attr(
            not(any(target_arch = "x86_64", target_arch = "aarch64")),
            expect(unused_mut, reason = "only the scalar set")
        )]
        let mut all = vec![Self::Scalar];
        #[cfg(target_arch = "x86_64")]
        {
            all.extend(avx2::Avx2::new().map(Self::Avx2));
            all.extend(avx512::Avx512::new().map(Self::Avx512));
        }
        #[cfg(target_arch = "aarch64")]
        all.extend(neon::Neon::new().map(Self::Neon));
        all
    }

    /// Writes the products of up to 8 rows and a panel's columns into a tile.
    ///
    /// # Panics
    /// If the rows are not inside their numbers, or the panel has not `lanes` blocks for each step of the depth.
    #[inline]
    pub(crate) fn tile(self, rows: RowBlock<'_>, panel: PanelView<'_>, out: &mut Tile) {
        dispatch!(self, kernels => kernels.tile(rows, panel, out), {
            rows.validate(panel);
            body::tile::<false>(rows, panel, out);
        });
    }

    /// GELU with the error function, within 4e-7 · max(1, |x|).
    #[inline]
    pub(crate) fn gelu(self, values: &mut [f32]) {
        dispatch!(self, kernels => kernels.gelu(values), body::gelu::<false>(values));
    }

    /// GELU with the hyperbolic tangent.
    #[inline]
    pub(crate) fn gelu_tanh(self, values: &mut [f32]) {
        dispatch!(self, kernels => kernels.gelu_tanh(values), body::gelu_tanh::<false>(values));
    }

    /// Replaces scores by shares of 1: e^(scale · score), divided by the total.
    #[inline]
    pub(crate) fn softmax(self, scores: &mut [f32], scale: f32) {
        dispatch!(self, kernels => kernels.softmax(scores, scale), body::softmax::<false>(scores, scale));
    }

    /// Shifts and scales a row to mean 0 and variance 1, then by the gains and shifts of its columns.
    #[inline]
    pub(crate) fn normalise(self, row: &mut [f32], gains: &[f32], shifts: &[f32], epsilon: f32) {
        dispatch!(
            self,
            kernels => kernels.normalise(row, gains, shifts, epsilon),
            body::normalise::<false>(row, gains, shifts, epsilon)
        );
    }

    /// Adds the second to the first.
    #[inline]
    pub(crate) fn add(self, sums: &mut [f32], values: &[f32]) {
        dispatch!(self, kernels => kernels.add(sums, values), body::add(sums, values));
    }
}
