//! Detects the layout of a file.
//!
//! Promises: reads header and section table only, no records.
//! Not here: validity of the records, which opening the file checks.

use crate::foreign::layout::{self, ForeignTables};
use crate::spec1;
use amem_format::bytes::{get_u16, get_u32};
use amem_format::error::{Error, Result};

/// The layout of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Layout {
    /// A brain of amemd.
    Native,
    /// The native layout as the reference writes it, without the sections of amemd.
    Reference,
    /// The layout of the specification.
    Spec1,
}

/// Detects the layout of a file.
///
/// The version is a u32 at byte 4 in the native layout, a u16 followed by flags in spec-1.
///
/// # Errors
/// `Magic`, `Version`, or `Neither` with the error of each layout.
pub fn detect(bytes: &[u8]) -> Result<Layout> {
    layout::check_magic(bytes)?;
    let version = get_u16(bytes, 4);
    if version != 1 {
        // In spec-1, flags follow the version; otherwise these bytes are part of a native version.
        let found = if get_u16(bytes, 6) <= spec1::FLAGS_KNOWN {
            version.into()
        } else {
            get_u32(bytes, 4)
        };
        return Err(Error::Version { found });
    }
    let native = match ForeignTables::parse(bytes) {
        Ok(tables) if tables.is_ours => return Ok(Layout::Native),
        Ok(_) => return Ok(Layout::Reference),
        Err(error) => error,
    };
    match spec1::fits(bytes) {
        Ok(()) => Ok(Layout::Spec1),
        Err(spec1) => Err(Error::Neither {
            native: Box::new(native),
            spec1: Box::new(spec1),
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::foreign::{CompatOptions, sample, write_compatible};
    use amem_format::bytes::{put_u16, put_u32};

    fn reference() -> Vec<u8> {
        let mut bytes = Vec::new();
        write_compatible(&sample::graph(4), CompatOptions::default(), &mut bytes).unwrap();
        bytes
    }

    fn spec1() -> Vec<u8> {
        let mut bytes = Vec::new();
        spec1::write(&sample::graph(4), &mut bytes).unwrap();
        bytes
    }

    #[test]
    fn layouts_are_told_apart() {
        assert_eq!(detect(&reference()).unwrap(), Layout::Reference);
        assert_eq!(detect(&spec1()).unwrap(), Layout::Spec1);
        let mut native = reference();
        native.extend_from_slice(&[0x41, 0, 0, 0, 0, 0, 0, 0, 0]);
        native.extend_from_slice(&[0x7F, 0, 0, 0, 0, 0, 0, 0, 0x40, 9, 9]);
        assert_eq!(detect(&native).unwrap(), Layout::Native);
    }

    #[test]
    fn files_of_neither_layout_say_why() {
        let check = |bytes: &[u8], expected: &[&str]| {
            let error = detect(bytes).unwrap_err().to_string();
            for part in expected {
                assert!(error.contains(part), "{error}");
            }
        };
        check(b"PK\x03\x04 and so on", &["not an .amem file"]);
        check(b"AM", &["truncated: header"]);
        check(b"AMEM\x01", &["truncated: header"]);
        let with = |mut bytes: Vec<u8>, change: &dyn Fn(&mut [u8])| {
            change(&mut bytes);
            bytes
        };
        check(&with(reference(), &|b| put_u32(b, 4, 2)), &["version 2 "]);
        check(
            &with(reference(), &|b| put_u32(b, 4, 0xFF0000)),
            &["version 16711680 "],
        );
        check(&with(spec1(), &|b| put_u16(b, 4, 2)), &["version 2 "]);
        check(
            &with(spec1(), &|b| put_u16(b, 6, 15)),
            &["as native, version", "as spec-1, damaged spec-1 header"],
        );
        check(
            &reference()[..100],
            &["as native, truncated: node table", "; as spec-1, damaged"],
        );
    }
}
