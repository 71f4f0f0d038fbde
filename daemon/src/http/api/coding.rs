//! Content codings: gzip and zstd, of answers and of the bodies of requests.
//!
//! <https://www.rfc-editor.org/rfc/rfc9110#section-8.4>. Promises: a body is refused once it has more bytes unpacked
//! than it may have as it is, and takes no memory beyond them; packing and unpacking run on a thread that may wait. Not
//! here: server-sent events, which are sent as they come.

use std::io::{self, Read, Write};

use amem_proto::answer::Code;
use flate2::Compression;
use flate2::bufread::MultiGzDecoder;
use flate2::write::GzEncoder;
use hyper::HeaderMap;
use hyper::header::{ACCEPT_ENCODING, CONTENT_ENCODING, HeaderName, HeaderValue};

use crate::refusal::{Refusal, Result};

/// Answers go over fast lines and are made while the caller waits: the quick levels.
const GZIP_LEVEL: u32 = 2;
const ZSTD_LEVEL: i32 = 1;

/// The codings that amemd reads and writes, as `Accept-Encoding`.
pub(super) const CODINGS: HeaderValue = HeaderValue::from_static("zstd, gzip");

/// The reason of a refused coding.
pub(super) const REFUSED: &str = "CONTENT_CODING";

/// The name of zstd's error for a buffer that is too small.
const NO_ROOM: &str = "Destination buffer is too small";

/// How a body is packed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Coding {
    Gzip,
    Zstd,
}

impl Coding {
    fn named(name: &str) -> Option<Self> {
        match name.to_ascii_lowercase().as_str() {
            "gzip" | "x-gzip" => Some(Self::Gzip),
            "zstd" => Some(Self::Zstd),
            _ => None,
        }
    }

    /// The value of `Content-Encoding`.
    pub(super) fn name(self) -> HeaderValue {
        HeaderValue::from_static(match self {
            Self::Gzip => "gzip",
            Self::Zstd => "zstd",
        })
    }

    /// The coding of the body of a request; an error if it is another, or several.
    pub(super) fn of_body(headers: &HeaderMap) -> Result<Option<Self>> {
        let values: Vec<_> = listed(headers, &CONTENT_ENCODING).collect();
        match &*values {
            [] => Ok(None),
            [name] if name.eq_ignore_ascii_case("identity") => Ok(None),
            names => {
                let known = match names {
                    [name] => Self::named(name),
                    _ => None,
                };
                known.map(Some).ok_or_else(|| {
                    let message = format!(
                        "the coding of the body is {:?}: send it as it is, or with one of gzip and zstd",
                        names.join(", ")
                    );
                    Refusal::new(Code::InvalidArgument, REFUSED, message)
                })
            }
        }
    }

    /// The coding that a caller prefers for an answer; `None` if it takes none, or prefers none.
    pub(super) fn accepted(headers: &HeaderMap) -> Option<Self> {
        let (mut gzip, mut zstd, mut plain, mut any) = (None, None, None, None);
        for item in listed(headers, &ACCEPT_ENCODING) {
            let mut parts = item.split(';').map(str::trim);
            let name = parts.next().unwrap_or_default();
            let weight = parts.find_map(|part| part.strip_prefix("q="));
            let weight = weight.map_or(Ok(1.0), str::parse::<f32>).unwrap_or(0.0);
            match Self::named(name) {
                Some(Self::Gzip) => gzip = Some(weight),
                Some(Self::Zstd) => zstd = Some(weight),
                None if name == "*" => any = Some(weight),
                None if name.eq_ignore_ascii_case("identity") => plain = Some(weight),
                None => {}
            }
        }
        let weight = |own: Option<f32>| own.or(any).unwrap_or(0.0);
        let (gzip, zstd) = (weight(gzip), weight(zstd));
        let best = gzip.max(zstd);
        if best <= 0.0 || plain.is_some_and(|plain| plain > best) {
            return None;
        }
        Some(if zstd >= gzip { Self::Zstd } else { Self::Gzip })
    }

    /// Packs an answer.
    pub(super) fn pack(self, bytes: &[u8]) -> io::Result<Vec<u8>> {
        match self {
            Self::Gzip => {
                let mut gzip = GzEncoder::new(Vec::new(), Compression::new(GZIP_LEVEL));
                gzip.write_all(bytes)?;
                gzip.finish()
            }
            Self::Zstd => {
                let mut packed = Vec::with_capacity(zstd_safe::compress_bound(bytes.len()));
                let done = zstd_safe::compress(&mut packed, bytes, ZSTD_LEVEL);
                done.map_err(|code| io::Error::other(zstd_safe::get_error_name(code)))?;
                packed.shrink_to_fit();
                Ok(packed)
            }
        }
    }

    /// Unpacks a body into at most `bytes_max` bytes.
    pub(super) fn unpack(self, packed: &[u8], bytes_max: u64) -> Result<Vec<u8>> {
        let unpacked = match self {
            Self::Gzip => gunzip(packed, bytes_max),
            Self::Zstd => unzstd(packed, bytes_max),
        };
        unpacked.map_err(|failure| match failure {
            UnpackFailure::TooLarge => too_large(bytes_max),
            UnpackFailure::Broken(why) => {
                let message = format!(
                    "the body is not what its content-encoding says ({why}): send all of it, packed so"
                );
                Refusal::new(Code::InvalidArgument, "BODY", message)
            }
        })
    }
}

/// Why a body cannot be unpacked.
enum UnpackFailure {
    TooLarge,
    Broken(String),
}

/// The refusal of a body that is too large, as it is or unpacked.
pub(super) fn too_large(bytes_max: u64) -> Refusal {
    let message =
        format!("the body has more than {bytes_max} bytes, the limit: send less per request");
    Refusal::new(Code::InvalidArgument, "BODY_SIZE", message)
}

fn gunzip(packed: &[u8], bytes_max: u64) -> std::result::Result<Vec<u8>, UnpackFailure> {
    let mut bytes = Vec::new();
    let mut gzip = MultiGzDecoder::new(packed).take(bytes_max + 1);
    gzip.read_to_end(&mut bytes)
        .map_err(|why| UnpackFailure::Broken(why.to_string()))?;
    match bytes.len() as u64 > bytes_max {
        true => Err(UnpackFailure::TooLarge),
        false => Ok(bytes),
    }
}

/// Into one buffer of as many bytes as there may be: unlike a stream, it needs no window, which a frame may ask to be
/// large. The system gives memory to the part of it that is written.
fn unzstd(packed: &[u8], bytes_max: u64) -> std::result::Result<Vec<u8>, UnpackFailure> {
    let room = usize::try_from(bytes_max).map_err(|_| UnpackFailure::TooLarge)?;
    let mut bytes = Vec::with_capacity(room);
    let done = zstd_safe::decompress(&mut bytes, packed);
    done.map_err(|code| match zstd_safe::get_error_name(code) {
        NO_ROOM => UnpackFailure::TooLarge,
        why => UnpackFailure::Broken(why.to_owned()),
    })?;
    bytes.shrink_to_fit();
    Ok(bytes)
}

/// The items of a header that is a list.
fn listed<'h>(headers: &'h HeaderMap, name: &HeaderName) -> impl Iterator<Item = &'h str> {
    let values = headers.get_all(name).into_iter();
    // What is not text is no coding that amemd knows.
    let texts = values.map(|value| value.to_str().unwrap_or("?"));
    let items = texts.flat_map(|text| text.split(','));
    items.map(str::trim).filter(|item| !item.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    const BOTH: [Coding; 2] = [Coding::Gzip, Coding::Zstd];

    fn headers(name: HeaderName, value: &'static str) -> HeaderMap {
        [(name, HeaderValue::from_static(value))]
            .into_iter()
            .collect()
    }

    #[test]
    fn a_caller_gets_the_coding_that_it_prefers() {
        for (value, wanted) in [
            ("gzip", Some(Coding::Gzip)),
            ("gzip, deflate, br", Some(Coding::Gzip)),
            ("gzip, deflate, br, zstd", Some(Coding::Zstd)),
            ("zstd;q=0.5, gzip;q=0.8", Some(Coding::Gzip)),
            ("GZIP ; q=0.1", Some(Coding::Gzip)),
            ("*", Some(Coding::Zstd)),
            ("*, zstd;q=0", Some(Coding::Gzip)),
            ("gzip;q=0.5, identity", None),
            ("gzip;q=0", None),
            ("gzip;q=x", None),
            ("br", None),
            ("", None),
        ] {
            let headers = headers(ACCEPT_ENCODING, value);
            assert_eq!(Coding::accepted(&headers), wanted, "{value}");
        }
        assert_eq!(Coding::accepted(&HeaderMap::new()), None);
    }

    #[test]
    fn a_body_has_one_coding_that_is_known() {
        for (value, wanted) in [
            ("gzip", Ok(Some(Coding::Gzip))),
            ("x-gzip", Ok(Some(Coding::Gzip))),
            ("ZSTD", Ok(Some(Coding::Zstd))),
            ("identity", Ok(None)),
            ("br", Err(())),
            ("gzip, gzip", Err(())),
            ("identity, gzip", Err(())),
        ] {
            let of = Coding::of_body(&headers(CONTENT_ENCODING, value)).map_err(drop);
            assert_eq!(of, wanted, "{value}");
        }
        assert_eq!(Coding::of_body(&HeaderMap::new()), Ok(None));
    }

    #[test]
    fn what_is_packed_is_unpacked_up_to_its_limit() {
        let max = 1 << 20;
        for coding in BOTH {
            for bytes in [0, 1, 1000, max as usize] {
                let text: Vec<u8> = (0..bytes).map(|at| (at * at % 251) as u8).collect();
                let packed = coding.pack(&text).unwrap();
                assert_eq!(coding.unpack(&packed, max), Ok(text), "{coding:?} {bytes}");
            }
            // Two parts, one after the other, are one body.
            let [one, two] = [b"one ", b"two."].map(|text| coding.pack(text).unwrap());
            let both = [one, two].concat();
            assert_eq!(coding.unpack(&both, max).as_deref(), Ok(&b"one two."[..]));
            for over in [max as usize + 1, 100 << 20] {
                let packed = coding.pack(&vec![0; over]).unwrap();
                let refused = coding.unpack(&packed, max).unwrap_err();
                assert_eq!(refused.reason, "BODY_SIZE", "{coding:?} {over}");
            }
        }
    }

    #[test]
    fn a_body_that_is_cut_or_changed_is_refused() {
        for coding in BOTH {
            let text = vec![b'x'; 10_000];
            let packed = coding.pack(&text).unwrap();
            for length in 1..packed.len() {
                let refused = coding.unpack(&packed[..length], 1 << 20).unwrap_err();
                assert_eq!(refused.reason, "BODY", "{coding:?} {length}");
            }
            let longer = [&packed[..], b"and more"].concat();
            assert!(coding.unpack(&longer, 1 << 20).is_err(), "{coding:?}");
            assert!(coding.unpack(b"{}", 1 << 20).is_err(), "{coding:?}");
        }
    }
}
