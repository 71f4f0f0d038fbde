//! SHA-256, as the provider of TLS computes it.

use subtle::{Choice, ConstantTimeEq};
use tokio_rustls::rustls::SupportedCipherSuite;
use tokio_rustls::rustls::crypto::hash::HashAlgorithm;
use tokio_rustls::rustls::crypto::ring::cipher_suite::TLS13_AES_128_GCM_SHA256;

const BYTES: usize = 32;

/// A digest. `Debug` hides it: the digest of a short or known text reveals that text.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct Digest([u8; BYTES]);

impl std::fmt::Debug for Digest {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.write_str("Digest")
    }
}

impl Digest {
    /// The digest of a text; `None` only if the provider has no SHA-256, a defect.
    pub(crate) fn of(text: &[u8]) -> Option<Self> {
        let SupportedCipherSuite::Tls13(suite) = TLS13_AES_128_GCM_SHA256 else {
            return None;
        };
        let sha256 = suite.common.hash_provider;
        if sha256.algorithm() != HashAlgorithm::SHA256 {
            return None;
        }
        sha256.hash(text).as_ref().try_into().ok().map(Self)
    }

    /// Parses what `hex` wrote.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let is_hex = text.bytes().all(|byte| byte.is_ascii_hexdigit());
        if text.len() != 2 * BYTES || !is_hex {
            return None;
        }
        let mut bytes = [0; BYTES];
        for (at, byte) in bytes.iter_mut().enumerate() {
            *byte = u8::from_str_radix(text.get(2 * at..2 * at + 2)?, 16).ok()?;
        }
        Some(Self(bytes))
    }

    /// In hexadecimal.
    pub(crate) fn hex(&self) -> String {
        hex(&self.0)
    }

    /// The first half in hexadecimal: enough for a name.
    pub(crate) fn half(&self) -> String {
        hex(&self.0[..BYTES / 2])
    }

    /// Compares two digests in constant time.
    pub(crate) fn is(&self, other: &Self) -> Choice {
        self.0.ct_eq(&other.0)
    }
}

/// Bytes in hexadecimal.
pub(crate) fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_that_of_the_standard_and_its_text_is_read_again() {
        // The example "abc" of FIPS 180-4.
        let abc = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
        let digest = Digest::of(b"abc").unwrap();
        assert_eq!(
            (digest.hex().as_str(), digest.half().as_str()),
            (abc, &abc[..32])
        );
        assert_eq!(Digest::parse(abc), Some(digest));
        assert!(bool::from(digest.is(&digest)));
        assert!(!bool::from(digest.is(&Digest::of(b"abd").unwrap())));
        for wrong in [
            "",
            "ba",
            &abc[1..],
            &abc.replace('b', "é")[..64],
            &abc.replace('b', "+"),
        ] {
            assert_eq!(Digest::parse(wrong), None, "{wrong}");
        }
        assert!(!format!("{digest:?}").contains("ba"));
    }
}
