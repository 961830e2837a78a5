//! Settings, in the words of the releases.

/// Name and value of `NCCL_X set by environment to V.` and `NCCL_X set to V`; `None` for other lines.
pub(crate) fn setting(text: &str) -> Option<(&str, &str)> {
    let prefixed = text.find("NCCL_")?;
    // `TUNER/Plugin: NCCL_TUNER_PLUGIN set to …`: the name follows a short prefix.
    if prefixed > 24 {
        return None;
    }
    let text = text.get(prefixed..)?;
    let (name, rest) = text.split_once(' ')?;
    if name.len() > 64 || !name.bytes().all(|b| b.is_ascii_uppercase() || b.is_ascii_digit() || b == b'_') {
        return None;
    }
    let told = rest.strip_prefix("set by environment to ").or_else(|| rest.strip_prefix("set from environment to "));
    if let Some(value) = told {
        // The printf of numbers ends in a full stop, that of strings does not.
        let value = value.strip_suffix('.').filter(|v| v.parse::<i128>().is_ok()).unwrap_or(value);
        return Some((name, value));
    }
    rest.strip_prefix("set to ").filter(|v| !v.starts_with("a value")).map(|value| (name, value))
}
