//! Scheme, host and port: what a grant of requests is for.

use reqwest::Url;
use std::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// An origin, as browsers know it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Origin(Url);

impl Origin {
    /// Takes an origin that somebody wrote; whatever is more than an origin is refused.
    pub fn parse(text: &str) -> Result<Self, String> {
        let wrong = || {
            format!("{text:?} is no origin: give scheme, host and port alone, such as https://api.github.com")
        };
        let url = Url::parse(text).map_err(|_| wrong())?;
        let bare = url.path() == "/" && url.query().is_none() && url.fragment().is_none();
        if !bare || has_userinfo(&url) || url.host_str().is_none_or(str::is_empty) {
            return Err(wrong());
        }
        if !matches!(url.scheme(), "http" | "https") {
            return Err(wrong());
        }
        Ok(Self(url))
    }

    /// The origin of an address.
    pub fn of(url: &Url) -> String {
        url.origin().ascii_serialization()
    }

    /// Whether it names this machine or one of the user's own network by itself: such a grant was given for just that.
    pub fn is_local(&self) -> bool {
        match self.0.host() {
            Some(host) => match host.to_string().trim_matches(['[', ']']).parse::<IpAddr>() {
                Ok(address) => !is_public(address),
                Err(_) => is_local_name(&host.to_string()),
            },
            None => false,
        }
    }
}

impl fmt::Display for Origin {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&Self::of(&self.0))
    }
}

/// Whether a name is before the host, as in `https://api.github.com@evil.example`.
pub(super) fn has_userinfo(url: &Url) -> bool {
    !url.username().is_empty() || url.password().is_some()
}

fn is_local_name(host: &str) -> bool {
    let host = host.trim_end_matches('.');
    host == "localhost" || host.ends_with(".localhost")
}

/// Whether an address is out on the internet, and neither this machine nor the user's own network.
pub fn is_public(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(address) => is_public_v4(address),
        IpAddr::V6(address) => is_public_v6(address),
    }
}

fn is_public_v4(address: Ipv4Addr) -> bool {
    let [first, second, third, _] = address.octets();
    let special = address.is_private()
        || address.is_loopback()
        || address.is_link_local()
        || address.is_multicast()
        || address.is_broadcast()
        || address.is_documentation()
        || first == 0
        || first >= 240
        // Carriers' own, benchmarks, protocol assignments, and the old way from version 6 to 4.
        || (first == 100 && (64..128).contains(&second))
        || (first == 198 && (18..20).contains(&second))
        || (first == 192 && second == 0 && third == 0)
        || (first == 192 && second == 88 && third == 99);
    !special
}

fn is_public_v6(address: Ipv6Addr) -> bool {
    let segments = address.segments();
    // Addresses that lead to one of version 4 are as public as that one.
    let inner = match segments {
        [0, 0, 0, 0, 0, 0xffff | 0, high, low] => Some((high, low)),
        [0x64, 0xff9b, 0, 0, 0, 0, high, low] | [0x2002, high, low, ..] => Some((high, low)),
        _ => None,
    };
    if let Some((high, low)) = inner {
        let bits = (u32::from(high) << 16) | u32::from(low);
        return is_public_v4(Ipv4Addr::from_bits(bits));
    }
    // What is given out for the internet is in 2000::/3.
    let global = segments[0] & 0xe000 == 0x2000;
    let teredo_or_special = segments[0] == 0x2001 && segments[1] < 0x200;
    let documentation = (segments[0] == 0x2001 && segments[1] == 0xdb8) || segments[0] == 0x3fff;
    global && !teredo_or_special && !documentation
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_out_on_the_internet_is_public() {
        for address in [
            "1.1.1.1",
            "8.8.8.8",
            "140.82.121.4",
            "2606:4700:4700::1111",
            "::ffff:1.1.1.1",
            "64:ff9b::101:101",
        ] {
            assert!(is_public(address.parse().unwrap()), "{address}");
        }
        for address in [
            "127.0.0.1",
            "127.9.9.9",
            "0.0.0.0",
            "10.1.2.3",
            "172.16.0.1",
            "192.168.1.1",
            "169.254.169.254",
            "100.64.0.1",
            "192.0.0.8",
            "198.18.0.1",
            "224.0.0.1",
            "255.255.255.255",
            "240.0.0.1",
            "203.0.113.1",
            "::",
            "::1",
            "fe80::1",
            "fc00::1",
            "fd12::1",
            "ff02::1",
            "::ffff:127.0.0.1",
            "::ffff:10.0.0.1",
            "::127.0.0.1",
            "64:ff9b::7f00:1",
            "2002:7f00:1::",
            "2001:db8::1",
            "fec0::1",
        ] {
            assert!(!is_public(address.parse().unwrap()), "{address}");
        }
    }

    #[test]
    fn an_origin_is_nothing_more_and_has_one_spelling() {
        for (text, origin) in [
            ("https://API.GitHub.com", "https://api.github.com"),
            ("https://a:443/", "https://a"),
            ("http://127.1:80", "http://127.0.0.1"),
            ("http://0x7f000001:8080", "http://127.0.0.1:8080"),
            ("https://bücher.example", "https://xn--bcher-kva.example"),
        ] {
            assert_eq!(Origin::parse(text).unwrap().to_string(), origin);
        }
        for text in [
            "api.github.com",
            "https://",
            "ftp://a",
            "file:///etc",
            "https://u:p@a",
            "https://a/x",
            "https://a?x",
            "https://a#x",
            "data:x",
        ] {
            assert!(Origin::parse(text).is_err(), "{text}");
        }
    }

    #[test]
    fn an_origin_of_this_machine_says_so_itself() {
        for local in [
            "http://localhost:1",
            "http://x.localhost",
            "http://127.0.0.1",
            "http://[::1]:2",
            "https://192.168.0.9",
        ] {
            assert!(Origin::parse(local).unwrap().is_local(), "{local}");
        }
        for other in
            ["https://localhost.evil.example", "https://127.0.0.1.nip.io", "https://1.1.1.1", "https://a"]
        {
            assert!(!Origin::parse(other).unwrap().is_local(), "{other}");
        }
    }
}
