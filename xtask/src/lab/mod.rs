//! The lab: real Linux guests under QEMU, one declarative file each in `lab/scenarios`.
//!
//! A scenario boots a machine, prepares it, and then expects facts of the guest (files, kernel log, commands) and verdicts
//! of `linerate` run inside it. How to add one: lab/README.md.

use std::path::PathBuf;
use std::process::ExitCode;

mod check;
mod closure;
mod cpio;
mod disk;
mod drift;
mod guest;
mod hosts;
mod layouts;
mod machine;
mod options;
mod paths;
mod patience;
mod qemu;
mod relabel;
mod report;
mod run;
mod scenario;
mod setup;
mod verdict;
mod watch;

/// What a lab step may fail with: a sentence that says what, where and what to do.
type Result<T> = std::result::Result<T, String>;

/// Where the lab keeps things. Everything that it makes is below `cache`, which git ignores.
struct Paths {
    /// The repository.
    root: PathBuf,
    /// `.lab`: packages, kernels, initramfs, results.
    cache: PathBuf,
}

impl Paths {
    fn new() -> Paths {
        let manifest = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
        let root = manifest.parent().map_or(manifest.clone(), PathBuf::from);
        Paths { cache: root.join(".lab"), root }
    }
    fn scenarios(&self) -> PathBuf {
        self.root.join("lab/scenarios")
    }

    fn docs(&self) -> PathBuf {
        self.root.join("docs")
    }
    fn out(&self, scenario: &str) -> PathBuf {
        self.cache.join("out").join(scenario)
    }
    /// The packages of the guest's userland, unpacked over each other.
    fn debian(&self) -> PathBuf {
        self.cache.join("debian")
    }
    /// Disks of guests that boot by themselves, by the digest of what they are made of.
    fn disk(&self) -> PathBuf {
        self.cache.join("disk")
    }
    fn kernel(&self, alias: &str) -> PathBuf {
        self.cache.join("kernel").join(alias)
    }
}

const USAGE: &str = "\
usage: cargo xtask lab setup
       cargo xtask lab list [NAME…]
       cargo xtask lab run [--ci] [--part K/N] [--jobs N] [--patience N] [--within N] [--facts-only] [--recheck] [--linerate FILE] [--keep] [NAME…]
       cargo xtask lab disk [--list] [--ci] [--part K/N] [--full] [--patience N] [--within N] [--linerate FILE] [--keep] [NAME…]
       cargo xtask lab drift [--patience N] [--within N] [--recheck] [--linerate FILE]
       cargo xtask lab layouts [--ci] [--patience N] [--linerate FILE] [NAME…]
       cargo xtask lab hosts [--seed N] [--linerate FILE] [--keep]
       cargo xtask lab --full [--patience N]

setup         install QEMU and fetch kernels and guest tools into .lab (needs root and apt-get once; idempotent)
run           boot scenarios: NAME is a scenario, or a pattern with * such as 'acs-*'; all of them without one
  --ci          only the representative ones (`ci = true`), about six minutes on two cores
  --part K/N    the Kth of N parts of them
  --jobs N      guests at a time (default 2)
  --full        every case of a matrix of faults, not a sample; without a command before it, everything that `run` and `disk` have
  --patience N  multiply all time limits, on a loaded machine
  --within N    end everything after N seconds; what was not run by then has failed
  --facts-only  check what the guest shows, and leave linerate's verdicts out
  --recheck     boot nothing: check the facts of the last run again, and audit its snapshots with today's linerate
  --linerate F  the static binary to put into the guests (default: built from this tree)
  --keep        keep the disk and the initramfs of each guest in .lab/out/NAME
  --list        the same as `lab list`
disk          boot Debian guests with a disk, GRUB and sshd for what takes a reboot or two hosts (makes the disk once, as root);
              LINERATE_LAB_ACCEL=kvm or tcg decides how they are run, else KVM where it runs their firmware
drift         boot the guests of lab/drift/guests.toml, which differ in what is written there, and hold drift and diff to it; two
              collections of one boot are equal, and a second boot changes only what a boot changes
layouts       boot guests with the PCI trees that `linerate vm layout` writes of lab/layouts and of hosts of lab/nodes, whole and in parts; each device is
              where the layout says, and NCCL concludes what it concludes on the host; --ci: of one host
hosts         start sixteen hosts with sshd, each a composed node in namespaces of its own, two of them sick; collect, drift, learn, check,
              plan and apply over ssh, and hold the result to what was done (needs root); --keep leaves .lab/hosts/desk, as a failure does

Results: one line per scenario, .lab/out/NAME/ (serial.log, dmesg.txt, lspci.txt, audit.json, snapshot.tar.zst, …),
.lab/out/junit.xml. Exit code 0 all passed, 1 something failed, 2 nothing failed but something was skipped, 3 usage.";

/// The `linerate` that is put into the guests, built from this tree.
pub(crate) fn binary() -> Result<PathBuf> {
    run::built(&Paths::new())
}

/// `cargo xtask lab …`
pub(crate) fn main(args: &[String]) -> ExitCode {
    let paths = Paths::new();
    let outcome = match args.first().map(String::as_str) {
        Some("setup") => setup::setup(&paths).map(|()| ExitCode::SUCCESS),
        Some("list") => options::Options::parse(args.get(1..).unwrap_or_default()).and_then(|o| run::list(&paths, &o)),
        Some("run") => options::Options::parse(args.get(1..).unwrap_or_default()).and_then(|o| run::run(&paths, &o)),
        Some("disk") => options::Options::parse(args.get(1..).unwrap_or_default()).and_then(|o| disk::main(&paths, &o)),
        Some("drift") => {
            options::Options::parse(args.get(1..).unwrap_or_default()).and_then(|o| drift::main(&paths, &o))
        }
        Some("layouts") => {
            options::Options::parse(args.get(1..).unwrap_or_default()).and_then(|o| layouts::main(&paths, &o))
        }
        Some("hosts") => hosts::main(&paths, args.get(1..).unwrap_or_default()),
        Some("--full") => options::Options::parse(args).and_then(|o| {
            // Both, and the worse end of the two.
            let (run, disk) = (run::run(&paths, &o)?, disk::main(&paths, &o)?);
            Ok(if run == ExitCode::SUCCESS { disk } else { run })
        }),
        Some("help" | "--help" | "-h") => {
            println!("{USAGE}");
            return ExitCode::SUCCESS;
        }
        _ => Err(USAGE.to_owned()),
    };
    outcome.unwrap_or_else(|why| {
        eprintln!("{why}");
        ExitCode::from(3)
    })
}
