//! The forward pass in plain loops of 64 bits: slow, and obviously what the papers describe.

use std::collections::BTreeMap;

use crate::written::{HEADS, LAYERS, Tensor, WIDTH};

type Row = Vec<f64>;

/// The function between the halves of a layer.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum PlainActivation {
    Gelu,
    GeluTanh,
    Relu,
}

/// A model in 64 bits.
#[derive(Debug)]
pub(crate) struct PlainModel {
    pub(crate) tensors: BTreeMap<String, Tensor>,
    pub(crate) activation: PlainActivation,
    pub(crate) is_mean: bool,
    pub(crate) normalise: bool,
}

impl PlainModel {
    fn tensor(&self, name: &str) -> &Tensor {
        self.tensors.get(name).unwrap_or_else(|| panic!("{name}"))
    }

    fn row(&self, name: &str, at: usize) -> Row {
        let row = &self.tensor(name).numbers[at * WIDTH..][..WIDTH];
        row.iter().map(|x| f64::from(*x)).collect()
    }

    /// y = W x + b
    fn linear(&self, name: &str, x: &[f64]) -> Row {
        let weight = self.tensor(&format!("{name}.weight"));
        let bias = self.tensor(&format!("{name}.bias"));
        let (to, from) = (weight.shape[0], weight.shape[1]);
        assert_eq!(from, x.len());
        let mut out = Vec::new();
        for i in 0..to {
            let mut sum = f64::from(bias.numbers[i]);
            for (weight, x) in weight.numbers[i * from..].iter().zip(x) {
                sum += f64::from(*weight) * x;
            }
            out.push(sum);
        }
        out
    }

    fn layer_norm(&self, name: &str, x: &[f64]) -> Row {
        let count = x.len() as f64;
        let mean = x.iter().sum::<f64>() / count;
        let variance = x.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / count;
        let gains = &self.tensor(&format!("{name}.weight")).numbers;
        let shifts = &self.tensor(&format!("{name}.bias")).numbers;
        let mut out = Vec::new();
        for i in 0..x.len() {
            let unit = (x[i] - mean) / (variance + 1e-12).sqrt();
            out.push(unit * f64::from(gains[i]) + f64::from(shifts[i]));
        }
        out
    }

    fn activate(&self, x: f64) -> f64 {
        match self.activation {
            PlainActivation::Gelu => 0.5 * x * (1.0 + erf(x / 2f64.sqrt())),
            PlainActivation::GeluTanh => {
                let slope = (2.0 / std::f64::consts::PI).sqrt();
                0.5 * x * (1.0 + (slope * (x + 0.044_715 * x.powi(3))).tanh())
            }
            PlainActivation::Relu => x.max(0.0),
        }
    }

    fn attention(&self, layer: &str, states: &[Row]) -> Vec<Row> {
        let part = |name: &str| -> Vec<Row> {
            let name = format!("{layer}.attention.self.{name}");
            states.iter().map(|x| self.linear(&name, x)).collect()
        };
        let (queries, keys, values) = (part("query"), part("key"), part("value"));
        let head = WIDTH / HEADS;
        let mut out = vec![vec![0.0; WIDTH]; states.len()];
        for first in (0..WIDTH).step_by(head) {
            for (query, out) in queries.iter().zip(&mut out) {
                let mut shares = Vec::new();
                for key in &keys {
                    let mut dot = 0.0;
                    for i in first..first + head {
                        dot += query[i] * key[i];
                    }
                    shares.push((dot / (head as f64).sqrt()).exp());
                }
                let total: f64 = shares.iter().sum();
                for (value, share) in values.iter().zip(&shares) {
                    for i in first..first + head {
                        out[i] += value[i] * share / total;
                    }
                }
            }
        }
        out
    }

    /// The vector of a text's tokens.
    pub(crate) fn embed(&self, tokens: &[u32]) -> Row {
        let mut states = Vec::new();
        for (position, token) in tokens.iter().enumerate() {
            let word = self.row("embeddings.word_embeddings.weight", *token as usize);
            let place = self.row("embeddings.position_embeddings.weight", position);
            let kind = self.row("embeddings.token_type_embeddings.weight", 0);
            states.push(self.layer_norm("embeddings.LayerNorm", &sum(&sum(&word, &kind), &place)));
        }
        for layer in 0..LAYERS {
            let layer = format!("encoder.layer.{layer}");
            let gathered = self.attention(&layer, &states);
            for (state, gathered) in states.iter_mut().zip(gathered) {
                let out = self.linear(&format!("{layer}.attention.output.dense"), &gathered);
                let name = format!("{layer}.attention.output.LayerNorm");
                let middle = self.layer_norm(&name, &sum(&out, state));
                let inner = self.linear(&format!("{layer}.intermediate.dense"), &middle);
                let inner: Row = inner.into_iter().map(|x| self.activate(x)).collect();
                let out = self.linear(&format!("{layer}.output.dense"), &inner);
                *state = self.layer_norm(&format!("{layer}.output.LayerNorm"), &sum(&out, &middle));
            }
        }
        let mut vector = states[0].clone();
        if self.is_mean {
            let count = states.len() as f64;
            vector = (0..WIDTH)
                .map(|i| states.iter().map(|state| state[i]).sum::<f64>() / count)
                .collect();
        }
        if self.normalise {
            let length = vector.iter().map(|x| x * x).sum::<f64>().sqrt();
            vector.iter_mut().for_each(|x| *x /= length);
        }
        vector
    }
}

fn sum(a: &[f64], b: &[f64]) -> Row {
    a.iter().zip(b).map(|(a, b)| a + b).collect()
}

/// The error function by its series, which converges everywhere; past 5 it is 1 in 11 digits.
fn erf(x: f64) -> f64 {
    let z = x.abs().min(5.0);
    let (mut term, mut sum) = (z, z);
    for n in 1..300 {
        let n = f64::from(n);
        term *= -z * z / n;
        sum += term / (2.0 * n + 1.0);
    }
    (sum * 2.0 / std::f64::consts::PI.sqrt()).copysign(x)
}
