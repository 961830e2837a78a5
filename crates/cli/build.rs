//! Links GCC's unwinder statically, so that the binary needs nothing beyond libc at run time.
//!
//! The standard library asks for `libgcc_s` dynamically. With the same symbols already there from `libgcc_eh.a`, the linker finds it
//! unneeded (`--as-needed` is rustc's default) and leaves it out. Where the C compiler has no such archive nothing changes.

use std::path::Path;
use std::process::Command;

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    let var = |name: &str| std::env::var(name).unwrap_or_default();
    let glibc = var("CARGO_CFG_TARGET_OS") == "linux" && var("CARGO_CFG_TARGET_ENV") == "gnu";
    let static_libc = var("CARGO_CFG_TARGET_FEATURE").split(',').any(|f| f == "crt-static");
    if !glibc || static_libc || var("HOST") != var("TARGET") {
        return;
    }
    let Ok(out) = Command::new("cc").arg("-print-file-name=libgcc_eh.a").output() else { return };
    let path = String::from_utf8_lossy(&out.stdout).trim().to_owned();
    if let Some(dir) = Path::new(&path).parent().filter(|_| Path::new(&path).is_absolute()) {
        println!("cargo:rustc-link-search=native={}", dir.display());
        println!("cargo:rustc-link-lib=static:+whole-archive=gcc_eh");
    }
}
