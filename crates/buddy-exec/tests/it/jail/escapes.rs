//! System calls that would lead out of a jail, and rights that would be gained.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use super::cell::{ALL, Cell, Kind};

/// Calls by number through the C library, which returns the kernel's answer.
fn syscall(number: &str) -> String {
    format!(
        "python3 -c 'import ctypes\nlibc = ctypes.CDLL(None, use_errno=True)\n\
         answer = libc.syscall({number})\nprint(answer, ctypes.get_errno())'"
    )
}

const EPERM: &str = "-1 1\n";
const ENOSYS: &str = "-1 38\n";

#[cfg(target_arch = "x86_64")]
#[tokio::test]
async fn calls_that_lead_out_are_refused() {
    for kind in [Kind::Full, Kind::Bare] {
        let cell = Cell::new(kind);
        for (call, expected) in [
            ("101, 0, 0, 0, 0", EPERM),            // ptrace
            ("310, 1, 0, 0, 0, 0, 0", EPERM),      // process_vm_readv
            ("311, 1, 0, 0, 0, 0, 0", EPERM),      // process_vm_writev
            ("438, 0, 0, 0", EPERM),               // pidfd_getfd
            ("425, 1, 0", ENOSYS),                 // io_uring_setup
            ("426, 0, 0, 0, 0, 0", ENOSYS),        // io_uring_enter
            ("435, 0, 0", ENOSYS),                 // clone3
            ("165, 0, 0, 0, 0, 0", EPERM),         // mount
            ("428, -100, 0, 0", EPERM),            // open_tree
            ("429, 0, 0, 0, 0, 0", EPERM),         // move_mount
            ("430, 0, 0", EPERM),                  // fsopen
            ("442, 0, 0, 0, 0, 0", EPERM),         // mount_setattr
            ("304, 0, 0, 0", EPERM),               // open_by_handle_at
            ("246, 0, 0, 0, 0", EPERM),            // kexec_load
            ("321, 0, 0, 0", EPERM),               // bpf
            ("298, 0, 0, -1, -1, 0", EPERM),       // perf_event_open
            ("250, 0, 0, 0, 0, 0", EPERM),         // keyctl
            ("323, 0", EPERM),                     // userfaultfd
            ("308, 0, 0", EPERM),                  // setns
            ("272, 0x10000000", EPERM),            // unshare: user
            ("272, 0x00020000", EPERM),            // unshare: mounts
            ("272, 0x80", EPERM),                  // unshare: time
            ("56, 0x10000011, 0, 0, 0, 0", EPERM), // clone: user
            ("56, 0x20000011, 0, 0, 0, 0", EPERM), // clone: processes
            ("135, 0x0400000", EPERM),             // personality: read implies execute
            ("16, 0, 0x5412, 0", EPERM),           // ioctl: TIOCSTI
            ("16, 0, 0x541c, 0", EPERM),           // ioctl: TIOCLINUX
            ("16, 0, ctypes.c_uint64(0xdeadbeef00005412), 0", EPERM),
            ("41, 1, 2, 0", EPERM), // socket: local, of datagrams
            ("41, ctypes.c_uint64(0xdeadbeef00000001), 2, 0", EPERM),
            ("0x40000000 + 41, 1, 1, 0", ENOSYS), // socket, by the x32 interface
            ("0x40000000 + 101, 0, 0, 0, 0", ENOSYS),
            ("0x40000000 + 521, 0, 0, 0, 0", ENOSYS),
        ] {
            let exit = cell.run(&syscall(call)).await;
            assert_eq!(exit.stdout.text(), expected, "{kind:?}: {call}: {}", exit.stderr.text());
        }
        // Threads and processes are still made, and the personality can be asked for.
        let script = "python3 -c 'import threading, subprocess\nt = threading.Thread(target=lambda: print(\"thread\", flush=True))\n\
                      t.start(); t.join(); subprocess.run([\"echo\", \"process\"])'";
        assert_eq!(cell.run(script).await.stdout.text(), "thread\nprocess\n");
        assert_eq!(cell.run(&syscall("135, 0xffffffff")).await.stdout.text(), "0 0\n");
    }
}

/// A program of another architecture's interface has other numbers for the same calls, so it does not get to make any.
#[cfg(target_arch = "x86_64")]
#[tokio::test]
async fn the_interface_of_32_bits_ends_the_program() {
    let machine_code = "\\xb8\\x14\\x00\\x00\\x00\\xcd\\x80\\xc3"; // mov eax, 20 (getpid); int 0x80; ret
    let script = format!(
        "python3 -c 'import ctypes, mmap\nm = mmap.mmap(-1, 4096, prot=7)\nm.write(b\"{machine_code}\")\n\
         f = ctypes.CFUNCTYPE(ctypes.c_int)(ctypes.addressof(ctypes.c_char.from_buffer(m)))\nprint(\"pid\", f())'"
    );
    for kind in [Kind::Full, Kind::Bare] {
        let exit = Cell::new(kind).run(&format!("exec {script}")).await;
        assert_eq!(
            (exit.stdout.text().as_str(), exit.signal),
            ("", Some(31)),
            "{kind:?}: {}",
            exit.stderr.text()
        );
    }
}

#[tokio::test]
async fn there_are_no_capabilities_and_none_can_be_gained() {
    for kind in ALL {
        let script = "grep -E '^(Cap(Inh|Prm|Eff|Amb)|NoNewPrivs|Seccomp):' /proc/self/status | tr -d '\\t'";
        let expected = "CapInh:0000000000000000\nCapPrm:0000000000000000\nCapEff:0000000000000000\n\
                        CapAmb:0000000000000000\nNoNewPrivs:1\nSeccomp:2\n";
        let exit = Cell::new(kind).run(script).await;
        assert_eq!(exit.stdout.text(), expected, "{kind:?}: {}", exit.stderr.text());
    }
}

/// Needs root, who alone can make a program that gives root's rights.
#[tokio::test]
async fn a_program_with_its_owners_rights_gives_none() {
    if !rustix::process::geteuid().is_root() {
        // An ordinary account has such programs from its system, and `su` among the writes shows the same.
        return;
    }
    for kind in [Kind::Ordinary, Kind::OrdinaryBare] {
        let cell = Cell::new(kind);
        fs::copy("/usr/bin/id", cell.ws("id")).unwrap();
        fs::set_permissions(cell.ws("id"), fs::Permissions::from_mode(0o6755)).unwrap();
        let exit = cell.run("./id -u; ./id -g").await;
        assert_eq!(exit.stdout.text(), "65534\n65534\n", "{kind:?}: {}", exit.stderr.text());
    }
}

#[tokio::test]
async fn nothing_is_inherited_but_the_standard_streams() {
    for kind in ALL {
        let exit = Cell::new(kind).run("ls /proc/self/fd").await;
        // The listing has one of its own.
        assert_eq!(exit.stdout.text(), "0\n1\n2\n3\n", "{kind:?}");
    }
}
