//! A large ZIP is read piece by piece: alone in its process, because the peak of memory is the process's.
#![forbid(unsafe_code)]
#![expect(
    clippy::unwrap_used,
    reason = "a helper that fails is a test that fails"
)]

use std::io::Write;
use std::ops::ControlFlow;

use amem_sources::{ReadOptions, SkippedEntry, SourceItem, SourceSink, read};
use flate2::Compression;
use flate2::write::DeflateEncoder;

/// Unpacked bytes of the conversations.
const BYTES: usize = 64 << 20;
/// What the reading may add to the memory of the process.
const GROWTH_KILOBYTES_MAX: u64 = 40 << 10;

#[derive(Default)]
struct CountingSink {
    items: u64,
}

impl SourceSink for CountingSink {
    fn item(&mut self, _item: SourceItem) -> ControlFlow<()> {
        self.items += 1;
        ControlFlow::Continue(())
    }

    fn skip(&mut self, entry: SkippedEntry) -> ControlFlow<()> {
        assert!(!entry.reason.is_fault(), "{entry:?}");
        ControlFlow::Continue(())
    }
}

/// Kilobytes: the most that the process has had at once.
fn peak_kilobytes() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status
        .lines()
        .find(|line| line.starts_with("VmHWM:"))
        .unwrap();
    line.split_whitespace().nth(1).unwrap().parse().unwrap()
}

#[test]
fn the_memory_of_a_reading_is_bounded_by_its_largest_conversation() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("export.zip");
    let mut file = std::fs::File::create(&path).unwrap();
    let name = b"conversations.json";
    // Sizes are unknown before: the directory has them, as it has for writers of streams.
    let mut local = b"PK\x03\x04\x14\x00\x08\x00\x08\x00".to_vec();
    local.extend([0; 16]);
    local.extend([name.len() as u8, 0, 0, 0]);
    local.extend(name);
    file.write_all(&local).unwrap();
    let mut deflate = DeflateEncoder::new(&mut file, Compression::fast());
    let (mut crc, mut total, mut count, mut state) = (flate2::Crc::new(), 0_usize, 0_u64, 1_u64);
    let mut put = |text: &[u8], crc: &mut flate2::Crc| {
        crc.update(text);
        deflate.write_all(text).unwrap();
        text.len()
    };
    total += put(b"[", &mut crc);
    while total < BYTES {
        let mut words = String::new();
        for _ in 0..2_000 {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1);
            words.push_str(&format!("{:x} ", state >> 40));
        }
        let comma = if count == 0 { "" } else { "," };
        let one = format!(
            r#"{comma}{{"conversation_id":"c{count}","current_node":"a","mapping":{{"a":{{"message":{{"author":{{"role":"user"}},"content":{{"content_type":"text","parts":["{words}"]}}}},"parent":null}}}}}}"#
        );
        total += put(one.as_bytes(), &mut crc);
        count += 1;
    }
    total += put(b"]", &mut crc);
    let packed = deflate.total_out();
    deflate.finish().unwrap();
    let end = std::io::Seek::stream_position(&mut file).unwrap();
    let packed = packed.max(end - local.len() as u64) as u32;
    let mut directory = b"PK\x01\x02\x14\x00\x14\x00\x08\x00\x08\x00\0\0\0\0".to_vec();
    for field in [crc.sum(), packed, total as u32] {
        directory.extend(field.to_le_bytes());
    }
    directory.extend([name.len() as u8, 0]);
    directory.extend([0; 12]);
    directory.extend([0; 4]);
    directory.extend(name);
    let mut tail = b"PK\x05\x06\0\0\0\0\x01\0\x01\0".to_vec();
    tail.extend((directory.len() as u32).to_le_bytes());
    tail.extend((end as u32).to_le_bytes());
    tail.extend([0, 0]);
    file.write_all(&directory).unwrap();
    file.write_all(&tail).unwrap();
    drop(file);
    let before = peak_kilobytes();
    let mut sink = CountingSink::default();
    let begun = std::time::Instant::now();
    read(&path, None, &ReadOptions::default(), &mut sink).unwrap();
    let growth = peak_kilobytes() - before;
    println!(
        "{count} conversations of {total} bytes: {growth} kB more, {:?}",
        begun.elapsed()
    );
    assert_eq!(sink.items, count);
    assert!(
        growth < GROWTH_KILOBYTES_MAX,
        "{growth} kB more for {total} bytes"
    );
}
