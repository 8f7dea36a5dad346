//! The rows. A new package manager is a new row.

/// A cache of one program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct CacheRow {
    /// Its program, for people.
    pub(super) of: &'static str,
    /// Its name in a layer.
    pub(super) name: &'static str,
    /// The variable that names its place, with the path below that; `None` if no variable does.
    pub(super) variable: Option<(&'static str, &'static str)>,
    /// Its default path, below the home.
    pub(super) default: &'static str,
    /// A variable that leads the program elsewhere, and its value with `{}` for the directory.
    pub(super) redirect: Option<(&'static str, &'static str)>,
    /// Settings in it.
    pub(super) linked: &'static [&'static str],
}

/// A cache that the same variable names and moves.
const fn row(
    of: &'static str,
    name: &'static str,
    variable: &'static str,
    default: &'static str,
) -> CacheRow {
    CacheRow {
        of,
        name,
        variable: Some((variable, "")),
        default,
        redirect: Some((variable, "{}")),
        linked: &[],
    }
}

/// A cache that no variable moves.
const fn fixed(of: &'static str, name: &'static str, default: &'static str) -> CacheRow {
    CacheRow { of, name, variable: None, default, redirect: None, linked: &[] }
}

/// Every cache, outer ones first where one is in another.
pub(super) const CACHES: &[CacheRow] = &[
    CacheRow { linked: &["config.toml", "config"], ..row("cargo", "cargo", "CARGO_HOME", ".cargo") },
    CacheRow { redirect: None, ..row("rustup", "rustup", "RUSTUP_HOME", ".rustup") },
    row("npm, npx", "npm", "npm_config_cache", ".npm"),
    // npm complains about variables of its own prefix that it does not know.
    row("node-gyp", "node-gyp", "npm_package_config_node_gyp_devdir", ".cache/node-gyp"),
    row("corepack", "corepack", "COREPACK_HOME", ".cache/node/corepack"),
    row("pnpm", "pnpm", "PNPM_HOME", ".local/share/pnpm"),
    row("pnpm", "pnpm-cache", "pnpm_config_cache_dir", ".cache/pnpm"),
    row("pnpm", "pnpm-state", "pnpm_config_state_dir", ".local/state/pnpm"),
    row("yarn 1", "yarn", "YARN_CACHE_FOLDER", ".cache/yarn"),
    row("yarn", "yarn-berry", "YARN_GLOBAL_FOLDER", ".yarn/berry"),
    row("bun", "bun", "BUN_INSTALL_CACHE_DIR", ".bun/install/cache"),
    row("deno", "deno", "DENO_DIR", ".cache/deno"),
    row("pip", "pip", "PIP_CACHE_DIR", ".cache/pip"),
    row("uv", "uv", "UV_CACHE_DIR", ".cache/uv"),
    row("uv", "uv-python", "UV_PYTHON_INSTALL_DIR", ".local/share/uv/python"),
    row("uv", "uv-tools", "UV_TOOL_DIR", ".local/share/uv/tools"),
    row("Poetry", "poetry", "POETRY_CACHE_DIR", ".cache/pypoetry"),
    row("virtualenv", "virtualenv", "VIRTUALENV_OVERRIDE_APP_DATA", ".local/share/virtualenv"),
    row("pre-commit", "pre-commit", "PRE_COMMIT_HOME", ".cache/pre-commit"),
    CacheRow { variable: Some(("GOPATH", "pkg")), ..row("go", "go", "GOPATH", "go/pkg") },
    CacheRow { redirect: None, ..row("go", "go-modules", "GOMODCACHE", "go/pkg/mod") },
    row("go", "go-build", "GOCACHE", ".cache/go-build"),
    CacheRow {
        // `MAVEN_ARGS` is read from 3.9 on only.
        redirect: Some(("MAVEN_OPTS", "-Dmaven.repo.local={}/repository")),
        ..fixed("Maven", "maven", ".m2")
    },
    CacheRow { linked: &["init.d"], ..row("Gradle", "gradle", "GRADLE_USER_HOME", ".gradle") },
    row("Coursier, sbt", "coursier", "COURSIER_CACHE", ".cache/coursier"),
    fixed("Ivy, sbt", "ivy", ".ivy2"),
    row("Bundler", "bundler", "BUNDLE_USER_CACHE", ".bundle/cache"),
    row("Composer", "composer", "COMPOSER_CACHE_DIR", ".cache/composer"),
    row("NuGet", "nuget", "NUGET_PACKAGES", ".nuget/packages"),
    row("ccache", "ccache", "CCACHE_DIR", ".cache/ccache"),
    row("sccache", "sccache", "SCCACHE_DIR", ".cache/sccache"),
    row("Playwright", "playwright", "PLAYWRIGHT_BROWSERS_PATH", ".cache/ms-playwright"),
    row("Puppeteer", "puppeteer", "PUPPETEER_CACHE_DIR", ".cache/puppeteer"),
    row("Cypress", "cypress", "CYPRESS_CACHE_FOLDER", ".cache/Cypress"),
    row("Electron", "electron", "ELECTRON_CACHE", ".cache/electron"),
];
