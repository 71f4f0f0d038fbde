//! Answers in memory, for requests that are repeated to the letter.
//!
//! Off by default, and used at temperature 0 only: there a repeated question has the same answer, as far as a provider
//! keeps its word. The oldest answer leaves first.

use std::collections::{HashMap, VecDeque};
use std::sync::Mutex;

use amem_locks::LockResultExt;
use ring::digest::{SHA256, digest};

use amem_memory::model::ModelReply;

/// The hash of a whole request: address, model and body.
pub(crate) type RequestHash = [u8; 32];

pub(crate) fn request_hash(parts: &[&str]) -> RequestHash {
    let mut text = Vec::new();
    for part in parts {
        // Lengths keep neighbours apart.
        text.extend_from_slice(&part.len().to_le_bytes());
        text.extend_from_slice(part.as_bytes());
    }
    let mut hash = RequestHash::default();
    hash.copy_from_slice(digest(&SHA256, &text).as_ref());
    hash
}

#[derive(Debug, Default)]
struct CacheState {
    replies: HashMap<RequestHash, ModelReply>,
    oldest_first: VecDeque<RequestHash>,
    bytes: usize,
}

#[derive(Debug)]
pub(crate) struct ReplyCache {
    bytes_max: usize,
    state: Mutex<CacheState>,
}

/// Bytes of an answer and of what finds it.
fn size(reply: &ModelReply) -> usize {
    reply.text.len() + 200
}

impl ReplyCache {
    pub(crate) fn new(bytes_max: usize) -> Self {
        Self {
            bytes_max,
            state: Mutex::default(),
        }
    }

    pub(crate) fn is_on(&self) -> bool {
        self.bytes_max > 0
    }

    /// The answer, which costs no tokens.
    pub(crate) fn get(&self, hash: &RequestHash) -> Option<ModelReply> {
        let state = self.state.lock().unpoisoned();
        state.replies.get(hash).map(|reply| ModelReply {
            text: reply.text.clone(),
            is_cut: reply.is_cut,
            ..ModelReply::default()
        })
    }

    pub(crate) fn put(&self, hash: RequestHash, reply: &ModelReply) {
        let own = size(reply);
        if own > self.bytes_max {
            return;
        }
        let mut state = self.state.lock().unpoisoned();
        if state.replies.contains_key(&hash) {
            return;
        }
        while state.bytes + own > self.bytes_max {
            let Some(oldest) = state.oldest_first.pop_front() else {
                break;
            };
            let gone = state.replies.remove(&oldest);
            state.bytes -= gone.map_or(0, |reply| size(&reply));
        }
        state.bytes += own;
        state.oldest_first.push_back(hash);
        state.replies.insert(hash, reply.clone());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_oldest_answers_leave_when_the_bytes_are_used_up() {
        let cache = ReplyCache::new(1000);
        let reply = |text: &str| ModelReply {
            text: text.into(),
            tokens_in: 7,
            ..ModelReply::default()
        };
        let names = ["a", "b", "c", "d", "e"].map(|name| request_hash(&[name]));
        for name in &names {
            cache.put(*name, &reply("text"));
        }
        assert_eq!(cache.get(&names[0]), None);
        let found = cache.get(&names[4]).unwrap();
        assert_eq!((found.text.as_str(), found.tokens_in), ("text", 0));
        cache.put(request_hash(&["big"]), &reply(&"x".repeat(2000)));
        assert_eq!(cache.get(&request_hash(&["big"])), None);
        assert_ne!(request_hash(&["ab", "c"]), request_hash(&["a", "bc"]));
    }
}
