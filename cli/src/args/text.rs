//! Text arguments: words on the command line, stdin, a file.

use std::fs;
use std::io::{self, IsTerminal, Read};
use std::path::{Path, PathBuf};

use clap::Args;

use crate::failure::Failure;

/// Longer texts would be rejected anyway.
const TEXT_BYTES_MAX: u64 = 16 << 20;

#[derive(Debug, Args)]
pub(crate) struct TextArgs {
    /// The text, as one or several arguments; "-" reads stdin.
    #[arg(value_name = "TEXT")]
    words: Vec<String>,
    /// Read the text from a file.
    #[arg(long, value_name = "PATH", conflicts_with = "words")]
    file: Option<PathBuf>,
}

impl TextArgs {
    pub(crate) fn read(&self) -> Result<Option<String>, Failure> {
        let text = match (&self.file, self.words.as_slice()) {
            (Some(path), _) if is_dash(path) => from_stdin()?,
            (Some(path), _) => from_path(path)?,
            (None, []) => return Ok(None),
            (None, [dash]) if dash == "-" => from_stdin()?,
            (None, words) => return Ok(Some(words.join(" "))),
        };
        // The final newline belongs to the editor or to echo.
        Ok(Some(text.trim_end_matches(['\n', '\r']).to_owned()))
    }

    /// Empty if omitted.
    pub(crate) fn given(&self) -> Result<String, Failure> {
        Ok(self.read()?.unwrap_or_default())
    }

    /// Reads stdin if no text is given and stdin is not a terminal: `… | amemctl add work`.
    pub(crate) fn required(&self, what: &str) -> Result<String, Failure> {
        let text = match self.read()? {
            Some(text) => text,
            None if !io::stdin().is_terminal() => from_stdin()?.trim_end().to_owned(),
            None => String::new(),
        };
        if text.trim().is_empty() {
            Err(Failure::argument(
                format!("the {what} is empty"),
                "give it as an argument, on stdin with \"-\", or in a file with --file",
            ))
        } else {
            Ok(text)
        }
    }
}

pub(crate) fn parse_unit(text: &str) -> Result<f32, String> {
    match text.parse::<f32>() {
        Ok(number) if (0.0..=1.0).contains(&number) => Ok(number),
        _ => Err("give a number from 0 to 1".to_owned()),
    }
}

pub(crate) fn vector(path: &Path) -> Result<Vec<f32>, Failure> {
    let text = if is_dash(path) {
        from_stdin()?
    } else {
        from_path(path)?
    };
    serde_json::from_str(&text).map_err(|e| {
        Failure::argument(
            format!("{} is not a vector: {e}", path.display()),
            "write it as a JSON array of numbers: [0.1, -0.25, …]",
        )
    })
}

/// `-`: stdin or stdout.
pub(crate) fn is_dash(path: &Path) -> bool {
    path.as_os_str() == "-"
}

fn from_path(path: &Path) -> Result<String, Failure> {
    let failed = |e: &io::Error| Failure::io("read", path, e);
    let file = fs::File::open(path).map_err(|e| failed(&e))?;
    whole(file, &path.display().to_string()).map_err(|e| failed(&e))?
}

fn from_stdin() -> Result<String, Failure> {
    let failed = |e: io::Error| Failure::io("read", Path::new("stdin"), &e);
    whole(io::stdin().lock(), "stdin").map_err(failed)?
}

fn whole(from: impl Read, name: &str) -> io::Result<Result<String, Failure>> {
    let mut bytes = Vec::new();
    from.take(TEXT_BYTES_MAX + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > TEXT_BYTES_MAX {
        return Ok(Err(Failure::refused(
            "limit",
            format!("{name} has more than {TEXT_BYTES_MAX} bytes"),
            "shorten it, or use `amemctl import`",
        )));
    }
    Ok(String::from_utf8(bytes).map_err(|e| {
        Failure::refused(
            "not_text",
            format!(
                "{name} is not UTF-8: byte {} is invalid",
                e.utf8_error().valid_up_to()
            ),
            "convert it to UTF-8",
        )
    }))
}
