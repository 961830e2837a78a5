//! Base64 (RFC 4648 §4), for contents in data URLs.

const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/// Encodes.
pub(super) fn encode(bytes: &[u8]) -> String {
    let letter = |bits: u32| LETTERS.get(bits as usize & 63).copied().map_or('=', char::from);
    let mut out = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for chunk in bytes.chunks(3) {
        let at = |i: usize| u32::from(chunk.get(i).copied().unwrap_or_default());
        let bits = at(0) << 16 | at(1) << 8 | at(2);
        out.push(letter(bits >> 18));
        out.push(letter(bits >> 12));
        out.push(if chunk.len() > 1 { letter(bits >> 6) } else { '=' });
        out.push(if chunk.len() > 2 { letter(bits) } else { '=' });
    }
    out
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_vectors_of_rfc_4648() {
        for (plain, coded) in [
            ("", ""),
            ("f", "Zg=="),
            ("fo", "Zm8="),
            ("foo", "Zm9v"),
            ("foob", "Zm9vYg=="),
            ("fooba", "Zm9vYmE="),
            ("foobar", "Zm9vYmFy"),
        ] {
            assert_eq!(super::encode(plain.as_bytes()), coded);
        }
        assert_eq!(super::encode(&[0xfb, 0xff]), "+/8=");
    }
}
