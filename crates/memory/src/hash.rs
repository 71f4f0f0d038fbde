//! MD5 of a text, as clients expect it: it names exact duplicates and protects nothing.

use md5::{Digest, Md5};

/// The MD5 of a text, 32 hexadecimal digits.
pub fn text_hash(text: &str) -> String {
    bytes_hash(text.as_bytes())
}

/// The MD5 of bytes, 32 hexadecimal digits.
pub fn bytes_hash(bytes: &[u8]) -> String {
    let digest = Md5::digest(bytes);
    let mut out = String::with_capacity(32);
    for byte in digest {
        for nibble in [byte >> 4, byte & 15] {
            out.push(char::from_digit(u32::from(nibble), 16).unwrap_or('0'));
        }
    }
    out
}

/// The hash of the words of a text: case, punctuation and marks of lists make no other one.
pub fn words_hash(text: &str) -> String {
    let words = text.split(|c: char| !c.is_alphanumeric());
    let words: Vec<String> = words
        .filter(|word| !word.is_empty())
        .map(str::to_lowercase)
        .collect();
    text_hash(&words.join(" "))
}

#[cfg(test)]
mod tests {
    use super::text_hash;

    #[test]
    fn hashes_are_those_of_rfc_1321() {
        assert_eq!(text_hash(""), "d41d8cd98f00b204e9800998ecf8427e");
        assert_eq!(
            text_hash("message digest"),
            "f96b697d7cb7938d525a2f31aaf161d0"
        );
    }
}
