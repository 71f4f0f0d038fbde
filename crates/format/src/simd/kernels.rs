//! The instruction sets, and the choice of the best that this processor has.

#[cfg(target_arch = "aarch64")]
use super::neon;
#[cfg(target_arch = "x86_64")]
use super::{avx2, avx512};

use std::sync::OnceLock;

use super::body::{self, BoundFormula, DotBounds, QuantisedQuery};

/// An instruction set that this processor has.
#[derive(Debug, Clone, Copy)]
pub enum Kernels {
    /// The plain loops as the compiler translates them.
    Scalar,
    #[cfg(target_arch = "x86_64")]
    /// AVX2 and FMA.
    Avx2(avx2::Avx2),
    #[cfg(target_arch = "x86_64")]
    /// AVX-512 F, BW and VL.
    Avx512(avx512::Avx512),
    #[cfg(target_arch = "x86_64")]
    /// AVX-512 with VNNI.
    Avx512Vnni(avx512::Avx512Vnni),
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
            #[cfg(target_arch = "x86_64")]
            Self::Avx512Vnni($kernels) => $call,
            #[cfg(target_arch = "aarch64")]
            Self::Neon($kernels) => $call,
        }
    };
}

impl Kernels {
    /// The best that this processor has.
    #[inline]
    pub fn best() -> Self {
        static BEST: OnceLock<Kernels> = OnceLock::new();
        *BEST.get_or_init(|| Self::all().pop().unwrap_or(Self::Scalar))
    }

    /// Every set that this processor has, the best last.
    pub fn all() -> Vec<Self> {
        #[cfg_attr(
            not(any(target_arch = "x86_64", target_arch = "aarch64")),
            expect(unused_mut, reason = "only the scalar set")
        )]
        let mut all = vec![Self::Scalar];
        #[cfg(target_arch = "x86_64")]
        {
            all.extend(avx2::Avx2::new().map(Self::Avx2));
            all.extend(avx512::Avx512::new().map(Self::Avx512));
            all.extend(avx512::Avx512Vnni::new().map(Self::Avx512Vnni));
        }
        #[cfg(target_arch = "aarch64")]
        all.extend(neon::Neon::new().map(Self::Neon));
        all
    }

    /// The dot product of two vectors of equal length, summed in sixteen lanes.
    #[inline]
    pub fn dot(self, a: &[f32], b: &[f32]) -> f32 {
        dispatch!(self, kernels => kernels.dot(a, b), body::dot(a, b))
    }

    /// For each row of codes, Σ code · query, as integers.
    ///
    /// # Panics
    /// If `rows` is not `out.len()` rows of the query's stride.
    #[inline]
    pub fn code_sums(self, query: &QuantisedQuery, rows: &[u8], out: &mut [i32]) {
        assert_eq!(
            rows.len(),
            query.stride() * out.len(),
            "rows of another stride"
        );
        dispatch!(self, kernels => kernels.code_sums(query, rows, out), body::code_sums(query, rows, out));
    }

    /// Lower and upper bounds of the rows' dot products with the query.
    #[inline]
    pub fn bounds(self, line: &BoundFormula, sums: &[i32], scales: &[u32], out: DotBounds<'_>) {
        dispatch!(self, kernels => kernels.bounds(line, sums, scales, out), body::bounds(line, sums, scales, out));
    }

    /// Calls `f` with the indexes, ascending, of the values that are at least `least`. NaN never is.
    #[inline]
    pub fn reaching(self, values: &[f32], least: f32, f: &mut dyn FnMut(usize)) {
        dispatch!(self, kernels => kernels.reaching(values, least, f), body::reaching(values, least, f));
    }

    /// The index of the first greatest value; 0 if every value is NaN.
    #[inline]
    pub fn greatest(self, values: &[f32]) -> usize {
        dispatch!(self, kernels => kernels.greatest(values), body::greatest(values))
    }

    /// Quantises a query to integers of one byte.
    #[inline]
    pub(super) fn set(self, coded: &mut QuantisedQuery, query: &[f32]) {
        dispatch!(self, kernels => kernels.set(coded, query), body::set(coded, query));
    }

    /// Writes the codes of a vector minus the centre; returns its scale and error, packed.
    #[inline]
    pub fn quantise(self, off: &[f32], codes: &mut [u8]) -> u32 {
        dispatch!(self, kernels => kernels.quantise(off, codes), body::quantise(off, codes))
    }
}

impl QuantisedQuery {
    /// Quantises a vector of finite numbers.
    pub fn of(query: &[f32]) -> Self {
        let mut coded = Self::sized(query.len());
        coded.set(query);
        coded
    }

    /// Replaces the query by another vector of the same dimension.
    pub fn set(&mut self, query: &[f32]) {
        Kernels::best().set(self, query);
    }
}
