//! The NVML library's answers, where the driver is installed: what `nvidia-smi` would say, without its start-up time.
//!
//! The library is opened at run time, and asked in a thread that is left behind if it hangs. It is not there on most machines,
//! and cannot be opened by a static binary: then the answer says why.

use crate::redact::Redactor;
use serde::Serialize;
use std::ffi::{CStr, c_char, c_int, c_uint, c_ulonglong, c_void};
use std::sync::mpsc::channel;
use std::time::Duration;

const NAME: &str = "libnvidia-ml.so.1";
/// Where the driver's container has it.
const IN_CONTAINER: &str = "/run/nvidia/driver/usr/lib/x86_64-linux-gnu/libnvidia-ml.so.1";
const MAX_DEVICES: c_uint = 256;

/// What the library said. Numbers that it refused are missing.
#[derive(Debug, Default, Serialize)]
pub(super) struct Answers {
    /// Why there is nothing.
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    driver_version: Option<String>,
    devices: Vec<Device>,
}

#[derive(Debug, Default, Serialize)]
struct Device {
    /// `dddd:bb:dd.f`, as in sysfs.
    bdf: Option<String>,
    name: Option<String>,
    bar1_total_bytes: Option<u64>,
    bar1_used_bytes: Option<u64>,
    memory_total_bytes: Option<u64>,
    link_generation: Option<u32>,
    link_width: Option<u32>,
    max_link_generation: Option<u32>,
    max_link_width: Option<u32>,
    replay_counter: Option<u32>,
}

/// Why the library says nothing.
#[derive(Debug, thiserror::Error)]
enum Silent {
    /// It cannot be opened, or lacks a function.
    #[error(transparent)]
    Library(#[from] libloading::Error),
    /// It answered with an error code.
    #[error("{function} answered {code}")]
    Code { function: &'static str, code: c_int },
}

/// Asks the library, at most so long.
pub(super) fn ask(limit: Duration, redactor: &Redactor) -> Vec<u8> {
    let (send, answer) = channel();
    let asked = std::thread::Builder::new().name("linerate-nvml".into()).spawn(move || {
        let _ = send.send(library().unwrap_or_else(|e| failed(&e)));
    });
    let answers = match asked {
        Ok(_) => answer.recv_timeout(limit).unwrap_or_else(|_| failed(&"the library did not answer in time")),
        Err(e) => failed(&e),
    };
    let mut json = serde_json::to_vec_pretty(&answers).unwrap_or_default();
    json.push(b'\n');
    crate::redact::secrets::remove(&mut json);
    redactor.text(&mut json);
    json
}

fn failed(why: &dyn std::fmt::Display) -> Answers {
    Answers { error: Some(why.to_string()), ..Answers::default() }
}

type Handle = *mut c_void;

/// nvmlPciInfo_t.
#[repr(C)]
struct PciInfo {
    bus_id_legacy: [c_char; 16],
    domain: c_uint,
    bus: c_uint,
    device: c_uint,
    device_id: c_uint,
    subsystem_id: c_uint,
    bus_id: [c_char; 32],
    /// Room for what later versions append.
    reserve: [u8; 256],
}

/// nvmlBAR1Memory_t and nvmlMemory_t: total, free, used.
#[repr(C)]
#[derive(Default)]
struct Memory([c_ulonglong; 3]);

type Plain = unsafe extern "C" fn() -> c_int;
type Number = unsafe extern "C" fn(Handle, *mut c_uint) -> c_int;
type Text = unsafe extern "C" fn(Handle, *mut c_char, c_uint) -> c_int;

#[allow(unsafe_code)]
fn library() -> Result<Answers, Silent> {
    let open = |name: &str| {
        // SAFETY: initialisers of NVIDIA's library run; it is the vendor's library under its own name, in the loader's own
        // directories (a capture as root runs with the loader's secure defaults of the system).
        unsafe { libloading::Library::new(name) }
    };
    let lib = open(NAME).or_else(|_| open(IN_CONTAINER))?;
    // SAFETY: every symbol is called with the type that nvml.h has given it since the version in its name.
    unsafe {
        let init: libloading::Symbol<'_, Plain> = lib.get(b"nvmlInit_v2\0")?;
        let code = init();
        if code != 0 {
            return Err(Silent::Code { function: "nvmlInit_v2", code });
        }
        let answers = devices(&lib);
        if let Ok(shutdown) = lib.get::<Plain>(b"nvmlShutdown\0") {
            shutdown();
        }
        // Threads of the library may outlive the shutdown: its code stays mapped.
        std::mem::forget(lib);
        answers
    }
}

/// # Safety
/// The library is NVML, and initialised.
#[allow(unsafe_code)]
unsafe fn devices(lib: &libloading::Library) -> Result<Answers, Silent> {
    type Driver = unsafe extern "C" fn(*mut c_char, c_uint) -> c_int;
    type Count = unsafe extern "C" fn(*mut c_uint) -> c_int;
    type ByIndex = unsafe extern "C" fn(c_uint, *mut Handle) -> c_int;
    let mut out = Answers::default();
    // SAFETY: the types are those of nvml.h; every buffer is as long as is said; outputs live across the calls.
    unsafe {
        if let Ok(f) = lib.get::<Driver>(b"nvmlSystemGetDriverVersion\0") {
            let mut text = [0; 96];
            if f(text.as_mut_ptr(), 96) == 0 {
                out.driver_version = word(&text);
            }
        }
        let count = lib.get::<Count>(b"nvmlDeviceGetCount_v2\0")?;
        let by_index = lib.get::<ByIndex>(b"nvmlDeviceGetHandleByIndex_v2\0")?;
        let mut n = 0;
        let code = count(&raw mut n);
        if code != 0 {
            return Err(Silent::Code { function: "nvmlDeviceGetCount_v2", code });
        }
        for i in 0..n.min(MAX_DEVICES) {
            let mut handle: Handle = std::ptr::null_mut();
            if by_index(i, &raw mut handle) == 0 {
                out.devices.push(device(lib, handle));
            }
        }
    }
    Ok(out)
}

/// # Safety
/// The library is NVML, initialised, and the handle is its own.
#[allow(unsafe_code)]
unsafe fn device(lib: &libloading::Library, handle: Handle) -> Device {
    type Pci = unsafe extern "C" fn(Handle, *mut PciInfo) -> c_int;
    type Mem = unsafe extern "C" fn(Handle, *mut Memory) -> c_int;
    let mut d = Device::default();
    // SAFETY: as in `devices`; PciInfo is longer than the structure that is filled in.
    unsafe {
        let number = |name: &[u8]| {
            let f = lib.get::<Number>(name).ok()?;
            let mut n = 0;
            (f(handle, &raw mut n) == 0).then_some(n)
        };
        let memory = |name: &[u8]| {
            let f = lib.get::<Mem>(name).ok()?;
            let mut m = Memory::default();
            (f(handle, &raw mut m) == 0).then_some(m.0)
        };
        if let Ok(f) = lib.get::<Pci>(b"nvmlDeviceGetPciInfo_v3\0") {
            let mut p = std::mem::zeroed::<PciInfo>();
            if f(handle, &raw mut p) == 0 {
                d.bdf = Some(format!("{:04x}:{:02x}:{:02x}.0", p.domain, p.bus, p.device));
            }
        }
        if let Ok(f) = lib.get::<Text>(b"nvmlDeviceGetName\0") {
            let mut text = [0; 96];
            if f(handle, text.as_mut_ptr(), 96) == 0 {
                d.name = word(&text);
            }
        }
        if let Some([total, _, used]) = memory(b"nvmlDeviceGetBAR1MemoryInfo\0") {
            (d.bar1_total_bytes, d.bar1_used_bytes) = (Some(total), Some(used));
        }
        d.memory_total_bytes = memory(b"nvmlDeviceGetMemoryInfo\0").map(|[total, ..]| total);
        d.link_generation = number(b"nvmlDeviceGetCurrPcieLinkGeneration\0");
        d.link_width = number(b"nvmlDeviceGetCurrPcieLinkWidth\0");
        d.max_link_generation = number(b"nvmlDeviceGetMaxPcieLinkGeneration\0");
        d.max_link_width = number(b"nvmlDeviceGetMaxPcieLinkWidth\0");
        d.replay_counter = number(b"nvmlDeviceGetPcieReplayCounter\0");
    }
    d
}

fn word(text: &[c_char]) -> Option<String> {
    let bytes: Vec<u8> = text.iter().map(|c| c.cast_unsigned()).collect();
    Some(CStr::from_bytes_until_nul(&bytes).ok()?.to_string_lossy().into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_a_driver_the_answer_says_why() {
        let json: serde_json::Value =
            serde_json::from_slice(&ask(Duration::from_secs(10), &Redactor::new(false, None).unwrap())).unwrap();
        assert!(json["error"].is_string() || json["driver_version"].is_string(), "{json}");
    }
}
