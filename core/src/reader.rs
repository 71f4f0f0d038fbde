//! reader.

/// This run of the operating system, from the kernel; zeros where it does not say.
pub fn boot_id() -> [u64; 2] {
    let text = std::fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap_or_default();
    match uuid::Uuid::parse_str(text.trim()) {
        Ok(id) => {
            let (high, low) = id.as_u64_pair();
            [high, low]
        }
        Err(_) => [0, 0],
    }
}
