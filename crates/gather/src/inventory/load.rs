//! Which sources are read, and programs run. All I/O of an inventory is here and in `files`.

use super::files::read;
use super::found::{Found, Kind, Text, Wrong};
use super::{Config, ConfigError, Inventory, Place, genders, hosts, kubernetes, merge, slurm};
use linerate_fleet::NodeSet;
use linerate_fleet::cluster::{Lists, Scheduler};
use linerate_formats::bounds::{INVENTORY_ANSWER, INVENTORY_FILE};
use linerate_out::child::Need;
use linerate_transport::{Cancel, Command, Local, Transport, TransportError, kubectl};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Longest that a program may take.
const LIMIT: Duration = Duration::from_secs(60);

/// What the user asked for.
#[derive(Debug, Clone, Default)]
pub struct Request {
    /// Sources as [`load`] takes them. None: those that are found.
    pub sources: Vec<String>,
    /// Arguments of `ssh`, for all nodes.
    pub ssh_options: Vec<String>,
    /// Whether `sudo -n` is tried on all nodes.
    pub sudo: bool,
    /// Whether what schedulers say of each node is kept, for its snapshot.
    pub lists: bool,
}

/// Where files are looked for.
#[derive(Debug, Clone, Default)]
pub struct Settings {
    /// The directory of `linerate.toml`.
    pub directory: PathBuf,
    /// The user's home directory.
    pub home: Option<PathBuf>,
    /// `$XDG_CONFIG_HOME`, or `.config` at home.
    pub config: Option<PathBuf>,
    /// `$CLUSTERSHELL_CFGDIR`.
    pub clustershell: Option<PathBuf>,
    /// `/etc`.
    pub etc: PathBuf,
    /// Ends programs.
    pub cancel: Cancel,
}

/// Why there is no inventory.
#[derive(Debug, thiserror::Error)]
pub enum InventoryError {
    /// A file that the user named.
    #[error("cannot read {}: {source}", .path.display())]
    File {
        /// Which.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// One with too many bytes.
    #[error("{}: larger than {INVENTORY_FILE} bytes, the limit for a list of nodes", .0.display())]
    Large(PathBuf),
    /// A `linerate.toml` that is wrong.
    #[error("{}: {why}", .path.display())]
    Config {
        /// Which.
        path: PathBuf,
        /// Why.
        why: ConfigError,
    },
    /// An answer of `kubectl`, or a file with one, that is none.
    #[error("{what} is not a list of Kubernetes nodes: {why}")]
    Json {
        /// File or command.
        what: String,
        /// Why.
        why: linerate_formats::ParseError,
    },
    /// A program that is not here.
    #[error("the program {0} is not installed here")]
    Missing(&'static str),
    /// A program that failed.
    #[error("{program} ended with status {status} and said: {said}")]
    Failed {
        /// Which.
        program: &'static str,
        /// Its status.
        status: i32,
        /// Its last line.
        said: String,
    },
    /// A program that said more than is kept.
    #[error("{0} printed more than {INVENTORY_ANSWER} bytes")]
    Answer(&'static str),
    /// A program that did not come to its end.
    #[error(transparent)]
    Transport(#[from] TransportError),
    /// There is no home directory to look in.
    #[error("{0}: no home directory is known: name a file, {0}:FILE")]
    Home(&'static str),
}

/// Reads the sources: `ssh`, `clustershell`, `genders`, `hosts` (each with `:FILE` behind it, or in its usual place), `slurm`, `kubernetes` (with `:CONTEXT`),
/// or a file, whose form is known by its name and beginning.
///
/// Without any, `linerate.toml` of the directory or of the user, with the sources that it names; without one, the usual places of `ssh`, ClusterShell and genders.
/// Programs are run only where they are named.
///
/// # Errors
/// A source that was named, and cannot be read.
pub fn load(request: &Request, settings: &Settings) -> Result<Inventory, InventoryError> {
    let mut loader = Loader {
        settings,
        config: Config::default(),
        found: Found::default(),
        places: Vec::new(),
        files: 0,
        lists: None,
    };
    loader.lists = request.lists.then(Lists::default);
    if request.sources.is_empty() {
        loader.usual()?;
    } else {
        for source in &request.sources {
            loader.source(source, &settings.directory, 0)?;
        }
    }
    let Loader { config, mut found, places, lists, .. } = loader;
    let nodes = config.nodes().to_vec();
    let (options, sudo) = (request.ssh_options.clone(), request.sudo);
    // Sets of `nodes` may name groups of all sources.
    let config_place = places.iter().find(|p| p.kind == Kind::Config).cloned();
    if let Some(place) = config_place.filter(|_| !nodes.is_empty()) {
        let known = merge::merge(config.clone(), found.clone(), places.clone(), options.clone(), sudo);
        for set in &nodes {
            match known.set(set) {
                Ok(set) => found.nodes_of(&set, &place),
                Err(e) => {
                    return Err(InventoryError::Config { path: place.what.into(), why: e.into() });
                }
            }
        }
    }
    let mut out = merge::merge(config, found, places, options, sudo);
    out.lists = lists.unwrap_or_default();
    Ok(out)
}

/// Nodes that others are compared with, as a `linerate.toml` names them.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct References {
    /// The file.
    pub file: PathBuf,
    /// Of all.
    pub all: Option<String>,
    /// Of groups: the group, the node, the nodes of the group as far as the file itself says them.
    pub groups: Vec<(String, String, NodeSet)>,
}

/// The references of the `linerate.toml` that [`load`] would read. No other source is read, and no program is run.
///
/// # Errors
/// The file cannot be read, or is wrong.
pub fn references(sources: &[String], settings: &Settings) -> Result<References, InventoryError> {
    let toml = |s: &&String| s.ends_with(".toml");
    let file = match sources {
        [] => settings.toml(),
        some => some.iter().find(toml).map(|s| settings.directory.join(s)),
    };
    let Some(file) = file else { return Ok(References::default()) };
    let (_, config) = toml_of(&file)?;
    let of_groups: Vec<(String, String)> = config.references().map(|(g, n)| (g.to_owned(), n.to_owned())).collect();
    let what = file.display().to_string();
    let known = merge::merge(config.clone(), config.found(&what), Vec::new(), Vec::new(), false);
    let set = |group: &str| {
        let found = known.groups().find(|(g, _)| g.source.is_empty() && g.name == group);
        found.map(|(_, set)| set.clone()).unwrap_or_default()
    };
    let groups = of_groups.into_iter().map(|(group, node)| {
        let nodes = set(&group);
        (group, node, nodes)
    });
    Ok(References { file, all: config.reference, groups: groups.collect() })
}

impl Settings {
    /// The `linerate.toml` of the directory or the nearest one above it, else that of the user.
    #[must_use]
    pub fn toml(&self) -> Option<PathBuf> {
        let near = self.directory.join("linerate.toml");
        let here =
            std::path::absolute(if self.directory.as_os_str().is_empty() { Path::new(".") } else { &self.directory });
        let above = here.ok().and_then(|here| {
            let mut all = here.ancestors().skip(1).map(|d| d.join("linerate.toml"));
            all.find(|p| p.is_file())
        });
        let user = self.config.as_ref().map(|c| c.join("linerate/linerate.toml"));
        Some(near).filter(|p| p.is_file()).or(above).or(user.filter(|p| p.is_file()))
    }

    /// What that file says, and its text.
    ///
    /// # Errors
    /// The file cannot be read, or is wrong.
    pub fn site(&self) -> Result<Option<(PathBuf, String, Config)>, InventoryError> {
        let Some(path) = self.toml() else { return Ok(None) };
        let (text, config) = toml_of(&path)?;
        Ok(Some((path, text, config)))
    }
}

/// A `linerate.toml`: its text, and what it says.
fn toml_of(path: &Path) -> Result<(String, Config), InventoryError> {
    let text = read(path)?;
    let config = Config::read(&text).map_err(|why| InventoryError::Config { path: path.to_owned(), why })?;
    Ok((text, config))
}

pub(super) struct Loader<'a> {
    pub(super) settings: &'a Settings,
    config: Config,
    pub(super) found: Found,
    places: Vec<Place>,
    /// Files that other files named.
    pub(super) files: usize,
    /// What schedulers say of each node, where it is wanted.
    lists: Option<Lists>,
}

impl Loader<'_> {
    fn usual(&mut self) -> Result<(), InventoryError> {
        if let Some(path) = self.settings.toml() {
            return self.toml(&path, 0);
        }
        if let Some(path) = self.ssh_file().filter(|p| p.is_file()) {
            self.ssh(&path)?;
        }
        self.clustershell_usual()?;
        let path = self.settings.etc.join("genders");
        if path.is_file() { self.genders(&path) } else { Ok(()) }
    }

    fn source(&mut self, word: &str, near: &Path, depth: usize) -> Result<(), InventoryError> {
        let (kind, rest) = word.split_once(':').map_or((word, None), |(k, r)| (k, Some(r)));
        let file = rest.map(|f| self.path(f, near));
        match kind {
            "ssh" => {
                let path = file.or_else(|| self.ssh_file()).ok_or(InventoryError::Home("ssh"))?;
                self.ssh(&path)
            }
            "clustershell" => match file {
                Some(path) => self.clustershell(&path),
                None => self.clustershell_usual(),
            },
            "genders" => self.genders(&file.unwrap_or_else(|| self.settings.etc.join("genders"))),
            "hosts" => self.hosts(&file.unwrap_or_else(|| self.settings.etc.join("hosts"))),
            "slurm" if rest.is_none() => self.slurm(),
            "kubernetes" => self.kubernetes(rest),
            _ => self.file(&self.path(word, near), depth),
        }
    }

    /// A file by its name and beginning.
    fn file(&mut self, path: &Path, depth: usize) -> Result<(), InventoryError> {
        let name = path.file_name().map(|n| n.to_string_lossy().into_owned()).unwrap_or_default();
        match name.rsplit('.').next().unwrap_or_default() {
            "toml" => self.toml(path, depth),
            "conf" | "cfg" | "yaml" | "yml" => self.clustershell(path),
            _ if name == "genders" => self.genders(path),
            _ if path.parent().is_some_and(|p| p.ends_with(".ssh")) && name == "config" => self.ssh(path),
            _ => {
                let text = read(path)?;
                if text.trim_start().starts_with('{') { self.json(&text, path) } else { self.hosts_of(&text, path) }
            }
        }
    }

    /// `~`, then relative to where it is written.
    pub(super) fn path(&self, text: &str, near: &Path) -> PathBuf {
        match (text.strip_prefix("~/"), &self.settings.home) {
            (Some(rest), Some(home)) => home.join(rest),
            _ => near.join(text),
        }
    }

    pub(super) fn looked(&mut self, kind: Kind, what: impl ToString) {
        self.places.push(Place { kind, what: what.to_string(), line: 0 });
    }

    fn toml(&mut self, path: &Path, depth: usize) -> Result<(), InventoryError> {
        let (_, config) = toml_of(path)?;
        let what = path.display().to_string();
        self.looked(Kind::Config, &what);
        self.found.and(config.found(&what));
        let near = path.parent().unwrap_or(Path::new("."));
        let sources = config.sources.clone();
        self.config = config;
        for source in &sources {
            // A file that names itself, or another that does.
            if depth >= 1 {
                self.found.wrong(self.at(Kind::Config, &what), Wrong::Form("a linerate.toml that names no other"));
                break;
            }
            self.source(source, near, depth + 1)?;
        }
        Ok(())
    }

    pub(super) fn at(&self, kind: Kind, what: &str) -> Place {
        Text { kind, what }.whole()
    }

    fn genders(&mut self, path: &Path) -> Result<(), InventoryError> {
        let (text, what) = (read(path)?, path.display().to_string());
        self.found.and(genders::read(&text, &what));
        self.looked(Kind::Genders, what);
        Ok(())
    }

    fn hosts(&mut self, path: &Path) -> Result<(), InventoryError> {
        let text = read(path)?;
        self.hosts_of(&text, path)
    }

    fn hosts_of(&mut self, text: &str, path: &Path) -> Result<(), InventoryError> {
        let what = path.display().to_string();
        self.found.and(hosts::read(text, &what));
        self.looked(Kind::Hosts, what);
        Ok(())
    }

    fn json(&mut self, text: &str, path: &Path) -> Result<(), InventoryError> {
        let what = path.display().to_string();
        let found = kubernetes::read(text.as_bytes(), &what);
        self.found.and(found.map_err(|why| InventoryError::Json { what: what.clone(), why })?);
        self.list(Scheduler::Kubernetes, text.as_bytes(), &what);
        self.looked(Kind::Kubernetes, what);
        Ok(())
    }

    /// Keeps what a scheduler says of each node.
    fn list(&mut self, of: Scheduler, text: &[u8], what: &str) {
        let kind = if of == Scheduler::Slurm { Kind::Slurm } else { Kind::Kubernetes };
        let place = self.at(kind, what);
        if let Some(Err(_)) = self.lists.as_mut().map(|l| l.add(of, text)) {
            self.found.wrong(place, Wrong::Form("objects of nodes, whose labels and resources are kept"));
        }
    }

    fn slurm(&mut self) -> Result<(), InventoryError> {
        let answer = self.ask("sinfo", slurm::COMMAND.iter().map(|w| (*w).to_owned()).collect(), Need::Slurm)?;
        self.found.and(slurm::read(&String::from_utf8_lossy(&answer)));
        self.looked(Kind::Slurm, "sinfo");
        if self.lists.is_some() {
            let argv = ["scontrol", "show", "nodes"].map(str::to_owned).to_vec();
            match self.ask("scontrol", argv, Need::Slurm) {
                Ok(answer) => self.list(Scheduler::Slurm, &answer, "scontrol show nodes"),
                // Without it nodes are collected all the same.
                Err(e) => {
                    let place = self.at(Kind::Slurm, "scontrol show nodes");
                    let what = "scontrol show nodes".to_owned();
                    self.found.wrong(place, Wrong::File { what, why: e.to_string() });
                }
            }
        }
        Ok(())
    }

    fn kubernetes(&mut self, context: Option<&str>) -> Result<(), InventoryError> {
        let mut argv = kubectl(None, context);
        argv.extend(kubernetes::COMMAND.iter().map(|w| (*w).to_owned()));
        let what = context.map_or_else(|| "kubectl get nodes".to_owned(), |c| format!("kubectl get nodes in {c}"));
        let answer = self.ask("kubectl", argv, Need::Kubectl)?;
        let found = kubernetes::read(&answer, &what);
        self.found.and(found.map_err(|why| InventoryError::Json { what: what.clone(), why })?);
        self.list(Scheduler::Kubernetes, &answer, &what);
        self.looked(Kind::Kubernetes, what);
        Ok(())
    }

    /// What a program of this machine says.
    fn ask(&self, program: &'static str, argv: Vec<String>, need: Need) -> Result<Vec<u8>, InventoryError> {
        let command = Command::new(argv).limit(LIMIT).most(INVENTORY_ANSWER).need(need);
        let ran = Local::new().run(&command, &self.settings.cancel)?;
        match ran.status {
            0 if ran.cut => Err(InventoryError::Answer(program)),
            0 => Ok(ran.stdout),
            127 => Err(InventoryError::Missing(program)),
            status => Err(InventoryError::Failed { program, status, said: ran.last_words() }),
        }
    }
}
