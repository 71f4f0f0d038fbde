//! The messages of a request's body, as they come: how much of one is here, and what it takes once it is decoded.

use tonic::Code;

use super::shapes::{Input, Malformed, Walk};
use crate::limits::{BATCH_BYTES_MAX, DECODED_TIMES_MAX};
use crate::refusal::{Refusal, Result};

/// Bytes in front of a message.
pub(crate) const HEAD_BYTES: usize = 5;

/// Where in the messages of a body we are: each is a byte, its length in four, and itself (PROTOCOL-HTTP2 of gRPC).
#[derive(Debug)]
pub(crate) struct Messages {
    /// What they are, if they are ours.
    input: Option<Input>,
    /// Bytes that one may have.
    most: usize,
    head: [u8; HEAD_BYTES],
    /// Bytes of the head that are here.
    have: usize,
    /// Bytes of the message that are here, and still to come.
    here: u64,
    left: u64,
    /// The way through it, if it is one of ours.
    walk: Option<Walk>,
}

impl Messages {
    /// Those of a call, of at most so many bytes each.
    pub(crate) fn of(path: &str, most: usize) -> Self {
        Self {
            input: Input::of(path),
            most,
            head: [0; HEAD_BYTES],
            have: 0,
            here: 0,
            left: 0,
            walk: None,
        }
    }

    /// Goes on by these bytes; gives those that are here of the message that is not whole. A message that says it has
    /// more than the most is refused, and one of which as much is here as would take too much memory.
    pub(crate) fn take(&mut self, mut data: &[u8]) -> Result<u64> {
        while !data.is_empty() {
            if self.have < self.head.len() {
                let part = data.len().min(self.head.len() - self.have);
                self.head[self.have..self.have + part].copy_from_slice(&data[..part]);
                self.have += part;
                data = &data[part..];
                if self.have == self.head.len() {
                    self.begin()?;
                }
            } else {
                let left = usize::try_from(self.left).unwrap_or(usize::MAX);
                let (part, rest) = data.split_at(data.len().min(left));
                self.here += part.len() as u64;
                self.left -= part.len() as u64;
                data = rest;
                self.walk(part)?;
            }
            if self.have == self.head.len() && self.left == 0 {
                (self.have, self.here) = (0, 0);
            }
        }
        Ok(self.here)
    }

    /// Bytes of memory that the newest message takes once it is decoded.
    pub(crate) fn decoded(&self) -> u64 {
        self.walk.as_ref().map_or(0, Walk::decoded)
    }

    fn begin(&mut self) -> Result<()> {
        let [packed, length @ ..] = self.head;
        (self.here, self.left) = (0, u64::from(u32::from_be_bytes(length)));
        if self.left > self.most as u64 {
            return Err(too_large(self.left, self.most));
        }
        // A packed one is refused by who unpacks it, as none was agreed on.
        let input = self.input.filter(|_| packed == 0);
        self.walk = input.map(|input| Walk::new(input, self.left));
        Ok(())
    }

    fn walk(&mut self, part: &[u8]) -> Result<()> {
        let Some(walk) = &mut self.walk else {
            return Ok(());
        };
        walk.take(part).map_err(|Malformed| {
            let message = "what was sent is no message of this call, as amem.v1 describes it";
            Refusal::new(Code::InvalidArgument, "INVALID", message)
        })?;
        let most = self.most as u64 * DECODED_TIMES_MAX;
        match walk.decoded() > most {
            true => Err(too_much(most)),
            false => Ok(()),
        }
    }
}

fn too_large(bytes: u64, most: usize) -> Refusal {
    let message = format!(
        "a message has {bytes} bytes, more than the limit of {most}: send less at a time; events go by IngestStream, \
         in batches of at most {BATCH_BYTES_MAX}"
    );
    Refusal::new(Code::ResourceExhausted, "MESSAGE_SIZE", message)
}

fn too_much(most: u64) -> Refusal {
    let message = format!(
        "a message would take more than {most} bytes of memory, the limit: it has too many parts; send fewer at a time"
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
        // What comes after a message is counted anew.
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
