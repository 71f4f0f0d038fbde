//! Each set of instructions against the plain loops: at many shapes, to the bit; and those against numbers of 64 bits.

use super::Numbers;
use crate::layers;
use crate::*;

impl Numbers {
    fn blocks(&mut self, count: usize) -> Vec<LaneBlock> {
        let block = |_| LaneBlock(self.even(LANES, 1.0).try_into().expect("sixteen"));
        (0..count).map(block).collect()
    }
}

fn bits(values: &[f32]) -> Vec<u32> {
    values.iter().map(|x| x.to_bits()).collect()
}

/// The sets but the scalar one, which does not fuse.
fn fused_sets() -> impl Iterator<Item = Kernels> {
    Kernels::all().into_iter().skip(1)
}

#[test]
fn tiles_are_the_scalar_ones_at_every_shape() {
    for depth in [0, 1, 2, 3, 8, 31, 32, 64, 100, 384] {
        for count in 1..=TILE_ROWS {
            for (lanes, gap) in [(1, 0), (2, 3), (3, 17), (3, 0)] {
                let mut numbers = Numbers((depth * 64 + count * 4 + lanes) as u64);
                let stride = depth + gap;
                let values = numbers.even(stride * count, 1.0);
                let rows = RowBlock {
                    numbers: &values,
                    stride,
                    count,
                    depth,
                };
                let panel = numbers.blocks(depth * lanes);
                let view = PanelView {
                    blocks: &panel,
                    lanes,
                    next: &panel[..depth / 2],
                };
                let (mut fused, mut plain) = (Tile::ZERO, Tile::ZERO);
                layers::tile::<true>(rows, view, &mut fused);
                Kernels::Scalar.tile(rows, view, &mut plain);
                for kernels in fused_sets() {
                    let mut found = Tile::ZERO;
                    kernels.tile(rows, view, &mut found);
                    for (r, (found, fused)) in found.0.iter().zip(&fused.0).enumerate() {
                        let place = format!("{kernels:?} {depth} {count} {lanes} row {r}");
                        assert_eq!(bits(found), bits(fused), "{place}");
                    }
                }
                for (r, row) in plain.0.iter().enumerate().take(count) {
                    for (column, found) in row.iter().enumerate().take(lanes * LANES) {
                        let product = |k: usize| {
                            let block = panel[k * lanes + column / LANES].0;
                            f64::from(values[r * stride + k]) * f64::from(block[column % LANES])
                        };
                        let expected: f64 = (0..depth).map(product).sum();
                        let sizes: f64 = (0..depth).map(|k| product(k).abs()).sum();
                        let bound = sizes * depth as f64 * f64::from(f32::EPSILON) + 1e-30;
                        for found in [*found, fused.0[r][column]] {
                            let off = (f64::from(found) - expected).abs();
                            assert!(off <= bound, "{depth} {count} {lanes}: {off}");
                        }
                    }
                }
            }
        }
    }
}

/// Multiplies rows with a panel of so many blocks.
fn refused(rows: RowBlock<'_>, blocks: usize, lanes: usize) {
    let mut tile = Tile::ZERO;
    let panel = PanelView {
        blocks: &vec![LaneBlock::ZERO; blocks],
        lanes,
        next: &[],
    };
    Kernels::best().tile(rows, panel, &mut tile);
}

#[test]
#[should_panic(expected = "rows past the numbers")]
fn rows_past_the_numbers_are_refused() {
    let rows = RowBlock {
        numbers: &[0.0; 31],
        stride: 8,
        count: 4,
        depth: 8,
    };
    refused(rows, 8, 1);
}

#[test]
#[should_panic(expected = "a panel of another depth")]
fn a_panel_of_another_depth_is_refused() {
    let rows = RowBlock {
        numbers: &[0.0; 32],
        stride: 8,
        count: 4,
        depth: 8,
    };
    refused(rows, 15, 2);
}

/// Holds a loop over a row, of each set, against the portable one with fused operations: to the bit.
fn check(found: &dyn Fn(Kernels, &mut [f32]), fused: &dyn Fn(&mut [f32])) {
    for len in (1..70).chain([100, 128, 384, 512]) {
        let values = Numbers(len as u64).even(len, 9.0);
        let mut expected = values.clone();
        fused(&mut expected);
        for kernels in fused_sets() {
            let mut row = values.clone();
            found(kernels, &mut row);
            assert_eq!(bits(&row), bits(&expected), "{kernels:?} {len}");
        }
        let mut row = values.clone();
        found(Kernels::Scalar, &mut row);
        for (found, expected) in row.iter().zip(&expected) {
            let off = (found - expected).abs() / expected.abs().max(1.0);
            assert!(off < 2e-6, "the scalar set is off by {off} at length {len}");
        }
    }
}

#[test]
fn loops_over_rows_are_the_scalar_ones_at_every_length() {
    let gains = Numbers(7).even(512, 2.0);
    let shifts = Numbers(8).even(512, 2.0);
    check(&|k, row| k.gelu(row), &|row| layers::gelu::<true>(row));
    check(&|k, row| k.gelu_tanh(row), &|row| {
        layers::gelu_tanh::<true>(row);
    });
    check(&|k, row| k.softmax(row, 0.3), &|row| {
        layers::softmax::<true>(row, 0.3);
    });
    check(&|k, row| k.normalise(row, &gains, &shifts, 1e-12), &|row| {
        layers::normalise::<true>(row, &gains, &shifts, 1e-12);
    });
    check(&|k, row| k.add(row, &gains), &|row| {
        layers::add(row, &gains)
    });
}

/// The error function by its series, or by its continued fraction where that converges faster.
fn erf(x: f64) -> f64 {
    let z = x.abs();
    let value = if z < 2.5 {
        let (mut term, mut sum) = (z, z);
        for n in 1..200 {
            let n = f64::from(n);
            term *= -z * z / n;
            sum += term / (2.0 * n + 1.0);
        }
        sum * 2.0 / std::f64::consts::PI.sqrt()
    } else {
        let fraction = (1..200)
            .rev()
            .fold(z, |tail, n| z + f64::from(n) / 2.0 / tail);
        1.0 - (-z * z).exp() / fraction / std::f64::consts::PI.sqrt()
    };
    value.copysign(x)
}

#[test]
fn activations_are_close_to_those_of_64_bits() {
    let values: Vec<f32> = (-120_000..=120_000).map(|x| x as f32 / 10_000.0).collect();
    for kernels in Kernels::all() {
        let (mut exact, mut tanh) = (values.clone(), values.clone());
        kernels.gelu(&mut exact);
        kernels.gelu_tanh(&mut tanh);
        for ((&x, exact), tanh) in values.iter().zip(exact).zip(tanh) {
            let x = f64::from(x);
            let expected = 0.5 * x * (1.0 + erf(x / 2f64.sqrt()));
            let off = (f64::from(exact) - expected).abs() / x.abs().max(1.0);
            assert!(off < 4e-7, "{kernels:?} gelu({x}) is off by {off}");
            let inner = (2.0 / std::f64::consts::PI).sqrt() * (x + 0.044_715 * x * x * x);
            let expected = 0.5 * x * (1.0 + inner.tanh());
            let off = (f64::from(tanh) - expected).abs() / x.abs().max(1.0);
            assert!(off < 4e-7, "{kernels:?} gelu_tanh({x}) is off by {off}");
        }
    }
}

#[test]
fn shares_are_close_to_those_of_64_bits() {
    for kernels in Kernels::all() {
        for (len, scale) in [(1, 1.0), (5, 100.0), (16, 0.1), (33, 1.0), (256, 5.0)] {
            let scores = Numbers(len as u64).even(len, 20.0);
            let most = scores.iter().copied().fold(f32::NEG_INFINITY, f32::max);
            let wide = |x: &f32| (f64::from(scale) * (f64::from(*x) - f64::from(most))).exp();
            let total: f64 = scores.iter().map(wide).sum();
            let mut found = scores.clone();
            kernels.softmax(&mut found, scale);
            for (found, score) in found.iter().zip(&scores) {
                let off = (f64::from(*found) - wide(score) / total).abs();
                assert!(off < 1e-6, "{kernels:?} {len} {scale}: {off}");
            }
        }
    }
}

#[test]
fn numbers_that_are_none_stay_so() {
    for kernels in Kernels::all() {
        let mut values = [f32::NAN; 17];
        kernels.gelu(&mut values);
        assert!(values.iter().all(|x| x.is_nan()), "{kernels:?}");
        let mut values = [1000.0, -1000.0, f32::MAX, f32::MIN];
        kernels.gelu(&mut values);
        assert_eq!(values, [1000.0, 0.0, f32::MAX, 0.0], "{kernels:?}");
    }
}
