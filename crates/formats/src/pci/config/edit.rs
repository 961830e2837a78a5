//! Bytes of a configuration space as they would be: registers written as `setpci` writes them, extended capabilities that firmware shows or hides.

use super::{CAPABILITY_EXPRESS, CONVENTIONAL_LEN, ConfigSpace, EXTENDED_LEN};

/// Access Control Services, in the extended list.
const ACS: u16 = 0x000d;

/// Writes bits of a word register, named as for `setpci` (`ECAP_ACS+6.w`, `CAP_EXP+8.w`). `None`: the function does not show it, or the name is not
/// one of these; then nothing is written.
pub fn set_register(bytes: &mut [u8], register: &str, value: u16, mask: u16) -> Option<()> {
    let (capability, offset) = register.strip_suffix(".w")?.split_once('+')?;
    // setpci reads offsets as hexadecimal numbers.
    let offset = usize::from_str_radix(offset, 16).ok().filter(|o| *o < CONVENTIONAL_LEN)?;
    let space = ConfigSpace::new(bytes);
    let base = match capability {
        "CAP_EXP" => space.capability(CAPABILITY_EXPRESS)?,
        "ECAP_ACS" => space.extended_capability(ACS)?,
        _ => return None,
    };
    let word: &mut [u8; 2] = bytes.get_mut(base + offset..)?.first_chunk_mut()?;
    let now = u16::from_le_bytes(*word);
    *word = (now & !mask | value & mask).to_le_bytes();
    Some(())
}

/// Takes an extended capability out of the list. `None`: it is not there, or it is the first, which cannot be taken out.
pub fn drop_extended(bytes: &mut [u8], id: u16) -> Option<()> {
    let list = ConfigSpace::new(bytes).extended_list();
    let n = list.iter().position(|(_, found)| *found == id)?;
    let (before, _) = list.get(n.checked_sub(1)?)?;
    let next = list.get(n + 1).map_or(0, |(at, _)| *at);
    link(bytes, *before, next)
}

/// Appends an extended capability, four bytes of registers behind its header, in free space behind the others. `None`: it is there already, the
/// whole space was not read, or none of it is free.
pub fn give_extended(bytes: &mut [u8], id: u16, version: u16, registers: [u8; 4]) -> Option<()> {
    let list = ConfigSpace::new(bytes).extended_list();
    let (last, _) = list.last().filter(|_| bytes.len() == EXTENDED_LEN && !list.iter().any(|(_, i)| *i == id))?;
    // Behind the last capability, whose length is not known, on bytes that are not used.
    let highest = list.iter().map(|(at, _)| *at).max()?;
    let free = |at: &usize| bytes.get(*at..*at + 8).is_some_and(|b| b.iter().all(|b| *b == 0));
    let at = (highest + 0x60..EXTENDED_LEN - 8).step_by(16).map(|at| at & !0xf).find(free)?;
    let head = u32::from(id) | u32::from(version) << 16;
    bytes.get_mut(at..)?.first_chunk_mut::<4>()?.copy_from_slice(&head.to_le_bytes());
    bytes.get_mut(at + 4..)?.first_chunk_mut::<4>()?.copy_from_slice(&registers);
    link(bytes, *last, at)
}

/// Points the header of a capability at another one.
fn link(bytes: &mut [u8], at: usize, next: usize) -> Option<()> {
    let head: &mut [u8; 4] = bytes.get_mut(at..)?.first_chunk_mut()?;
    let value = u32::from_le_bytes(*head) & 0x000f_ffff | u32::try_from(next).ok()? << 20;
    *head = value.to_le_bytes();
    Some(())
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::pci::caps::AcsBits;

    /// An endpoint with Express, AER, ACS and ATS.
    fn nic() -> Vec<u8> {
        let mut b = vec![0u8; 4096];
        b[0..4].copy_from_slice(&[0xb3, 0x15, 0x21, 0x10]);
        (b[6], b[0x34]) = (0x10, 0x60);
        (b[0x60], b[0x62]) = (0x10, 0x02);
        b[0x68..0x6a].copy_from_slice(&0x5950u16.to_le_bytes());
        for (at, id, next) in [(0x100usize, 1u32, 0x150u32), (0x150, 0x0d, 0x160), (0x160, 0x0f, 0)] {
            b[at..at + 4].copy_from_slice(&(id | 1 << 16 | next << 20).to_le_bytes());
        }
        b[0x154..0x158].copy_from_slice(&[0x7f, 0, 0x1d, 0]);
        b
    }

    #[test]
    fn registers_are_written_masked() {
        let mut b = nic();
        set_register(&mut b, "ECAP_ACS+6.w", 0, 0x1c).unwrap();
        set_register(&mut b, "CAP_EXP+8.w", 0x2000, 0x7000).unwrap();
        let caps = ConfigSpace::new(&b).capabilities();
        assert_eq!(caps.acs.get().unwrap().control, Some(AcsBits(1)));
        assert_eq!(caps.express.get().unwrap().max_read_request, Some(512));
        for bad in ["ECAP_ACS+6.l", "CAP_EXP", "ECAP_XYZ+6.w", "CAP_EXP+fff.w", "CAP_EXP+x.w"] {
            assert_eq!(set_register(&mut b, bad, 1, 1), None, "{bad}");
        }
        assert_eq!(set_register(&mut [0; 64], "CAP_EXP+8.w", 1, 1), None);
    }

    #[test]
    fn capabilities_go_and_come() {
        let mut b = nic();
        let ats = |b: &[u8]| ConfigSpace::new(b).capabilities().ats.get().copied();
        assert!(ats(&b).is_some());
        drop_extended(&mut b, 0x0f).unwrap();
        assert!(ats(&b).is_none() && ConfigSpace::new(&b).extended_capability(ACS).is_some());
        assert_eq!(drop_extended(&mut b, 0x0f), None);
        give_extended(&mut b, 0x0f, 1, [0x20, 0, 0, 0x80]).unwrap();
        assert_eq!(ats(&b).unwrap().enabled, Some(true));
        assert_eq!(give_extended(&mut b, 0x0f, 1, [0; 4]), None, "it is there");
        assert_eq!(drop_extended(&mut b, 1), None, "the first");
        assert_eq!(give_extended(&mut [0; 256], 0x0f, 1, [0; 4]), None, "not seen whole");
    }
}
