//! What stands before a text, and what is cut behind it, by release.

use crate::release::Release;

/// Who prints.
#[derive(Debug, Clone)]
pub(crate) struct Speaker<'a> {
    pub(crate) host: &'a str,
    pub(crate) pid: u32,
    pub(crate) tid: u32,
    pub(crate) dev: u32,
}

/// Where in the sources a line comes from.
#[derive(Debug, Clone)]
pub(crate) struct Origin {
    pub(crate) file: String,
    pub(crate) line: u32,
    pub(crate) function: String,
}

/// NCCL's buffer: head and text together, the newline included.
const BUFFER: usize = 1024;

/// An INFO line. Timestamps (since 2.26.2) only where `NCCL_DEBUG_TIMESTAMP_LEVELS` asks for them.
pub(crate) fn info(release: Release, who: &Speaker<'_>, stamp: Option<&str>, text: &str) -> String {
    let head = format!("{}{}:{}:{} [{}] NCCL INFO ", time(release, stamp), who.host, who.pid, who.tid, who.dev);
    cut(release, head + text)
}

/// A WARN line: an empty line before it, the time since 2.26.2, the function since 2.30.7.
pub(crate) fn warn(release: Release, who: &Speaker<'_>, stamp: &str, origin: &Origin, text: &str) -> String {
    let function = if release >= Release(2, 30, 7) { format!(" ({})", origin.function) } else { String::new() };
    let head = format!(
        "\n{}{}:{}:{} [{}] {}:{}{function} NCCL WARN ",
        time(release, Some(stamp)),
        who.host,
        who.pid,
        who.tid,
        who.dev,
        origin.file,
        origin.line
    );
    cut(release, head + text)
}

fn time(release: Release, stamp: Option<&str>) -> String {
    match stamp {
        Some(stamp) if release >= Release(2, 26, 2) => format!("[{stamp}] "),
        _ => String::new(),
    }
}

/// Until 2.28 head and text share a buffer of 1,024 bytes; since 2.29 only the format does, which never fills it.
fn cut(release: Release, mut line: String) -> String {
    if release < Release(2, 29, 2) && line.len() > BUFFER - 1 {
        let mut end = BUFFER - 1;
        while !line.is_char_boundary(end) {
            end -= 1;
        }
        line.truncate(end);
    }
    line.push('\n');
    line
}

#[cfg(test)]
mod tests {
    use super::*;

    const WHO: Speaker<'static> = Speaker { host: "node01", pid: 10, tid: 20, dev: 3 };

    #[test]
    fn a_warning_by_release() {
        let origin = Origin { file: "misc/socket.cc".into(), line: 71, function: "socketProgress".into() };
        let warned = |r| warn(r, &WHO, "2025-03-01 10:00:00", &origin, "x");
        assert_eq!(warned(Release(2, 25, 1)), "\nnode01:10:20 [3] misc/socket.cc:71 NCCL WARN x\n");
        assert_eq!(
            warned(Release(2, 26, 2)),
            "\n[2025-03-01 10:00:00] node01:10:20 [3] misc/socket.cc:71 NCCL WARN x\n"
        );
        assert_eq!(
            warned(Release(2, 30, 7)),
            "\n[2025-03-01 10:00:00] node01:10:20 [3] misc/socket.cc:71 (socketProgress) NCCL WARN x\n"
        );
    }

    #[test]
    fn long_lines_are_cut_until_2_28() {
        let long = "y".repeat(3000);
        assert_eq!(info(Release(2, 28, 9), &WHO, None, &long).len(), 1024);
        assert!(info(Release(2, 29, 2), &WHO, None, &long).len() > 3000);
    }
}
