//! Scores of a search, calibrated to [0, 1].
//!
//! Clients send thresholds such as 0.1, 0.3 and 0.5 and mean "hardly", "somehow" and "clearly related". A cosine does
//! not mean that: MiniLM gives 0.03 for unrelated texts and 0.32 for a language and its name. A logistic curve moves
//! the middle of an embedder to 0.5.

/// How an embedder's cosines become scores: 1 / (1 + e^(−slope · (cosine − middle))).
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Calibration {
    /// The cosine of texts of which half are related.
    pub middle: f32,
    /// How steep the curve is.
    pub slope: f32,
}

impl Calibration {
    /// For sentence embedders such as MiniLM.
    pub const SENTENCES: Self = Self {
        middle: 0.25,
        slope: 12.0,
    };
    /// For the built-in embedder, whose unrelated texts scatter by about 0.09 around 0.
    pub const BUILTIN: Self = Self {
        middle: 0.3,
        slope: 12.0,
    };

    /// The score of a cosine, in (0, 1); 0 for no number.
    pub fn score(&self, cosine: f32) -> f32 {
        if cosine.is_nan() {
            return 0.0;
        }
        1.0 / (1.0 + (-self.slope * (cosine - self.middle)).exp())
    }
}

#[cfg(test)]
mod tests {
    use super::Calibration;

    #[test]
    fn thresholds_mean_what_clients_expect() {
        let of = |cosine| Calibration::SENTENCES.score(cosine);
        assert!(of(0.03) < 0.1, "unrelated: {}", of(0.03));
        assert!(of(0.32) > 0.5, "a language and its name: {}", of(0.32));
        assert!(of(0.9) > 0.95 && of(1.0) <= 1.0 && of(-1.0) >= 0.0);
        let steps: Vec<f32> = (-10_i8..=10)
            .map(|step| of(f32::from(step) / 10.0))
            .collect();
        assert!(steps.is_sorted(), "a higher cosine has a higher score");
        assert!(of(f32::NAN).abs() < f32::EPSILON);
    }
}
