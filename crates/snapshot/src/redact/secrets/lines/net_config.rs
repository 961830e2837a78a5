//! Files of netplan and keyfiles of NetworkManager: what their readers read stays, each value where it was, and nothing else. Passwords, addresses and MACs
//! are in the rest.

use super::super::shape::atom;
use super::quiet;
use linerate_formats::net_config;

pub(in super::super) fn netplan(data: &mut Vec<u8>) {
    *data = net_config::netplan::kept(data, &is_plain);
}

pub(in super::super) fn keyfile(data: &mut Vec<u8>) {
    *data = net_config::keyfile::kept(data, &is_plain);
}

/// Whether a name, or a pattern of names, may be shown.
fn is_plain(word: &str) -> bool {
    let is_sign = |b: &u8| matches!(b, b'*' | b'?' | b'[' | b']' | b'!' | b':' | b'@');
    word.as_bytes().split(is_sign).all(|w| w.is_empty() || atom(w)) && quiet(word.as_bytes())
}

#[cfg(test)]
mod tests {
    /// What a text becomes; the same when it is cleaned again.
    fn cleaned(text: &str, clean: fn(&mut Vec<u8>)) -> String {
        let mut data = text.as_bytes().to_vec();
        clean(&mut data);
        let got = String::from_utf8_lossy(&data).into_owned();
        clean(&mut data);
        assert_eq!(String::from_utf8_lossy(&data), got, "{text}");
        assert_eq!(got.matches('\n').count(), text.matches('\n').count(), "{text}");
        got
    }

    #[test]
    fn names_that_may_be_secrets_go_with_what_is_below_them() {
        let secret = "Xk9fLq2mZw8Rt4Vb";
        let text = format!(
            "network:\n  ethernets:\n    {secret}:\n      mtu: 9000\n    eth0:\n      match: {{name: {secret}}}\n      set-name: {secret}\n      mtu: {secret}\n  vlans:\n    v1: {{id: 1, link: {secret}}}\n  bonds:\n    b: {{interfaces: [eth0, {secret}]}}\n"
        );
        let got = cleaned(&text, super::netplan);
        assert!(!got.contains(secret) && got.contains("    eth0:\n"), "{got}");
        let text = format!(
            "[connection]\ntype=vlan\ninterface-name={secret}\nmaster={secret}\n[vlan]\nparent={secret}\nid=5\n"
        );
        let got = cleaned(&text, super::keyfile);
        assert!(!got.contains(secret) && got.contains("[vlan]\nparent=[redacted]\nid=5\n"), "{got}");
    }
}
