//! Each set of instructions against plain loops: at every length, at every alignment, to the bit.

use super::Numbers;
use crate::vectors;
use crate::*;

impl Numbers {
    /// Of −1 to 1, with many decimals; now and then one that is large or zero.
    fn floats(&mut self, count: usize) -> Vec<f32> {
        let float = |bits: u64| match bits % 31 {
            0 => 0.0,
            1 => 1000.0,
            _ => (bits % (1 << 24)) as f32 / (1 << 23) as f32 - 1.0,
        };
        (0..count).map(|_| float(self.next())).collect()
    }

    fn bytes(&mut self, count: usize) -> Vec<u8> {
        (0..count).map(|_| self.next() as u8).collect()
    }
}

/// Calls `f` with every set but the scalar one, and each place from which slices begin.
fn each(f: impl Fn(Kernels, usize)) {
    for kernels in Kernels::all() {
        for from in [0, 1, 2, 3, 5, 8, 13, 16] {
            f(kernels, from);
        }
    }
}

#[test]
fn dot_products_are_the_scalar_ones_at_every_length_and_alignment() {
    each(|kernels, from| {
        for len in (0..200).chain([384, 768, 1536, 4096]) {
            let mut numbers = Numbers(len as u64);
            let (a, b) = (numbers.floats(from + len), numbers.floats(2 * from + len));
            let (a, b) = (&a[from..], &b[2 * from..]);
            assert_eq!(
                kernels.dot(a, b).to_bits(),
                vectors::dot(a, b).to_bits(),
                "{kernels:?} {len} {from}"
            );
        }
    });
}

#[test]
fn sums_over_codes_are_the_scalar_ones_at_every_length_and_alignment() {
    each(|kernels, from| {
        for dimension in (1..300).step_by(7).chain([128, 384, 4096]) {
            let mut numbers = Numbers(dimension as u64);
            let query = QuantisedQuery::of(&numbers.floats(dimension));
            for rows in [0, 1, 3, 15, 16, 17, 40] {
                let bytes = numbers.bytes(from + rows * query.stride());
                let (mut found, mut expected) = (vec![0; rows], vec![0; rows]);
                kernels.code_sums(&query, &bytes[from..], &mut found);
                vectors::code_sums(&query, &bytes[from..], &mut expected);
                assert_eq!(found, expected, "{kernels:?} {dimension} {rows} {from}");
            }
        }
    });
}

#[test]
fn codes_of_the_greatest_and_the_least_don_t_overflow() {
    for kernels in Kernels::all() {
        for (x, sign) in [(1.0, 1), (-1.0, -1)] {
            let query = QuantisedQuery::of(&vec![x; 4096]);
            let mut sums = [0; 17];
            kernels.code_sums(&query, &vec![0xff; 17 * query.stride()], &mut sums);
            assert_eq!(sums, [sign * 4096 * 15 * 127; 17], "{kernels:?}");
        }
    }
}

#[test]
fn codes_scales_numbers_and_bounds_are_the_scalar_ones() {
    each(|kernels, from| {
        for dimension in [1, 15, 16, 17, 31, 32, 33, 100, 128, 384] {
            let mut numbers = Numbers(dimension as u64 + 1);
            let off = numbers.floats(from + dimension);
            let stride = dimension.div_ceil(32) * 16;
            let (mut found, mut expected) = (vec![0; stride], vec![0; stride]);
            let scales = (
                kernels.quantise(&off[from..], &mut found),
                vectors::quantise(&off[from..], &mut expected),
            );
            assert_eq!(
                (scales.0, found),
                (scales.1, expected),
                "{kernels:?} {dimension} {from}"
            );
        }
        for dimension in [1, 16, 31, 32, 33, 100, 128] {
            let query = Numbers(dimension as u64).floats(from + dimension);
            let (mut found, mut expected) = (
                QuantisedQuery::sized(dimension),
                QuantisedQuery::sized(dimension),
            );
            kernels.set(&mut found, &query[from..]);
            vectors::set(&mut expected, &query[from..]);
            assert_eq!(found, expected, "{kernels:?} {dimension} {from}");
        }
        let mut numbers = Numbers(5);
        let query = QuantisedQuery::of(&numbers.floats(64));
        let line = BoundFormula::new(&query, 1.0, 0.25, 1.5, 1e-4);
        for len in [0, 1, 15, 16, 17, 100] {
            let sums: Vec<i32> = (0..from + len)
                .map(|_| numbers.next() as i32 % 100_000)
                .collect();
            let scales: Vec<u32> = (0..from + len).map(|_| numbers.next() as u32).collect();
            let run = |bounds: &dyn Fn(DotBounds<'_>)| {
                let (mut upper, mut lower) = (vec![0.0; len], vec![0.0; len]);
                bounds(DotBounds {
                    upper: &mut upper,
                    lower: &mut lower,
                });
                let bits = |v: Vec<f32>| v.into_iter().map(f32::to_bits).collect::<Vec<_>>();
                (bits(upper), bits(lower))
            };
            let (sums, scales) = (&sums[from..], &scales[from..]);
            assert_eq!(
                run(&|out| kernels.bounds(&line, sums, scales, out)),
                run(&|out| vectors::bounds(&line, sums, scales, out)),
                "{kernels:?} {len} {from}"
            );
        }
    });
}

#[test]
fn what_reaches_a_threshold_is_found_in_order() {
    each(|kernels, from| {
        for len in [0, 1, 15, 16, 17, 200] {
            let mut values = Numbers(len as u64).floats(from + len);
            if len > 20 {
                values[from + 18] = f32::NAN;
                values[from + 19] = 0.5;
            }
            let values = &values[from..];
            for least in [f32::NEG_INFINITY, 0.5, 2000.0] {
                let mut found = Vec::new();
                assert_eq!(
                    kernels.greatest(values),
                    vectors::greatest(values),
                    "{kernels:?} {len} {from}"
                );
                kernels.reaching(values, least, &mut |at| found.push(at));
                let expected: Vec<_> = (0..len).filter(|&at| values[at] >= least).collect();
                assert_eq!(found, expected, "{kernels:?} {len} {from} {least}");
            }
        }
    });
}

#[test]
fn a_dot_product_is_within_its_bounds() {
    let kernels = Kernels::best();
    for dimension in [1, 2, 31, 32, 100, 128, 384, 1536] {
        let mut numbers = Numbers(dimension as u64);
        for _ in 0..50 {
            let (query, centre, row) = (
                numbers.even(dimension, 1.0),
                numbers.even(dimension, 1.0),
                numbers.even(dimension, 1.0),
            );
            let off: Vec<f32> = row.iter().zip(&centre).map(|(r, c)| r - c).collect();
            let coded = QuantisedQuery::of(&query);
            let mut codes = vec![0; coded.stride()];
            let packed = kernels.quantise(&off, &mut codes);
            let wide = |a: &[f32], b: &[f32]| {
                a.iter()
                    .zip(b)
                    .map(|(&a, &b)| f64::from(a) * f64::from(b))
                    .sum::<f64>()
            };
            let (scale, error) = unpack(packed);
            assert!(scale >= 0.0 && error > 0.0);
            let length = wide(&query, &query).sqrt();
            let reach = wide(&off, &off).sqrt() as f32 + error;
            let size = (length * (wide(&row, &row).sqrt() + wide(&centre, &centre).sqrt())) as f32;
            let line = BoundFormula::new(
                &coded,
                length as f32,
                wide(&query, &centre) as f32,
                reach,
                size * 1e-5,
            );
            let (mut sum, mut upper, mut lower) = ([0], [0.0], [0.0]);
            kernels.code_sums(&coded, &codes, &mut sum);
            kernels.bounds(
                &line,
                &sum,
                &[packed],
                DotBounds {
                    upper: &mut upper,
                    lower: &mut lower,
                },
            );
            let dot = wide(&query, &row) as f32;
            assert!(
                lower[0] <= dot && dot <= upper[0],
                "{dimension}: {} {dot} {}",
                lower[0],
                upper[0]
            );
            // A bound that holds since it says nothing would be none.
            assert!(
                upper[0] - lower[0] <= 0.5 * size,
                "{dimension}: {} of {size}",
                upper[0] - lower[0]
            );
        }
    }
}
