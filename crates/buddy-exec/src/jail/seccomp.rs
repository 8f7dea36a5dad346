//! The filter of system calls.
//!
//! It refuses calls that could reach out of the jail by another way than the file system: other processes,
//! local sockets, the network, new namespaces and mounts, and typing into terminals. It does not try to list
//! safe calls: commands are whole tool chains, and confinement is the work of the other layers.

use std::collections::BTreeMap;

use seccompiler::{
    BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter, SeccompRule,
    TargetArch, apply_filter, sock_filter,
};

use super::refusal::{Refusal, SECCOMP, refused};
use super::words::Place;

/// Calls that are refused with any arguments.
const DENIED: &[i64] = &[
    // Other processes.
    libc::SYS_ptrace,
    libc::SYS_process_vm_readv,
    libc::SYS_process_vm_writev,
    libc::SYS_pidfd_getfd,
    libc::SYS_kcmp,
    libc::SYS_process_madvise,
    // Namespaces and mounts, by the old interface and the new one.
    libc::SYS_setns,
    libc::SYS_mount,
    libc::SYS_umount2,
    libc::SYS_pivot_root,
    libc::SYS_chroot,
    libc::SYS_open_tree,
    libc::SYS_move_mount,
    libc::SYS_fsopen,
    libc::SYS_fsconfig,
    libc::SYS_fsmount,
    libc::SYS_fspick,
    libc::SYS_mount_setattr,
    // The same as the last but one with attributes; newer than the list of names that is used here.
    SYS_OPEN_TREE_ATTR,
    // Files by their handle instead of their name.
    libc::SYS_open_by_handle_at,
    // The kernel itself.
    libc::SYS_kexec_load,
    libc::SYS_kexec_file_load,
    libc::SYS_init_module,
    libc::SYS_finit_module,
    libc::SYS_delete_module,
    libc::SYS_bpf,
    libc::SYS_perf_event_open,
    libc::SYS_userfaultfd,
    libc::SYS_fanotify_init,
    libc::SYS_syslog,
    libc::SYS_reboot,
    libc::SYS_swapon,
    libc::SYS_swapoff,
    libc::SYS_quotactl,
    libc::SYS_quotactl_fd,
    libc::SYS_acct,
    libc::SYS_settimeofday,
    libc::SYS_clock_settime,
    libc::SYS_clock_adjtime,
    libc::SYS_sethostname,
    libc::SYS_setdomainname,
    // Keys of the session, which no file permission guards.
    libc::SYS_keyctl,
    libc::SYS_add_key,
    libc::SYS_request_key,
];

const SYS_OPEN_TREE_ATTR: i64 = 467;

#[cfg(target_arch = "x86_64")]
const DENIED_HERE: &[i64] = &[libc::SYS_iopl, libc::SYS_ioperm, libc::SYS_modify_ldt];
#[cfg(not(target_arch = "x86_64"))]
const DENIED_HERE: &[i64] = &[];

/// Refused without namespaces, because Landlock does not look at them: owners and attributes of files, and memory, semaphores and
/// queues of the whole machine, which only a namespace of its own would keep apart.
const DENIED_BARE: &[i64] = &[
    // System V: with the id of a segment or a queue of the same account, no name and no file is needed.
    libc::SYS_shmget,
    libc::SYS_shmat,
    libc::SYS_shmctl,
    libc::SYS_semget,
    libc::SYS_semop,
    libc::SYS_semtimedop,
    libc::SYS_semctl,
    libc::SYS_msgget,
    libc::SYS_msgsnd,
    libc::SYS_msgrcv,
    libc::SYS_msgctl,
    // POSIX queues, which are found by name whether or not their file system is mounted.
    libc::SYS_mq_open,
    libc::SYS_mq_unlink,
    // Files.
    libc::SYS_fchown,
    libc::SYS_fchownat,
    libc::SYS_setxattr,
    libc::SYS_lsetxattr,
    libc::SYS_fsetxattr,
    libc::SYS_removexattr,
    libc::SYS_lremovexattr,
    libc::SYS_fremovexattr,
    SYS_SETXATTRAT,
    SYS_REMOVEXATTRAT,
];

const SYS_SETXATTRAT: i64 = 463;
const SYS_REMOVEXATTRAT: i64 = 466;

#[cfg(target_arch = "x86_64")]
const DENIED_BARE_HERE: &[i64] = &[libc::SYS_chown, libc::SYS_lchown];
#[cfg(not(target_arch = "x86_64"))]
const DENIED_BARE_HERE: &[i64] = &[];

/// Calls that are answered as if the kernel did not know them, because programs then use an older one that can be judged:
/// the flags of `clone3` are in memory, and `io_uring` makes calls that no filter sees.
const UNKNOWN: &[i64] =
    &[libc::SYS_clone3, libc::SYS_io_uring_setup, libc::SYS_io_uring_enter, libc::SYS_io_uring_register];

/// The flags that make namespaces. `CLONE_NEWTIME` shares its bit with a signal number in `clone`.
const NAMESPACES: &[i32] = &[
    libc::CLONE_NEWNS,
    libc::CLONE_NEWCGROUP,
    libc::CLONE_NEWUTS,
    libc::CLONE_NEWIPC,
    libc::CLONE_NEWUSER,
    libc::CLONE_NEWPID,
    libc::CLONE_NEWNET,
];

/// Requests that type into a terminal, or command the console: `TIOCSTI` and `TIOCLINUX`.
const TYPING: &[u64] = &[0x5412, 0x541c];

/// The type of a socket without its flags.
const SOCKET_TYPE: u64 = 0xf;

/// Asks for the personality without changing it.
const NO_CHANGE: u64 = 0xffff_ffff;

/// The first number of calls by the x32 interface, which have the architecture of ordinary ones.
const X32: u32 = 0x4000_0000;

type Rules = BTreeMap<i64, Vec<SeccompRule>>;

/// Which sockets a command can make.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Sockets {
    None,
    /// Those of the network.
    Network,
    /// Local ones too: somebody is asked about each connection.
    Local,
}

/// Applies the filter to this thread and all that it starts. It can only be added to.
pub(super) fn apply(place: Place, sockets: Sockets) -> Result<(), Refusal> {
    let unknown = UNKNOWN.iter().map(|&call| (call, Vec::new())).collect();
    let mut programs = [
        program(unknown, libc::ENOSYS)?,
        program(denied(place, sockets).map_err(refused(SECCOMP, "make the filter"))?, libc::EPERM)?,
    ];
    programs[0].splice(0..0, without_x32());
    programs
        .iter()
        .try_for_each(|program| apply_filter(program))
        .map_err(refused(SECCOMP, "apply the filter"))
}

/// Keeps this thread and all that it starts from making programs that run as their owner, and from nothing else.
pub(super) fn keep_modes() -> Result<(), Refusal> {
    let program = program(borrowed_rights().map_err(refused(SECCOMP, "make the filter"))?, libc::EPERM)?;
    apply_filter(&program).map_err(refused(SECCOMP, "apply the filter"))
}

fn program(rules: Rules, errno: i32) -> Result<BpfProgram, Refusal> {
    let failed = refused(SECCOMP, "make the filter");
    let architecture = TargetArch::try_from(std::env::consts::ARCH).map_err(&failed)?;
    let refuse = SeccompAction::Errno(errno.unsigned_abs());
    let filter = SeccompFilter::new(rules, SeccompAction::Allow, refuse, architecture).map_err(&failed)?;
    filter.try_into().map_err(&failed)
}

/// Loads the number of the call, and answers high ones as unknown. Goes before a filter that compares exact numbers.
fn without_x32() -> [sock_filter; 3] {
    let errno = libc::SECCOMP_RET_ERRNO | libc::ENOSYS.unsigned_abs();
    let step =
        |code: u32, jt, jf, k| sock_filter { code: u16::try_from(code).unwrap_or_default(), jt, jf, k };
    [
        step(libc::BPF_LD | libc::BPF_W | libc::BPF_ABS, 0, 0, 0),
        step(libc::BPF_JMP | libc::BPF_JGE | libc::BPF_K, 0, 1, X32),
        step(libc::BPF_RET | libc::BPF_K, 0, 0, errno),
    ]
}

fn denied(place: Place, allowed: Sockets) -> seccompiler::Result<Rules> {
    let bare = if place == Place::Bare { [DENIED_BARE, DENIED_BARE_HERE].concat() } else { Vec::new() };
    let calls = DENIED.iter().chain(DENIED_HERE).chain(&bare);
    let mut rules: Rules = calls.map(|&call| (call, Vec::new())).collect();
    let namespaces: Vec<SeccompRule> =
        NAMESPACES.iter().map(|&flag| all([has(0, flag)])).collect::<Result<_, _>>()?;
    rules.insert(libc::SYS_clone, namespaces.clone());
    rules.insert(libc::SYS_unshare, [namespaces, vec![all([has(0, libc::CLONE_NEWTIME)])?]].concat());
    let typing = TYPING.iter().map(|&request| all([is(1, request)])).collect::<Result<_, _>>()?;
    rules.insert(libc::SYS_ioctl, typing);
    rules.insert(libc::SYS_personality, vec![all([is_not(0, 0), is_not(0, NO_CHANGE)])?]);
    rules.insert(libc::SYS_socket, sockets(allowed)?);
    rules.insert(libc::SYS_socketpair, socket_pairs()?);
    rules.extend(borrowed_rights()?);
    Ok(rules)
}

/// Calls that give a file its mode, with the argument that holds it.
const MODES: &[(i64, u8)] =
    &[(libc::SYS_fchmod, 1), (libc::SYS_fchmodat, 2), (SYS_FCHMODAT2, 2), (libc::SYS_mknodat, 2)];

const SYS_FCHMODAT2: i64 = 452;

#[cfg(target_arch = "x86_64")]
const MODES_HERE: &[(i64, u8)] = &[(libc::SYS_chmod, 1), (libc::SYS_creat, 1), (libc::SYS_mknod, 1)];
#[cfg(not(target_arch = "x86_64"))]
const MODES_HERE: &[(i64, u8)] = &[];

/// Calls that make a file when their flags say so, with the arguments that hold the flags and the mode.
const OPENS: &[(i64, u8, u8)] = &[(libc::SYS_openat, 2, 3)];

#[cfg(target_arch = "x86_64")]
const OPENS_HERE: &[(i64, u8, u8)] = &[(libc::SYS_open, 1, 2)];
#[cfg(not(target_arch = "x86_64"))]
const OPENS_HERE: &[(i64, u8, u8)] = &[];

/// The bit that makes a program run with the rights of its owner.
const SET_USER: i32 = 0o4000;

/// The bit of `O_TMPFILE` that no other flag has.
const TEMPORARY: i32 = 0o20_000_000;

/// A program that runs as its owner would outlive the jail. The bit for groups is left alone: directories have it every day, and a
/// filter cannot tell them from files.
fn borrowed_rights() -> seccompiler::Result<Rules> {
    let mut rules = Rules::new();
    for (call, mode) in MODES.iter().chain(MODES_HERE) {
        rules.insert(*call, vec![all([has(*mode, SET_USER)])?]);
    }
    for (call, flags, mode) in OPENS.iter().chain(OPENS_HERE) {
        let makes = [libc::O_CREAT, TEMPORARY];
        let makes = makes.map(|flag| all([has(*flags, flag), has(*mode, SET_USER)]));
        rules.insert(*call, makes.into_iter().collect::<Result<_, _>>()?);
    }
    Ok(rules)
}

/// Sockets of the network when there is one. Local ones would reach services that do not ask who calls: neither Landlock nor a mount that
/// cannot be written stops a connection to a name in the file system. Where each connection is asked about there are local ones too, but
/// none of datagrams: those are sent to a name without a connection.
fn sockets(allowed: Sockets) -> seccompiler::Result<Vec<SeccompRule>> {
    let [inet, inet6, netlink, local] =
        [libc::AF_INET, libc::AF_INET6, libc::AF_NETLINK, libc::AF_UNIX].map(word);
    let families = match allowed {
        Sockets::None => return Ok(Vec::new()),
        Sockets::Network => all([is_not(0, inet), is_not(0, inet6), is_not(0, netlink)])?,
        Sockets::Local => all([is_not(0, inet), is_not(0, inet6), is_not(0, netlink), is_not(0, local)])?,
    };
    Ok(vec![
        families,
        all([is(0, local), is_datagram()])?,
        all([is(0, local), is_raw()])?,
        // Only the part of netlink that tells which addresses there are.
        all([is(0, netlink), is_not(2, word(libc::NETLINK_ROUTE))])?,
    ])
}

/// A pair can only talk to itself, unless it is of datagrams: those can be sent to any name.
fn socket_pairs() -> seccompiler::Result<Vec<SeccompRule>> {
    Ok(vec![all([is_not(0, word(libc::AF_UNIX))])?, all([is_datagram()])?, all([is_raw()])?])
}

fn is_datagram() -> Condition {
    condition(1, SeccompCmpOp::MaskedEq(SOCKET_TYPE), word(libc::SOCK_DGRAM))
}

/// The kernel makes a local socket of datagrams of it.
fn is_raw() -> Condition {
    condition(1, SeccompCmpOp::MaskedEq(SOCKET_TYPE), word(libc::SOCK_RAW))
}

type Condition = seccompiler::Result<SeccompCondition>;

fn all<const N: usize>(conditions: [Condition; N]) -> seccompiler::Result<SeccompRule> {
    Ok(SeccompRule::new(conditions.into_iter().collect::<Result<_, _>>()?)?)
}

fn is(argument: u8, value: u64) -> Condition {
    condition(argument, SeccompCmpOp::Eq, value)
}

fn is_not(argument: u8, value: u64) -> Condition {
    condition(argument, SeccompCmpOp::Ne, value)
}

fn has(argument: u8, flag: i32) -> Condition {
    condition(argument, SeccompCmpOp::MaskedEq(word(flag)), word(flag))
}

/// Compares the lower half only: the kernel takes no more of these arguments, so a filter that looked at all of it would
/// let a call through that has rubbish in the upper half.
fn condition(argument: u8, operator: SeccompCmpOp, value: u64) -> Condition {
    Ok(SeccompCondition::new(argument, SeccompCmpArgLen::Dword, operator, value)?)
}

/// The bits of a C `int`.
fn word(value: i32) -> u64 {
    u64::from(u32::from_ne_bytes(value.to_ne_bytes()))
}
