//! Extended attributes: labels of security modules, access lists, what somebody noted on a file.

use crate::act::wrong::{Done, Wrong};
use rustix::fd::OwnedFd;
use rustix::fs::XattrFlags;
use rustix::io::Errno;
use std::collections::BTreeMap;

/// Names, and values in hexadecimal digits: what the journal can hold.
pub(crate) type Xattrs = BTreeMap<String, String>;

/// Attributes of a file, and bytes of one, that are kept.
const MOST: usize = 64;
const VALUE: usize = 4096;

/// Made by the kernel, of the file's content and place.
const MADE: [&str; 2] = ["security.ima", "security.evm"];

/// All of a file's attributes but those that the kernel makes itself. A file system without any has none.
pub(super) fn all(fd: &OwnedFd, path: &str) -> Done<Xattrs> {
    let mut names = vec![0_u8; 1 << 16];
    let len = match rustix::fs::flistxattr(fd, &mut names[..]) {
        Ok(len) => len,
        Err(Errno::NOTSUP | Errno::NOSYS | Errno::PERM | Errno::ACCESS | Errno::BADF) => 0,
        Err(why) => return Err(Wrong::call("list attributes of", path, why)),
    };
    let mut found = Xattrs::new();
    for name in names.get(..len).unwrap_or_default().split(|b| *b == 0).filter(|n| !n.is_empty()) {
        let Ok(name) = str::from_utf8(name) else { continue };
        let mut value = [0_u8; VALUE];
        let len = match rustix::fs::fgetxattr(fd, name, &mut value[..]) {
            _ if MADE.contains(&name) => continue,
            Ok(len) => len,
            // Gone meanwhile, or only for those with more rights.
            Err(Errno::NODATA | Errno::PERM | Errno::ACCESS | Errno::NOTSUP) => continue,
            Err(Errno::RANGE) => return Err(too_many(path)),
            Err(why) => return Err(Wrong::call("read an attribute of", path, why)),
        };
        let hex = value.get(..len).unwrap_or_default().iter().map(|b| format!("{b:02x}")).collect();
        found.insert(name.to_owned(), hex);
        if found.len() > MOST {
            return Err(too_many(path));
        }
    }
    Ok(found)
}

fn too_many(path: &str) -> Wrong {
    Wrong::failed(format!(
        "{path} has more than {MOST} extended attributes, or one of more than {VALUE} bytes: they could not be put back"
    ))
}

/// Gives a file these attributes. What the file system does not have, or a security module reserves to itself, is left to their own rules.
pub(super) fn set(fd: &OwnedFd, attributes: &Xattrs) -> Result<(), Errno> {
    for (name, hex) in attributes {
        match rustix::fs::fsetxattr(fd, name.as_str(), &bytes(hex), XattrFlags::empty()) {
            Ok(()) | Err(Errno::NOTSUP | Errno::PERM | Errno::ACCESS) => {}
            Err(why) => return Err(why),
        }
    }
    Ok(())
}

/// The journal's digits, which only this module writes.
fn bytes(hex: &str) -> Vec<u8> {
    let pair = |p: &[u8]| str::from_utf8(p).ok().and_then(|p| u8::from_str_radix(p, 16).ok());
    hex.as_bytes().chunks(2).filter_map(pair).collect()
}
