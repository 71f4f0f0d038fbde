//! The budget of control frames of a connection.
//!
//! A frame that carries no part of a call costs the daemon work and its sender almost nothing: PING, SETTINGS,
//! PRIORITY, WINDOW_UPDATE, RST_STREAM, empty DATA, CONTINUATION, and frames of unknown types. A client that calls and
//! reads needs some for each call and for what it receives; these are added to the budget, and a few for each second.
//!
//! Promises: the frames of one connection beyond `CONTROL_FRAMES_MAX` are in proportion to its calls, to the bytes that
//! it receives, and to time; no frame is parsed beyond its head.
//! Not here: closing the connection (`connection`).

use std::time::Instant;

use crate::limits::{
    CONTROL_FRAME_BYTES, CONTROL_FRAMES_MAX, CONTROL_FRAMES_PER_CALL, CONTROL_FRAMES_PER_SECOND,
};

/// Bytes of a frame header (RFC 9113, 4.1).
const HEAD_BYTES: usize = 9;
const DATA: u8 = 0x0;
const HEADERS: u8 = 0x1;
const GOAWAY: u8 = 0x7;
/// The error code of a peer that causes too much work (RFC 9113, 7).
const ENHANCE_YOUR_CALM: u32 = 0xb;

/// Finds the frames in a stream of bytes.
#[derive(Debug, Default)]
struct FrameScanner {
    head: [u8; HEAD_BYTES],
    /// Bytes of `head` that have passed.
    have: usize,
    /// Bytes of the frame behind `head` that are still to pass.
    left: usize,
}

impl FrameScanner {
    fn scan(&mut self, mut bytes: &[u8], mut each: impl FnMut(&[u8; HEAD_BYTES], usize)) {
        while !bytes.is_empty() {
            let skipped = self.left.min(bytes.len());
            self.left -= skipped;
            bytes = &bytes[skipped..];
            let part = (HEAD_BYTES - self.have).min(bytes.len());
            let (head, rest) = bytes.split_at(part);
            self.head[self.have..self.have + part].copy_from_slice(head);
            self.have += part;
            bytes = rest;
            if self.have == HEAD_BYTES {
                self.have = 0;
                let [a, b, c, ..] = self.head;
                self.left = u32::from_be_bytes([0, a, b, c]) as usize;
                each(&self.head, self.left);
            }
        }
    }

    /// True where a frame may begin.
    fn is_between(&self) -> bool {
        self.have == 0 && self.left == 0
    }
}

/// What one connection may still send.
#[derive(Debug)]
pub(super) struct FrameBudget {
    received: FrameScanner,
    sent: FrameScanner,
    frames: u64,
    /// Until when the frames of time are added.
    filled: Instant,
    /// Sent bytes that have not added a frame yet.
    sent_bytes: u64,
    /// The newest stream of the client.
    stream: u32,
}

impl FrameBudget {
    /// The budget of a connection behind its preface.
    pub(super) fn new(now: Instant) -> Self {
        Self {
            received: FrameScanner::default(),
            sent: FrameScanner::default(),
            frames: CONTROL_FRAMES_MAX,
            filled: now,
            sent_bytes: 0,
            stream: 0,
        }
    }

    /// Counts bytes of the client; false once it has sent too many control frames.
    pub(super) fn receive(&mut self, bytes: &[u8], now: Instant) -> bool {
        self.fill(now);
        let (mut frames, mut stream) = (self.frames, self.stream);
        let mut is_within = true;
        self.received.scan(bytes, |head, payload| match head[3] {
            DATA if payload > 0 => {}
            HEADERS => {
                frames = (frames + CONTROL_FRAMES_PER_CALL).min(CONTROL_FRAMES_MAX);
                let [.., a, b, c, d] = *head;
                stream = stream.max(u32::from_be_bytes([a & 0x7f, b, c, d]));
            }
            _ => match frames.checked_sub(1) {
                Some(rest) => frames = rest,
                None => is_within = false,
            },
        });
        (self.frames, self.stream) = (frames, stream);
        is_within
    }

    /// Counts bytes that were sent to the client.
    pub(super) fn send(&mut self, bytes: &[u8]) {
        self.sent.scan(bytes, |_, _| {});
        self.sent_bytes += bytes.len() as u64;
        let added = self.sent_bytes / CONTROL_FRAME_BYTES;
        self.sent_bytes %= CONTROL_FRAME_BYTES;
        self.frames = (self.frames + added).min(CONTROL_FRAMES_MAX);
    }

    fn fill(&mut self, now: Instant) {
        let millis = now.saturating_duration_since(self.filled).as_millis();
        let millis = u64::try_from(millis).unwrap_or(u64::MAX);
        let added = millis.saturating_mul(CONTROL_FRAMES_PER_SECOND) / 1000;
        if added > 0 {
            self.filled = now;
            self.frames = self.frames.saturating_add(added).min(CONTROL_FRAMES_MAX);
        }
    }

    /// The GOAWAY that tells the client why its connection ends; `None` in the middle of another frame.
    pub(super) fn goaway(&self) -> Option<Vec<u8>> {
        if !self.sent.is_between() {
            return None;
        }
        let reason = b"too many control frames";
        let bytes = 8 + reason.len() as u8;
        let mut frame = vec![0, 0, bytes, GOAWAY, 0, 0, 0, 0, 0];
        frame.extend_from_slice(&self.stream.to_be_bytes());
        frame.extend_from_slice(&ENHANCE_YOUR_CALM.to_be_bytes());
        frame.extend_from_slice(reason);
        Some(frame)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    const PING: [u8; 17] = [0, 0, 8, 6, 0, 0, 0, 0, 0, 1, 2, 3, 4, 5, 6, 7, 8];

    fn frame(kind: u8, payload: usize) -> Vec<u8> {
        let [_, a, b, c] = (payload as u32).to_be_bytes();
        let mut frame = vec![a, b, c, kind, 0, 0, 0, 0, 7];
        frame.resize(HEAD_BYTES + payload, 6);
        frame
    }

    #[test]
    fn every_frame_without_a_part_of_a_call_counts_however_it_is_cut() {
        let now = Instant::now();
        for (kind, payload, counts) in [
            (0, 0, true),
            (0, 1, false),
            (1, 40, false),
            (2, 5, true),
            (3, 4, true),
            (4, 0, true),
            (6, 8, true),
            (8, 4, true),
            (9, 0, true),
            (0xfe, 70_000, true),
        ] {
            let mut budget = FrameBudget::new(now);
            for part in frame(kind, payload).repeat(3).chunks(7) {
                assert!(budget.receive(part, now));
            }
            let left = CONTROL_FRAMES_MAX - if counts { 3 } else { 0 };
            assert_eq!(budget.frames, left, "{kind}");
        }
    }

    #[test]
    fn calls_received_bytes_and_time_add_to_the_budget_and_nothing_else() {
        let now = Instant::now();
        let mut budget = FrameBudget::new(now);
        let all = PING.repeat(CONTROL_FRAMES_MAX as usize);
        assert!(budget.receive(&all, now));
        assert!(!budget.receive(&PING, now));
        // The answers to pings are no reason for more of them.
        budget.send(&PING);
        assert!(!budget.receive(&PING, now));
        assert!(budget.receive(&frame(1, 10), now));
        assert_eq!((budget.frames, budget.stream), (CONTROL_FRAMES_PER_CALL, 7));
        budget.frames = 0;
        budget.send(&frame(0, 10 * CONTROL_FRAME_BYTES as usize));
        assert_eq!(budget.frames, 10);
        budget.frames = 0;
        assert!(budget.receive(&[], now + Duration::from_secs(2)));
        assert_eq!(budget.frames, 2 * CONTROL_FRAMES_PER_SECOND);
        assert!(budget.receive(&[], now + Duration::from_secs(1 << 40)));
        assert_eq!(budget.frames, CONTROL_FRAMES_MAX);
    }

    #[test]
    fn a_goaway_stands_between_frames_only() {
        let mut budget = FrameBudget::new(Instant::now());
        assert!(budget.goaway().is_some());
        budget.send(&PING[..12]);
        assert!(budget.goaway().is_none());
        budget.send(&PING[12..]);
        let frame = budget.goaway().unwrap();
        assert_eq!(frame.len(), HEAD_BYTES + usize::from(frame[2]));
        assert_eq!(frame[13..17], ENHANCE_YOUR_CALM.to_be_bytes());
    }
}
