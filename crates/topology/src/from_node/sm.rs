//! Compute capability from what is known without asking the driver: the PCI device id, by chip.

/// First and last device id of a chip, and its compute capability times ten. NVIDIA numbers its devices by chip; the ids of pci.ids
/// lie in these ranges.
const CHIPS: &[(u16, u16, i32)] = &[
    (0x15f0, 0x15ff, 60),  // GP100: P100
    (0x1b00, 0x1dff, 61),  // GP102 to GP108: P40, P4; GV100 follows below
    (0x1e00, 0x1fff, 75),  // TU102 to TU117: T4, Quadro RTX
    (0x2080, 0x20ff, 80),  // GA100: A100, A800, A30
    (0x2180, 0x21ff, 75),  // TU116
    (0x2200, 0x22ff, 86),  // GA102: A40, A10
    (0x2300, 0x23ff, 90),  // GH100: H100, H200, H20, GH200
    (0x2400, 0x25ff, 86),  // GA103 to GA107: A16, A2
    (0x2680, 0x28ff, 89),  // AD102 to AD107: L40, L40S, L4
    (0x2900, 0x29ff, 100), // GB100, GB102: B200, GB200
    (0x2b80, 0x2dff, 120), // GB202, GB203, GB206, GB207: RTX PRO 6000
    (0x2e00, 0x2e7f, 121), // GB20B: GB10
    (0x2f00, 0x2fff, 120), // GB205
    (0x3180, 0x31ff, 103), // GB110, GB112: B300, GB300
];

/// GV100 lies among the Pascal chips.
const GV100: (u16, u16, i32) = (0x1d80, 0x1dff, 70);

/// Compute capability of a PCI device of NVIDIA's.
pub(super) fn of_device(device: u16) -> Option<i32> {
    let within = |(first, last, sm): &(u16, u16, i32)| (*first..=*last).contains(&device).then_some(*sm);
    within(&GV100).or_else(|| CHIPS.iter().find_map(within))
}

/// Compute capability of an architecture, as `nvidia-smi -q` names it, where all its GPUs have the same.
pub(super) fn of_architecture(name: &str) -> Option<i32> {
    match name.trim() {
        "Volta" => Some(70),
        "Turing" => Some(75),
        "Ada Lovelace" => Some(89),
        "Hopper" => Some(90),
        _ => None,
    }
}

/// Compute capability of a product of the data centre: `NVIDIA H100 80GB HBM3`, `Tesla V100-SXM2-32GB`.
pub(super) fn of_name(name: &str) -> Option<i32> {
    name.split(|c: char| !c.is_ascii_alphanumeric()).find_map(|word| {
        Some(match word {
            "P100" => 60,
            "P40" | "P4" => 61,
            "V100" | "V100S" => 70,
            "T4" => 75,
            "A100" | "A800" | "A30" => 80,
            "A40" | "A16" | "A10" | "A10G" | "A2" => 86,
            "L40" | "L40S" | "L20" | "L4" | "L2" => 89,
            "H100" | "H200" | "H800" | "H20" | "GH200" => 90,
            "B200" | "GB200" => 100,
            "B300" | "GB300" => 103,
            _ => return None,
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_products() {
        let ids = [0x1db1, 0x1eb8, 0x20b2, 0x2236, 0x26b9, 0x2330, 0x2335, 0x2342, 0x2901, 0x2941, 0x2bb5, 0x3182];
        let want = [70, 75, 80, 86, 89, 90, 90, 90, 100, 100, 120, 103];
        assert_eq!(ids.map(of_device), want.map(Some));
        assert_eq!(of_device(0x0ffe), None);
        let names =
            ["Tesla V100-SXM2-32GB", "NVIDIA A100-SXM4-80GB", "NVIDIA H100 80GB HBM3", "NVIDIA L4", "NVIDIA RTX A4000"];
        assert_eq!(names.map(of_name), [Some(70), Some(80), Some(90), Some(89), None]);
    }
}
