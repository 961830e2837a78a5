//! Errors of CUDA in the words of any program that prints the runtime's own.

use super::{Message, pattern};

/// An error of CUDA in the words of any program that prints the runtime's own: its number and text.
pub(crate) fn cuda(line: &str) -> Option<(Option<i64>, &'static str)> {
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
pub(super) const CUDA: &[(i64, &str)] = &[
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

/// What comes before an error's name and words: TensorFlow's and XLA's driver (`cuda_driver.cc`, `cuda_platform.cc`), one word of others.
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
