//! Texts of configuration.

/// Lines that are no comment.
pub(crate) fn lines(text: &str) -> impl Iterator<Item = &str> {
    text.lines().map(str::trim).filter(|l| !l.is_empty() && !l.starts_with(['#', ';']))
}

/// Module and `NAME=VALUE` of each `options MODULE NAME=VALUE …`.
pub(crate) fn options(text: &str) -> impl Iterator<Item = (&str, &str)> {
    lines(text).flat_map(|line| {
        let mut words = line.split_whitespace();
        let module = words.next().filter(|w| *w == "options").and_then(|_| words.next());
        words.filter_map(move |word| Some((module?, word)))
    })
}

/// Where the kernel shows a sysctl: with slashes it is written as it is (sysctl.d(5)).
pub(super) fn sysctl_path(name: &str) -> String {
    let name = name.trim_start_matches('-');
    if name.contains('/') { format!("/proc/sys/{name}") } else { format!("/proc/sys/{}", name.replace('.', "/")) }
}
