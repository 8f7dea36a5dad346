//! Which addresses of the network fetches may reach: those of the public internet, and nothing else.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// Whether the address is global unicast. Forms that carry another address inside are judged by that one too.
pub fn is_global(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(address) => is_global_v4(address),
        IpAddr::V6(address) => is_global_v6(address),
    }
}

fn is_global_v4(address: Ipv4Addr) -> bool {
    let [a, b, c, _] = address.octets();
    // 192.88.99.0/24 is the old relay of 6to4; 224.0.0.0/4 is multicast and 240.0.0.0/4 is reserved.
    let is_special = matches!(
        (a, b, c),
        (0 | 10 | 127 | 224.., _, _)
            | (100, 64..=127, _)
            | (169, 254, _)
            | (172, 16..=31, _)
            | (192, 168, _)
            | (192, 0, 0 | 2)
            | (192, 88, 99)
            | (198, 18..=19, _)
            | (198, 51, 100)
            | (203, 0, 113)
    );
    !is_special
}

fn is_global_v6(address: Ipv6Addr) -> bool {
    let segments = address.segments();
    let v4 = |high: u16, low: u16| {
        let [a, b] = high.to_be_bytes();
        let [c, d] = low.to_be_bytes();
        is_global_v4(Ipv4Addr::new(a, b, c, d))
    };
    match segments {
        // Mapped, compatible and translated IPv4, which also holds `::` and `::1`; NAT64 by its well-known prefix, as
        // the local one, 64:ff9b:1::/48, is for private networks; and 6to4.
        [0, 0, 0, 0, 0, 0 | 0xffff, high, low]
        | [0, 0, 0, 0, 0xffff, 0, high, low]
        | [0x64, 0xff9b, 0, 0, 0, 0, high, low]
        | [0x2002, high, low, ..] => v4(high, low),
        // Teredo: the server, and the client with its bits turned.
        [0x2001, 0, server_high, server_low, _, _, high, low] => {
            v4(server_high, server_low) && v4(!high, !low)
        }
        // The rest of 2001::/23 is for protocols, and 2001:db8::/32 and 3fff::/20 are for books.
        [0x2001, 0..=0x01ff | 0xdb8, ..] | [0x3fff, 0..=0x0fff, ..] => false,
        // What is handed out to the public is 2000::/3.
        [first, ..] => (0x2000..=0x3fff).contains(&first),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(addresses: &[&str], global: bool) {
        for address in addresses {
            assert_eq!(is_global(address.parse().unwrap()), global, "{address}");
        }
    }

    #[test]
    fn the_public_internet_is_global() {
        check(&["1.1.1.1", "93.184.216.34", "100.63.0.1", "172.32.0.1", "198.20.0.1", "223.255.255.1"], true);
        check(
            &[
                "2606:4700::1111",
                "2a00:1450:4001::1",
                "::ffff:1.1.1.1",
                "64:ff9b::101:101",
                "2002:101:101::1",
            ],
            true,
        );
    }

    #[test]
    fn nothing_else_is() {
        check(
            &["0.0.0.0", "0.1.2.3", "10.0.0.1", "127.0.0.1", "127.1.2.3", "100.64.0.1", "100.100.100.200"],
            false,
        );
        check(
            &["169.254.169.254", "172.16.0.1", "192.168.1.1", "192.0.0.192", "192.0.2.1", "198.18.0.1"],
            false,
        );
        check(
            &["198.51.100.1", "203.0.113.1", "224.0.0.1", "240.0.0.1", "255.255.255.255", "192.88.99.1"],
            false,
        );
        check(
            &["::", "::1", "fe80::1", "fc00::1", "fd00:ec2::254", "ff02::1", "2001:db8::1", "3fff::1"],
            false,
        );
        check(&["100::1", "4000::1", "2001:2::1", "2001:10::1", "64:ff9b:1::1", "fec0::1"], false);
    }

    #[test]
    fn an_address_inside_another_is_judged() {
        check(&["::ffff:127.0.0.1", "::127.0.0.1", "::ffff:0:127.0.0.1", "::ffff:169.254.169.254"], false);
        check(&["64:ff9b::7f00:1", "64:ff9b::a00:1", "2002:7f00:1::1", "2002:a00:1::1"], false);
        // Teredo for 127.0.0.1, and through a private server.
        check(&["2001:0:101:101::80ff:fffe", "2001:0:a00:1::fefe:fefe"], false);
    }
}
