//! One row of the table: a package manager, where its settings are, and how they name hosts.

/// A package manager and where its settings are.
#[derive(Debug, Clone, Copy)]
pub(super) struct RegistryRow {
    /// Its name, for people.
    pub(super) of: &'static str,
    pub(super) programs: &'static [&'static str],
    /// Variables whose values are addresses.
    pub(super) variables: &'static [&'static str],
    pub(super) files: &'static [SettingsFile],
    /// Directories with a copy of each index, whose `config.json` says where packages are.
    pub(super) indexes: &'static [SettingsPlace],
    /// The page of an index that says where its packages are; none where they are at the index itself.
    pub(super) downloads: Option<DownloadsPage>,
}

/// A small page that every index of a kind has, and that names the hosts of its packages.
#[derive(Debug, Clone, Copy)]
pub(super) struct DownloadsPage {
    /// Its path at the index.
    pub(super) path: &'static str,
    pub(super) form: DownloadsForm,
}

/// How a page names hosts.
#[derive(Debug, Clone, Copy)]
pub(super) enum DownloadsForm {
    /// The `config.json` of an index of cargo.
    Cargo,
    /// Links to the files of one package.
    Links,
}

/// A file with settings.
#[derive(Debug, Clone, Copy)]
pub(super) struct SettingsFile {
    pub(super) at: SettingsPlace,
    pub(super) form: SettingsForm,
}

/// Where settings are.
#[derive(Debug, Clone, Copy)]
pub(super) enum SettingsPlace {
    /// In the home.
    Home(&'static str),
    /// In the directory for configuration.
    Config(&'static str),
    /// In the project.
    Project(&'static str),
    /// In the project and in every directory above it.
    Above(&'static str),
    /// Below a directory that a variable names; the file itself where nothing is below.
    Variable(&'static str, &'static str),
    /// At a place of the system.
    System(&'static str),
}

/// How settings are written, with the keys whose values are addresses.
#[derive(Debug, Clone, Copy)]
pub(super) enum SettingsForm {
    /// `key = value`, a line each.
    Lines(&'static [&'static str]),
    /// `key: value`, a line each.
    Pairs(&'static [&'static str]),
    /// Keys anywhere in a table.
    Toml(&'static [&'static str]),
    /// `url` in these elements.
    Xml(&'static [&'static str]),
    /// A program; addresses in lines with these words.
    Quoted(&'static [&'static str]),
}
