//! Tables of what the doctor knows, as text: a row a line, cells between tabs, remarks behind `#`.

/// The rows of a table. A test of each table sees to it that every line is one: see [`lines`].
pub(crate) fn rows<const N: usize>(table: &'static str) -> impl Iterator<Item = [&'static str; N]> {
    lines(table).filter_map(|line| line.split('\t').collect::<Vec<_>>().try_into().ok())
}

/// Lines that should be rows.
pub(crate) fn lines(table: &'static str) -> impl Iterator<Item = &'static str> {
    table.lines().filter(|l| !l.is_empty() && !l.starts_with('#'))
}
