//! Which addresses plain http may go to: this machine and its own network.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// True for loopback and for networks of private use. Link-local addresses are not among them: cloud machines find
/// their credentials there.
pub(super) fn is_private(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(address) => is_private_v4(address),
        IpAddr::V6(address) => is_private_v6(address),
    }
}

fn is_private_v4(address: Ipv4Addr) -> bool {
    match address.octets() {
        // Shared by a carrier, which overlay networks use too.
        [100, second, ..] => second & 0xC0 == 64,
        _ => address.is_loopback() || address.is_private(),
    }
}

fn is_private_v6(address: Ipv6Addr) -> bool {
    match address.to_ipv4_mapped() {
        Some(mapped) => is_private_v4(mapped),
        None => address.is_loopback() || address.is_unique_local(),
    }
}

/// True if a name means this machine, whatever a resolver says.
pub(super) fn is_loopback_name(name: &str) -> bool {
    let literal = name.parse::<IpAddr>();
    name.eq_ignore_ascii_case("localhost") || literal.is_ok_and(|address| address.is_loopback())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plain_http_is_for_this_machine_and_its_network() {
        for (text, wanted) in [
            ("127.0.0.1", true),
            ("10.1.2.3", true),
            ("172.16.0.1", true),
            ("192.168.0.9", true),
            ("100.64.0.1", true),
            ("100.128.0.1", false),
            ("169.254.169.254", false),
            ("0.0.0.0", false),
            ("93.184.216.34", false),
            ("::1", true),
            ("fd00::1", true),
            ("::ffff:10.0.0.1", true),
            ("::ffff:93.184.216.34", false),
            ("fe80::1", false),
            ("2606:4700::1", false),
        ] {
            assert_eq!(is_private(text.parse().unwrap()), wanted, "{text}");
        }
        assert!(is_loopback_name("LOCALHOST") && is_loopback_name("::1"));
        assert!(!is_loopback_name("localhost.example"));
    }
}
