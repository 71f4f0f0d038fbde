//! Frames by hand, frames by chance, and bytes that are none.

use loona_hpack::{Decoder, Encoder};
use proptest::prelude::*;

use super::*;

/// A frame, on stream 1.
fn frame(kind: u8, flags: u8, payload: &[u8]) -> Vec<u8> {
    let [_, a, b, c] = (payload.len() as u32).to_be_bytes();
    [&[a, b, c, kind, flags, 0, 0, 0, 1][..], payload].concat()
}

fn taken(input: &[u8]) -> Result<Vec<u8>, HeaderError> {
    let mut out = Vec::new();
    take_all(&mut Authority::new(), input, &mut out).map(|()| out)
}

/// Takes all of the input, as a server does that reads what there is again and again.
fn take_all(
    authority: &mut Authority,
    mut input: &[u8],
    out: &mut Vec<u8>,
) -> Result<(), HeaderError> {
    while !input.is_empty() {
        let mut part = Vec::new();
        let taken = authority.take(&mut input, &mut part);
        out.append(&mut part);
        taken?;
    }
    Ok(())
}

/// Kind, flags and payload of each frame.
fn split(mut bytes: &[u8]) -> Vec<(u8, u8, Vec<u8>)> {
    let mut frames = Vec::new();
    while let [a, b, c, kind, flags, _, _, _, _, rest @ ..] = bytes {
        let len = u32::from_be_bytes([0, *a, *b, *c]) as usize;
        frames.push((*kind, *flags, rest[..len].to_vec()));
        bytes = &rest[len..];
    }
    assert!(bytes.is_empty(), "a cut frame");
    frames
}

const SOCKET: &[(&[u8], &[u8])] = &[
    (b":method", b"POST"),
    (b":path", b"/amem.v1.AdminService/GetStatus"),
    (b":authority", b"tmp%2Famemd.sock"),
    (b"te", b"trailers"),
];

fn block() -> Vec<u8> {
    Encoder::new().encode(SOCKET.iter().copied())
}

fn authority(block: &[u8]) -> Vec<u8> {
    let fields = Decoder::new().decode(block).unwrap();
    assert_eq!(fields.len(), SOCKET.len());
    let found = fields.into_iter().find(|(name, _)| name == b":authority");
    found.unwrap().1
}

#[test]
fn the_authority_is_replaced_however_the_headers_are_framed() {
    let block = block();
    let padded = [&[3][..], &block, &[0; 3]].concat();
    let priority = [&[0, 0, 0, 0, 16][..], &block].concat();
    let (head, tail) = block.split_at(7);
    let cases = [
        (
            "plain",
            vec![frame(HEADERS, END_HEADERS | END_STREAM, &block)],
        ),
        (
            "padded",
            vec![frame(HEADERS, END_HEADERS | PADDED, &padded)],
        ),
        (
            "priority",
            vec![frame(HEADERS, END_HEADERS | PRIORITY, &priority)],
        ),
        (
            "continued",
            vec![
                frame(HEADERS, END_STREAM, head),
                frame(CONTINUATION, 0, &[]),
                frame(CONTINUATION, END_HEADERS, tail),
            ],
        ),
    ];
    for (what, frames) in cases {
        let out = split(&taken(&frames.concat()).unwrap());
        assert_eq!(out.len(), 1, "{what}");
        let (kind, flags, payload) = &out[0];
        assert_eq!(
            (*kind, flags & END_HEADERS),
            (HEADERS, END_HEADERS),
            "{what}"
        );
        assert_eq!(flags & END_STREAM, frames[0][4] & END_STREAM, "{what}");
        let from = if flags & PRIORITY != 0 { 5 } else { 0 };
        assert_eq!(authority(&payload[from..]), b"localhost", "{what}");
    }
}

#[test]
fn other_frames_pass_as_they_are_and_data_can_pass_untouched() {
    let others = [
        frame(4, 0, &[0, 1, 0, 0, 16, 0]),
        frame(0, 0, &[7; 5000]),
        frame(8, 0, &[0, 0, 1, 0]),
        frame(0, 1, &[]),
        frame(77, 255, b"unknown"),
    ]
    .concat();
    assert_eq!(taken(&others).unwrap(), others);

    let (mut authority, mut out) = (Authority::new(), Vec::new());
    let data = frame(0, 0, &[7; 5000]);
    take_all(&mut authority, &data[..100], &mut out).unwrap();
    assert_eq!(authority.passing(), 5000 - 91);
    authority.passed(4000);
    assert_eq!(authority.passing(), 909);
    take_all(&mut authority, &data[4100..], &mut out).unwrap();
    assert_eq!(authority.passing(), 0);
    assert_eq!(out.len(), data.len() - 4000);
    take_all(&mut authority, &data, &mut out).unwrap();
}

#[test]
fn few_bytes_that_mean_many_are_re_encoded_bit_by_bit() {
    let literal = [&[0x40, 1, b'x', 0x7f, 0xa1, 0x1e][..], &[b'v'; 4000]].concat();
    let mut input = frame(HEADERS, END_HEADERS, &literal);
    let blocks = 3000;
    for _ in 0..blocks {
        // The youngest entry of the table: 4000 bytes for one.
        input.extend(frame(HEADERS, END_HEADERS, &[0xbe]));
    }
    let (mut authority, mut rest, mut seen) = (Authority::new(), &input[..], 0);
    while !rest.is_empty() {
        let mut out = Vec::new();
        authority.take(&mut rest, &mut out).unwrap();
        assert!(out.len() < AHEAD_BYTES + 5000, "{}", out.len());
        for (_, _, payload) in split(&out) {
            assert!(payload.len() > 4000);
            seen += 1;
        }
    }
    assert_eq!(seen, blocks + 1);
}

#[test]
fn a_large_block_is_cut_into_frames_that_the_server_takes() {
    let value = vec![b'v'; 40_000];
    let fields = [(&b"x"[..], value.as_slice())];
    let block = Encoder::new().encode(fields);
    let mut parts = block.chunks(FRAME_BYTES_MAX);
    let mut input = frame(HEADERS, END_STREAM, parts.next().unwrap());
    for part in parts {
        input.extend(frame(CONTINUATION, 0, part));
    }
    input.extend(frame(CONTINUATION, END_HEADERS, &[]));
    let out = split(&taken(&input).unwrap());
    assert_eq!(out.len(), 3);
    assert_eq!((out[0].0, out[0].1), (HEADERS, END_STREAM));
    assert_eq!((out[2].0, out[2].1), (CONTINUATION, END_HEADERS));
    let whole: Vec<u8> = out.into_iter().flat_map(|frame| frame.2).collect();
    assert_eq!(Decoder::new().decode(&whole).unwrap()[0].1, value);
}

#[test]
fn frames_that_can_not_be_close_the_connection() {
    let block = block();
    let other = [&frame(CONTINUATION, END_HEADERS, &block)[..8], &[3]].concat();
    let large = [0x00, 0x01, b'a', 0x7f, 0x80, 0x7f];
    let mut endless = frame(HEADERS, 0, &[&large[..], &[b'x'; 16_000]].concat());
    for _ in 0..4 {
        endless.extend(frame(CONTINUATION, 0, &[b'x'; 16_000]));
    }
    let mut flood = frame(HEADERS, 0, &block);
    for _ in 0..HEADER_BLOCK_FRAMES_MAX {
        flood.extend(frame(CONTINUATION, 0, &[]));
    }
    let mut long = frame(HEADERS, END_HEADERS, &[]);
    long[..3].copy_from_slice(&[0, 0x40, 1]);
    for (what, input, why) in [
        (
            "out of nothing",
            frame(CONTINUATION, 4, &block),
            HeaderError::Order,
        ),
        (
            "data within",
            [frame(HEADERS, 0, &block), frame(0, 0, &[])].concat(),
            HeaderError::Order,
        ),
        (
            "another stream",
            [frame(HEADERS, 0, &block), other].concat(),
            HeaderError::Order,
        ),
        (
            "padding",
            frame(HEADERS, END_HEADERS | PADDED, &[9, 0]),
            HeaderError::Frame,
        ),
        (
            "no padding",
            frame(HEADERS, END_HEADERS | PADDED, &[]),
            HeaderError::Frame,
        ),
        (
            "priority",
            frame(HEADERS, END_HEADERS | PRIORITY, &[0; 4]),
            HeaderError::Frame,
        ),
        ("long frame", long, HeaderError::Frame),
        (
            "no block",
            frame(HEADERS, END_HEADERS, &[0x80]),
            HeaderError::Block,
        ),
        ("endless", endless, HeaderError::TooLarge),
        ("flood", flood, HeaderError::TooLarge),
    ] {
        assert_eq!(taken(&input), Err(why), "{what}");
    }
}

/// Frames as a client may send them, some of them wrong.
fn frames() -> impl Strategy<Value = Vec<u8>> {
    let payload = prop_oneof![
        Just(block()),
        proptest::collection::vec(any::<u8>(), 0..60),
        Just(vec![0x82, 0x86, 0xbe]),
    ];
    let kind = prop_oneof![
        Just(0u8),
        Just(HEADERS),
        Just(HEADERS),
        Just(CONTINUATION),
        any::<u8>()
    ];
    let one = (kind, any::<u8>(), payload).prop_map(|(kind, flags, payload)| {
        let keep = END_STREAM | END_HEADERS | PADDED | PRIORITY;
        frame(kind, flags & keep, &payload)
    });
    proptest::collection::vec(one, 0..12).prop_map(|frames| frames.concat())
}

/// What comes out if the input comes in pieces, some of which pass by themselves.
fn in_pieces(input: &[u8], sizes: &[usize]) -> Result<Vec<u8>, HeaderError> {
    let (mut authority, mut out, mut rest) = (Authority::new(), Vec::new(), input);
    let mut sizes = sizes.iter().cycle();
    while !rest.is_empty() {
        let piece = cut(&mut rest, *sizes.next().unwrap_or(&1));
        let pass = authority.passing();
        if pass >= piece.len() && piece.len() > 2 {
            out.extend_from_slice(piece);
            authority.passed(piece.len());
        } else {
            take_all(&mut authority, piece, &mut out)?;
        }
    }
    Ok(out)
}

proptest! {
    #[test]
    fn it_makes_no_difference_how_the_bytes_arrive(input in frames(), sizes in proptest::collection::vec(1usize..50, 1..9)) {
        let whole = taken(&input);
        prop_assert_eq!(in_pieces(&input, &[1]), whole.clone());
        prop_assert_eq!(in_pieces(&input, &sizes), whole);
    }

    #[test]
    fn no_bytes_do_harm(input: Vec<u8>, sizes in proptest::collection::vec(1usize..50, 1..9)) {
        let mut authority = Authority::new();
        let mut out = Vec::new();
        _ = take_all(&mut authority, &input, &mut out);
        _ = in_pieces(&input, &sizes);
        prop_assert!(authority.block.len() <= HEADER_BLOCK_BYTES_MAX + FRAME_BYTES_MAX);
    }
}
