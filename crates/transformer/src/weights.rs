//! The numbers of a model, packed for the forward pass.

use crate::config::BertConfig;
use crate::error::Result;
use crate::matrix::{PackedMatrix, RowsView};
use crate::safetensors::TensorFile;

/// A matrix and a number for each of its columns.
#[derive(Debug)]
pub(crate) struct Linear {
    pub(crate) matrix: PackedMatrix,
    pub(crate) shifts: Vec<f32>,
}

/// Gains and shifts of a normalisation.
#[derive(Debug)]
pub(crate) struct Norm {
    pub(crate) gains: Vec<f32>,
    pub(crate) shifts: Vec<f32>,
}

/// A layer of the encoder.
#[derive(Debug)]
pub(crate) struct Layer {
    /// Queries, keys and values in one matrix.
    pub(crate) attention: Linear,
    pub(crate) attention_out: Linear,
    pub(crate) attention_norm: Norm,
    pub(crate) up: Linear,
    pub(crate) down: Linear,
    pub(crate) norm: Norm,
}

/// The numbers of a BERT model.
#[derive(Debug)]
pub(crate) struct BertWeights {
    /// A row for each entry of the vocabulary.
    pub(crate) words: Vec<f32>,
    /// A row for each position, the first token type's row added: a text alone has no other.
    pub(crate) positions: Vec<f32>,
    pub(crate) norm: Norm,
    pub(crate) layers: Vec<Layer>,
}

/// Fronts of the names of tensors: a model saved alone, and one saved with a head.
const FRONTS: [&str; 2] = ["", "bert."];

struct Reader<'a, 'b> {
    file: &'a mut TensorFile<'b>,
    front: &'static str,
}

impl Reader<'_, '_> {
    fn numbers(&mut self, name: &str, shape: &[usize]) -> Result<Vec<f32>> {
        self.file.read(&format!("{}{name}", self.front), shape)
    }

    fn norm(&mut self, name: &str, width: usize) -> Result<Norm> {
        Ok(Norm {
            gains: self.numbers(&format!("{name}.weight"), &[width])?,
            shifts: self.numbers(&format!("{name}.bias"), &[width])?,
        })
    }

    /// Several matrices beside each other, each from `from` to `to` numbers.
    fn linear(&mut self, names: &[String], from: usize, to: usize) -> Result<Linear> {
        let (mut rows, mut shifts) = (Vec::new(), Vec::new());
        for name in names {
            let numbers = self.numbers(&format!("{name}.weight"), &[to, from])?;
            if rows.is_empty() {
                rows = numbers;
            } else {
                rows.extend(numbers);
            }
            shifts.extend(self.numbers(&format!("{name}.bias"), &[to])?);
        }
        Ok(Linear {
            matrix: PackedMatrix::transposed(RowsView::dense(&rows, from)),
            shifts,
        })
    }
}

impl BertWeights {
    /// Reads the tensors of a model.
    pub(crate) fn read(config: &BertConfig, file: &mut TensorFile<'_>) -> Result<Self> {
        let (width, inner) = (config.width, config.inner_width);
        let first = "embeddings.word_embeddings.weight";
        let front = FRONTS
            .into_iter()
            .find(|front| file.has(&format!("{front}{first}")));
        let front = front.unwrap_or_default();
        let mut reader = Reader { file, front };
        let words = reader.numbers(first, &[config.vocabulary, width])?;
        let name = "embeddings.position_embeddings.weight";
        let mut positions = reader.numbers(name, &[config.positions, width])?;
        let name = "embeddings.token_type_embeddings.weight";
        let types = reader.numbers(name, &[config.types, width])?;
        for row in positions.chunks_exact_mut(width) {
            for (x, own) in row.iter_mut().zip(&types) {
                *x += own;
            }
        }
        let norm = reader.norm("embeddings.LayerNorm", width)?;
        let mut layers = Vec::new();
        for at in 0..config.layers {
            let name = |rest: &str| format!("encoder.layer.{at}.{rest}");
            let attention = ["query", "key", "value"].map(|part| name("attention.self.") + part);
            layers.push(Layer {
                attention: reader.linear(&attention, width, width)?,
                attention_out: reader.linear(&[name("attention.output.dense")], width, width)?,
                attention_norm: reader.norm(&name("attention.output.LayerNorm"), width)?,
                up: reader.linear(&[name("intermediate.dense")], width, inner)?,
                down: reader.linear(&[name("output.dense")], inner, width)?,
                norm: reader.norm(&name("output.LayerNorm"), width)?,
            });
        }
        Ok(Self {
            words,
            positions,
            norm,
            layers,
        })
    }
}
