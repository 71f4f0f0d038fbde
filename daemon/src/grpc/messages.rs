//! The messages of a request's body as they arrive: how much of one has arrived, and its size in memory once decoded.

use amem_proto::answer::Code;

use super::shapes::{MalformedMessage, RequestType, SizeCounter};
use crate::gateway::BodyCounter;
use crate::limits::{BATCH_BYTES_MAX, DECODED_TIMES_MAX};
use crate::refusal::{Refusal, Result};

/// Bytes of the head of a message: a flag and the length (PROTOCOL-HTTP2 of gRPC).
pub(super) const HEAD_BYTES: usize = 5;

/// The position in the messages of a body.
#[derive(Debug)]
pub(super) struct Messages {
    /// The type of the messages, if they are of `amem.v1`.
    input: Option<RequestType>,
    /// Bytes of a message, at most.
    bytes_max: usize,
    head: [u8; HEAD_BYTES],
    /// Bytes of the head that have arrived.
    head_bytes: usize,
    /// Bytes of the message that have arrived, and that are to come.
    arrived: u64,
    left: u64,
    walk: Option<SizeCounter>,
}

impl Messages {
    /// The messages of a call.
    pub(super) fn of(path: &str, bytes_max: usize) -> Self {
        Self {
            input: RequestType::of(path),
            bytes_max,
            head: [0; HEAD_BYTES],
            head_bytes: 0,
            arrived: 0,
            left: 0,
            walk: None,
        }
    }

    fn begin(&mut self) -> Result<()> {
        let [compressed, length @ ..] = self.head;
        (self.arrived, self.left) = (0, u64::from(u32::from_be_bytes(length)));
        if self.left > self.bytes_max as u64 {
            return Err(too_large(self.left, self.bytes_max));
        }
        // The server refuses a compressed message: no compression was negotiated.
        let input = self.input.filter(|_| compressed == 0);
        self.walk = input.map(|input| SizeCounter::new(input, self.left));
        Ok(())
    }

    fn walk(&mut self, part: &[u8]) -> Result<()> {
        let Some(walk) = &mut self.walk else {
            return Ok(());
        };
        walk.take(part).map_err(|MalformedMessage| {
            let message = "the request is not a message of this call as amem.v1 defines it";
            Refusal::new(Code::InvalidArgument, "INVALID", message)
        })?;
        let decoded_max = self.bytes_max as u64 * DECODED_TIMES_MAX;
        if walk.decoded() > decoded_max {
            return Err(too_much(decoded_max));
        }
        Ok(())
    }
}

impl BodyCounter for Messages {
    /// An error if a message announces too many bytes, or if what has arrived of it would take too much memory.
    fn take(&mut self, mut data: &[u8]) -> Result<u64> {
        while !data.is_empty() {
            if self.head_bytes < self.head.len() {
                let part = data.len().min(self.head.len() - self.head_bytes);
                self.head[self.head_bytes..self.head_bytes + part].copy_from_slice(&data[..part]);
                self.head_bytes += part;
                data = &data[part..];
                if self.head_bytes == self.head.len() {
                    self.begin()?;
                }
            } else {
                let left = usize::try_from(self.left).unwrap_or(usize::MAX);
                let (part, rest) = data.split_at(data.len().min(left));
                self.arrived += part.len() as u64;
                self.left -= part.len() as u64;
                data = rest;
                self.walk(part)?;
            }
            if self.head_bytes == self.head.len() && self.left == 0 {
                (self.head_bytes, self.arrived) = (0, 0);
            }
        }
        Ok(self.arrived)
    }

    fn decoded(&self) -> u64 {
        self.walk.as_ref().map_or(0, SizeCounter::decoded)
    }
}

fn too_large(bytes: u64, bytes_max: usize) -> Refusal {
    let message = format!(
        "a message has {bytes} bytes, more than the limit of {bytes_max}: send less per request; send events by IngestStream, \
         in batches of at most {BATCH_BYTES_MAX} bytes"
    );
    Refusal::new(Code::ResourceExhausted, "MESSAGE_SIZE", message)
}

fn too_much(decoded_max: u64) -> Refusal {
    let message = format!(
        "a message would take more than {decoded_max} bytes of memory, the limit: it has too many parts; send fewer per request"
    );
    Refusal::new(Code::ResourceExhausted, "MESSAGE_SIZE", message)
}

#[cfg(test)]
mod tests {
    use super::*;
    use prost::Message;

    #[test]
    fn of_a_stream_only_the_message_that_is_not_whole_counts() {
        let message = |bytes: usize| {
            let head = [&[0][..], &(bytes as u32).to_be_bytes()].concat();
            [head, vec![7; bytes]].concat()
        };
        let all = [message(10), message(0), message(70_000), message(3)].concat();
        for step in [1, 2, 5, 7, 1000, all.len()] {
            let mut messages = Messages::of("/", 70_000);
            let here: Vec<_> = all
                .chunks(step)
                .map(|part| messages.take(part).unwrap())
                .collect();
            assert!(here.iter().all(|bytes| *bytes < 70_000), "{step}");
            assert_eq!(here.last(), Some(&0), "{step}");
            assert!(
                step > 1000 || here.iter().any(|bytes| *bytes > 60_000),
                "{step}"
            );
        }
    }

    #[test]
    fn a_message_is_refused_by_what_it_says_of_itself_before_it_comes() {
        let mut messages = Messages::of("/", 1000);
        assert_eq!(messages.take(&[0, 0, 0, 3]), Ok(0));
        assert_eq!(messages.take(&[0xe8]), Ok(0));
        assert_eq!(messages.take(&[7; 1000]), Ok(0));
        let refusal = messages.take(&[0, 0, 0, 3, 0xe9]).unwrap_err();
        assert_eq!(
            (refusal.code, &*refusal.reason),
            (Code::ResourceExhausted, "MESSAGE_SIZE")
        );
        assert!(refusal.message.contains("1001"), "{}", refusal.message);
    }

    #[test]
    fn a_message_of_many_empty_parts_is_refused_before_it_is_decoded() {
        const PIPELINE: &str = "/amem.v1.QueryService/Pipeline";
        let most = crate::limits::MESSAGE_BYTES_MAX;
        let empty = [0x12, 0].repeat(most / 2);
        let head = [&[0][..], &(empty.len() as u32).to_be_bytes()].concat();
        let mut messages = Messages::of(PIPELINE, most);
        messages.take(&head).unwrap();
        let mut refused = None;
        for part in empty.chunks(16 << 10) {
            if let Err(refusal) = messages.take(part) {
                refused = Some(refusal);
                break;
            }
            assert!(messages.decoded() <= most as u64 * DECODED_TIMES_MAX);
        }
        let refusal = refused.unwrap();
        assert_eq!(
            (refusal.code, &*refusal.reason),
            (Code::ResourceExhausted, "MESSAGE_SIZE")
        );
        // The next message is counted from zero.
        let mut messages = Messages::of(PIPELINE, most);
        let request = amem_proto::v1::PipelineRequest {
            sources: vec![amem_proto::v1::PipelineSource::default(); 1000],
            ..Default::default()
        };
        let bytes = request.encode_to_vec();
        let head = [&[0][..], &(bytes.len() as u32).to_be_bytes()].concat();
        let mut counted = Vec::new();
        for _ in 0..3 {
            assert_eq!(messages.take(&[&head[..], &bytes].concat()), Ok(0));
            counted.push(messages.decoded());
        }
        assert!(counted[0] > 100_000);
        assert_eq!(counted, [counted[0]; 3]);
        let refusal = messages.take(&[0, 0, 0, 0, 1, 0x0f]).unwrap_err();
        assert_eq!(refusal.code, Code::InvalidArgument);
    }
}
