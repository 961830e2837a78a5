//! Names folded to ranges, as ClusterShell folds them.

use super::index::{Index, fill};
use super::{Numbers, product};
use std::collections::BTreeSet;
use std::fmt;

/// Writes the names of one pattern.
pub(super) fn write(f: &mut fmt::Formatter<'_>, pattern: &str, set: &BTreeSet<Numbers>) -> fmt::Result {
    match set.first().map_or(0, |n| n.len()) {
        0 => fill::<&str>(f, pattern, &[]),
        1 => {
            let axis: Vec<Index> = set.iter().filter_map(|n| n.first().copied()).collect();
            fill(f, pattern, &[ranges(&axis)])
        }
        _ => {
            for (i, axes) in product::fold(set).iter().enumerate() {
                if i > 0 {
                    f.write_str(",")?;
                }
                let texts: Vec<String> = axes.iter().map(|axis| ranges(axis)).collect();
                fill(f, pattern, &texts)?;
            }
            Ok(())
        }
    }
}

/// Numbers in order as they are written in a name: in brackets, where there are several.
fn ranges(numbers: &[Index]) -> String {
    let mut parts: Vec<String> = Vec::new();
    let mut rest = numbers.iter().copied();
    let Some(first) = rest.next() else { return String::new() };
    // Leading zeros of the first number of a run hold for what follows with as many digits, over gaps, too, until a run of several ends.
    let (mut width, mut run) = (first, (first, first));
    let close = |parts: &mut Vec<String>, (a, b): (Index, Index)| {
        parts.push(if a == b { a.to_string() } else { format!("{a}-{b}") });
    };
    for n in rest {
        let fits = if width.padded() { n.digits == width.digits } else { !n.padded() };
        let follows = n.value.checked_sub(1) == Some(run.1.value);
        if fits && follows {
            run.1 = n;
            continue;
        }
        close(&mut parts, run);
        if !fits || run.0 != run.1 {
            width = n;
        }
        run = (n, n);
    }
    close(&mut parts, run);
    let text = parts.join(",");
    if numbers.len() > 1 { format!("[{text}]") } else { text }
}
