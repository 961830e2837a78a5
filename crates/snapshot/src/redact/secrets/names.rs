//! Names of what is a secret: of keys, variables, options, headers, elements.

/// Anywhere in a name.
const ANYWHERE: &[&str] = &[
    "password",
    "passwd",
    "passwort",
    "passphrase",
    "passcode",
    "secret",
    "credential",
    "apikey",
    "accesskey",
    "privatekey",
    "accountkey",
    "sharedkey",
    "sharedaccess",
    "presharedkey",
    "cryptkey",
    "signature",
    "bearer",
    "authorization",
    "cookie",
];
/// The last part of a name.
const LAST: &[&str] = &[
    "pass",
    "pw",
    "pwd",
    "psk",
    "token",
    "tokens",
    "sig",
    "auth",
    "pin",
    "otp",
    "creds",
    "cred",
    "jwt",
    "sas",
    "community",
    "sessionid",
    "passwords",
    "keys",
    "kennwort",
    "passe",
    "contrasena",
    "senha",
    "wachtwoord",
];
/// What may stand behind it.
const BEHIND: &[&str] = &[
    "data", "value", "hash", "b64", "base64", "hex", "enc", "text", "string", "plain", "raw", "default", "new", "old",
    "binary",
];
/// What makes a secret of a `key` behind it.
const KEYS_OF: &[&str] = &[
    "api",
    "access",
    "secret",
    "private",
    "shared",
    "account",
    "client",
    "ssh",
    "luks",
    "enc",
    "encryption",
    "encrypt",
    "crypt",
    "signing",
    "sign",
    "master",
    "storage",
    "license",
    "wg",
    "preshared",
    "session",
    "tls",
    "ssl",
    "zfs",
    "rsa",
    "gpg",
    "pgp",
    "deploy",
    "auth",
    "service",
    "wep",
    "wpa",
    "registry",
    "cluster",
    "host",
    "server",
    "dhchap",
    "unseal",
    // Keys of InfiniBand's managers.
    "m",
    "sm",
    "sa",
    "vs",
    "cc",
];
/// So much of the end of a name is looked at.
pub(super) const LONGEST: usize = 64;

/// Whether a name is that of a secret.
pub(super) fn is_secret(name: &[u8]) -> bool {
    // Of a longer one its end says what it is.
    let name = name.get(name.len().saturating_sub(LONGEST)..).unwrap_or_default();
    if name.len() < 2 {
        return false;
    }
    let mut lower = [0_u8; LONGEST];
    for (to, from) in lower.iter_mut().zip(name) {
        *to = from.to_ascii_lowercase();
    }
    let lower = lower.get(..name.len()).unwrap_or_default();
    if lower == b"secretmem" {
        return false;
    }
    if contains_any(lower) {
        return true;
    }
    // Parts: between `_`, `-` and `.`, and where a capital follows a small letter.
    let mut parts = [(0_usize, 0_usize); 16];
    let (mut n, mut from) = (0, 0);
    for i in 0..=name.len() {
        let at = name.get(i).copied();
        let hump = i > 0
            && at.is_some_and(|b| b.is_ascii_uppercase())
            && name.get(i - 1).is_some_and(|b| b.is_ascii_lowercase() || b.is_ascii_digit());
        let gap = at.is_none_or(|b| !b.is_ascii_alphanumeric());
        if (gap || hump) && i > from && n < parts.len() {
            if let Some(p) = parts.get_mut(n) {
                *p = (from, i);
            }
            n += 1;
        }
        if gap {
            from = i + 1;
        } else if hump {
            from = i;
        }
    }
    let part = |k: usize| parts.get(k).and_then(|(a, b)| lower.get(*a..*b)).unwrap_or_default();
    while n > 1 && (is_in(BEHIND, part(n - 1)) || part(n - 1).iter().all(u8::is_ascii_digit)) {
        n -= 1;
    }
    let Some(last) = n.checked_sub(1).map(part) else { return false };
    // `psk0`, `key1`
    let digits = last.iter().rev().take_while(|b| b.is_ascii_digit()).count();
    let last = last.get(..last.len() - digits).unwrap_or_default();
    if matches!(last, b"key") {
        return n > 1 && is_in(KEYS_OF, part(n - 2));
    }
    let pass = last.ends_with(b"pass") && !last.ends_with(b"bypass") && !last.ends_with(b"compass");
    // Kernel and CPU lists: a plural alone says little.
    is_in(LAST, last) && !(matches!(last, b"tokens" | b"keys") && n == 1)
        || pass
        || last.ends_with(b"psk")
        || last.ends_with(b"pwd")
        || last.len() > 4 && last.ends_with(b"token")
}

/// Whether all that follows on the line is the secret.
pub(super) fn is_header(name: &[u8]) -> bool {
    [&b"authorization"[..], b"proxy-authorization", b"cookie", b"set-cookie"]
        .iter()
        .any(|h| name.eq_ignore_ascii_case(h))
}

fn contains_any(lower: &[u8]) -> bool {
    // Every word has one of these letters at its beginning.
    lower.iter().enumerate().any(|(i, b)| {
        matches!(b, b'p' | b's' | b'c' | b'a' | b'b')
            && lower.get(i..).is_some_and(|rest| ANYWHERE.iter().any(|w| rest.starts_with(w.as_bytes())))
    })
}

fn is_in(list: &[&str], word: &[u8]) -> bool {
    list.iter().any(|w| w.as_bytes() == word)
}

#[cfg(test)]
mod tests {
    use super::is_secret;

    #[test]
    fn names() {
        for name in [
            "password",
            "DB_PASS",
            "mypass",
            "PGPASS",
            "bmc_pw",
            "BmcPwd",
            "psk",
            "wep-key0",
            "client-key-data",
            "clientSecret",
            "apiKey",
            "X-Api-Key",
            "X-Amz-Signature",
            "sig",
            "auth",
            "AccountKey",
            "identitytoken",
            "X-Auth-Token",
            "TOKEN",
            "rd.luks.key",
            "privateKey",
            "wgPrivateKey",
            "access_token",
            "sessionid",
            "rd.iscsi.in.password",
            "Secrets",
        ] {
            assert!(is_secret(name.as_bytes()), "{name}");
        }
        for name in [
            "iommu.passthrough",
            "pci",
            "key",
            "pkey",
            "tokens",
            "tokens_used",
            "pin_memory",
            "auth_type",
            "signal",
            "passes",
            "bypass",
            "secretmem",
            "keys",
            "NCCL_IB_PKEY",
            "NCCL_IB_HCA",
            "monkey",
            "turnkey",
            "x",
            "cap_mask",
            "compass",
        ] {
            assert!(!is_secret(name.as_bytes()), "{name}");
        }
    }
}
