//! The rows. A new package manager is a new row; no row has a host.

use super::row::{DownloadsForm, DownloadsPage, RegistryRow, SettingsFile, SettingsForm, SettingsPlace};

use SettingsForm::{Lines, Pairs, Quoted, Toml, Xml};
use SettingsPlace::{Above, Config, Home, Project, System, Variable};

const fn file(at: SettingsPlace, form: SettingsForm) -> SettingsFile {
    SettingsFile { at, form }
}

const CARGO: SettingsForm = Toml(&["registry", "index"]);
const NPM: SettingsForm = Lines(&["registry", "*:registry"]);
const YARN: SettingsForm = Pairs(&["npmRegistryServer", "registry"]);
const PIP: SettingsForm = Lines(&["index-url", "extra-index-url", "find-links", "index"]);
const UV: SettingsForm = Toml(&["index-url", "extra-index-url", "default-index", "find-links", "url"]);
const UV_PROJECT: SettingsForm = Toml(&[
    "tool.uv.index-url",
    "tool.uv.extra-index-url",
    "tool.uv.default-index",
    "tool.uv.find-links",
    "tool.uv.index.url",
]);
const POETRY: SettingsForm = Toml(&["url"]);
const GO: SettingsForm = Lines(&["GOPROXY", "GOSUMDB"]);
const MAVEN: SettingsForm = Xml(&["mirror", "repository", "pluginRepository"]);
const GRADLE: SettingsForm = Quoted(&["url", "maven"]);
const WRAPPER: SettingsForm = Lines(&["distributionUrl"]);

/// The page of a package that every index of Python has.
const PYTHON_DOWNLOADS: Option<DownloadsPage> =
    Some(DownloadsPage { path: "/simple/pip/", form: DownloadsForm::Links });

const NPM_FILES: &[SettingsFile] = &[
    file(Project(".npmrc"), NPM),
    file(Variable("npm_config_userconfig", ""), NPM),
    file(Home(".npmrc"), NPM),
    file(System("/etc/npmrc"), NPM),
    file(System("/usr/etc/npmrc"), NPM),
    file(System("/usr/local/etc/npmrc"), NPM),
];
const NPM_VARIABLES: &[&str] = &["npm_config_registry", "NPM_CONFIG_REGISTRY"];

/// Every package manager whose settings are read.
pub(super) const REGISTRIES: &[RegistryRow] = &[
    RegistryRow {
        of: "cargo",
        programs: &["cargo"],
        variables: &["CARGO_REGISTRIES_*_INDEX", "CARGO_REGISTRY_INDEX"],
        files: &[
            file(Above(".cargo/config.toml"), CARGO),
            file(Above(".cargo/config"), CARGO),
            file(Variable("CARGO_HOME", "config.toml"), CARGO),
            file(Variable("CARGO_HOME", "config"), CARGO),
            file(Home(".cargo/config.toml"), CARGO),
            file(Home(".cargo/config"), CARGO),
        ],
        indexes: &[Variable("CARGO_HOME", "registry/index"), Home(".cargo/registry/index")],
        downloads: Some(DownloadsPage { path: "/config.json", form: DownloadsForm::Cargo }),
    },
    RegistryRow {
        of: "npm",
        programs: &["npm", "npx", "node-gyp"],
        variables: NPM_VARIABLES,
        files: NPM_FILES,
        indexes: &[],
        downloads: None,
    },
    RegistryRow {
        of: "pnpm",
        programs: &["pnpm", "pnpx"],
        variables: &["pnpm_config_registry", "npm_config_registry", "NPM_CONFIG_REGISTRY"],
        files: &[
            file(Project(".npmrc"), NPM),
            file(Project("pnpm-workspace.yaml"), YARN),
            file(Config("pnpm/rc"), NPM),
            file(Home(".npmrc"), NPM),
            file(System("/etc/npmrc"), NPM),
        ],
        indexes: &[],
        downloads: None,
    },
    RegistryRow {
        of: "yarn",
        programs: &["yarn", "yarnpkg"],
        variables: &["YARN_NPM_REGISTRY_SERVER", "YARN_REGISTRY", "npm_config_registry"],
        files: &[
            file(Above(".yarnrc.yml"), YARN),
            file(Project(".npmrc"), NPM),
            file(Home(".yarnrc.yml"), YARN),
            file(Home(".npmrc"), NPM),
        ],
        indexes: &[],
        downloads: None,
    },
    RegistryRow {
        of: "bun",
        programs: &["bun", "bunx"],
        variables: NPM_VARIABLES,
        files: &[
            file(Project("bunfig.toml"), Toml(&["registry", "url"])),
            file(Home(".bunfig.toml"), Toml(&["registry", "url"])),
            file(Project(".npmrc"), NPM),
            file(Home(".npmrc"), NPM),
        ],
        indexes: &[],
        downloads: None,
    },
    RegistryRow {
        of: "pip",
        programs: &["pip", "pip3", "pipx", "virtualenv"],
        variables: &["PIP_INDEX_URL", "PIP_EXTRA_INDEX_URL", "PIP_FIND_LINKS"],
        files: &[
            file(Variable("PIP_CONFIG_FILE", ""), PIP),
            file(Variable("VIRTUAL_ENV", "pip.conf"), PIP),
            file(Project(".venv/pip.conf"), PIP),
            file(Config("pip/pip.conf"), PIP),
            file(Home(".pip/pip.conf"), PIP),
            file(System("/etc/pip.conf"), PIP),
            file(System("/etc/xdg/pip/pip.conf"), PIP),
        ],
        indexes: &[],
        downloads: PYTHON_DOWNLOADS,
    },
    RegistryRow {
        of: "uv",
        programs: &["uv", "uvx"],
        variables: &[
            "UV_INDEX_URL",
            "UV_EXTRA_INDEX_URL",
            "UV_DEFAULT_INDEX",
            "UV_INDEX",
            "UV_FIND_LINKS",
            "UV_PYTHON_INSTALL_MIRROR",
        ],
        files: &[
            file(Variable("UV_CONFIG_FILE", ""), UV),
            file(Above("uv.toml"), UV),
            file(Above("pyproject.toml"), UV_PROJECT),
            file(Config("uv/uv.toml"), UV),
            file(System("/etc/uv/uv.toml"), UV),
        ],
        indexes: &[],
        downloads: PYTHON_DOWNLOADS,
    },
    RegistryRow {
        of: "Poetry",
        programs: &["poetry"],
        variables: &[],
        files: &[
            file(Project("pyproject.toml"), Toml(&["tool.poetry.source.url"])),
            file(Config("pypoetry/config.toml"), POETRY),
        ],
        indexes: &[],
        downloads: PYTHON_DOWNLOADS,
    },
    RegistryRow {
        of: "go",
        programs: &["go"],
        variables: &["GOPROXY", "GOSUMDB"],
        files: &[
            file(Variable("GOENV", ""), GO),
            file(Config("go/env"), GO),
            file(Variable("GOROOT", "go.env"), GO),
            file(System("/usr/local/go/go.env"), GO),
            file(System("/usr/lib/go/go.env"), GO),
        ],
        indexes: &[],
        downloads: None,
    },
    RegistryRow {
        of: "Maven",
        programs: &["mvn", "mvnw", "mvnd"],
        variables: &[],
        files: &[
            file(Home(".m2/settings.xml"), MAVEN),
            file(System("/etc/maven/settings.xml"), MAVEN),
            file(Project("pom.xml"), MAVEN),
            file(Project(".mvn/wrapper/maven-wrapper.properties"), Lines(&["distributionUrl", "wrapperUrl"])),
        ],
        indexes: &[],
        downloads: None,
    },
    RegistryRow {
        of: "Gradle",
        programs: &["gradle", "gradlew"],
        variables: &[],
        files: &[
            file(Project("settings.gradle"), GRADLE),
            file(Project("settings.gradle.kts"), GRADLE),
            file(Project("build.gradle"), GRADLE),
            file(Project("build.gradle.kts"), GRADLE),
            file(Variable("GRADLE_USER_HOME", "init.gradle"), GRADLE),
            file(Home(".gradle/init.gradle"), GRADLE),
            file(Home(".gradle/init.gradle.kts"), GRADLE),
            file(Project("gradle/wrapper/gradle-wrapper.properties"), WRAPPER),
        ],
        indexes: &[],
        downloads: None,
    },
    RegistryRow {
        of: "Bundler",
        programs: &["bundle", "bundler", "gem"],
        variables: &[],
        files: &[
            file(Project("Gemfile"), Quoted(&["source"])),
            file(Project(".bundle/config"), Pairs(&["BUNDLE_MIRROR__*"])),
            file(Home(".bundle/config"), Pairs(&["BUNDLE_MIRROR__*"])),
            file(Home(".gemrc"), Quoted(&["-", "sources"])),
        ],
        indexes: &[],
        downloads: None,
    },
];
