//! What loggers, exceptions and container runtimes put before a message.

/// The text behind one head of a logger or a container's runtime.
pub(super) fn head(text: &str) -> Option<&str> {
    bracket(text).or_else(|| glog(text)).or_else(|| container(text)).or_else(|| quoted_field(text))
}

/// `[E227 16:30:43.5 ProcessGroupGloo.cpp:144] `, `[multiproc_executor.py:527] `, `[c10d] `, `[TensorRT-LLM][ERROR] `, `[Rank 3] `, and the fabric
/// manager's `[Nov 21 2026 07:00:00] [ERROR] [tid 12] `.
fn bracket(text: &str) -> Option<&str> {
    let (inside, rest) = text.strip_prefix('[')?.split_once(']')?;
    let tid = inside.strip_prefix("tid ").is_some_and(|n| n.bytes().all(|b| b.is_ascii_digit()));
    let rank = inside.get(..5).is_some_and(|r| r.eq_ignore_ascii_case("rank "))
        && inside.get(5..).is_some_and(|n| !n.is_empty() && n.bytes().all(|b| b.is_ascii_digit()));
    let logger = matches!(inside, "c10d" | "TensorRT-LLM" | "TRT-LLM" | "TRT" | "FT" | "TM");
    let level = matches!(inside, "ERROR" | "WARNING" | "INFO" | "E" | "W" | "I" | "F");
    // `[01/08/2024-17:06:37] [TRT] [W] `.
    let slashed = inside.len() == 19 && matches!(inside.as_bytes(), [_, _, b'/', _, _, b'/', _, _, _, _, b'-', ..]);
    let day =
        slashed || inside.len() == 20 && inside.bytes().filter(|b| *b == b':').count() == 2 && inside.contains(" 20");
    let known = tid
        || rank
        || logger
        || level
        || day
        || is_place(inside) && !inside.starts_with("enforce ") && !inside.contains("/gloo/");
    // `[Rank 0]: `.
    known.then(|| rest.strip_prefix(':').unwrap_or(rest))
}

/// `2021-09-13 23:57:29.694695: E tensorflow/…/cuda_diagnostics.cc:306] `, `E0619 07:06:13.123456 1234 main.go:123] `, `ERROR 08-02 08:50:03 worker_base.py:382] `.
fn glog(text: &str) -> Option<&str> {
    let (before, rest) = text.split_once("] ")?;
    let starts = before.starts_with(|c: char| c.is_ascii_digit())
        || before.starts_with(['E', 'W', 'I', 'F'])
            && before.as_bytes().get(1).is_some_and(|b| b.is_ascii_digit() || *b == b' ');
    (starts && !before.contains('[') && is_place(before)).then_some(rest)
}

/// Ends in a source file and a line, with few words before it.
fn is_place(inside: &str) -> bool {
    const FILES: &[&str] = &[".cpp", ".hpp", ".cc", ".h", ".cu", ".py", ".go", ".rs"];
    let last = inside.rsplit(' ').next().unwrap_or(inside);
    inside.len() < 200
        && last.rsplit_once(':').is_some_and(|(file, line)| {
            FILES.iter().any(|f| file.ends_with(f)) && !line.is_empty() && line.bytes().all(|b| b.is_ascii_digit())
        })
}

/// `RuntimeError: `, `torch.distributed.DistBackendError: `, `what():  `, `/usr/lib/…/torch/cuda/__init__.py:52: UserWarning: `, `Warning: `.
pub(super) fn class(text: &str) -> Option<&str> {
    if let Some(rest) = text.strip_prefix("what():") {
        return Some(rest);
    }
    let (class, rest) = text.split_once(": ")?;
    if class.contains(".py:") && is_place(class) && !class.contains(' ') {
        return Some(rest);
    }
    let name = class.rsplit('.').next().unwrap_or(class);
    let is_class = ["Error", "Exception", "Warning"].iter().any(|e| name.ends_with(e)) || name.starts_with("NVMLError");
    let word = class.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'.' | b'_'));
    (is_class && word && class.len() < 100).then_some(rest)
}

/// What runtimes of containers put before the words of their hooks: `docker: Error response from daemon: … stderr: nvidia-container-cli: …`.
fn container(text: &str) -> Option<&str> {
    const RUNTIMES: &[&str] = &[
        "docker: Error response from daemon: ",
        "Error response from daemon: ",
        "OCI runtime create failed: ",
        // kubelet's events, alone and in the table of `kubectl describe`.
        "Warning  Failed ",
        "Error: failed to create containerd task: ",
        "failed to create containerd task: ",
        "failed to create shim task: ",
        "container_linux.go:",
        "error running hook: ",
        "error running prestart hook #",
        "stderr: ",
        "slurmstepd: error: pyxis: ",
        "pyxis: ",
    ];
    let (before, rest) = text.split_once("nvidia-container-cli: ")?;
    RUNTIMES.iter().any(|r| before.starts_with(r)).then_some(rest)
}

/// `time="2025-06-17T16:23:09Z" level=error msg="…"` of containerd, Docker and NVIDIA's device plugin.
fn quoted_field(text: &str) -> Option<&str> {
    let (before, rest) = text.split_once(" msg=\"")?;
    (before.starts_with("time=\"") && before.contains(" level=")).then_some(rest)
}
