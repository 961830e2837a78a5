//! The JSON form: `mlxconfig -d DEV -e -j FILE query` writes a file with one object per device.

use super::{Columns, NicConfig, Param, Value};
use crate::error::{ParseError, Why};
use crate::text::{At, decode, line_number};
use serde_json::{Map, Value as Json};
use std::collections::HashMap;

/// Parses the JSON form.
pub fn parse_json(bytes: &[u8]) -> Result<Vec<NicConfig>, ParseError> {
    let text = decode(bytes);
    let root: Json = serde_json::from_str(text.trim_start_matches('\u{feff}')).map_err(|e| {
        ParseError::syntax(u32::try_from(e.line()).unwrap_or(u32::MAX), "not the JSON of mlxconfig", &e)
    })?;
    let Json::Object(devices) = root else {
        return Err(ParseError::new(
            1,
            Why::Foreign("not the JSON of mlxconfig: expected an object with \"Device #n\" members"),
        ));
    };
    let lines = key_lines(&text);
    let mut out: Vec<NicConfig> = devices
        .iter()
        .filter(|(key, _)| key.starts_with("Device"))
        .filter_map(|(key, value)| Some(device(key, value.as_object()?, &lines)))
        .collect();
    if out.is_empty() {
        return Err(ParseError::new(1, Why::Foreign("not the JSON of mlxconfig: no \"Device #n\" member")));
    }
    out.sort_by_key(|d| d.line);
    Ok(out)
}

/// (device key, member key) → line; the device's own line under an empty member key.
type KeyLines<'a> = HashMap<(&'a str, &'a str), u32>;

fn device(key: &str, object: &Map<String, Json>, lines: &KeyLines<'_>) -> NicConfig {
    let at = |member: &str| lines.get(&(key, member)).copied().unwrap_or(1);
    let text = |member: &str| {
        object.get(member).and_then(Json::as_str).filter(|s| *s != "N/A").map(|s| At::new(s.to_owned(), at(member)))
    };
    let mut out = NicConfig::empty(at(""));
    out.device_type = text("device_type");
    out.name = text("name");
    out.description = text("description");
    if let Some(d) = text("device") {
        out.set_device(&d.value, d.line);
    }
    for (name, fields) in object.get("tlv_configuration").and_then(Json::as_object).into_iter().flatten() {
        let Some(fields) = fields.as_object() else { continue };
        let flag = |f: &str| fields.get(f).and_then(Json::as_bool).unwrap_or(false);
        let param = Param {
            name: name.into(),
            default: fields.get("default_value").and_then(value),
            current: fields.get("current_value").and_then(value),
            next: fields.get("next_value").and_then(value),
            modified: flag("modified"),
            read_only: flag("read_only"),
            line: at(name),
        };
        let seen = if param.current.is_some() { Columns::DefaultCurrentNext } else { Columns::NextBootOnly };
        out.columns.get_or_insert(seen);
        out.params.push(param);
    }
    out.params.sort_by_key(|p| p.line);
    out
}

/// Enumerations are strings like `True(1)`, numbers are numbers, arrays print as their elements.
fn value(json: &Json) -> Option<Value> {
    match json {
        Json::Null => None,
        Json::String(s) => Some(Value::new(s)),
        other => Some(Value::new(&other.to_string())),
    }
}

/// Lines of the keys, found by their quoted text: the JSON reader keeps no positions.
fn key_lines(text: &str) -> KeyLines<'_> {
    let mut out = HashMap::new();
    let mut device = "";
    for (i, line) in text.lines().enumerate() {
        let mut rest = line;
        while let Some((_, after)) = rest.split_once('"') {
            let Some((word, tail)) = after.split_once('"') else { break };
            if tail.trim_start().starts_with(':') {
                if word.starts_with("Device #") {
                    device = word;
                    out.entry((device, "")).or_insert(line_number(i));
                } else {
                    out.entry((device, word)).or_insert(line_number(i));
                }
            }
            rest = tail;
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_devices_with_and_without_verbosity() {
        let d = parse_json(
            br#"{
  "Device #2": { "device": "/dev/mst/mt4129_pciconf0", "tlv_configuration": { "NUM_OF_VFS": { "read_only": true, "next_value": 8 } } },
  "Device #1": {
    "device_type": "ConnectX7", "name": "X", "description": "N/A", "device": "0000:41:00.0",
    "tlv_configuration": {
      "SRIOV_EN": { "read_only": false, "modified": true, "next_value": "True(1)", "default_value": "False(0)", "current_value": "False(0)" },
      "ATS_ENABLED": { "read_only": false, "modified": false, "next_value": "False(0)", "default_value": "False(0)", "current_value": "False(0)" }
    }
  }
}"#,
        )
        .unwrap();
        assert_eq!(d.iter().map(|d| d.line).collect::<Vec<_>>(), [2, 3]);
        assert_eq!(d[0].columns, Some(Columns::NextBootOnly));
        assert_eq!(d[0].param("NUM_OF_VFS").unwrap().next.as_ref().unwrap().number, Some(8));
        assert!(d[0].param("NUM_OF_VFS").unwrap().read_only);
        let s = d[1].param("SRIOV_EN").unwrap();
        assert!(s.modified && s.next.as_ref().unwrap().is_true() && s.current.as_ref().unwrap().is_false());
        assert_eq!(s.line, 6);
        assert_eq!(d[1].params.iter().map(|p| p.name.as_str()).collect::<Vec<_>>(), ["SRIOV_EN", "ATS_ENABLED"]);
        assert_eq!(d[1].description, None);
    }

    #[test]
    fn other_json_is_refused() {
        for bad in ["", "[]", "{}", "{\"a\":1}", "{\"Device #1\":", "{\"Device #1\":3}"] {
            assert!(parse_json(bad.as_bytes()).is_err(), "{bad}");
        }
    }
}
