//! The tokenizer of a folder: `tokenizer.json` or `vocab.txt`, and `tokenizer_config.json`.
//!
//! As in the reference, the rules of words are those of `tokenizer_config.json` with BERT's defaults, whatever
//! `tokenizer.json` says; its own rules count if the class named there is a general one.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fmt;

use serde::de::{IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};

use crate::error::{Error, Result};
use crate::files::ModelFolder;
use crate::limits::{SETTINGS_BYTES_MAX, TOKEN_BYTES_MAX, VOCABULARY_BYTES_MAX};

use super::encode::Tokenizer;
use super::vocabulary::Vocabulary;
use super::words::WordRules;

const TOKENIZER: &str = "tokenizer.json";
const VOCABULARY: &str = "vocab.txt";
const CONFIG: &str = "tokenizer_config.json";

const OTHER_TOKENIZER: &str = "choose a model with BERT's WordPiece tokenizer, such as all-MiniLM-L6-v2, \
     bge-small-en-v1.5 or e5-small-v2 (the multilingual E5 models have SentencePiece)";

/// Characters of the longest word that is split, unless `tokenizer.json` says otherwise.
const WORD_CHARS_MAX: usize = 100;
/// The mark of pieces that continue a word.
const MARK: &str = "##";

/// A token's name: the name alone, or an object with it.
#[derive(Debug, Deserialize)]
#[serde(untagged)]
enum TokenName {
    Name(String),
    Object { content: String },
}

impl TokenName {
    fn name(&self) -> &str {
        let (Self::Name(name) | Self::Object { content: name }) = self;
        name
    }
}

/// A token that is found in texts as it is written.
#[derive(Debug, Deserialize)]
struct AddedToken {
    content: String,
    #[serde(default)]
    single_word: bool,
    #[serde(default)]
    normalized: bool,
}

#[derive(Debug, Default, Deserialize)]
struct ConfigFile {
    tokenizer_class: Option<String>,
    do_lower_case: Option<bool>,
    strip_accents: Option<bool>,
    tokenize_chinese_chars: Option<bool>,
    cls_token: Option<TokenName>,
    sep_token: Option<TokenName>,
    unk_token: Option<TokenName>,
    pad_token: Option<TokenName>,
    mask_token: Option<TokenName>,
    model_max_length: Option<f64>,
    #[serde(default)]
    added_tokens_decoder: BTreeMap<String, AddedToken>,
}

/// The file, with the keys that are read: what others hold is skipped, not kept.
#[derive(Debug, Deserialize)]
struct TokenizerFile {
    #[serde(default)]
    added_tokens: Vec<AddedTokenRow>,
    normalizer: Option<NormalizerPart>,
    pre_tokenizer: Option<PreTokenizerPart>,
    post_processor: Option<PostProcessorPart>,
    model: ModelPart,
}

#[derive(Debug, Deserialize)]
struct AddedTokenRow {
    id: u32,
    content: String,
    #[serde(default)]
    single_word: bool,
    #[serde(default)]
    normalized: bool,
}

#[derive(Debug, Deserialize)]
struct NormalizerPart {
    #[serde(rename = "type")]
    kind: String,
    clean_text: Option<bool>,
    handle_chinese_chars: Option<bool>,
    strip_accents: Option<bool>,
    lowercase: Option<bool>,
}

#[derive(Debug, Deserialize)]
struct PreTokenizerPart {
    #[serde(rename = "type")]
    kind: String,
}

#[derive(Debug, Deserialize)]
struct PostProcessorPart {
    #[serde(rename = "type")]
    kind: String,
    cls: Option<(String, u32)>,
    sep: Option<(String, u32)>,
    #[serde(default)]
    single: Vec<TemplatePart>,
}

/// A part of what surrounds a text: a token, or the text.
#[derive(Debug, Deserialize)]
enum TemplatePart {
    SpecialToken { id: String },
    Sequence {},
}

#[derive(Debug, Deserialize)]
struct ModelPart {
    #[serde(rename = "type")]
    kind: Option<String>,
    unk_token: Option<String>,
    continuing_subword_prefix: Option<String>,
    max_input_chars_per_word: Option<u64>,
    #[serde(default)]
    vocab: VocabularyPart,
}

/// Pieces with their tokens; other kinds of tokenizers have a list instead, which is skipped.
#[derive(Debug, Default)]
enum VocabularyPart {
    Pieces(HashMap<String, u32>),
    #[default]
    None,
}

impl<'de> Deserialize<'de> for VocabularyPart {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct VocabularyVisitor;

        impl<'de> Visitor<'de> for VocabularyVisitor {
            type Value = VocabularyPart;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object of pieces")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut pieces = HashMap::new();
                while let Some((piece, token)) = map.next_entry()? {
                    pieces.insert(piece, token);
                }
                Ok(VocabularyPart::Pieces(pieces))
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Self::Value, A::Error> {
                while list.next_element::<IgnoredAny>()?.is_some() {}
                Ok(VocabularyPart::None)
            }
        }

        deserializer.deserialize_any(VocabularyVisitor)
    }
}

/// A folder's tokenizer and the length that it asks for.
#[derive(Debug)]
pub(crate) struct TokenizerParts {
    pub(crate) tokenizer: Tokenizer,
    /// Tokens of a text, if `tokenizer_config.json` bounds them.
    pub(crate) tokens_max: Option<usize>,
}

impl Tokenizer {
    /// Reads a folder's tokenizer for a model with a vocabulary of a size. `lower_case` is what the model's own
    /// settings add to the tokenizer's rules.
    pub(crate) fn read(
        folder: &ModelFolder,
        vocabulary_size: usize,
        lower_case: bool,
    ) -> Result<TokenizerParts> {
        let config: Option<ConfigFile> = folder.json(CONFIG, SETTINGS_BYTES_MAX)?;
        let config = config.unwrap_or_default();
        let mut file: Option<TokenizerFile> = folder.json(TOKENIZER, VOCABULARY_BYTES_MAX)?;
        let mut rules = config.rules();
        if let Some(file) = &file {
            file.check(folder)?;
            let class = config.tokenizer_class.as_deref();
            if matches!(class, Some("PreTrainedTokenizerFast" | "TokenizersBackend")) {
                rules = file.rules();
                file.check_frame(folder, &config)?;
            }
        }
        rules.lower_case |= lower_case;
        let mut pieces = match &mut file {
            Some(file) => file.pieces(folder)?,
            None => lines(folder)?,
        };
        let mut literals = Literals {
            folder,
            found: BTreeMap::new(),
        };
        if let Some(file) = &file {
            for row in &file.added_tokens {
                literals.add(
                    TOKENIZER,
                    row.id,
                    &row.content,
                    row.single_word || row.normalized,
                )?;
            }
        }
        for (token, added) in &config.added_tokens_decoder {
            let what = || format!("\"added_tokens_decoder\" has the token {token:?}");
            let token = token.parse().map_err(|_| folder.damaged(CONFIG, what()))?;
            literals.add(
                CONFIG,
                token,
                &added.content,
                added.single_word || added.normalized,
            )?;
        }
        for name in config.names() {
            if let Some(token) = pieces.get(name) {
                literals.found.entry(name.into()).or_insert(*token);
            }
        }
        let literals: Vec<_> = literals.found.into_iter().collect();
        for (name, token) in &literals {
            pieces.entry(name.to_string()).or_insert(*token);
        }
        let source = if file.is_some() {
            TOKENIZER
        } else {
            VOCABULARY
        };
        let entries = pieces.iter().map(|(piece, token)| (&**piece, *token));
        let literal = literals.iter().map(|(name, token)| (&**name, *token));
        check_size(folder, source, entries.chain(literal), vocabulary_size)?;
        let model = file.as_ref().map(|file| &file.model);
        let mark = model.and_then(|model| model.continuing_subword_prefix.as_deref());
        let chars = model.and_then(|model| model.max_input_chars_per_word);
        let vocabulary = Vocabulary::new(pieces.into_iter(), mark.unwrap_or(MARK));
        let token = |name: &str| {
            let remedy = "fetch the tokenizer's files again; tokenizer_config.json names the token";
            let missing = || folder.missing(source, &format!("the token {name:?}"), remedy);
            vocabulary.token(name).ok_or_else(missing)
        };
        let unknown = model.and_then(|model| model.unk_token.as_deref());
        let fronts = literals.iter().filter_map(|(name, _)| name.chars().next());
        let fronts: BTreeSet<char> = fronts.collect();
        let tokenizer = Self {
            rules,
            literal_fronts: fronts.into_iter().collect(),
            word_chars_max: chars.map_or(WORD_CHARS_MAX, |most| most.min(1000) as usize),
            first: token(config.name_of_first())?,
            last: token(config.name_of_last())?,
            unknown: token(unknown.unwrap_or(config.name_of_unknown()))?,
            literals,
            vocabulary,
        };
        // Files without a bound write 10^30.
        let bounded = config
            .model_max_length
            .filter(|most| (3.0..1e9).contains(most));
        Ok(TokenizerParts {
            tokenizer,
            tokens_max: bounded.map(|most| most as usize),
        })
    }
}

impl ConfigFile {
    fn rules(&self) -> WordRules {
        let lower_case = self.do_lower_case.unwrap_or(true);
        WordRules {
            clean: true,
            ideographs: self.tokenize_chinese_chars.unwrap_or(true),
            strip_accents: self.strip_accents.unwrap_or(lower_case),
            lower_case,
        }
    }

    fn name_of_first(&self) -> &str {
        self.cls_token.as_ref().map_or("[CLS]", TokenName::name)
    }

    fn name_of_last(&self) -> &str {
        self.sep_token.as_ref().map_or("[SEP]", TokenName::name)
    }

    fn name_of_unknown(&self) -> &str {
        self.unk_token.as_ref().map_or("[UNK]", TokenName::name)
    }

    /// The names of tokens with a meaning of their own.
    fn names(&self) -> [&str; 5] {
        [
            self.name_of_first(),
            self.name_of_last(),
            self.name_of_unknown(),
            self.pad_token.as_ref().map_or("[PAD]", TokenName::name),
            self.mask_token.as_ref().map_or("[MASK]", TokenName::name),
        ]
    }
}

impl TokenizerFile {
    /// Refuses tokenizers of other kinds.
    fn check(&self, folder: &ModelFolder) -> Result<()> {
        let model = self.model.kind.as_deref().unwrap_or("WordPiece");
        let normalizer = self.normalizer.as_ref().map_or("none", |part| &part.kind);
        let splitter = self.pre_tokenizer.as_ref();
        let splitter = splitter.map_or("none", |part| &part.kind);
        for (part, found, expected) in [
            ("the model", model, "WordPiece"),
            ("the normalizer", normalizer, "BertNormalizer"),
            ("the pre-tokenizer", splitter, "BertPreTokenizer"),
        ] {
            if found != expected {
                let what = format!("{part} {found:?} instead of {expected:?}");
                return Err(folder.unsupported(TOKENIZER, what, OTHER_TOKENIZER));
            }
        }
        Ok(())
    }

    /// The rules of its own normalizer.
    fn rules(&self) -> WordRules {
        let of = |get: fn(&NormalizerPart) -> Option<bool>| self.normalizer.as_ref().and_then(get);
        let lower_case = of(|part| part.lowercase).unwrap_or(true);
        WordRules {
            clean: of(|part| part.clean_text).unwrap_or(true),
            ideographs: of(|part| part.handle_chinese_chars).unwrap_or(true),
            strip_accents: of(|part| part.strip_accents).unwrap_or(lower_case),
            lower_case,
        }
    }

    /// Refuses other tokens around a text than the first and the last of `tokenizer_config.json`.
    fn check_frame(&self, folder: &ModelFolder, config: &ConfigFile) -> Result<()> {
        let names = [config.name_of_first(), config.name_of_last()];
        let is_framed = self.post_processor.as_ref().is_some_and(|frame| {
            match (&*frame.kind, &frame.cls, &frame.sep, &frame.single[..]) {
                ("BertProcessing", Some((first, _)), Some((last, _)), _) => [first, last] == names,
                (
                    "TemplateProcessing",
                    _,
                    _,
                    [
                        TemplatePart::SpecialToken { id: first },
                        TemplatePart::Sequence {},
                        TemplatePart::SpecialToken { id: last },
                    ],
                ) => [first, last] == names,
                _ => false,
            }
        });
        if is_framed {
            return Ok(());
        }
        let what = format!(
            "a \"post_processor\" other than {} text {}",
            names[0], names[1]
        );
        Err(folder.unsupported(TOKENIZER, what, OTHER_TOKENIZER))
    }

    fn pieces(&mut self, folder: &ModelFolder) -> Result<HashMap<String, u32>> {
        match std::mem::take(&mut self.model.vocab) {
            VocabularyPart::Pieces(pieces) => Ok(pieces),
            VocabularyPart::None => Err(folder.damaged(TOKENIZER, "\"vocab\" is no object")),
        }
    }
}

/// The tokens that are found in texts as they are written.
struct Literals<'a> {
    folder: &'a ModelFolder,
    found: BTreeMap<Box<str>, u32>,
}

impl Literals<'_> {
    /// Adds a token; `is_bound` if it counts at the bounds of words, or after normalisation only.
    fn add(&mut self, file: &str, token: u32, name: &str, is_bound: bool) -> Result<()> {
        if is_bound {
            let what = format!("the added token {name:?} with \"single_word\" or \"normalized\"");
            return Err(self.folder.unsupported(file, what, OTHER_TOKENIZER));
        }
        if name.is_empty() || name.len() > TOKEN_BYTES_MAX {
            let what = format!("the added token {token} has {} bytes", name.len());
            return Err(self.folder.damaged(file, what));
        }
        self.found.insert(name.into(), token);
        Ok(())
    }
}

/// The pieces of `vocab.txt`: a line each, counted from 0.
fn lines(folder: &ModelFolder) -> Result<HashMap<String, u32>> {
    let remedy =
        "fetch one of the two files; a folder with another kind of tokenizer cannot be used";
    let missing = || folder.missing("", "tokenizer.json or vocab.txt", remedy);
    let text = folder.text(VOCABULARY, VOCABULARY_BYTES_MAX)?;
    let text = text.ok_or_else(missing)?;
    Ok(text.lines().map(str::to_owned).zip(0..).collect())
}

/// Every token must have a row among the model's words.
fn check_size<'a>(
    folder: &ModelFolder,
    file: &str,
    entries: impl Iterator<Item = (&'a str, u32)>,
    size: usize,
) -> Result<()> {
    match entries.max_by_key(|(piece, token)| (*token, *piece)) {
        Some((piece, token)) if token as usize >= size => Err(Error::Mismatch {
            path: folder.path(file),
            what: format!("the token of {piece:?}"),
            found: token.to_string(),
            expected: format!("less than {size}, the \"vocab_size\" of config.json"),
        }),
        _ => Ok(()),
    }
}
