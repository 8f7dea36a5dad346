//! The table of ways to other sessions of the same account: programs that type for any client that reaches
//! them, or start other programs.
//!
//! A command that reached one could answer buddy's questions, and would be out of its jail. The bounds of
//! commands are made from this table. Long because it is a table.

/// The condition for a command to reach the places of a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reached {
    /// Never in production, even if the command is allowed.
    Never,
    /// Once the user or a lasting rule allowed the command.
    OnceAllowed,
}

/// One program, and the ways to it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SessionRow {
    /// The program, for people.
    pub of: &'static str,
    /// The paths of its sockets. `~` is the home, `{uid}` and `{user}` are the account, and a name after `$`
    /// is a variable with a path in its value. A `*` in the last name stands for any characters; such a place
    /// is only looked for among sockets that a program listens on.
    pub places: &'static [&'static str],
    /// The names of its processes that listen, as the kernel has them (15 bytes).
    pub listeners: &'static [&'static str],
    /// The condition for a command to reach it.
    pub reached: Reached,
}

const fn never(
    of: &'static str,
    places: &'static [&'static str],
    listeners: &'static [&'static str],
) -> SessionRow {
    SessionRow { of, places, listeners, reached: Reached::Never }
}

const fn once_allowed(of: &'static str, places: &'static [&'static str]) -> SessionRow {
    SessionRow { of, places, listeners: &[], reached: Reached::OnceAllowed }
}

/// The directory of tmux's sockets. It is made when it is missing, as tmux would, so that a server that starts later is hidden too.
pub const TMUX_DIRECTORY: &str = "/tmp/tmux-{uid}";

/// All ways to other sessions that are known.
pub const OTHER_SESSIONS: &[SessionRow] = &[
    // The session of the login: the bus, systemd, Wayland, sound, and most programs below.
    never(
        "D-Bus, systemd, Wayland and others",
        &["/run/user/{uid}", "$XDG_RUNTIME_DIR", "$WAYLAND_DISPLAY"],
        &[],
    ),
    never(
        "D-Bus",
        &["$DBUS_SESSION_BUS_ADDRESS", "$DBUS_STARTER_ADDRESS"],
        &["dbus-daemon", "dbus-broker", "dbus-broker-lau"],
    ),
    never(
        "X11",
        &["/tmp/.X11-unix", "/tmp/.ICE-unix", "~/.Xauthority", "$XAUTHORITY"],
        &["Xorg", "Xwayland", "Xvfb", "Xvnc", "Xtigervnc", "Xephyr"],
    ),
    never(
        "window managers",
        &["$SWAYSOCK", "$I3SOCK", "$NIRI_SOCKET", "/tmp/hypr"],
        &["sway", "i3", "Hyprland", "niri"],
    ),
    never("ydotool", &["/tmp/.ydotool_socket", "$YDOTOOL_SOCKET", "/dev/uinput"], &["ydotoold"]),
    // Terminals that are kept.
    never("tmux", &[TMUX_DIRECTORY, "$TMUX_TMPDIR/tmux-{uid}", "$TMUX"], &["tmux: server", "tmux", "tmate"]),
    never(
        "screen",
        &[
            "/run/screen/S-{user}",
            "/tmp/screens/S-{user}",
            "/tmp/uscreens/S-{user}",
            "~/.screen",
            "$SCREENDIR",
        ],
        &["screen", "SCREEN"],
    ),
    never("zellij", &["/tmp/zellij-{uid}", "$ZELLIJ_SOCKET_DIR"], &["zellij"]),
    never(
        "dtach, abduco, shpool",
        &["~/.abduco", "/tmp/abduco/{user}", "$ABDUCO_SOCKET_DIR"],
        &["dtach", "abduco", "shpool"],
    ),
    // Terminals that take orders.
    never("kitty", &["$KITTY_LISTEN_ON"], &["kitty"]),
    never(
        "WezTerm",
        &["~/.local/share/wezterm", "$WEZTERM_UNIX_SOCKET"],
        &["wezterm-gui", "wezterm-mux-ser"],
    ),
    never("Alacritty, foot", &["$ALACRITTY_SOCKET"], &["alacritty", "foot", "footserver"]),
    // Editors that take orders.
    never("Neovim", &["$NVIM", "$NVIM_LISTEN_ADDRESS"], &["nvim"]),
    never(
        "Emacs",
        &["/tmp/emacs{uid}", "~/.emacs.d/server"],
        &["emacs", "emacs-gtk", "emacs-nox", "emacs-lucid", "emacs-pgtk"],
    ),
    never(
        "VS Code",
        &["/tmp/vscode-*", "$VSCODE_IPC_HOOK_CLI", "$VSCODE_IPC_HOOK", "$VSCODE_GIT_IPC_HANDLE"],
        &[],
    ),
    // Programs that start others with all rights of the account or the machine.
    once_allowed("Docker", &["/run/docker.sock", "/run/user/{uid}/docker.sock", "$DOCKER_HOST"]),
    once_allowed("Podman", &["/run/podman", "/run/user/{uid}/podman", "$CONTAINER_HOST"]),
    once_allowed("containerd, CRI-O", &["/run/containerd", "/run/crio"]),
    once_allowed(
        "LXD, Incus",
        &["/var/lib/lxd/unix.socket", "/var/snap/lxd/common/lxd/unix.socket", "/var/lib/incus/unix.socket"],
    ),
    once_allowed("libvirt", &["/run/libvirt"]),
    once_allowed("cron, at", &["/var/spool/cron", "/var/spool/at", "/var/spool/atjobs"]),
];

/// Sockets in these places that stay: agents that sign for the account without giving out a key. Work with git needs them.
pub const KEPT_AGENTS: &[&str] = &[
    "$SSH_AUTH_SOCK",
    "/run/user/{uid}/gnupg",
    "/run/user/{uid}/keyring/ssh",
    "/run/user/{uid}/gcr/ssh",
    "/run/user/{uid}/openssh_agent",
    "/run/user/{uid}/ssh-agent.socket",
];
