//! Packed bodies, of answers and of requests: gzip and zstd.

use std::io::{Read, Write};

use flate2::Compression;
use flate2::read::MultiGzDecoder;
use flate2::write::GzEncoder;
use serde_json::{Value, json};

use crate::client::{WebAnswer, WebCaller, daemon, raw};

const CODINGS: [&str; 2] = ["gzip", "zstd"];
/// The largest body of a request.
const BODY_BYTES_MAX: usize = 4 << 20;

fn packed(coding: &str, bytes: &[u8]) -> Vec<u8> {
    if coding == "gzip" {
        let mut gzip = GzEncoder::new(Vec::new(), Compression::best());
        gzip.write_all(bytes).unwrap();
        return gzip.finish().unwrap();
    }
    let mut packed = Vec::with_capacity(zstd_safe::compress_bound(bytes.len()));
    zstd_safe::compress(&mut packed, bytes, 3).unwrap();
    packed
}

fn unpacked(coding: &str, bytes: &[u8]) -> Vec<u8> {
    let mut unpacked = Vec::with_capacity(BODY_BYTES_MAX);
    if coding == "gzip" {
        MultiGzDecoder::new(bytes)
            .read_to_end(&mut unpacked)
            .unwrap();
    } else {
        zstd_safe::decompress(&mut unpacked, bytes).unwrap();
    }
    unpacked
}

/// Sends a packed body.
fn post(web: &WebCaller, headers: &[&str], body: &[u8]) -> WebAnswer {
    let headers = [headers, &["content-type: application/json"]].concat();
    raw(
        web.address,
        &web.bytes("POST", "/v1/memories/", &headers, body),
    )
    .unwrap()
}

fn count(web: &WebCaller) -> usize {
    let listed = web.get("/v1/memories/?user_id=ada&limit=1000").ok();
    listed["results"].as_array().unwrap().len()
}

#[tokio::test]
async fn a_long_answer_is_packed_for_a_caller_that_takes_it() {
    let (_daemon, web) = daemon().await;
    let messages: Vec<_> = (0..100)
        .map(|n| json!({"role": "user", "content": format!("User has the number {n}")}))
        .collect();
    let body = json!({"messages": messages, "infer": false, "user_id": "ada"});
    let added = web.post("/v1/memories/", &body).ok();
    let list = "/v1/memories/?user_id=ada&limit=1000";
    let asked = |target: &str, takes: &str| {
        web.send(
            "GET",
            target,
            &[&format!("accept-encoding: {takes}")],
            &Value::Null,
        )
    };
    let plain = web.get(list);
    assert_eq!(plain.header("content-encoding"), None);
    assert_eq!(plain.header("vary"), Some("accept-encoding"));
    for coding in CODINGS {
        let answer = asked(list, coding);
        assert_eq!(answer.status, 200);
        assert_eq!(answer.header("content-encoding"), Some(coding));
        assert_eq!(answer.header("vary"), Some("accept-encoding"));
        assert!(answer.body.len() * 4 < plain.body.len(), "{coding}");
        assert_eq!(unpacked(coding, &answer.body), plain.body);
    }
    for takes in ["br", "identity", "gzip;q=0, *;q=0", ""] {
        let answer = asked(list, takes);
        assert_eq!(answer.header("content-encoding"), None, "{takes}");
        assert_eq!(answer.body, plain.body, "{takes}");
    }
    // Short ones, those with a tag, and streams stay as they are.
    let id = added["results"][0]["id"].as_str().unwrap();
    for target in ["/v1/ping/", &format!("/v1/memories/{id}/")] {
        let answer = asked(target, "gzip");
        assert_eq!(answer.header("content-encoding"), None, "{target}");
        answer.ok();
    }
    // Pages and the description as well.
    for target in ["/openapi.json", "/docs", "/metrics"] {
        let answer = asked(target, "gzip, deflate, br, zstd");
        assert_eq!(answer.header("content-encoding"), Some("zstd"), "{target}");
    }
}

#[tokio::test]
async fn a_packed_body_is_read_as_it_is_unpacked() {
    let (_daemon, web) = daemon().await;
    for (at, coding) in CODINGS.into_iter().enumerate() {
        let text = format!("User knows {coding}");
        let body = json!({"messages": text, "infer": false, "user_id": "ada"}).to_string();
        let header = format!("content-encoding: {coding}");
        let added = post(&web, &[&header], &packed(coding, body.as_bytes())).ok();
        assert_eq!(added["results"][0]["memory"], text);
        assert_eq!(count(&web), at + 1);
    }
}

#[tokio::test]
async fn a_packed_body_that_is_too_large_broken_or_unknown_is_refused() {
    let (_daemon, web) = daemon().await;
    let body = json!({"messages": "likes tea", "infer": false, "user_id": "ada"}).to_string();
    let refused = |answer: WebAnswer, status, code| {
        let refused = answer.refused(status, "ValidationError", code);
        assert_eq!(refused["stored"], "nothing");
        refused
    };
    for coding in CODINGS {
        let header = format!("content-encoding: {coding}");
        // Many spaces in front of a body that is good, and one byte more than there may be.
        for spaces in [64 << 20, BODY_BYTES_MAX - body.len() + 1] {
            let large = packed(coding, &[&vec![b' '; spaces], body.as_bytes()].concat());
            assert!(large.len() < BODY_BYTES_MAX, "{}", large.len());
            refused(post(&web, &[&header], &large), 413, "BODY_SIZE");
        }
        let largest = [&vec![b' '; BODY_BYTES_MAX - body.len()], body.as_bytes()].concat();
        post(
            &web,
            &[&header, "x-amem-brain: other"],
            &packed(coding, &largest),
        )
        .refused(404, "NotFoundError", "UNKNOWN_BRAIN");
        let good = packed(coding, body.as_bytes());
        refused(post(&web, &[&header], &good[..good.len() - 1]), 400, "BODY");
        refused(post(&web, &[&header], body.as_bytes()), 400, "BODY");
        let mut changed = good.clone();
        // What gzip and zstd begin with.
        changed[0] ^= 1;
        refused(post(&web, &[&header], &changed), 400, "BODY");
        // Packed twice, and what is packed without saying so.
        let both = format!("content-encoding: {coding}, {coding}");
        let twice = packed(coding, &good);
        for (header, body) in [(both.as_str(), &twice), ("content-encoding: br", &good)] {
            let answer = post(&web, &[header], body);
            assert_eq!(answer.header("accept-encoding"), Some("zstd, gzip"));
            refused(answer, 415, "CONTENT_CODING");
        }
        refused(post(&web, &[], &good), 400, "JSON");
    }
    assert_eq!(
        web.get("/v1/memories/?user_id=ada").ok()["results"],
        json!([])
    );
}
