//! Names of what is a secret: of keys, variables, options, headers, elements.

use super::heads::Heads;

/// Anywhere in a name.
const ANYWHERE: &[&[u8]] = &[
    b"password",
    b"passwd",
    b"passwort",
    b"passphrase",
    b"passcode",
    b"secret",
    b"credential",
    b"apikey",
    b"accesskey",
    b"privatekey",
    b"accountkey",
    b"sharedkey",
    b"sharedaccess",
    b"presharedkey",
    b"cryptkey",
    b"signature",
    b"bearer",
    b"authorization",
    b"cookie",
];
/// The last part of a name.
const LAST: &[&[u8]] = &[
    b"pass",
    b"pw",
    b"pwd",
    b"psk",
    b"token",
    b"tokens",
    b"sig",
    b"auth",
    b"pin",
    b"otp",
    b"creds",
    b"cred",
    b"jwt",
    b"sas",
    b"community",
    b"sessionid",
    b"passwords",
    b"keys",
    b"kennwort",
    b"passe",
    b"contrasena",
    b"senha",
    b"wachtwoord",
];
/// What may stand behind it.
const BEHIND: &[&[u8]] = &[
    b"data", b"value", b"hash", b"b64", b"base64", b"hex", b"enc", b"text", b"string", b"plain", b"raw", b"default",
    b"new", b"old", b"binary",
];
/// What makes a secret of a `key` behind it.
const KEYS_OF: &[&[u8]] = &[
    b"api",
    b"access",
    b"secret",
    b"private",
    b"shared",
    b"account",
    b"client",
    b"ssh",
    b"luks",
    b"enc",
    b"encryption",
    b"encrypt",
    b"crypt",
    b"signing",
    b"sign",
    b"master",
    b"storage",
    b"license",
    b"wg",
    b"preshared",
    b"session",
    b"tls",
    b"ssl",
    b"zfs",
    b"rsa",
    b"gpg",
    b"pgp",
    b"deploy",
    b"auth",
    b"service",
    b"wep",
    b"wpa",
    b"registry",
    b"cluster",
    b"host",
    b"server",
    b"dhchap",
    b"unseal",
    // Keys of InfiniBand's managers.
    b"m",
    b"sm",
    b"sa",
    b"vs",
    b"cc",
];
static HEADS: Heads = Heads::of(ANYWHERE);
static LAST_HEADS: Heads = Heads::of(LAST);
static BEHIND_HEADS: Heads = Heads::of(BEHIND);
/// So much of the end of a name is looked at.
pub(super) const LONGEST: usize = 64;

/// Whether a name is that of a secret.
pub(super) fn is_secret(name: &[u8]) -> bool {
    // Of a longer one its end says what it is.
    let name = name.get(name.len().saturating_sub(LONGEST)..).unwrap_or_default();
    // Numbers, as before the colons of an address, name nothing.
    if name.len() < 2 || !name.iter().any(u8::is_ascii_alphabetic) {
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
    while n > 1 && (is_in((&BEHIND_HEADS, BEHIND), part(n - 1)) || part(n - 1).iter().all(u8::is_ascii_digit)) {
        n -= 1;
    }
    let Some(last) = n.checked_sub(1).map(part) else { return false };
    // `psk0`, `key1`
    let digits = last.iter().rev().take_while(|b| b.is_ascii_digit()).count();
    let last = last.get(..last.len() - digits).unwrap_or_default();
    if matches!(last, b"key") {
        return n > 1 && KEYS_OF.contains(&part(n - 2));
    }
    let pass = last.ends_with(b"pass") && !last.ends_with(b"bypass") && !last.ends_with(b"compass");
    // Kernel and CPU lists: a plural alone says little.
    is_in((&LAST_HEADS, LAST), last) && !(matches!(last, b"tokens" | b"keys") && n == 1)
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
    (0..lower.len())
        .filter_map(|i| lower.get(i..))
        .any(|rest| HEADS.of_text(rest).filter_map(|word| ANYWHERE.get(word)).any(|word| rest.starts_with(word)))
}

fn is_in((heads, list): (&Heads, &[&[u8]]), word: &[u8]) -> bool {
    heads.of_text(word).filter_map(|n| list.get(n)).any(|w| *w == word)
}

#[cfg(test)]
mod tests {
    use super::{ANYWHERE, contains_any, is_secret};
    use proptest::collection::vec;
    use proptest::prelude::*;
    use proptest::sample::select;

    proptest! {
        /// The first two bytes of words rule out what holds none, and nothing else.
        #[test]
        fn heads_change_no_answer(pieces in vec((select(ANYWHERE), 0_usize..16, "[a-z_]{0,3}"), 0..4)) {
            let name: Vec<u8> = pieces
                .iter()
                .flat_map(|(word, len, between)| [&word[..word.len().min(*len)], between.as_bytes()].concat())
                .collect();
            let one_by_one = ANYWHERE.iter().any(|word| name.windows(word.len()).any(|w| w == *word));
            prop_assert_eq!(contains_any(&name), one_by_one);
        }
    }

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
