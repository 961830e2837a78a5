//! The one host that is talked to.

use super::Error;
use super::error::short;
use std::fmt;

const LONGEST: usize = 2048;

/// Scheme, host and port of a service. Links that lead elsewhere are refused.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Origin {
    tls: bool,
    host: String,
    port: u16,
}

impl Origin {
    /// Reads `https://HOST[:PORT]`; a path behind it may only be `/` or the service's root.
    ///
    /// # Errors
    /// The text is no such address.
    pub fn parse(text: &str) -> Result<Origin, Error> {
        let (origin, path) = split(text).map_err(|why| Error::Address(short(text), why))?;
        if !matches!(path.trim_end_matches('/'), "" | "/redfish" | "/redfish/v1") {
            return Err(Error::Address(short(text), "it has a path"));
        }
        Ok(origin)
    }

    /// Whether the connection is encrypted.
    #[must_use]
    pub fn is_tls(&self) -> bool {
        self.tls
    }

    /// Whether the service is on this machine.
    #[must_use]
    pub fn is_loopback(&self) -> bool {
        let address = self.host.trim_start_matches('[').trim_end_matches(']');
        self.host == "localhost" || address.parse::<std::net::IpAddr>().is_ok_and(|a| a.is_loopback())
    }

    /// The path of a link that was found at `place`.
    ///
    /// # Errors
    /// It leads to another host, or is no path.
    pub fn path(&self, place: &str, link: &str) -> Result<String, Error> {
        let refused = || Error::Link { path: place.to_owned(), link: short(link) };
        let path = if link.starts_with('/') && !link.starts_with("//") {
            link
        } else {
            let (origin, path) = split(link).map_err(|_| refused())?;
            if origin != *self {
                return Err(refused());
            }
            path
        };
        let path = path.split('#').next().unwrap_or_default();
        let plain = |b: u8| b.is_ascii_graphic() && !matches!(b, b'"' | b'\\' | b'<' | b'>' | b'`');
        let climbs = path.split(['/', '?']).any(|s| s == ".." || s.eq_ignore_ascii_case("%2e%2e"));
        if !path.starts_with('/') || path.len() > LONGEST || !path.bytes().all(plain) || climbs {
            return Err(refused());
        }
        Ok(path.to_owned())
    }
}

fn split(text: &str) -> Result<(Origin, &str), &'static str> {
    let (tls, rest) = match text.split_once("://") {
        Some((s, rest)) if s.eq_ignore_ascii_case("https") => (true, rest),
        Some((s, rest)) if s.eq_ignore_ascii_case("http") => (false, rest),
        _ => return Err("it begins with neither https:// nor http://"),
    };
    let end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
    let (authority, path) = rest.split_at(end);
    if authority.contains('@') {
        return Err("it names a user");
    }
    let (host, port) = match authority.rsplit_once(':') {
        Some((host, port)) if !port.contains(']') => {
            let digits = !port.is_empty() && port.bytes().all(|b| b.is_ascii_digit());
            (host, port.parse().ok().filter(|_| digits).ok_or("its port is not a number")?)
        }
        _ => (authority, if tls { 443 } else { 80 }),
    };
    let v6 = host.strip_prefix('[').and_then(|h| h.strip_suffix(']'));
    let good = match v6 {
        Some(address) => address.parse::<std::net::Ipv6Addr>().is_ok(),
        None => {
            let word = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'.' | b'-' | b'_');
            !host.is_empty() && host.len() < 256 && !host.starts_with('-') && host.bytes().all(word)
        }
    };
    if !good {
        return Err("its host is not a name or address");
    }
    Ok((Origin { tls, host: host.to_ascii_lowercase(), port }, path))
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}://{}:{}", if self.tls { "https" } else { "http" }, self.host, self.port)
    }
}
