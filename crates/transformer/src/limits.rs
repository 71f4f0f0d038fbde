//! Bounds of what is read, so that no file makes the process allocate without end.

/// Bytes of a small settings file.
pub const SETTINGS_BYTES_MAX: u64 = 1 << 20;
/// Bytes of a vocabulary or a tokenizer.
pub const VOCABULARY_BYTES_MAX: u64 = 32 << 20;
/// Bytes of the header of a file of tensors; a model of 24 layers has about 50 thousand.
pub const HEADER_BYTES_MAX: u64 = 8 << 20;
/// Bytes of a file of tensors.
pub const WEIGHTS_BYTES_MAX: u64 = 8 << 30;
/// Layers of a model.
pub const LAYERS_MAX: u64 = 128;
/// Numbers of a token's state, also between the two halves of a layer.
pub const WIDTH_MAX: u64 = 32 << 10;
/// Tokens that a model takes at once.
pub const POSITIONS_MAX: u64 = 32 << 10;
/// Entries of a vocabulary.
pub const VOCABULARY_MAX: u64 = 4 << 20;
/// Bytes of a token that was added to the vocabulary, and of a prefix of texts.
pub const TOKEN_BYTES_MAX: usize = 1 << 10;
/// Threads of a batch.
pub const THREADS_MAX: usize = 256;
