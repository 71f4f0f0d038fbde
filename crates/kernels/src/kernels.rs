//! The instruction sets, and the choice of the best that this processor has.

use std::sync::OnceLock;

#[cfg(target_arch = "x86_64")]
use crate::avx2::Avx2;
#[cfg(target_arch = "x86_64")]
use crate::avx512::Avx512;
use crate::layers::{self, PanelView, RowBlock, Tile};
#[cfg(target_arch = "aarch64")]
use crate::neon::Neon;
use crate::target_feature::loops;
use crate::vectors::{self, BoundFormula, DotBounds, QuantisedQuery};

/// An instruction set that this processor has.
#[derive(Debug, Clone, Copy)]
pub enum Kernels {
    /// The plain loops as the compiler translates them.
    Scalar,
    #[cfg(target_arch = "x86_64")]
    /// AVX2 and FMA.
    Avx2(Avx2),
    #[cfg(target_arch = "x86_64")]
    /// AVX-512 F, BW, DQ and VL, with or without VNNI.
    Avx512(Avx512),
    #[cfg(target_arch = "aarch64")]
    /// NEON.
    Neon(Neon),
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

/// The loops as methods that call those of the set.
macro_rules! dispatched {
    (
        ()
        $($(#[$about:meta])* $vis:vis fn $name:ident($($arg:ident: $kind:ty),*) -> $out:ty = $scalar:path, $fused:path;)*
    ) => {
        $(
            $(#[$about])*
            #[inline]
            $vis fn $name(self, $($arg: $kind),*) -> $out {
                dispatch!(self, kernels => kernels.$name($($arg),*), $scalar($($arg),*))
            }
        )*
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
            all.extend(Avx2::new().map(Self::Avx2));
            all.extend(Avx512::all().map(Self::Avx512));
        }
        #[cfg(target_arch = "aarch64")]
        all.extend(Neon::new().map(Self::Neon));
        all
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
        dispatch!(self, kernels => kernels.code_sums(query, rows, out), vectors::code_sums(query, rows, out));
    }

    /// Writes the products of up to 8 rows and a panel's columns into a tile.
    ///
    /// # Panics
    /// If the rows are not inside their numbers, or the panel has not `lanes` blocks for each step of the depth.
    #[inline]
    pub fn tile(self, rows: RowBlock<'_>, panel: PanelView<'_>, out: &mut Tile) {
        dispatch!(self, kernels => kernels.tile(rows, panel, out), {
            rows.validate(panel);
            layers::tile::<false>(rows, panel, out);
        });
    }

    loops!(dispatched!());
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
