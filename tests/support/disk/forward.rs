//! What a disk around another, or a file around another, only passes on.

/// Writes methods of `Disk` or `File` that ask the one within: `forward!(Disk, |this| this.inner; list, remove);`.
/// Where a method's answer may be an `io::Error`, so may be the way within.
macro_rules! forward {
    ($of:ident, |$this:ident| $within:expr; $($method:ident),+ $(,)?) => {
        $(forward!(@$of $method |$this| $within);)+
    };
    (@Disk source $($w:tt)+) => {
        forward!(@fn source(name: &str, alone: bool) -> std::io::Result<Box<dyn amem_store::disk::SourceFile>>, $($w)+);
    };
    (@Disk identity $($w:tt)+) => {
        forward!(@fn identity(name: &str) -> std::io::Result<amem_store::disk::FileId>, $($w)+);
    };
    (@Disk list $($w:tt)+) => {
        forward!(@fn list(folder: &str) -> std::io::Result<Vec<String>>, $($w)+);
    };
    (@Disk create_folder $($w:tt)+) => {
        forward!(@fn create_folder(folder: &str) -> std::io::Result<()>, $($w)+);
    };
    (@Disk publish $($w:tt)+) => {
        forward!(@fn publish(from: &str, to: &str) -> std::io::Result<()>, $($w)+);
    };
    (@Disk exchange $($w:tt)+) => {
        forward!(@fn exchange(from: &str, to: &str) -> std::io::Result<()>, $($w)+);
    };
    (@Disk replace $($w:tt)+) => {
        forward!(@fn replace(from: &str, to: &str) -> std::io::Result<()>, $($w)+);
    };
    (@Disk link $($w:tt)+) => {
        forward!(@fn link(from: &str, to: &str) -> std::io::Result<()>, $($w)+);
    };
    (@Disk remove $($w:tt)+) => {
        forward!(@fn remove(name: &str) -> std::io::Result<()>, $($w)+);
    };
    (@Disk sync_folder $($w:tt)+) => {
        forward!(@fn sync_folder(folder: &str) -> std::io::Result<()>, $($w)+);
    };
    (@Disk lock $($w:tt)+) => {
        forward!(@fn lock(name: &str, text: &str)
            -> Result<Box<dyn amem_store::disk::Lock>, amem_store::disk::LockError>, $($w)+);
    };
    (@Disk now $($w:tt)+) => {
        forward!(@fn now() -> amem_format::Micros, $($w)+);
    };
    (@Disk random $($w:tt)+) => {
        forward!(@fn random() -> [u8; 16], $($w)+);
    };
    (@Disk boot_id $($w:tt)+) => {
        forward!(@fn boot_id() -> [u64; 2], $($w)+);
    };
    (@Disk preallocation $($w:tt)+) => {
        forward!(@fn preallocation() -> amem_store::disk::Preallocation, $($w)+);
    };
    (@File id $($w:tt)+) => {
        forward!(@fn id() -> amem_store::disk::FileId, $($w)+);
    };
    (@File len $($w:tt)+) => {
        forward!(@fn len() -> std::io::Result<u64>, $($w)+);
    };
    (@File read_at $($w:tt)+) => {
        forward!(@fn read_at(position: u64, into: &mut [u8]) -> std::io::Result<usize>, $($w)+);
    };
    (@File write_at $($w:tt)+) => {
        forward!(@fn write_at(position: u64, bytes: &[u8]) -> std::io::Result<()>, $($w)+);
    };
    (@File write_out $($w:tt)+) => {
        forward!(@fn write_out() -> std::io::Result<()>, $($w)+);
    };
    (@File map $($w:tt)+) => {
        forward!(@fn map(len: u64) -> std::io::Result<amem_format::mapping::Map>, $($w)+);
    };
    (@File is_sole_opening $($w:tt)+) => {
        forward!(@fn is_sole_opening() -> std::io::Result<bool>, $($w)+);
    };
    (@File store_cell $($w:tt)+) => {
        forward!(@fn store_cell(page: u64, offset: u64, value: u64) -> std::io::Result<()>, $($w)+);
    };
    (@File protect $($w:tt)+) => {
        forward!(@fn protect(readers: Option<u32>) -> std::io::Result<()>, $($w)+);
    };
    (@fn $name:ident($($arg:ident: $type:ty),*) -> $result:ty, |$this:ident| $within:expr) => {
        fn $name(&self, $($arg: $type),*) -> $result {
            let $this = self;
            $within.$name($($arg),*)
        }
    };
}

pub(crate) use forward;
