//! Bytes of page tokens.

use std::fmt::Debug;

use amem_client::{Question, v1};
use amem_format::NodeId;
use amem_format::bytes::put_u64;
use xxhash_rust::xxh3::xxh3_64;

use super::files::view;
use super::messages::ask;

const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
/// Bytes of a page token, and of its sum behind the rest.
const TOKEN: usize = 66;
const SUM: usize = 8;

fn raw_token(text: &str) -> Vec<u8> {
    let value = |c: &u8| ALPHABET.iter().position(|a| a == c).unwrap_or(0) as u32;
    let of = |four: &[u8]| four.iter().fold(0, |bits, c| bits << 6 | value(c));
    text.as_bytes()
        .chunks(4)
        .flat_map(|four| of(four).to_be_bytes()[1..].to_vec())
        .collect()
}

fn token_text(raw: &[u8]) -> String {
    let of = |three: &[u8]| three.iter().fold(0, |bits, b| bits << 8 | u32::from(*b));
    let four =
        |bits: u32| [18, 12, 6, 0].map(|shift| char::from(ALPHABET[(bits >> shift & 63) as usize]));
    raw.chunks(3).flat_map(|three| four(of(three))).collect()
}

/// Edits of tokens: which listing, where, and the bytes; behind it none, only noise.
pub(super) fn cursor_edits() -> Vec<Vec<u8>> {
    let edits =
        (0..4).flat_map(|listing| [0, 2, 18, 26, 34, 42, 50].map(|at| vec![listing, at, 255, 255]));
    edits.chain([b"\xFFno token at all".to_vec()]).collect()
}

/// Tokens of pages: those of a listing's first page with bytes written over, their sums put right; and texts that are
/// none.
pub(super) fn cursors(data: &[u8]) {
    let Some((edit, new)) = data.split_at_checked(2) else {
        return;
    };
    let change = |token: String| {
        if edit[0] == 0xFF {
            return String::from_utf8_lossy(new).into_owned();
        }
        let mut raw = raw_token(&token);
        if raw.len() != TOKEN {
            return token;
        }
        let at = usize::from(edit[1]) % (TOKEN - SUM);
        let len = new.len().min(TOKEN - SUM - at);
        raw[at..at + len].copy_from_slice(&new[..len]);
        let sum = xxh3_64(&raw[..TOKEN - SUM]);
        put_u64(&mut raw, TOKEN - SUM, sum);
        token_text(&raw)
    };
    let page_size = 1;
    match edit[0] % 4 {
        0 => paged(
            v1::PatternRequest {
                page_size,
                order: 3,
                ..Default::default()
            },
            |q| &mut q.page_token,
            |a| &a.next_page_token,
            change,
        ),
        1 => paged(
            v1::TimelineRequest {
                page_size,
                axis: 2,
                ..Default::default()
            },
            |q| &mut q.page_token,
            |a| &a.next_page_token,
            change,
        ),
        2 => paged(
            v1::ListConflictsRequest {
                page_size,
                ..Default::default()
            },
            |q| &mut q.page_token,
            |a| &a.next_page_token,
            change,
        ),
        _ => paged(
            v1::ListSessionsRequest {
                page_size,
                ..Default::default()
            },
            |q| &mut q.page_token,
            |a| &a.next_page_token,
            change,
        ),
    }
}

/// Asks for the first page, and for the one that a changed token names.
fn paged<Q: Question>(
    mut question: Q,
    token_of: fn(&mut Q) -> &mut String,
    next: fn(&Q::Answer) -> &String,
    change: impl Fn(String) -> String,
) where
    Q::Answer: Debug,
{
    let Some(first) = ask(question.clone()) else {
        return;
    };
    *token_of(&mut question) = change(next(&first).clone());
    if let Some(answer) = ask(question) {
        let all = NodeId(view().nodes());
        assert!(Q::shown(&answer).iter().all(|id| *id < all), "{answer:?}");
    }
}
