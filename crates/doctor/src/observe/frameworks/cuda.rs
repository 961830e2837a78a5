//! Errors of CUDA in a program's own words.

use linerate_formats::printed;
use linerate_formats::torch_log::is_error_class;

/// An error of CUDA in a program's own words: number, where it is printed, and text. An exception (`RuntimeError: CUDA error: …`), a warning of
/// PyTorch (`Error 802: …`), a check of nccl-tests (`Test CUDA failure common.cu:1045 '…'`).
pub(crate) fn cuda(line: &str) -> Option<(Option<i64>, &str)> {
    if printed::own(line).quoted {
        return None;
    }
    exception(line).or_else(|| crate::observe::says::cuda(line))
}

fn exception(line: &str) -> Option<(Option<i64>, &str)> {
    let text = printed::own(line).text;
    if let Some((before, rest)) = text.split_once("CUDA error: ") {
        let alone = before.is_empty() || before.ends_with("Error: ") && !before.trim_end().contains(' ');
        return alone.then_some((None, rest.trim()));
    }
    if let Some((before, rest)) = text.split_once("OutOfMemoryError: CUDA out of memory. Tried to allocate ") {
        let class = before.is_empty() || before.ends_with('.') && !before.contains(' ');
        return (class && !rest.is_empty()).then_some((Some(2), "out of memory"));
    }
    // `node1: Test CUDA failure common.cu:1045 '…'`, before `Cuda failure common.cu:891 '…'`.
    for key in ["Test CUDA failure ", "Cuda failure ", "CUDA failure "] {
        if let Some((before, rest)) = text.split_once(key) {
            // NCCL's words without its head: `Cuda failure 2 'out of memory'`, `Cuda failure 'out of memory'`.
            let (number, words) =
                rest.split_once(" '").or_else(|| Some(("", rest.strip_prefix('\'')?))).unwrap_or(("-", ""));
            if before.is_empty() && number.bytes().all(|b| b.is_ascii_digit()) && words.trim_end().ends_with('\'') {
                return Some((number.parse().ok(), words.trim_end().trim_end_matches('\'')));
            }
            let (place, rest) = rest.split_once(' ')?;
            let located = place
                .rsplit_once(':')
                .is_some_and(|(file, l)| file.contains(".c") && l.bytes().all(|b| b.is_ascii_digit()));
            let host = before.is_empty() || before.trim_end().ends_with(':') && !before.trim_end().contains(' ');
            return (located && host).then_some((None, rest.trim().trim_matches('\'')));
        }
    }
    let warned = text.contains("UserWarning: ") || is_error_class(text);
    STARTS.iter().find_map(|(code, words)| {
        let numbered = text.strip_prefix("Error ").is_some_and(|r| r.starts_with(&format!("{code}: ")));
        let alone = numbered || *code == 802 && text.starts_with(words);
        let named = alone || warned && (*code == 802 || text.contains(&format!("Error {code}: ")));
        (named && text.contains(words)).then_some((Some(*code), *words))
    })
}

/// Errors with which CUDA does not start at all, as PyTorch prints them: `… Error 803: …` (driver_types.h).
const STARTS: &[(i64, &str)] = &[
    (802, "system not yet initialized"),
    (803, "system has unsupported display driver / cuda driver combination"),
    (804, "forward compatibility was attempted on non supported HW"),
];
