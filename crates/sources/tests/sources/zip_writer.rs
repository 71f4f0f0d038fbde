//! Writes ZIPs, whole and broken ones.

use std::io::Write;

use flate2::Compression;
use flate2::write::DeflateEncoder;

/// A ZIP with deflated files.
#[derive(Default)]
pub(crate) struct ZipWriter {
    bytes: Vec<u8>,
    directory: Vec<u8>,
    files: u16,
}

impl ZipWriter {
    pub(crate) fn file(mut self, name: &str, text: &[u8]) -> Self {
        let mut deflate = DeflateEncoder::new(Vec::new(), Compression::fast());
        deflate.write_all(text).unwrap();
        let packed = deflate.finish().unwrap();
        let mut crc = flate2::Crc::new();
        crc.update(text);
        let offset = self.bytes.len() as u32;
        let mut common = Vec::new();
        for field in [20_u16, 0, 8, 0, 0] {
            common.extend(field.to_le_bytes());
        }
        for field in [crc.sum(), packed.len() as u32, text.len() as u32] {
            common.extend(field.to_le_bytes());
        }
        common.extend((name.len() as u16).to_le_bytes());
        common.extend(0_u16.to_le_bytes());
        self.bytes.extend(b"PK\x03\x04");
        self.bytes.extend(&common);
        self.bytes.extend(name.as_bytes());
        self.bytes.extend(packed);
        self.directory.extend(b"PK\x01\x02\x14\x00");
        self.directory.extend(&common);
        self.directory.extend([0; 10]);
        self.directory.extend(0_u32.to_le_bytes());
        let at = self.directory.len();
        self.directory[at - 4..].copy_from_slice(&offset.to_le_bytes());
        self.directory.extend(name.as_bytes());
        self.files += 1;
        self
    }

    pub(crate) fn finish(mut self) -> Vec<u8> {
        let offset = self.bytes.len() as u32;
        let len = self.directory.len() as u32;
        self.bytes.append(&mut self.directory);
        self.bytes.extend(b"PK\x05\x06\0\0\0\0");
        self.bytes.extend(self.files.to_le_bytes());
        self.bytes.extend(self.files.to_le_bytes());
        self.bytes.extend(len.to_le_bytes());
        self.bytes.extend(offset.to_le_bytes());
        self.bytes.extend(0_u16.to_le_bytes());
        self.bytes
    }
}
