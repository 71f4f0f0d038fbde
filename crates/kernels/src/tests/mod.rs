//! Each set of instructions against plain loops.

mod layers;
mod vectors;

/// A fixed sequence of numbers.
struct Numbers(u64);

impl Numbers {
    fn next(&mut self) -> u64 {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        self.0 >> 33
    }

    /// Of −scale to scale.
    fn even(&mut self, count: usize, scale: f32) -> Vec<f32> {
        let float = |bits: u64| scale * ((bits % (1 << 24)) as f32 / (1 << 23) as f32 - 1.0);
        (0..count).map(|_| float(self.next())).collect()
    }
}
