//! Texts of configuration.

/// Lines that are no comment.
pub(super) fn lines(text: &str) -> impl Iterator<Item = &str> {
    text.lines().map(str::trim).filter(|l| !l.is_empty() && !l.starts_with(['#', ';']))
}

/// Where the kernel shows a sysctl: with slashes it is written as it is (sysctl.d(5)).
pub(super) fn sysctl_path(name: &str) -> String {
    let name = name.trim_start_matches('-');
    if name.contains('/') { format!("/proc/sys/{name}") } else { format!("/proc/sys/{}", name.replace('.', "/")) }
}
