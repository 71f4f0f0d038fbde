//! The forward pass: from the tokens of texts to one vector for each text.
//!
//! The texts of a batch are packed: their tokens follow each other without padding, the matrix products run over all of
//! them at once, and attention runs within each text.

use crate::config::{Activation, BertConfig};
use crate::matrix::{PackedMatrix, ProductRows, RowsView};
use crate::settings::Pooling;
use crate::weights::{BertWeights, Layer, Linear, Norm};
use amem_kernels::Kernels;

/// Query rows of attention at once: their scores stay in the nearest cache.
const QUERY_ROWS: usize = 32;

/// A model, ready to run.
#[derive(Debug)]
pub(crate) struct Encoder {
    pub(crate) config: BertConfig,
    pub(crate) weights: BertWeights,
    pub(crate) pooling: Pooling,
    pub(crate) normalise: bool,
    pub(crate) kernels: Kernels,
}

/// The forward pass of one thread: the states of a batch, and memory that the next batch uses again.
#[derive(Debug)]
pub(crate) struct ForwardPass<'a> {
    encoder: &'a Encoder,
    /// The first row of each text, and the end.
    starts: Vec<usize>,
    /// A row for each token.
    states: Vec<f32>,
    /// Queries, keys and values of each token.
    projected: Vec<f32>,
    /// What attention gathers for each token.
    gathered: Vec<f32>,
    inner: Vec<f32>,
    product: Vec<f32>,
    keys: PackedMatrix,
    values: PackedMatrix,
    scores: Vec<f32>,
}

impl<'a> ForwardPass<'a> {
    pub(crate) fn new(encoder: &'a Encoder) -> Self {
        Self {
            encoder,
            starts: Vec::new(),
            states: Vec::new(),
            projected: Vec::new(),
            gathered: Vec::new(),
            inner: Vec::new(),
            product: Vec::new(),
            keys: PackedMatrix::default(),
            values: PackedMatrix::default(),
            scores: Vec::new(),
        }
    }

    /// The vectors of texts, given as tokens: at least one each, all below the size of the vocabulary, and no more than
    /// the model has positions.
    pub(crate) fn embed(&mut self, texts: &[&[u32]]) -> Vec<Vec<f32>> {
        self.look_up(texts);
        if let Some((last, others)) = self.encoder.weights.layers.split_last() {
            for layer in others {
                self.run(layer, usize::MAX);
            }
            // Nothing reads the last states of other tokens than the first.
            let rows_max = match self.encoder.pooling {
                Pooling::Mean => usize::MAX,
                Pooling::Cls => 1,
            };
            self.run(last, rows_max);
        }
        self.pool()
    }

    /// Begins with the words and the positions of texts.
    fn look_up(&mut self, texts: &[&[u32]]) {
        let (width, weights) = (self.encoder.config.width, &self.encoder.weights);
        self.starts.clear();
        self.starts.push(0);
        self.states.clear();
        for text in texts {
            for (token, position) in text.iter().zip(weights.positions.chunks_exact(width)) {
                let word = &weights.words[*token as usize * width..][..width];
                self.states
                    .extend(word.iter().zip(position).map(|(a, b)| a + b));
            }
            self.starts.push(self.states.len() / width);
        }
        self.normalise(&weights.norm);
    }

    /// Runs a layer. Of each text, `rows_max` states remain.
    fn run(&mut self, layer: &Layer, rows_max: usize) {
        let kernels = self.encoder.kernels;
        product(kernels, &layer.attention, &self.states, &mut self.projected);
        self.attend(rows_max);
        if rows_max != usize::MAX {
            self.cut(rows_max);
        }
        product(
            kernels,
            &layer.attention_out,
            &self.gathered,
            &mut self.product,
        );
        kernels.add(&mut self.states, &self.product);
        self.normalise(&layer.attention_norm);
        product(kernels, &layer.up, &self.states, &mut self.inner);
        match self.encoder.config.activation {
            Activation::Gelu => kernels.gelu(&mut self.inner),
            Activation::GeluTanh => kernels.gelu_tanh(&mut self.inner),
            Activation::Relu => self.inner.iter_mut().for_each(|x| *x = x.max(0.0)),
        }
        product(kernels, &layer.down, &self.inner, &mut self.product);
        kernels.add(&mut self.states, &self.product);
        self.normalise(&layer.norm);
    }

    fn normalise(&mut self, norm: &Norm) {
        let config = &self.encoder.config;
        for row in self.states.chunks_exact_mut(config.width) {
            self.encoder
                .kernels
                .normalise(row, &norm.gains, &norm.shifts, config.epsilon);
        }
    }

    /// Gathers, for the first `rows_max` tokens of each text, the values of the text's tokens by their shares.
    fn attend(&mut self, rows_max: usize) {
        let config = &self.encoder.config;
        let (kernels, width, head) = (self.encoder.kernels, config.width, config.head_width());
        let scale = 1.0 / (head as f32).sqrt();
        let lengths = self.starts.windows(2).map(|w| w[1] - w[0]);
        let rows: usize = lengths.map(|count| count.min(rows_max)).sum();
        self.gathered.resize(rows * width, 0.0);
        let mut out = &mut self.gathered[..];
        for text in self.starts.windows(2) {
            let count = text[1] - text[0];
            let rows = count.min(rows_max);
            let tokens = &self.projected[text[0] * 3 * width..text[1] * 3 * width];
            let part = |first: usize, from: usize, count: usize| RowsView {
                numbers: &tokens[from * 3 * width + first..],
                stride: 3 * width,
                count,
                width: head,
            };
            for column in (0..width).step_by(head) {
                self.keys.pack_transposed(part(width + column, 0, count));
                self.values.pack(part(2 * width + column, 0, count));
                for from in (0..rows).step_by(QUERY_ROWS) {
                    let queries = part(column, from, QUERY_ROWS.min(rows - from));
                    self.scores.resize(queries.count * count, 0.0);
                    let scores = ProductRows {
                        numbers: &mut self.scores,
                        stride: count,
                    };
                    self.keys.multiply(kernels, queries, None, scores);
                    for row in self.scores.chunks_exact_mut(count) {
                        kernels.softmax(row, scale);
                    }
                    let gathered = ProductRows {
                        numbers: &mut out[from * width + column..],
                        stride: width,
                    };
                    let shares = RowsView::dense(&self.scores, count);
                    self.values.multiply(kernels, shares, None, gathered);
                }
            }
            out = &mut out[rows * width..];
        }
    }

    /// Leaves the first `rows_max` states of each text.
    fn cut(&mut self, rows_max: usize) {
        let width = self.encoder.config.width;
        let (mut starts, mut end) = (vec![0], 0);
        for text in self.starts.windows(2) {
            let rows = rows_max.min(text[1] - text[0]);
            self.states
                .copy_within(text[0] * width..(text[0] + rows) * width, end * width);
            end += rows;
            starts.push(end);
        }
        self.states.truncate(end * width);
        self.starts = starts;
    }

    fn pool(&self) -> Vec<Vec<f32>> {
        let width = self.encoder.config.width;
        let vector = |text: &[usize]| {
            let states = &self.states[text[0] * width..text[1] * width];
            let mut vector = states[..width].to_vec();
            if self.encoder.pooling == Pooling::Mean {
                for state in states.chunks_exact(width).skip(1) {
                    self.encoder.kernels.add(&mut vector, state);
                }
                let count = (text[1] - text[0]) as f32;
                vector.iter_mut().for_each(|x| *x /= count);
            }
            if self.encoder.normalise {
                let length = vector.iter().map(|x| x * x).sum::<f32>().sqrt();
                let length = length.max(1e-12);
                vector.iter_mut().for_each(|x| *x /= length);
            }
            vector
        };
        self.starts.windows(2).map(vector).collect()
    }
}

/// Writes the product of rows and a matrix, plus its shifts.
fn product(kernels: Kernels, linear: &Linear, rows: &[f32], out: &mut Vec<f32>) {
    let (depth, columns) = linear.matrix.shape();
    let rows = RowsView::dense(rows, depth);
    out.resize(rows.count * columns, 0.0);
    let product = ProductRows {
        numbers: out,
        stride: columns,
    };
    linear
        .matrix
        .multiply(kernels, rows, Some(&linear.shifts), product);
}
