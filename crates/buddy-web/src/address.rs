//! Tests whether an address is on the public internet.
//!
//! The test is positive: an address is global if it is publicly routed unicast space and in no
//! special-purpose block. An IPv6 address that embeds an IPv4 one is judged by the embedded one, since a
//! packet to it may end up there. The blocks are those of IANA's registries of special-purpose addresses.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// Whether an address belongs to a host on the public internet, and so to none on this machine or its
/// networks.
pub fn is_global(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(address) => is_global_v4(address),
        IpAddr::V6(address) => is_global_v6(address),
    }
}

/// The address in a host, if it is a literal one.
pub(crate) fn literal_address(host: &str) -> Option<IpAddr> {
    host.trim_start_matches('[').trim_end_matches(']').parse().ok()
}

/// The location of an address, as seen from this machine. Later variants need more permission to reach.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Whereabouts {
    /// On the public internet.
    Public,
    /// In a block that belongs to nobody's network, such as those for documentation. Some networks still
    /// route them.
    Reserved,
    /// On this machine or in a private network.
    Nearby,
    /// Never needed by a command: link-local addresses, cloud metadata services, multicast and unspecified
    /// addresses.
    Forbidden,
}

/// The location of an address.
pub(crate) fn whereabouts(address: IpAddr) -> Whereabouts {
    if is_global(address) {
        return Whereabouts::Public;
    }
    match address {
        IpAddr::V4(address) => whereabouts_v4(address),
        IpAddr::V6(address) => whereabouts_v6(address),
    }
}

fn whereabouts_v4(address: Ipv4Addr) -> Whereabouts {
    match address.octets() {
        // Cloud metadata services, some of them in blocks for other purposes.
        [169, 254, ..] | [100, 100, 100, 200] | [192, 0, 0, 192] | [168, 63, 129, 16] | [0, ..] => {
            Whereabouts::Forbidden
        }
        [10 | 127, ..] | [100, 64..=127, ..] | [172, 16..=31, ..] | [192, 168, ..] => Whereabouts::Nearby,
        [first, ..] if first >= 224 => Whereabouts::Forbidden,
        _ => Whereabouts::Reserved,
    }
}

fn whereabouts_v6(address: Ipv6Addr) -> Whereabouts {
    if address.is_loopback() {
        return Whereabouts::Nearby;
    }
    match address.segments() {
        [0xfd00, 0xec2, 0, 0, 0, 0, 0, 0x254] => Whereabouts::Forbidden,
        [0, 0, 0, 0, 0, 0xffff, high, low] | [0x64, 0xff9b, 0, 0, 0, 0, high, low] => {
            whereabouts_v4(embedded(high, low))
        }
        [0xfc00..=0xfdff, ..] => Whereabouts::Nearby,
        [0x2001, 0xdb8, ..] | [0x3fff, 0..=0x0fff, ..] => Whereabouts::Reserved,
        _ => Whereabouts::Forbidden,
    }
}

fn is_global_v4(address: Ipv4Addr) -> bool {
    match address.octets() {
        // This network, private, loopback.
        [0 | 10 | 127, ..]
        // Shared by carriers, and by private overlays such as Tailscale.
        | [100, 64..=127, ..]
        // Link-local, with the metadata services of clouds.
        | [169, 254, ..]
        // Private.
        | [172, 16..=31, ..]
        | [192, 168, ..]
        // Protocol assignments, documentation, the former relay of 6to4.
        | [192, 0, 0 | 2, _]
        | [192, 88, 99, _]
        // Benchmarks.
        | [198, 18 | 19, ..]
        // Documentation.
        | [198, 51, 100, _]
        | [203, 0, 113, _]
        // The host services of Azure: a public number that only machines in that cloud reach.
        | [168, 63, 129, 16] => false,
        // Unicast. Above are multicast, reserved space and broadcast.
        [first, ..] => first < 224,
    }
}

fn is_global_v6(address: Ipv6Addr) -> bool {
    let words = address.segments();
    match words {
        // Mapped (`::ffff:0:0/96`), compatible (`::/96`), and the shared prefix of NAT64.
        [0, 0, 0, 0, 0, 0xffff | 0, high, low] | [0x64, 0xff9b, 0, 0, 0, 0, high, low] => {
            is_global_v4(embedded(high, low))
        }
        // 6to4.
        [0x2002, high, low, ..] => is_global_v4(embedded(high, low)),
        // Teredo: the server, and the client with its bits inverted.
        [0x2001, 0, server_high, server_low, _, _, client_high, client_low] => {
            is_global_v4(embedded(server_high, server_low))
                && is_global_v4(embedded(!client_high, !client_low))
        }
        // Protocol assignments (`2001::/23`) and documentation.
        [0x2001, 0..=0x1ff | 0xdb8, ..] | [0x3fff, 0..=0x0fff, ..] => false,
        // Globally routed unicast space.
        [first, ..] => first & 0xe000 == 0x2000,
    }
}

fn embedded(high: u16, low: u16) -> Ipv4Addr {
    Ipv4Addr::from(u32::from(high) << 16 | u32::from(low))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(addresses: &[&str], global: bool) {
        for text in addresses {
            assert_eq!(is_global(text.parse().unwrap()), global, "{text}");
        }
    }

    #[test]
    fn public_hosts_are_global() {
        check(
            &["1.1.1.1", "8.8.8.8", "93.184.216.34", "172.15.255.255", "172.32.0.1", "223.255.255.254"],
            true,
        );
        check(&["100.63.255.255", "100.128.0.1", "192.0.1.1", "198.17.0.1", "198.20.0.1", "11.0.0.1"], true);
        check(&["2606:4700:4700::1111", "2a00:1450:4001:81b::200e", "2001:4860:4860::8888"], true);
    }

    #[test]
    fn this_machine_is_not() {
        check(&["127.0.0.1", "127.255.255.255", "0.0.0.0", "0.1.2.3", "::", "::1"], false);
    }

    #[test]
    fn private_networks_are_not() {
        check(
            &["10.0.0.1", "172.16.0.1", "172.31.255.255", "192.168.0.1", "100.64.0.1", "100.127.255.255"],
            false,
        );
        check(&["169.254.1.1", "fe80::1", "febf::1", "fec0::1", "fc00::1", "fd12:3456::1"], false);
    }

    #[test]
    fn services_of_clouds_are_not() {
        check(
            &["169.254.169.254", "100.100.100.200", "192.0.0.192", "168.63.129.16", "fd00:ec2::254"],
            false,
        );
        check(&["168.63.129.17"], true);
    }

    #[test]
    fn blocks_with_a_purpose_of_their_own_are_not() {
        check(
            &["192.0.2.1", "198.51.100.1", "203.0.113.9", "198.18.0.1", "198.19.255.255", "192.88.99.1"],
            false,
        );
        check(&["224.0.0.1", "239.255.255.255", "240.0.0.1", "255.255.255.255"], false);
        check(
            &["ff02::1", "2001:db8::1", "3fff::1", "2001:2::1", "2001:10::1", "2001:20::1", "100::1"],
            false,
        );
        check(&["5f00::1", "4000::1", "64:ff9b:1::808:808", "::2:0:0"], false);
    }

    #[test]
    fn an_address_that_carries_another_is_judged_by_it() {
        check(
            &["::ffff:127.0.0.1", "0:0:0:0:0:ffff:7f00:1", "::ffff:10.0.0.1", "::ffff:169.254.169.254"],
            false,
        );
        check(
            &["::127.0.0.1", "64:ff9b::127.0.0.1", "64:ff9b::10.1.2.3", "2002:7f00:1::", "2002:a00:1::1"],
            false,
        );
        // Teredo, with a client of 127.0.0.1, and with a server of 10.0.0.1.
        check(&["2001:0:808:808::80ff:fffe", "2001:0:a00:1::f7f7:f7f7"], false);
        check(&["::ffff:8.8.8.8", "64:ff9b::8.8.8.8", "2002:808:808::1", "2001:0:808:808::f7f7:f7f7"], true);
    }

    #[test]
    fn addresses_have_the_right_whereabouts() {
        let check = |addresses: &[&str], expected: Whereabouts| {
            for text in addresses {
                assert_eq!(whereabouts(text.parse().unwrap()), expected, "{text}");
            }
        };
        check(&["1.1.1.1", "::ffff:8.8.8.8", "2606:4700:4700::1111"], Whereabouts::Public);
        check(&["203.0.113.80", "198.18.0.1", "192.0.2.1", "2001:db8::1"], Whereabouts::Reserved);
        let nearby =
            ["127.0.0.1", "10.1.2.3", "192.168.0.1", "100.64.0.1", "::1", "fc00::1", "::ffff:127.0.0.1"];
        check(&nearby, Whereabouts::Nearby);
        let clouds = [
            "169.254.169.254",
            "100.100.100.200",
            "168.63.129.16",
            "fd00:ec2::254",
            "::ffff:169.254.169.254",
        ];
        check(&clouds, Whereabouts::Forbidden);
        check(
            &["0.0.0.0", "::", "224.0.0.1", "255.255.255.255", "fe80::1", "ff02::1", "::127.0.0.1"],
            Whereabouts::Forbidden,
        );
    }
}
