//! Messages of CUDA, frameworks, launchers, containers and services that name a cause by themselves. What they say, from where, and how sure
//! that is, stands in [`table`]; here is where in a line such a message may stand: alone in it, or behind what a logger, an exception or a
//! container's runtime puts before it. In the middle of a sentence it counts for nothing.

mod pattern;
mod table;

pub(crate) use table::{ALL, Says, Sure};

use linerate_formats::printed;

/// Heads of loggers and exceptions that are taken off one message.
const MAX_HEADS: usize = 8;

/// What a line must contain to be looked at.
pub(super) fn words() -> impl Iterator<Item = &'static str> {
    let patterns = ALL.iter().map(|s| pattern::anchor(s.form));
    patterns.chain(CUDA.iter().map(|(_, words)| *words)).chain([
        ".service - ",
        "Active: failed",
        "Active: inactive",
        "OOMKilled",
        "Fabric",
        "State  ",
        "Status  ",
        "Exit Code:   ",
    ])
}

/// Reads a file's lines.
#[derive(Debug, Default)]
pub(super) struct Reader {
    /// The unit whose status is being printed, as `systemctl status` heads it.
    unit: Option<String>,
    /// `nvidia-smi -q` prints its section Fabric: State and Status follow at once.
    fabric: bool,
    /// A traceback was printed: an exception's line is a program's. Without one it may stand in a guide.
    traceback: bool,
}

impl Reader {
    /// A program printed how it ended.
    pub(super) fn ended(&mut self) {
        self.traceback = true;
    }

    /// What a line says, by number in [`ALL`], and whether somebody's logger stands before it.
    pub(super) fn read(&mut self, line: &str) -> Option<(usize, bool)> {
        if line.trim() == "Fabric" {
            self.fabric = true;
            return None;
        }
        if std::mem::take(&mut self.fabric)
            && let Some((name @ ("State" | "Status"), value)) = line.split_once(':').map(|(n, v)| (n.trim(), v.trim()))
        {
            self.fabric = true;
            let field = format!("Fabric {name} : {value}");
            return ALL.iter().position(|s| pattern::fits(s.form, &field)).map(|which| (which, false));
        }
        let message = Message::of(line)?;
        if let Some((mark, rest)) = message.text.split_once(' ')
            && matches!(mark, "●" | "×" | "○" | "*")
            && let Some((unit, _)) = rest.split_once(".service - ")
        {
            self.unit = (!unit.contains(' ')).then(|| unit.to_owned());
            return None;
        }
        let status;
        let text = match (&self.unit, message.text.strip_prefix("Active: ")) {
            (Some(unit), Some(active)) => {
                status = format!("{unit}.service: {active}");
                status.as_str()
            }
            _ => message.text,
        };
        // `Reason:       OOMKilled` of kubectl describe is padded.
        let padded = text.contains("  ").then(|| text.split_whitespace().collect::<Vec<_>>().join(" "));
        let text = padded.as_deref().unwrap_or(text);
        let fits = |s: &table::Says| pattern::fits(s.form, text) && s.words.iter().all(|w| text.contains(w));
        let headed = message.headed || message.exception && self.traceback;
        ALL.iter().position(fits).map(|which| (which, headed))
    }
}

/// A message in a line.
struct Message<'a> {
    text: &'a str,
    /// A logger, a launcher or a container's runtime stands before it: somebody's program printed it.
    headed: bool,
    /// An exception's class, or the program's name, stands before it.
    exception: bool,
}

impl<'a> Message<'a> {
    fn of(line: &'a str) -> Option<Self> {
        let trimmed = line.trim();
        // The whole content of a code span.
        let trimmed = match trimmed.strip_prefix('`').and_then(|t| t.strip_suffix('`')) {
            Some(inner) if !inner.contains('`') => inner.trim(),
            _ => trimmed,
        };
        let (mut text, mut headed, mut exception) = (trimmed, false, false);
        for _ in 0..MAX_HEADS {
            let own = printed::own(text);
            if own.quoted {
                return None;
            }
            headed |= own.text.len() < text.len();
            text = own.text;
            if let Some(rest) = head(text) {
                (headed, text) = (true, rest.trim_start());
            } else if let Some(rest) = class(text).or_else(|| text.strip_prefix("nvidia-container-cli: ")) {
                (exception, text) = (true, rest.trim_start());
            } else {
                break;
            }
        }
        Some(Message { text, headed, exception })
    }
}

/// The text behind one head of a logger or a container's runtime.
fn head(text: &str) -> Option<&str> {
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
fn class(text: &str) -> Option<&str> {
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

/// An error of CUDA in the words of any program that prints the runtime's own: its number and text.
pub(super) fn cuda(line: &str) -> Option<(Option<i64>, &'static str)> {
    if let Some(found) = relion(line) {
        return Some(found);
    }
    let message = Message::of(line)?;
    let (before, code, words) = CUDA.iter().find_map(|(code, words)| {
        let (before, _) = message.text.split_once(words)?;
        Some((before, *code, *words))
    })?;
    let rest = message.text.get(before.len() + words.len()..).unwrap_or_default();
    let enumerator = || {
        // `failed call to cuInit: CUDA_ERROR_SYSTEM_NOT_READY: `, `[CUDA_ERROR_SYSTEM_NOT_READY] `, `cudaErrorInsufficientDriver: `.
        let name = before.trim_end().trim_end_matches([':', ']']);
        let (lead, name) = name.split_at_checked(name.rfind([' ', '[']).map_or(0, |at| at + 1))?;
        let is_name = name.strip_prefix("CUDA_ERROR_").or_else(|| name.strip_prefix("cudaError"));
        let is_name = is_name?.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_');
        let lead = lead.strip_suffix('[').unwrap_or(lead);
        (is_name && (lead.is_empty() || NAMED.iter().any(|l| pattern::fits(l, lead)))).then_some(())
    };
    let lead = LEADS.iter().any(|l| pattern::fits(l, before));
    let alone = before.is_empty() && (message.headed || message.exception) && rest.trim().is_empty();
    (lead || alone || enumerator().is_some()).then_some((Some(code), words))
}

/// RELION, `src/acc/cuda/cuda_settings.h` (HandleError): `ERROR: … in FILE at line N (error-code 35)`, with the runtime's number to its end.
fn relion(line: &str) -> Option<(Option<i64>, &'static str)> {
    let text = line.trim_end();
    let (code, words) = CUDA.iter().find(|(_, words)| text.contains(words))?;
    let (before, rest) = text.split_once(words)?;
    let before = before.trim_start();
    let begins = before == "ERROR: " || before.ends_with("error: ERROR: ") && !before.contains(['`', '"', '>']);
    let (place, end) = rest.strip_prefix(" in ")?.split_once(" at line ")?;
    let (number, end) = end.split_once(" (error-code ")?;
    let number = !number.is_empty() && number.bytes().all(|b| b.is_ascii_digit());
    (begins && number && !place.contains(' ') && end.strip_suffix(')')? == code.to_string())
        .then_some((Some(*code), *words))
}

/// Errors of CUDA that name a cause (cuda-runtime-api, cudaError; `cudaGetErrorString`).
const CUDA: &[(i64, &str)] = &[
    (35, "CUDA driver version is insufficient for CUDA runtime version"),
    (802, "system not yet initialized"),
    (803, "system has unsupported display driver / cuda driver combination"),
    (804, "forward compatibility was attempted on non supported HW"),
    (217, "peer access is not supported between these two devices"),
    (220, "uncorrectable NVLink error detected during the execution"),
];

/// What programs print before the runtime's words: the whole of it, behind the heads.
const LEADS: &[&str] = &[
    // CUDA samples' deviceQuery.
    "-> $",
    "CUDA error: $",
    "CUDA error {n}: $",
    "CUDA Error: $",
    "Cuda error: $",
    "CUDA Error {n}: $",
    "CUDA runtime error: $",
    "CUDA driver error: $",
    "Cuda Runtime Error: $",
    // N2D2, include/CudaUtils.hpp; ONNX Runtime, cuda_call.cc.
    "Cuda failure: $",
    "CUDA failure: $",
    "CUDA failure {n}: $",
    "Error: Cuda failure: $",
    // PyTorch before 1.5, THCGeneral.cpp.
    "cuda runtime error ({n}) : $",
    // TensorRT-LLM, cudaUtils.h and gptManagerBenchmark.cpp.
    "CUDA runtime error in {}: $",
    "[TensorRT-LLM][ERROR] CUDA runtime error in {}: $",
    "Encountered an error: $",
    // ggml-cuda.cu.
    "{w}: failed to initialize CUDA: $",
    "failed to initialize CUDA: $",
    "{w} error: $",
    // TensorFlow, gpu_device.cc.
    "{w}() failed. Status: $",
    "Internal: {w}() failed. Status: $",
    // CUDA samples, helper_cuda.h, later printings with words.
    "CUDA error at {w}:{n} code={n}({w}) $",
    "GPUassert: $",
    "CUDA error {n} ($",
    "CUDA Error {n} ($",
    // PaddlePaddle, enforce.h.
    "CUDA error({n}), $",
    "Cuda error({n}), $",
    // Caffe, MXNet.
    "Check failed: error == cudaSuccess ({n} vs. 0) $",
    "Check failed: e == cudaSuccess{} CUDA: $",
    // Kaldi, cu-common.h.
    "cudaError_t {n} : \"$",
    // OpenCV.
    "{}error: (-217:Gpu API call) $",
    // Faiss, DeviceUtils.cu.
    "Faiss assertion {}details: CUDA error {n} $",
    "Error {n}: $",
    "Unexpected error from cudaGetDeviceCount(). Error {n}: $",
    "CUDA initialization: Unexpected error from cudaGetDeviceCount(). {}Error {n}: $",
];

/// What stands before an error's name and words: TensorFlow's and XLA's driver (`cuda_driver.cc`, `cuda_platform.cc`), one word of others.
const NAMED: &[&str] = &[
    "failed call to cuInit: $",
    "failed call to cuInit: INTERNAL: CUDA error: Failed call to cuInit: $",
    "INTERNAL: CUDA error: Failed call to cuInit: $",
    "CUDA error: $",
    "INTERNAL: CUDA error: : $",
    "{w} failed to free {w}: INTERNAL: CUDA error: : $",
    // Thrust, CCCL; RAPIDS' rmm and cudf.
    "{w} failed: $",
    "CUDA error at: {w}: $",
    "CUDA error encountered at: {w}: {n} $",
    "{w}: $",
];
