//! The NVML library's answers, where the driver is installed: what `nvidia-smi` would say, without its start-up time.
//!
//! The library is opened at run time, and asked in a thread that is left behind if it hangs. It is not there on most machines,
//! and cannot be opened by a static binary: then the answer says why.

use crate::redact::Redactor;
use serde::Serialize;
use std::collections::BTreeMap;
use std::ffi::{CStr, c_char, c_int, c_longlong, c_uint, c_ulonglong, c_void};
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
    /// What the GPU counts, by the names of [`FIELDS`].
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    counters: BTreeMap<&'static str, u64>,
}

/// Counters, by their numbers in nvml.h (`NVML_FI_DEV_*`) and the names that `linerate_node::counters` has for them. Those that a driver does
/// not know, or a GPU does not have, are missing from the answer. Not here: 197 and 198, bytes of PCIe. They have 32 bits and begin anew after
/// 4 GiB, which a Gen5 link carries in less than a tenth of a second (seen on an H200, driver 580): no difference of two readings means anything.
const FIELDS: [(c_uint, &str); 20] = [
    (38, "nvlink_crc_flit"),
    (45, "nvlink_crc_data"),
    (52, "nvlink_replay"),
    (59, "nvlink_recovery"),
    (94, "pcie_replays"),
    (95, "pcie_replay_rollovers"),
    (142, "rows_remapped_correctable"),
    (143, "rows_remapped_uncorrectable"),
    (160, "nvlink_ecc_data"),
    (169, "pcie_l0_to_recovery"),
    (173, "pcie_correctable"),
    (174, "pcie_naks_received"),
    (175, "pcie_receiver_error"),
    (176, "pcie_bad_tlp"),
    (177, "pcie_naks_sent"),
    (178, "pcie_bad_dllp"),
    (179, "pcie_non_fatal"),
    (180, "pcie_fatal"),
    (181, "pcie_unsupported_request"),
    (182, "pcie_lcrc_error"),
];
/// `nvmlDeviceGetTotalEccErrors`: type of error (corrected 0, uncorrected 1), since the driver was loaded.
const ECC: [(c_uint, &str); 2] = [(0, "ecc_corrected"), (1, "ecc_uncorrected")];
const VOLATILE: c_uint = 0;

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

/// nvmlFieldValue_t. The value is a union of numbers, the largest of eight bytes.
#[repr(C)]
#[derive(Clone, Copy, Default)]
struct FieldValue {
    field: c_uint,
    scope: c_uint,
    timestamp: c_longlong,
    latency_us: c_longlong,
    kind: c_uint,
    code: c_int,
    value: [u8; 8],
}

impl FieldValue {
    /// A number without a sign: nvmlValueType_t 1 (unsigned int), 2 (unsigned long), 3 (unsigned long long).
    fn count(&self) -> Option<u64> {
        let [a, b, c, d, ..] = self.value;
        match (self.code, self.kind) {
            (0, 1) => Some(u32::from_ne_bytes([a, b, c, d]).into()),
            (0, 2 | 3) => Some(u64::from_ne_bytes(self.value)),
            _ => None,
        }
    }
}

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
        d.counters = counters(lib, handle);
    }
    d
}

/// # Safety
/// The library is NVML, initialised, and the handle is its own.
#[allow(unsafe_code)]
unsafe fn counters(lib: &libloading::Library, handle: Handle) -> BTreeMap<&'static str, u64> {
    type Fields = unsafe extern "C" fn(Handle, c_int, *mut FieldValue) -> c_int;
    type Ecc = unsafe extern "C" fn(Handle, c_uint, c_uint, *mut c_ulonglong) -> c_int;
    let mut out = BTreeMap::new();
    // SAFETY: as in `devices`; the array is as long as is said.
    unsafe {
        if let Ok(f) = lib.get::<Fields>(b"nvmlDeviceGetFieldValues\0") {
            let mut values = FIELDS.map(|(field, _)| FieldValue { field, ..FieldValue::default() });
            if f(handle, c_int::try_from(values.len()).unwrap_or(0), values.as_mut_ptr()) == 0 {
                out.extend(FIELDS.iter().zip(&values).filter_map(|((_, name), v)| Some((*name, v.count()?))));
            }
        }
        if let Ok(f) = lib.get::<Ecc>(b"nvmlDeviceGetTotalEccErrors\0") {
            for (kind, name) in ECC {
                let mut n = 0;
                if f(handle, kind, VOLATILE, &raw mut n) == 0 {
                    out.insert(name, n);
                }
            }
        }
    }
    out
}

fn word(text: &[c_char]) -> Option<String> {
    // C's char is signed here and unsigned on Arm.
    let bytes: Vec<u8> = text.iter().flat_map(|c| c.to_ne_bytes()).collect();
    Some(CStr::from_bytes_until_nul(&bytes).ok()?.to_string_lossy().into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_field_is_as_long_as_in_the_header() {
        assert_eq!(size_of::<FieldValue>(), 40);
        let of = |kind, code| FieldValue { kind, code, value: 7_u64.to_ne_bytes(), ..FieldValue::default() }.count();
        assert_eq!([of(1, 0), of(3, 0), of(3, 3), of(0, 0), of(5, 0)], [Some(7), Some(7), None, None, None]);
    }

    #[test]
    fn without_a_driver_the_answer_says_why() {
        let json: serde_json::Value =
            serde_json::from_slice(&ask(Duration::from_secs(10), &Redactor::new(false, None).unwrap())).unwrap();
        assert!(json["error"].is_string() || json["driver_version"].is_string(), "{json}");
    }
}
