//! The codes of google.rpc, which gRPC and REST share.

/// What a caller may do about a refusal.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[repr(i32)]
#[expect(missing_docs, reason = "google/rpc/code.proto describes each code")]
pub enum Code {
    Ok = 0,
    Cancelled = 1,
    Unknown = 2,
    InvalidArgument = 3,
    DeadlineExceeded = 4,
    NotFound = 5,
    AlreadyExists = 6,
    PermissionDenied = 7,
    ResourceExhausted = 8,
    FailedPrecondition = 9,
    Aborted = 10,
    OutOfRange = 11,
    Unimplemented = 12,
    Internal = 13,
    Unavailable = 14,
    DataLoss = 15,
    Unauthenticated = 16,
}

impl Code {
    const ALL: [Self; 17] = [
        Self::Ok,
        Self::Cancelled,
        Self::Unknown,
        Self::InvalidArgument,
        Self::DeadlineExceeded,
        Self::NotFound,
        Self::AlreadyExists,
        Self::PermissionDenied,
        Self::ResourceExhausted,
        Self::FailedPrecondition,
        Self::Aborted,
        Self::OutOfRange,
        Self::Unimplemented,
        Self::Internal,
        Self::Unavailable,
        Self::DataLoss,
        Self::Unauthenticated,
    ];

    /// The code of a number; `Unknown` for a number without one.
    pub fn from_i32(number: i32) -> Self {
        let index = usize::try_from(number).ok();
        let code = index.and_then(|index| Self::ALL.get(index));
        code.copied().unwrap_or(Self::Unknown)
    }
}

impl From<Code> for i32 {
    fn from(code: Code) -> Self {
        code as i32
    }
}

impl From<Code> for tonic::Code {
    fn from(code: Code) -> Self {
        Self::from_i32(code.into())
    }
}

impl From<tonic::Code> for Code {
    fn from(code: tonic::Code) -> Self {
        Self::from_i32(code.into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_codes_are_those_of_grpc() {
        for (number, code) in (0..).zip(Code::ALL) {
            assert_eq!(i32::from(code), number);
            let grpc = tonic::Code::from(code);
            assert_eq!(format!("{grpc:?}"), format!("{code:?}"));
            assert_eq!(Code::from(grpc), code);
        }
        assert_eq!(Code::from_i32(17), Code::Unknown);
        assert_eq!(Code::from_i32(-1), Code::Unknown);
    }
}
