//! Others' files of networks: only named keys of named sections are kept. What is not named here may be a password or a key.

/// Sections, and the keys of each that are kept. A key that ends with `#` stands for itself with a number behind it; `*` is any key.
pub(crate) type Allowed = &'static [(&'static str, &'static [&'static str])];

/// A keyfile of NetworkManager: which interface it is for, its MTU, how it gets IPv4 addresses.
pub(crate) const NM_PROFILE: Allowed = &[
    ("connection", &["uuid", "type", "interface-name", "autoconnect"]),
    ("ethernet", &["mtu"]),
    ("802-3-ethernet", &["mtu"]),
    ("infiniband", &["mtu"]),
    ("match", &["interface-name"]),
    ("ipv4", &["method", "addresses", "addresses#", "address", "address#"]),
];

/// What NetworkManager remembers of a device: which connection it uses.
pub(crate) const NM_DEVICE: Allowed = &[("device", &["managed", "connection-uuid"])];

/// A `.network` file of systemd-networkd, or a drop-in of one.
pub(crate) const NETWORKD: Allowed = &[
    ("Match", &["*"]),
    ("Link", &["MTUBytes"]),
    ("Network", &["DHCP", "Address"]),
    // Its other keys are no secrets, and nothing reads them.
    ("Address", &["Address"]),
];

/// Longest line that is kept: names, numbers and addresses are shorter.
const LONGEST: usize = 512;

/// In the place of a value of several lines: that there is one is shown.
const CONTINUED: &str = "(continued)";

/// What of the text is allowed, one `key=value` a line below its section's name.
pub(crate) fn keep(data: &[u8], allowed: Allowed) -> Vec<u8> {
    let mut out = Vec::new();
    let mut section: Option<(&str, &[&str])> = None;
    let mut told = false;
    let mut continued = false;
    for line in data.split(|b| *b == b'\n') {
        let line = line.trim_ascii();
        if line.starts_with(b"#") || line.starts_with(b";") {
            continue;
        }
        // systemd goes on behind a backslash: what is there is a piece of the value before it, whatever it looks like.
        let piece = continued;
        continued = line.ends_with(b"\\");
        if piece {
            continue;
        }
        if line.starts_with(b"[") {
            let name = line.strip_prefix(b"[").and_then(|l| l.strip_suffix(b"]"));
            section = allowed.iter().find(|(s, _)| name == Some(s.as_bytes())).copied();
            told = false;
            continue;
        }
        let (Some((name, keys)), Ok(text)) = (section, std::str::from_utf8(line)) else { continue };
        let Some((key, value)) = text.split_once('=').map(|(k, v)| (k.trim(), v.trim())) else { continue };
        let plain = text.len() <= LONGEST && !text.contains(char::is_control);
        if !plain || !keys.iter().any(|k| is_key(k, key)) {
            continue;
        }
        if !std::mem::replace(&mut told, true) {
            out.extend(format!("[{name}]\n").into_bytes());
        }
        let value = if continued { CONTINUED } else { value };
        out.extend(format!("{key}={value}\n").into_bytes());
    }
    out
}

fn is_key(allowed: &str, key: &str) -> bool {
    match allowed.strip_suffix('#') {
        Some(bare) => key
            .strip_prefix(bare)
            .is_some_and(|n| !n.is_empty() && n.len() < 6 && n.bytes().all(|b| b.is_ascii_digit())),
        None => allowed == "*" || allowed == key,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const WIFI: &[u8] = b"# made by hand, password is hunter2\n[connection]\nid=cafe hunter2\nuuid=5c1f\ntype = wifi\ninterface-name=wlp1\npermissions=user:hunter2:;\n\n\
        [wifi-security]\nkey-mgmt=wpa-psk\npsk=hunter2\n[802-1x]\npassword=hunter2\nmtu=hunter2\n[wireguard]\nprivate-key=hunter2\n\
        [ethernet]\nmac-address=52:54:00:00:00:01\nmtu=9000\n[vpn-secrets]\npassword=hunter2\nmethod=hunter2\n[ipv4]\nmethod=manual\naddress1=10.0.0.1/24,10.0.0.254\n\
        dns=10.0.0.53;\naddressx=hunter2\n";

    #[test]
    fn a_profile_without_its_secrets() {
        let kept = String::from_utf8(keep(WIFI, NM_PROFILE)).expect("text");
        assert_eq!(
            kept,
            "[connection]\nuuid=5c1f\ntype=wifi\ninterface-name=wlp1\n[ethernet]\nmtu=9000\n[ipv4]\nmethod=manual\naddress1=10.0.0.1/24,10.0.0.254\n"
        );
        assert_eq!(
            keep(b"[device]\nmanaged=true\nconnection-uuid=5c1f\nroot-path=x\n", NM_DEVICE),
            b"[device]\nmanaged=true\nconnection-uuid=5c1f\n"
        );
    }

    #[test]
    fn what_goes_on_behind_a_backslash_is_no_line_of_its_own() {
        let text = b"[WireGuard]\nPrivateKey=a\\\n[Network]\nAddress=hunter2\n[Network]\nDHCP=no\nBridge=\\\n# still\nAddress=hunter2\nAddress=10.0.0.1/24\n";
        assert_eq!(keep(text, NETWORKD), b"[Network]\nDHCP=no\nAddress=10.0.0.1/24\n");
        assert_eq!(keep(b"[Match]\nName=a \\\n b\nType=ether", NETWORKD), b"[Match]\nName=(continued)\nType=ether\n");
        assert_eq!(keep(b"[Network\nAddress=x\n[network]\nAddress=x\nAddress=x", NETWORKD), b"");
    }

    /// Lines of a file as a person or a program may write it; what must not come through has `secret` in it.
    fn lines() -> impl Strategy<Value = String> {
        let section = prop_oneof![
            Just("connection"),
            Just("ipv4"),
            Just("wifi-security"),
            Just("wireguard"),
            Just("802-1x"),
            Just("Match"),
            Just("Network"),
            Just("WireGuard"),
            Just("vpn-secrets"),
            Just("Link"),
            Just("ethernet"),
            Just("infiniband"),
            Just("device"),
            Just("match")
        ];
        let key = prop_oneof![
            Just("psk"),
            Just("password"),
            Just("private-key"),
            Just("PrivateKey"),
            Just("preshared-key"),
            Just("secret"),
            Just("address"),
            Just("address1"),
            Just("Address"),
            Just("mtu"),
            Just("MTUBytes"),
            Just("Name"),
            Just("uuid"),
            Just("method"),
            Just("dns"),
            Just("addresses2")
        ];
        let line = prop_oneof![
            section.prop_map(|s| format!("[{s}]")),
            (key, "[ -~]{0,12}").prop_map(|(k, v)| format!("{k}={v}")),
            "[ -~]{0,20}".prop_map(|t| format!("# {t}")),
            any::<String>(),
        ];
        proptest::collection::vec(line, 0..30).prop_map(|l| l.join("\n"))
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(512) })]

        #[test]
        fn nothing_that_is_not_allowed_gets_through(text in lines()) {
            for allowed in [NM_PROFILE, NM_DEVICE, NETWORKD] {
                let kept = String::from_utf8(keep(text.as_bytes(), allowed)).expect("text");
                let mut keys: Option<&[&str]> = None;
                for line in kept.lines() {
                    if let Some(s) = line.strip_prefix('[').and_then(|l| l.strip_suffix(']')).filter(|_| !line.contains('=')) {
                        keys = allowed.iter().find(|(n, _)| *n == s).map(|(_, k)| *k);
                        prop_assert!(keys.is_some(), "{line}");
                        continue;
                    }
                    let key = line.split('=').next().unwrap_or_default();
                    let keys = keys.expect("below a section");
                    prop_assert!(keys.iter().any(|k| is_key(k, key)), "{line}");
                    let secret = ["psk", "password", "private-key", "PrivateKey", "preshared-key", "secret"];
                    prop_assert!(keys == ["*"] || !secret.contains(&key), "{line}");
                }
            }
        }

        #[test]
        fn kept_again_it_is_the_same(text in lines()) {
            for allowed in [NM_PROFILE, NM_DEVICE, NETWORKD] {
                let once = keep(text.as_bytes(), allowed);
                prop_assert_eq!(keep(&once, allowed), once);
            }
        }
    }
}
