//! The microVM lab: boots the emulated machine of a Debian suite, runs one command in it as root, and is off again. In it
//! podman starts real krun microVMs. `cargo xtask test` makes it; see `tests/xtask/src/lab`.
//!
//! A folder goes in as a read-only disk, at `/given`. What the command writes to stdout comes back over a serial port.
//! Nothing that it writes to its disk outlives it.

use crate::components::installed;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;
use tempfile::TempDir;

/// A machine.
#[derive(Clone, Copy, Debug)]
pub struct Lab {
    /// The suite of Debian that runs on it.
    pub suite: &'static str,
}

/// All that there are: podman 4.3, and podman 5.4.
pub const LABS: [Lab; 2] = [Lab { suite: "bookworm" }, Lab { suite: "trixie" }];

/// An emulated machine on a busy one is slow; only a test that fails anyway waits this long.
const LAB_DEADLINE: Duration = Duration::from_secs(1500);

/// What came of a command.
pub struct Outcome {
    /// Its exit status; none when the machine did not get that far.
    pub status: Option<i32>,
    /// What it wrote to stdout.
    pub output: String,
    /// What the machine said: its kernel, and the command's stderr. For the message of a test that fails.
    pub console: String,
}

impl Lab {
    /// Boots the machine with programs in `/given`, runs a script there, and waits for the end.
    pub async fn run(&self, programs: &[&Path], script: &str) -> Outcome {
        let folder = TempDir::with_prefix("airlock-lab-").expect("a temporary directory");
        let given = given_disk(folder.path(), programs, script);
        let mut machine = tokio::process::Command::from(self.machine(folder.path(), &given));
        // It is killed when this is dropped: by a panic, or because its time is up.
        let mut machine = machine.kill_on_drop(true).spawn().unwrap_or_else(|error| {
            panic!("the lab's machine does not start ({error}): run cargo xtask test, which installs it")
        });
        let ended = tokio::time::timeout(LAB_DEADLINE, machine.wait()).await;
        let text = |name: &str| {
            let bytes = std::fs::read(folder.path().join(name)).unwrap_or_default();
            String::from_utf8_lossy(&bytes).into_owned()
        };
        let end = match ended {
            Ok(status) => format!("the machine ended with {status:?}"),
            Err(_) => format!("the machine was still running after {} s", LAB_DEADLINE.as_secs()),
        };
        Outcome {
            status: text("status").trim().parse().ok(),
            output: text("output"),
            console: format!("{}{}{end}", complaints(&text("monitor")), text("console")),
        }
    }

    /// QEMU. It emulates a processor of a kind that can start virtual machines itself, but without `cmpxchg16b`: QEMU 7.2
    /// now and then leaves garbage in the flags after it, which was the death of many a kernel. And it is only one
    /// processor: a kernel that starts a microVM patches its own code, and of two emulated processors the other one may
    /// still run the breakpoint that stood there meanwhile, which ends in a panic (`int3` in `__schedule`).
    fn machine(&self, folder: &Path, given: &Path) -> Command {
        let part = |name: &str| installed(&format!("lab/{}/{name}", self.suite));
        let file = |path: PathBuf| path.display().to_string();
        let monitor = std::fs::File::create(folder.join("monitor")).expect("a file");
        let mut qemu = Command::new("qemu-system-x86_64");
        qemu.args(["-machine", "q35", "-accel", "tcg", "-cpu", "EPYC,+svm,+npt,-cx16"]);
        qemu.args(["-m", "3072", "-smp", "1"]);
        qemu.args(["-display", "none", "-monitor", "none", "-net", "none", "-no-reboot"]);
        for port in ["console", "output", "status"] {
            qemu.args(["-serial", &format!("file:{}", file(folder.join(port)))]);
        }
        qemu.arg("-kernel").arg(part("vmlinuz"));
        let timeout = LAB_DEADLINE.as_secs();
        let options =
            "console=ttyS0 root=/dev/nvme0n1 rw init=/init quiet loglevel=3 panic=-1 mitigations=off";
        qemu.args(["-append", &format!("{options} LAB_TIMEOUT_S={timeout}")]);
        // Of different kinds: a kernel that finds two of one kind may number them either way.
        let disks = [
            ("root", "nvme,drive=root,serial=root", part("disk.img"), "snapshot=on"),
            ("given", "virtio-blk-pci,drive=given", given.to_owned(), "readonly=on"),
        ];
        for (name, device, disk, option) in disks {
            qemu.args(["-drive", &format!("if=none,id={name},format=raw,{option},file={}", file(disk))]);
            qemu.args(["-device", device]);
        }
        qemu.stdin(Stdio::null()).stdout(Stdio::null()).stderr(monitor);
        qemu
    }
}

/// What QEMU says, without the lines that it always says of what it cannot emulate.
fn complaints(said: &str) -> String {
    said.lines()
        .filter(|line| !line.contains("TCG doesn't support"))
        .map(|line| format!("{line}\n"))
        .collect()
}

/// A disk with the programs, without what only a debugger reads, and the script as `command`.
fn given_disk(folder: &Path, programs: &[&Path], script: &str) -> PathBuf {
    let given = folder.join("given");
    std::fs::create_dir(&given).expect("a folder");
    for program in programs {
        let name = program.file_name().expect("a program has a name");
        run(Command::new("strip").arg("-o").arg(given.join(name)).arg(program));
    }
    let command = given.join("command");
    std::fs::write(&command, script).expect("a file");
    std::fs::set_permissions(&command, PermissionsExt::from_mode(0o755)).expect("our own file");
    let disk = folder.join("given.img");
    run(Command::new("/usr/sbin/mkfs.ext4")
        .args(["-q", "-O", "^has_journal", "-d"])
        .args([&given, &disk])
        .arg("512M"));
    disk
}

fn run(command: &mut Command) {
    let output = command.output().unwrap_or_else(|error| {
        panic!(
            "{command:?} does not start ({error}): run cargo xtask test, which installs what the lab needs"
        )
    });
    assert!(output.status.success(), "{command:?}: {}", String::from_utf8_lossy(&output.stderr));
}
