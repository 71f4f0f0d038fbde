//! What addresses are: which of them are hosts of the internet.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// What an address is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AddressKind {
    /// A host of the internet.
    Public,
    /// This machine, or a network that is not the internet: loopback, private use, shared by a carrier.
    Private,
    /// A link: cloud machines find their credentials there.
    LinkLocal,
    /// No host has it, or many have: unspecified, multicast, broadcast, reserved, transitional.
    Unusable,
}

/// What an address is. An IPv4 address that is part of an IPv6 address is judged like itself: a connection reaches the
/// same host.
#[must_use]
pub fn address_kind(address: IpAddr) -> AddressKind {
    match address {
        IpAddr::V4(address) => kind_v4(address),
        IpAddr::V6(address) => kind_v6(address),
    }
}

/// True if a name means this machine, whatever a resolver says.
#[must_use]
pub fn is_loopback_name(name: &str) -> bool {
    let literal = name.parse::<IpAddr>();
    name.eq_ignore_ascii_case("localhost") || literal.is_ok_and(|address| address.is_loopback())
}

/// By the registry of special addresses (RFC 6890).
fn kind_v4(address: Ipv4Addr) -> AddressKind {
    match address.octets() {
        [127, ..] | [10, ..] | [192, 168, ..] => AddressKind::Private,
        [172, second, ..] if second & 0xF0 == 16 => AddressKind::Private,
        [100, second, ..] if second & 0xC0 == 64 => AddressKind::Private,
        [169, 254, ..] => AddressKind::LinkLocal,
        [0 | 224..=255, ..] => AddressKind::Unusable,
        [192, 0, 0 | 2, _] | [192, 88, 99, _] | [198, 18 | 19, ..] => AddressKind::Unusable,
        [198, 51, 100, _] | [203, 0, 113, _] => AddressKind::Unusable,
        _ => AddressKind::Public,
    }
}

fn kind_v6(address: Ipv6Addr) -> AddressKind {
    let last = |high: u16, low: u16| {
        let ([a, b], [c, d]) = (high.to_be_bytes(), low.to_be_bytes());
        kind_v4(Ipv4Addr::new(a, b, c, d))
    };
    match address.segments() {
        [0, 0, 0, 0, 0, 0, 0, 1] => AddressKind::Private,
        // Mapped, and behind a translator.
        [0, 0, 0, 0, 0, 0xFFFF, high, low] | [0x64, 0xFF9B, 0, 0, 0, 0, high, low] => {
            last(high, low)
        }
        [first, ..] if first & 0xFE00 == 0xFC00 => AddressKind::Private,
        [first, ..] if first & 0xFF80 == 0xFE80 => AddressKind::LinkLocal,
        // Tunnels that end at an IPv4 address, and documentation.
        [0x2001, second, ..] if second < 0x200 || second == 0xDB8 => AddressKind::Unusable,
        [0x2002, ..] | [0x3FFF, ..] => AddressKind::Unusable,
        [first, ..] if first & 0xE000 == 0x2000 => AddressKind::Public,
        _ => AddressKind::Unusable,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_public_only_if_no_registry_says_otherwise() {
        use AddressKind::{LinkLocal, Private, Public, Unusable};
        for (text, wanted) in [
            ("93.184.216.34", Public),
            ("172.15.0.1", Public),
            ("172.32.0.1", Public),
            ("100.128.0.1", Public),
            ("127.0.0.1", Private),
            ("127.9.9.9", Private),
            ("10.0.0.1", Private),
            ("172.16.0.1", Private),
            ("172.31.255.255", Private),
            ("192.168.1.1", Private),
            ("100.64.0.1", Private),
            ("100.127.255.255", Private),
            ("169.254.169.254", LinkLocal),
            ("0.0.0.0", Unusable),
            ("0.1.2.3", Unusable),
            ("192.0.0.8", Unusable),
            ("192.0.2.1", Unusable),
            ("192.88.99.1", Unusable),
            ("198.18.0.1", Unusable),
            ("198.51.100.1", Unusable),
            ("203.0.113.1", Unusable),
            ("224.0.0.1", Unusable),
            ("240.0.0.1", Unusable),
            ("255.255.255.255", Unusable),
            ("2606:4700::1", Public),
            ("::1", Private),
            ("fd00::1", Private),
            ("fc00::1", Private),
            ("fe80::1", LinkLocal),
            ("fec0::1", LinkLocal),
            ("::", Unusable),
            ("::127.0.0.1", Unusable),
            ("ff02::1", Unusable),
            ("2001::1", Unusable),
            ("2001:db8::1", Unusable),
            ("2002:7f00:1::", Unusable),
            ("100::1", Unusable),
            ("64:ff9b:1::1", Unusable),
            ("::ffff:127.0.0.1", Private),
            ("::ffff:169.254.169.254", LinkLocal),
            ("::ffff:93.184.216.34", Public),
            ("64:ff9b::10.0.0.1", Private),
            ("64:ff9b::93.184.216.34", Public),
        ] {
            assert_eq!(address_kind(text.parse().unwrap()), wanted, "{text}");
        }
    }
    #[test]
    fn names_of_this_machine_are_known_without_a_resolver() {
        assert!(is_loopback_name("LOCALHOST") && is_loopback_name("::1"));
        assert!(!is_loopback_name("localhost.example"));
    }
}
