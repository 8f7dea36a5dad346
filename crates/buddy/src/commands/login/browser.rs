//! The user's browser.

use buddy_exec::open_page;

use crate::environment::Environment;
use buddy_tui::Printer;

/// Variables that a program of the desktop needs and commands do not get.
const DESKTOP: &[&str] =
    &["DISPLAY", "WAYLAND_DISPLAY", "XAUTHORITY", "DBUS_SESSION_BUS_ADDRESS", "XDG_RUNTIME_DIR"];

/// Whether there is a screen that a browser could open on. A shell on another machine has none.
pub(super) fn has_screen(environment: &Environment) -> bool {
    let is_remote = environment.get("SSH_CONNECTION").is_some();
    let has_display =
        ["DISPLAY", "WAYLAND_DISPLAY", "BROWSER"].iter().any(|name| environment.get(name).is_some());
    has_display || (cfg!(target_os = "macos") && !is_remote)
}

/// Opens the page where that can be done, and says what to do in any case.
pub(super) fn open(environment: &Environment, url: &impl ToString) {
    let url = url.to_string();
    let usual = if cfg!(target_os = "macos") { "open" } else { "xdg-open" };
    let program = environment.get("BROWSER").unwrap_or(usual);
    let programs = environment.named_programs();
    let mut env = programs.applied_to(&environment.command_env);
    let of_desktop =
        DESKTOP.iter().filter_map(|name| Some(((*name).to_owned(), environment.get(name)?.to_owned())));
    env.extend(of_desktop);
    let mut printer = Printer::standard();
    let found = programs.find(program).inspect_err(|error| printer.status(&error.to_string()));
    let is_opened =
        has_screen(environment) && found.is_ok_and(|program| open_page(&program, &url, &env).is_ok());
    if is_opened {
        printer
            .status(&format!("A browser opens this page; if it does not, open it yourself:\n\n    {url}\n"));
    } else {
        printer.status(&format!("Open this page in a browser:\n\n    {url}\n"));
    }
    printer.status("If the browser is on another machine, it ends at a page that does not load.");
    printer.status("Then paste the address of that page here and press Enter.");
}
