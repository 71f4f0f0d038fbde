//! The signature of a post: `t=SECONDS,v1=HEX`, HMAC-SHA256 of `SECONDS.BODY` under the secret of the webhook.
//!
//! The time is part of what is signed: a receiver that refuses old times refuses repetitions by others.

use std::fmt::Write;

use ring::hmac;

/// The value of the header.
pub(crate) fn signature(secret: &str, seconds: u64, body: &str) -> String {
    let key = hmac::Key::new(hmac::HMAC_SHA256, secret.as_bytes());
    let mut signed = hmac::Context::with_key(&key);
    signed.update(format!("{seconds}.").as_bytes());
    signed.update(body.as_bytes());
    let mut value = format!("t={seconds},v1=");
    for byte in signed.sign().as_ref() {
        // Writing to a string does not fail.
        _ = write!(value, "{byte:02x}");
    }
    value
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_signature_is_that_which_openssl_makes() {
        // printf '1700000000.{"a":1}' | openssl dgst -sha256 -hmac amem_wh_00
        assert_eq!(
            signature("amem_wh_00", 1_700_000_000, "{\"a\":1}"),
            "t=1700000000,v1=3be4705efb2685425a4851063bd4629c288558ef95f5abf808af829ec67437ae"
        );
    }
}
