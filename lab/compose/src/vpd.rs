//! Vital Product Data as cards store it: large resources (PCI local bus 3.0, appendix I).

use crate::function::Vpd;

const NAME: u8 = 0x82;
const READ_ONLY: u8 = 0x90;
const END: u8 = 0x78;

pub(crate) fn bytes(v: &Vpd) -> Vec<u8> {
    let mut fields = Vec::new();
    for (keyword, text) in [("PN", "900-00000-0000-000"), ("SN", &v.serial), ("V3", &v.uuid), ("VA", &v.vendor)] {
        field(&mut fields, keyword, text.as_bytes());
    }
    let mut out = Vec::new();
    resource(&mut out, NAME, v.name.as_bytes());
    // The checksum: all bytes up to and with it add up to nothing.
    let head = out
        .iter()
        .chain(&[READ_ONLY])
        .chain(&((fields.len() + 4) as u16).to_le_bytes())
        .fold(0_u8, |s, b| s.wrapping_add(*b));
    let sum = fields.iter().chain(b"RV\x01").fold(head, |s, b| s.wrapping_add(*b));
    field(&mut fields, "RV", &[sum.wrapping_neg()]);
    resource(&mut out, READ_ONLY, &fields);
    out.push(END);
    out
}

fn resource(out: &mut Vec<u8>, tag: u8, data: &[u8]) {
    out.push(tag);
    out.extend((data.len() as u16).to_le_bytes());
    out.extend(data);
}

fn field(out: &mut Vec<u8>, keyword: &str, data: &[u8]) {
    out.extend(keyword.as_bytes());
    out.push(data.len().min(255) as u8);
    out.extend(data.iter().take(255));
}
