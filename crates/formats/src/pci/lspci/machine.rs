//! The machine-readable forms: `-mm` (one quoted line for each device) and `-vmm` (`Key:<TAB>value` records).

use super::block::Block;
use super::device::Device;
use super::header::{address_of, bracketed, hex8, hex16, set_class, settle_class};
use super::lines::Line;
use super::vendor;

/// The device that a `Slot:` line begins. Very old versions wrote `Device:` for the slot as well, at the head of a record.
pub(super) fn parse(line: &Line<'_>, block: Option<&Block>) -> Option<Device> {
    let value = match line.text.split_once(':')? {
        ("Slot", value) => value,
        ("Device", value) if block.is_none_or(Block::is_ended) => value,
        _ => return None,
    };
    let (bdf, has_domain) = address_of(value.trim())?;
    Some(Device::new(bdf, has_domain, line.number))
}

/// The address of a `Slot:` line, whose tab may have become spaces.
pub(super) fn slot(line: &str) -> Option<super::super::Bdf> {
    Some(address_of(line.strip_prefix("Slot:")?.trim())?.0)
}

/// A key of a `-vmm` record.
pub(super) fn key(key: &str, value: &str, device: &mut Device) {
    match key {
        "Class" => {
            set_class(value, device);
            settle_class(device);
        }
        "Vendor" => set_vendor(value, device),
        "Device" => set_device(value, device),
        "SVendor" => set_subsystem_vendor(value, device),
        "SDevice" => set_subsystem_device(value, device),
        "Rev" => device.revision = hex8(value),
        "ProgIf" => {
            device.prog_if = hex8(value);
            settle_class(device);
        }
        "PhySlot" => device.physical_slot = Some(value.to_owned()),
        _ => {}
    }
}

/// The rest of a `-mm` line: `"class" "vendor" "device" -r01 -p02 "subsystem vendor" "subsystem"`.
pub(super) fn quoted(text: &str, device: &mut Device) {
    let mut nth = 0;
    let mut rest = text;
    while let Some((field, after)) = next_field(rest) {
        rest = after;
        match field {
            Field::Option(o) => match o.split_at_checked(2) {
                Some(("-r", v)) => device.revision = hex8(v),
                Some(("-p", v)) => device.prog_if = hex8(v),
                _ => {}
            },
            Field::Text(value) => {
                match nth {
                    0 => set_class(&value, device),
                    1 => set_vendor(&value, device),
                    2 => set_device(&value, device),
                    3 if !value.is_empty() => set_subsystem_vendor(&value, device),
                    4 if !value.is_empty() => set_subsystem_device(&value, device),
                    _ => {}
                }
                nth += 1;
            }
        }
    }
    settle_class(device);
}

enum Field<'a> {
    Option(&'a str),
    Text(String),
}

/// The next field; a quoted text that is cut before its closing mark is not one.
fn next_field(text: &str) -> Option<(Field<'_>, &str)> {
    let text = text.trim_start();
    let Some(quoted) = text.strip_prefix('"') else {
        let end = text.find(char::is_whitespace).unwrap_or(text.len());
        let (option, rest) = text.split_at_checked(end)?;
        return (!option.is_empty()).then_some((Field::Option(option), rest));
    };
    let mut value = String::new();
    let mut chars = quoted.chars();
    loop {
        match chars.next()? {
            '"' => return Some((Field::Text(value), chars.as_str())),
            '\\' => value.extend(chars.next()),
            c => value.push(c),
        }
    }
}

/// A name with its number in brackets, or either alone.
fn numbered(value: &str) -> (&str, Option<u16>) {
    let (name, id) = bracketed(value.trim(), hex16);
    (name, id.or_else(|| hex16(name.strip_prefix("Device ").unwrap_or(name))))
}

fn set_vendor(value: &str, device: &mut Device) {
    let (name, id) = numbered(value);
    device.vendor = id.or_else(|| vendor::from_name(name));
    device.name = name.to_owned();
}

fn set_device(value: &str, device: &mut Device) {
    let (name, id) = numbered(value);
    device.device = id;
    if !device.name.is_empty() {
        device.name.push(' ');
    }
    device.name.push_str(name);
    // Vendors that only the whole name decides.
    device.vendor = device.vendor.or_else(|| vendor::from_name(&device.name));
}

fn set_subsystem_vendor(value: &str, device: &mut Device) {
    let (name, id) = numbered(value);
    device.subsystem_vendor = id.or_else(|| vendor::from_name(name));
    device.subsystem = Some(name.to_owned());
}

fn set_subsystem_device(value: &str, device: &mut Device) {
    let (name, id) = numbered(value);
    device.subsystem_device = id;
    let subsystem = device.subsystem.get_or_insert_default();
    if !subsystem.is_empty() {
        subsystem.push(' ');
    }
    subsystem.push_str(name);
}
