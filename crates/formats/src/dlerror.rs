//! What the dynamic loader says of a library that it cannot load (glibc `elf/dl-load.c`, `dl-lookup.c`, `dl-version.c`; musl `ldso/dynlink.c`).

/// Why a library was not loaded.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum LoadFault {
    /// The file is not there.
    NotFound,
    /// It is there and may not be read.
    NotPermitted,
    /// It needs a symbol that no loaded library has.
    UndefinedSymbol,
    /// It needs a version of a library that another one, found first, has not.
    Version,
    /// It is for another machine, cut, or cannot be mapped.
    Unusable,
}

/// A library that cannot be loaded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LoadError<'a> {
    /// The file that is missing, or does not fit: with its path as printed.
    pub library: &'a str,
    /// Why.
    pub fault: LoadFault,
}

impl<'a> LoadError<'a> {
    /// The file's name without its path.
    #[must_use]
    pub fn name(&self) -> &'a str {
        self.library.rsplit('/').next().unwrap_or(self.library)
    }

    /// Reads the loader's words at the front of a text, or behind names of other files: `libnccl-net-ofi.so: libefa.so.1: version …`.
    #[must_use]
    pub fn read(text: &'a str) -> Option<Self> {
        let (before, fault) = FAULTS.iter().find_map(|(words, fault)| {
            let (before, rest) = text.split_once(words)?;
            let fault = match fault {
                LoadFault::NotFound if rest.starts_with(": Permission denied") => LoadFault::NotPermitted,
                // ``version `X' not found (required by Y)``.
                LoadFault::Version if !rest.contains("' not found") => return None,
                f => *f,
            };
            Some((before, fault))
        })?;
        let library = before.trim_end().rsplit([' ', '=', '\'', '"']).next()?.trim_end_matches(':');
        is_library(library).then_some(LoadError { library, fault })
    }

    /// The same where the words stand alone in a line: `libhwloc.so.15: cannot open shared object file: No such file or directory`.
    #[must_use]
    pub fn line(text: &'a str) -> Option<Self> {
        const HEADS: &[&str] =
            &["error while loading shared libraries: ", "ImportError: ", "OSError: ", "symbol lookup error: "];
        let head =
            HEADS.iter().find_map(|h| text.split_once(h).filter(|(b, _)| b.len() < 200 && !b.trim_end().contains(' ')));
        let python = |w: &str| text.strip_prefix(w);
        let text = head
            .map(|(_, rest)| rest)
            .or_else(|| python("ImportError: "))
            .or_else(|| python("OSError: "))
            .unwrap_or(text);
        let first = text.split(' ').next().unwrap_or_default();
        let named = first.strip_suffix(':').is_some_and(is_library);
        named.then(|| Self::read(text)).flatten()
    }
}

const FAULTS: &[(&str, LoadFault)] = &[
    (": cannot open shared object file", LoadFault::NotFound),
    (": undefined symbol: ", LoadFault::UndefinedSymbol),
    (": symbol not found", LoadFault::UndefinedSymbol),
    (": version `", LoadFault::Version),
    (": wrong ELF class", LoadFault::Unusable),
    (": invalid ELF header", LoadFault::Unusable),
    (": file too short", LoadFault::Unusable),
    (": cannot read file data", LoadFault::Unusable),
    (": cannot allocate memory in static TLS block", LoadFault::Unusable),
    (": failed to map segment from shared object", LoadFault::Unusable),
    (": cannot enable executable stack", LoadFault::Unusable),
    (": ELF load command", LoadFault::Unusable),
    (": cannot apply additional memory protection", LoadFault::Unusable),
];

/// `libx.so`, `libx.so.1.2`, with or without a path.
fn is_library(text: &str) -> bool {
    let name = text.rsplit('/').next().unwrap_or(text);
    let version = name.split_once(".so");
    version.is_some_and(|(stem, v)| {
        !stem.is_empty() && (v.is_empty() || v.starts_with('.')) && !text.contains(char::is_whitespace)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_loaders_words() {
        use LoadFault::*;
        for (text, library, fault) in [
            ("libhwloc.so.15: cannot open shared object file: No such file or directory", "libhwloc.so.15", NotFound),
            ("libhwloc.so.15: cannot open shared object file", "libhwloc.so.15", NotFound),
            (
                "/opt/x/libnccl-net.so: cannot open shared object file: Permission denied",
                "/opt/x/libnccl-net.so",
                NotPermitted,
            ),
            ("/opt/x/libnccl-net.so: undefined symbol: fi_getinfo", "/opt/x/libnccl-net.so", UndefinedSymbol),
            (
                "libnccl-net-ofi.so: /opt/lib/libibverbs.so.1: version `IBVERBS_PRIVATE_34' not found (required by /usr/lib/libefa.so.1)",
                "/opt/lib/libibverbs.so.1",
                Version,
            ),
            ("/lib/libfabric.so.1: version `FABRIC_1.6' not found (required by x)", "/lib/libfabric.so.1", Version),
            ("dlerror=libibverbs.so.1: wrong ELF class: ELFCLASS32 No plugin found", "libibverbs.so.1", Unusable),
        ] {
            let got = LoadError::read(text).unwrap_or_else(|| panic!("{text}"));
            assert_eq!((got.library, got.fault), (library, fault), "{text}");
        }
        assert!(LoadError::line("./a.out: error while loading shared libraries: libefa.so.1: cannot open shared object file: No such file or directory").is_some());
        for prose in [
            "If it says cannot open shared object file: install the library",
            "we saw libhwloc.so.15: cannot open shared object file",
            "libfabric is missing: undefined symbol: x",
        ] {
            assert_eq!(LoadError::line(prose), None, "{prose}");
        }
    }
}
