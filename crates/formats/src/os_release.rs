//! `/etc/os-release`: which distribution it is. A text of it is a copy of the file; what it says is read in another crate.

use crate::tool::{Args, Command, Gives, Mark, Tool};

/// `/etc/os-release`.
pub const TOOL: Tool = Tool {
    name: "os-release",
    called: "etc/os-release",
    run: "cat /etc/os-release",
    gives: Gives::Copy("etc/os-release"),
    // Scripts print it above what matters more.
    marks: &[Mark::aside(is_own).begins(&["PRETTY_NAME=", "ID_LIKE=", "VERSION_", "UBUNTU_CODENAME="])],
    commands: &[
        Command { program: "cat", args: Args::End("/etc/os-release") },
        Command { program: "cat", args: Args::End("/etc/*release") },
        Command { program: "cat", args: Args::End("/etc/*-release") },
    ],
    files: &["os-release"],
    samples: &[
        "ID=debian\nPRETTY_NAME=\"Debian GNU/Linux 12 (bookworm)\"\nVERSION_ID=\"12\"\n",
        "NAME=\"Rocky Linux\"\nID_LIKE=\"rhel centos fedora\"\n",
    ],
    ..Tool::NONE
};

/// Keys of os-release(5) whose values have its form.
fn is_own(line: &str) -> bool {
    let Some((key, value)) = line.split_once('=') else { return false };
    let bare = value.trim_matches(['"', '\'']);
    let plain =
        |extra: &[u8]| !bare.is_empty() && bare.bytes().all(|b| b.is_ascii_alphanumeric() || extra.contains(&b));
    match key {
        "PRETTY_NAME" => value.len() > 2 && value.starts_with(['"', '\'']) && value.ends_with(['"', '\'']),
        "ID_LIKE" => plain(b" .-_"),
        "VERSION_ID" => plain(b".-_") && bare.starts_with(|c: char| c.is_ascii_digit()),
        "VERSION_CODENAME" | "UBUNTU_CODENAME" => plain(b"-_"),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_the_file_and_no_others() {
        for line in ["PRETTY_NAME=\"SLES 15\"", "ID_LIKE=debian", "VERSION_ID='9.4'", "VERSION_CODENAME=noble"] {
            assert!(is_own(line), "{line}");
        }
        for line in [
            "PRETTY_NAME=$NAME",
            "ID=debian",
            "NAME=\"x\"",
            "ID_LIKE=",
            "VERSION_ID=${V}",
            "# PRETTY_NAME=\"x\"",
            "set ID_LIKE=x",
        ] {
            assert!(!is_own(line), "{line}");
        }
    }
}
