//! Elided words of French: "j'ai" is two words to a rule and one in a text.

use crate::text::tokens::Token;

use super::pairs::has;
use super::table::{LanguageTable, WordOrder};

/// Tokens with elided words apart: "j'ai" is "j'" and "ai".
pub(super) fn with_elisions_apart(tokens: Vec<Token>, table: &LanguageTable) -> Vec<Token> {
    if table.order != WordOrder::SubjectFirst {
        return tokens;
    }
    let mut out = Vec::with_capacity(tokens.len() + 4);
    for token in tokens {
        let front = token.lower.split_once('\'').map(|(front, _)| front);
        let is_elided =
            front.is_some_and(|front| has("j l d n qu c m s t jusqu lorsqu puisqu", front));
        match token
            .text
            .split_once('\'')
            .filter(|(_, back)| is_elided && !back.is_empty())
        {
            Some((front, back)) => {
                let mut first = Token::new(&format!("{front}'"));
                first.lead = token.lead;
                let mut second = Token::new(back);
                second.tail = token.tail;
                out.extend([first, second]);
            }
            None => out.push(token),
        }
    }
    out
}

/// Tokens with elided words joined to the next.
pub(super) fn with_elisions_joined(tokens: Vec<Token>) -> Vec<Token> {
    let mut out: Vec<Token> = Vec::with_capacity(tokens.len());
    for token in tokens {
        match out
            .last_mut()
            .filter(|last| last.text.ends_with('\'') && last.tail.is_empty())
        {
            Some(last) => {
                let text = format!("{}{}", last.text, token.text);
                last.set(&text);
                last.tail = token.tail;
            }
            None => out.push(token),
        }
    }
    out
}
