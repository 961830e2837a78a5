//! Where the history lies when nobody says otherwise.

use std::ffi::OsString;
use std::path::PathBuf;

/// The default place: `$LINERATE_STORE`, else `$XDG_DATA_HOME/linerate/history.db`, else `~/.local/share/linerate/history.db`.
///
/// Pure: the environment comes from the caller. Empty values count as unset, and so does an `XDG_DATA_HOME` that is not absolute (the
/// XDG Base Directory Specification demands that it be ignored). `None`: there is no home, so the user has to name a file.
#[must_use]
pub fn default_path(env: impl Fn(&str) -> Option<OsString>) -> Option<PathBuf> {
    let set = |name: &str| env(name).filter(|v| !v.is_empty()).map(PathBuf::from);
    let data = || set("XDG_DATA_HOME").filter(|p| p.is_absolute());
    let home = || set("HOME").filter(|p| p.is_absolute()).map(|p| p.join(".local/share"));
    set("LINERATE_STORE").or_else(|| Some(data().or_else(home)?.join("linerate").join("history.db")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_setting_wins() {
        for (env, want) in [
            (&[("LINERATE_STORE", "x.db"), ("HOME", "/h")][..], Some("x.db")),
            (&[("LINERATE_STORE", ""), ("XDG_DATA_HOME", "/d"), ("HOME", "/h")], Some("/d/linerate/history.db")),
            (&[("XDG_DATA_HOME", "relative"), ("HOME", "/h")], Some("/h/.local/share/linerate/history.db")),
            (&[("HOME", "/h")], Some("/h/.local/share/linerate/history.db")),
            (&[("HOME", "")], None),
            (&[], None),
        ] {
            let get = |name: &str| env.iter().find(|(k, _)| *k == name).map(|(_, v)| OsString::from(v));
            assert_eq!(default_path(get), want.map(PathBuf::from), "{env:?}");
        }
    }
}
