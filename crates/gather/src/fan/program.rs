//! The program that is put on hosts.

use sha2::{Digest, Sha256};
use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

/// Largest program, bytes.
const MOST: u64 = 256 << 20;

/// A program for one kind of machine.
#[derive(Debug)]
pub struct Program {
    /// As `uname -m` names it; `any`: a script.
    pub machine: String,
    /// SHA-256, hexadecimal.
    pub digest: String,
    path: PathBuf,
    /// Read when the first host needs it.
    bytes: OnceLock<Arc<[u8]>>,
}

/// Why a file is no program that could be put on hosts.
#[derive(Debug, thiserror::Error)]
pub enum ProgramError {
    /// It cannot be read.
    #[error("cannot read {}: {source}", .path.display())]
    Io {
        /// File.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// It is neither an ELF file of a known machine nor a script.
    #[error("{} is neither a program for Linux (x86_64, aarch64, ppc64le, riscv64) nor a script that begins with #!", .0.display())]
    Unknown(PathBuf),
}

impl Program {
    /// Reads a file's digest, and which machine it is for.
    ///
    /// # Errors
    /// It cannot be read, or is no program.
    pub fn of(path: &Path) -> Result<Program, ProgramError> {
        let failed = |source| ProgramError::Io { path: path.to_owned(), source };
        let mut file = File::open(path).map_err(failed)?;
        let (mut hash, mut head, mut buf) = (Sha256::new(), Vec::new(), vec![0; 256 << 10]);
        loop {
            let n = file.read(&mut buf).map_err(failed)?;
            let piece = buf.get(..n).unwrap_or_default();
            if piece.is_empty() {
                break;
            }
            let room = 20_usize.saturating_sub(head.len()).min(n);
            head.extend_from_slice(piece.get(..room).unwrap_or_default());
            hash.update(piece);
        }
        let machine = machine(&head).ok_or_else(|| ProgramError::Unknown(path.to_owned()))?.to_owned();
        let digest = hash.finalize().iter().map(|b| format!("{b:02x}")).collect();
        Ok(Program { machine, digest, path: path.to_owned(), bytes: OnceLock::new() })
    }

    /// Its bytes. One that was exchanged meanwhile is refused by the host, which compares the digest.
    ///
    /// # Errors
    /// It cannot be read.
    pub fn bytes(&self) -> io::Result<&Arc<[u8]>> {
        if let Some(bytes) = self.bytes.get() {
            return Ok(bytes);
        }
        let mut bytes = Vec::new();
        File::open(&self.path)?.take(MOST).read_to_end(&mut bytes)?;
        Ok(self.bytes.get_or_init(|| bytes.into()))
    }
}

/// By the head of an ELF file: class, byte order and machine.
fn machine(head: &[u8]) -> Option<&'static str> {
    if head.starts_with(b"#!") {
        return Some("any");
    }
    let little = head.starts_with(b"\x7fELF\x02\x01");
    let number = u16::from_le_bytes([*head.get(18)?, *head.get(19)?]);
    match number {
        62 if little => Some("x86_64"),
        183 if little => Some("aarch64"),
        21 if little => Some("ppc64le"),
        243 if little => Some("riscv64"),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_program_is_for_this_machine() {
        let me = Program::of(&std::env::current_exe().unwrap()).unwrap();
        assert_eq!(me.machine, std::env::consts::ARCH);
        assert_eq!(me.digest.len(), 64);
        assert!(me.bytes().unwrap().starts_with(b"\x7fELF"));
        assert_eq!(machine(b"#!/bin/sh\n"), Some("any"));
        assert_eq!(machine(b"\x7fELF"), None);
        assert!(matches!(Program::of(Path::new("/etc/hostname")), Err(ProgramError::Unknown(_))));
    }
}
