//! The table of package managers' registries: which settings name the hosts that each downloads from.
//!
//! Pure: variables and the contents of files come in, and hosts come out, each with where it is named. No host is known here.

mod addresses;
mod page;
mod row;
mod table;

use std::path::{Path, PathBuf};

pub use page::registries_page;
use row::{DownloadsForm, DownloadsPage, RegistryRow, SettingsPlace};
use table::REGISTRIES;

/// What is known of the machine that settings are read on.
#[derive(Clone, Copy)]
pub struct SettingsSource<'a> {
    /// The home.
    pub home: Option<&'a Path>,
    /// The directory for configuration.
    pub config: Option<&'a Path>,
    /// The project.
    pub project: &'a Path,
    /// The variables of commands.
    pub variables: &'a [(String, String)],
    /// Reads a file; none where there is none that can be read.
    pub read: &'a dyn Fn(&Path) -> Option<String>,
    /// Lists the names in a directory.
    pub list: &'a dyn Fn(&Path) -> Vec<String>,
}

/// A host of a registry.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RegistryHost {
    /// The host, in the spelling that addresses have.
    pub host: String,
    /// The port.
    pub port: u16,
    /// Where it is named, for people.
    pub named_in: String,
    /// Whether a file of the project names it, which anybody may have written.
    pub is_by_project: bool,
}

/// The registry of a package manager, as its settings name it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Registry {
    /// The package manager, for people.
    pub of: &'static str,
    /// Whether the command runs this package manager by itself.
    pub is_of_command: bool,
    /// Its hosts, each once.
    pub hosts: Vec<RegistryHost>,
}

/// Hosts of one registry. Settings that name more are not those of one user.
const MAX_HOSTS: usize = 12;

/// Hosts that the page of an index adds. Packages of one index are at one or two.
const MAX_DOWNLOAD_HOSTS: usize = 4;

/// The registry whose settings name a host: that of a package manager in the command, else of any.
pub fn registry_of(host: &str, commands: &[String], source: &SettingsSource<'_>) -> Option<Registry> {
    let programs: Vec<&str> = commands.iter().filter_map(|command| program(command)).collect();
    let is_run = |row: &&RegistryRow| row.programs.iter().any(|program| programs.contains(program));
    let (run, others): (Vec<&RegistryRow>, Vec<&RegistryRow>) = REGISTRIES.iter().partition(is_run);
    let found = |row: &RegistryRow, is_of_command: bool| {
        let hosts = hosts(row, host, source);
        let is_named = hosts.iter().any(|known| known.host == host);
        is_named.then_some(Registry { of: row.of, is_of_command, hosts })
    };
    let own = run.into_iter().find_map(|row| found(row, true));
    own.or_else(|| others.into_iter().find_map(|row| found(row, false)))
}

/// The package manager that a command runs by itself, for people.
pub fn package_manager(commands: &[String]) -> Option<&'static str> {
    let programs: Vec<&str> = commands.iter().filter_map(|command| program(command)).collect();
    let is_run = |row: &&RegistryRow| row.programs.iter().any(|program| programs.contains(program));
    REGISTRIES.iter().find(is_run).map(|row| row.of)
}

/// The path of the page on which an index of a package manager names the hosts of its packages.
pub fn downloads_path(manager: &str) -> Option<&'static str> {
    Some(downloads_page(manager)?.path)
}

/// The hosts of packages, with their ports, that such a page names.
pub fn download_hosts(manager: &str, page: &str) -> Vec<(String, u16)> {
    let found = match downloads_page(manager).map(|page| page.form) {
        Some(DownloadsForm::Cargo) => addresses::in_index(page),
        Some(DownloadsForm::Links) => addresses::in_links(page),
        None => Vec::new(),
    };
    let mut hosts: Vec<(String, u16)> = Vec::new();
    for host in found {
        if hosts.len() < MAX_DOWNLOAD_HOSTS && !hosts.contains(&host) {
            hosts.push(host);
        }
    }
    hosts
}

fn downloads_page(manager: &str) -> Option<DownloadsPage> {
    REGISTRIES.iter().find(|row| row.of == manager)?.downloads
}

/// Whether a program is a package manager.
pub(crate) fn is_package_manager(program: &str) -> bool {
    let name = program.rsplit('/').next().unwrap_or(program);
    REGISTRIES.iter().any(|row| row.programs.contains(&name))
}

/// The program of a simple command, or the module that Python runs as one.
fn program(command: &str) -> Option<&str> {
    let mut words = command.split_whitespace();
    let name = words.next()?.rsplit('/').next()?;
    if name.starts_with("python") && words.next() == Some("-m") { words.next() } else { Some(name) }
}

fn hosts(row: &RegistryRow, wanted: &str, source: &SettingsSource<'_>) -> Vec<RegistryHost> {
    let mut all: Vec<RegistryHost> = Vec::new();
    let mut add = |(host, port): (String, u16), named_in: String, is_by_project: bool| {
        let is_known = all.iter().any(|known| known.host == host && known.port == port);
        if !is_known && all.len() < MAX_HOSTS {
            all.push(RegistryHost { host, port, named_in, is_by_project });
        }
    };
    for (name, value) in source.variables.iter().filter(|(name, _)| addresses::is_among(name, row.variables))
    {
        for found in addresses::in_value(name, value) {
            add(found, format!("${name}"), false);
        }
    }
    for file in row.files {
        for path in source.places(file.at) {
            let Some(text) = (source.read)(&path) else { continue };
            for found in addresses::in_file(&text, file.form) {
                add(found, source.display(&path), source.is_in_project(&path));
            }
        }
    }
    for directory in row.indexes.iter().flat_map(|place| source.places(*place)) {
        for name in (source.list)(&directory) {
            // `index.example.com-1949cf8c6b5b557f`
            let Some((of, _)) = name.rsplit_once('-') else { continue };
            let is_used = of == wanted || all.iter().any(|known| known.host == of);
            let path = directory.join(&name).join("config.json");
            let Some(text) = is_used.then(|| (source.read)(&path)).flatten() else { continue };
            let own = (of == wanted).then(|| (of.to_owned(), 443));
            for found in own.into_iter().chain(addresses::in_index(&text)) {
                if all.len() < MAX_HOSTS && !all.iter().any(|known| known.host == found.0) {
                    let (named_in, is_by_project) =
                        (source.display(&directory), source.is_in_project(&directory));
                    all.push(RegistryHost { host: found.0, port: found.1, named_in, is_by_project });
                }
            }
        }
    }
    all
}

impl SettingsSource<'_> {
    fn places(&self, place: SettingsPlace) -> Vec<PathBuf> {
        let below = |directory: Option<&Path>, name: &str| directory.map(|directory| directory.join(name));
        let one = match place {
            SettingsPlace::Home(name) => below(self.home, name),
            SettingsPlace::Config(name) => below(self.config, name),
            SettingsPlace::Project(name) => Some(self.project.join(name)),
            SettingsPlace::System(path) => Some(PathBuf::from(path)),
            SettingsPlace::Above(name) => {
                return self.project.ancestors().map(|directory| directory.join(name)).collect();
            }
            SettingsPlace::Variable(variable, "") => self.directory(variable),
            SettingsPlace::Variable(variable, name) => below(self.directory(variable).as_deref(), name),
        };
        one.into_iter().collect()
    }

    fn directory(&self, variable: &str) -> Option<PathBuf> {
        let value = self.variables.iter().find(|(name, _)| name == variable).map(|(_, value)| value)?;
        Some(PathBuf::from(value)).filter(|path| path.is_absolute())
    }

    fn is_in_project(&self, path: &Path) -> bool {
        path.starts_with(self.project)
    }

    fn display(&self, path: &Path) -> String {
        if let Ok(inside) = path.strip_prefix(self.project) {
            return format!("{} of this project", crate::path::shown(inside));
        }
        match self.home.and_then(|home| path.strip_prefix(home).ok()) {
            Some(inside) => format!("~/{}", crate::path::shown(inside)),
            None => crate::path::shown(path),
        }
    }
}

#[cfg(test)]
mod tests;
