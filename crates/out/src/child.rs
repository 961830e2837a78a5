//! Programs that are started, and what of the environment each gets. An environment holds secrets of whoever started the process, so
//! a name that is not listed here goes to nobody.

use std::ffi::OsStr;
use std::process::Command;

/// What a program is started for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Need {
    /// Nothing of the user's: where programs are, and plain English.
    Nothing,
    /// Any program.
    #[default]
    Plain,
    /// `ssh`: its agent, and how it asks.
    Ssh,
    /// `kubectl` with the plugins that get its credentials.
    Kubectl,
    /// Slurm's commands: which cluster, and how they show who asks.
    Slurm,
    /// `curl`: proxies and certificates.
    Curl,
    /// Benchmarks: libraries, and the settings that are measured.
    Benchmark,
}

/// For all that is started for the user.
const PLAIN: &[&str] = &[
    "PATH",
    "HOME",
    "USER",
    "LOGNAME",
    "SHELL",
    "LANG",
    "LANGUAGE",
    "LC_*",
    "TERM",
    "TZ",
    "TMPDIR",
    "XDG_RUNTIME_DIR",
];
const SSH: &[&str] = &[
    "SSH_AUTH_SOCK",
    "SSH_AGENT_PID",
    "SSH_ASKPASS",
    "SSH_ASKPASS_REQUIRE",
    "SSH_SK_PROVIDER",
    "SSH_SK_HELPER",
    "DISPLAY",
    "WAYLAND_DISPLAY",
    "XAUTHORITY",
    "DBUS_SESSION_BUS_ADDRESS",
    "KRB5CCNAME",
    "KRB5_CONFIG",
    "GNUPGHOME",
];
const PROXIES: &[&str] = &[
    "HTTP_PROXY",
    "HTTPS_PROXY",
    "ALL_PROXY",
    "NO_PROXY",
    "http_proxy",
    "https_proxy",
    "all_proxy",
    "no_proxy",
    "SSL_CERT_FILE",
    "SSL_CERT_DIR",
];
const CURL: &[&str] = &["CURL_CA_BUNDLE", "CURL_SSL_BACKEND"];
/// Of the plugins: those of EKS, GKE, AKS, OIDC (`kubelogin`), OpenStack, Teleport and Vault.
const KUBECTL: &[&str] = &[
    "KUBECONFIG",
    "KUBE_*",
    "KUBECTL_*",
    "KUBERNETES_*",
    "KREW_ROOT",
    "KUBECACHEDIR",
    "XDG_*",
    "AWS_*",
    "GOOGLE_*",
    "CLOUDSDK_*",
    "USE_GKE_GCLOUD_AUTH_PLUGIN",
    "AZURE_*",
    "AAD_*",
    "OS_*",
    "VAULT_*",
    "TELEPORT_*",
    "OCI_*",
    "IBMCLOUD_*",
    "SSH_AUTH_SOCK",
    "KRB5CCNAME",
    "KRB5_CONFIG",
    "DISPLAY",
    "WAYLAND_DISPLAY",
    "DBUS_SESSION_BUS_ADDRESS",
    "BROWSER",
];
const SLURM: &[&str] = &["SLURM_CONF", "SLURM_CONF_SERVER", "SLURM_CLUSTERS", "SLURM_JWT", "SACK_SOCKET"];
const BENCHMARK: &[&str] = &[
    "LD_LIBRARY_PATH",
    "LD_PRELOAD",
    "LIBRARY_PATH",
    "PYTHONPATH",
    "PYTHONHOME",
    "VIRTUAL_ENV",
    "CONDA_*",
    "MODULEPATH",
    "CUDA_*",
    "CUDNN_*",
    "NVIDIA_*",
    "NV_*",
    "NCCL_*",
    "NVSHMEM_*",
    "RCCL_*",
    "ROCM_*",
    "ROCR_*",
    "HIP_*",
    "HSA_*",
    "GPU_*",
    "UCX_*",
    "UCC_*",
    "FI_*",
    "OFI_*",
    "HCOLL_*",
    "SHARP_*",
    "SHARPD_*",
    "OMPI_*",
    "OPAL_*",
    "PMIX_*",
    "PRTE_*",
    "MPI_*",
    "MPICH_*",
    "I_MPI_*",
    "HYDRA_*",
    "PSM2_*",
    "PSM3_*",
    "IBV_*",
    "RDMAV_*",
    "MLX4_*",
    "MLX5_*",
    "MLX_*",
    "RDMA_*",
    "EFA_*",
    "OMP_*",
    "KMP_*",
    "GOMP_*",
    "TORCH_*",
    "TORCHINDUCTOR_*",
    "PYTORCH_*",
    "GLOO_*",
    "NUMA_*",
    "SLURM_*",
    "HF_HOME",
];

/// Where a program of the system is looked for when no directory of the user counts.
pub const SYSTEM_PATH: &str = "/usr/sbin:/usr/bin:/sbin:/bin:/usr/local/sbin:/usr/local/bin";

/// Names, with commas between them, of further variables that the user hands on: for what a proxy command of `ssh` or a plugin of
/// `kubectl` needs and no list knows.
const ASKED: &str = "LINERATE_PASS_ENV";
/// What begins so is for this program, and goes to no other.
const OURS: &str = "LINERATE_";

/// A program with the environment that it needs, and no other. The only place that starts programs: `clippy.toml` sees to it.
#[allow(clippy::disallowed_methods)] // this is the place
#[must_use]
pub fn command(program: impl AsRef<OsStr>, need: Need) -> Command {
    let mut command = Command::new(program);
    command.env_clear();
    if need == Need::Nothing {
        command.env("PATH", SYSTEM_PATH).env("LC_ALL", "C");
    } else {
        let asked = std::env::var(ASKED).unwrap_or_default();
        let asked = |name: &str| !name.starts_with(OURS) && asked.split(',').any(|a| a.trim() == name);
        let given = std::env::vars_os().filter(|(n, _)| n.to_str().is_some_and(|n| need.takes(n) || asked(n)));
        command.envs(given);
    }
    command
}

impl Need {
    /// Whether a variable is handed on.
    #[must_use]
    pub fn takes(self, name: &str) -> bool {
        let lists: &[&[&str]] = match self {
            Need::Nothing => &[],
            Need::Plain => &[PLAIN],
            Need::Ssh => &[PLAIN, SSH],
            Need::Kubectl => &[PLAIN, KUBECTL, PROXIES],
            Need::Slurm => &[PLAIN, SLURM],
            Need::Curl => &[PLAIN, CURL, PROXIES],
            Need::Benchmark => &[PLAIN, BENCHMARK],
        };
        let is = |known: &str| known.strip_suffix('*').map_or(name == known, |head| name.starts_with(head));
        lists.iter().any(|list| list.iter().any(|known| is(known)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALL: [Need; 7] =
        [Need::Nothing, Need::Plain, Need::Ssh, Need::Kubectl, Need::Slurm, Need::Curl, Need::Benchmark];

    #[test]
    fn each_gets_what_it_needs() {
        for (name, who) in [
            ("PATH", &ALL[1..]),
            ("LC_TIME", &ALL[1..]),
            ("SSH_AUTH_SOCK", &[Need::Ssh, Need::Kubectl]),
            ("KUBECONFIG", &[Need::Kubectl]),
            ("AWS_PROFILE", &[Need::Kubectl]),
            ("https_proxy", &[Need::Kubectl, Need::Curl]),
            ("SLURM_CONF", &[Need::Slurm, Need::Benchmark]),
            ("NCCL_IB_HCA", &[Need::Benchmark]),
            ("LINERATE_REDFISH_PASSWORD", &[]),
            ("GITHUB_TOKEN", &[]),
            ("PATHX", &[]),
            ("BASH_ENV", &[]),
            ("ENV", &[]),
        ] {
            for need in ALL {
                assert_eq!(need.takes(name), who.contains(&need), "{name} {need:?}");
            }
        }
    }

    /// The process whose environment holds a secret.
    #[test]
    #[ignore = "a part of the test below"]
    fn starts_children() {
        if std::env::var_os("LINERATE_REDFISH_PASSWORD").is_none() {
            return;
        }
        for need in ALL {
            let out = command("/usr/bin/env", need).output().unwrap();
            println!("{need:?}\n{}", String::from_utf8(out.stdout).unwrap());
        }
    }

    #[test]
    fn what_the_user_hands_on_is_handed_on_but_what_is_ours() {
        let me = std::env::current_exe().unwrap();
        let mut command = Command::new(me);
        command.args(["--exact", "--ignored", "--nocapture", "child::tests::starts_children"]);
        command
            .env("LINERATE_REDFISH_PASSWORD", "for-the-bmc")
            .env("SITE_NAME", "asked-for")
            .env("SITE_OTHER", "not-asked");
        let out = command.env(ASKED, "SITE_NAME, LINERATE_REDFISH_PASSWORD").output().unwrap();
        let text = String::from_utf8(out.stdout).unwrap();
        assert!(out.status.success() && ALL.iter().all(|n| text.contains(&format!("{n:?}\n"))), "{text}");
        assert_eq!(text.matches("asked-for").count(), ALL.len() - 1, "{text}");
        assert!(!text.contains("not-asked") && !text.contains("for-the-bmc"), "{text}");
    }

    #[test]
    fn a_child_has_nothing_else() {
        // Cargo sets variables for every test.
        assert!(std::env::var_os("CARGO_MANIFEST_DIR").is_some());
        for need in ALL {
            let out = command("/usr/bin/env", need).output().unwrap();
            let text = String::from_utf8(out.stdout).unwrap();
            let names: Vec<&str> = text.lines().filter_map(|l| l.split_once('=')).map(|(n, _)| n).collect();
            assert!(!names.is_empty() || std::env::var_os("PATH").is_none());
            let system = |n: &str| need == Need::Nothing && matches!(n, "PATH" | "LC_ALL");
            assert!(names.iter().all(|n| need.takes(n) || system(n)), "{need:?}: {names:?}");
        }
    }
}
