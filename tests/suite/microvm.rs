//! Sessions of the real binary in real krun microVMs, with podman 4.3 and podman 5.4: in the lab, for few machines that
//! run tests can start one themselves. Each machine boots once and runs all of `tests/lab/command.sh`; what was seen
//! there is judged here.

use airlock_tests::airlock_binary::airlock_binary;
use airlock_tests::lab::{LABS, Lab};
use airlock_tests::planted::Trigger;
use airlock_tests::tier;
use pretty_assertions::assert_eq;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::OnceLock;

/// The scenarios whose sandbox is a microVM: by default, where nothing else is wanted, and without root.
const IN_MICROVMS: [&str; 3] = ["auto", "microvm", "rootless"];

const MIB: u64 = 1 << 20;

/// What was seen in a scenario.
struct Seen {
    /// The lab and the scenario, for messages.
    place: String,
    machine: Value,
    facts: Value,
}

/// All scenarios of a lab, or what went wrong there: that is kept too, for another boot would not mend it.
type Lookout = Result<BTreeMap<String, Seen>, String>;

/// What was seen in a scenario, in every lab.
fn seen(scenario: &str) -> impl Iterator<Item = &'static Seen> {
    static ALL: OnceLock<Vec<Lookout>> = OnceLock::new();
    // All machines at once: each keeps one processor busy.
    let look_around = |lab| std::thread::spawn(move || look_around(lab));
    let all = ALL.get_or_init(|| {
        let machines = LABS.iter().map(look_around).collect::<Vec<_>>();
        machines.into_iter().map(|machine| machine.join().expect("a lookout reports")).collect()
    });
    all.iter().map(move |lab| match lab {
        Ok(scenarios) => &scenarios[scenario],
        Err(report) => panic!("{report}"),
    })
}

/// What makes Airlock remove what the agent arranged, in this run. Each takes two microVMs to boot, root's and a user's.
fn triggers() -> &'static [Trigger] {
    if tier::is_all() { &Trigger::ALL } else { &[Trigger::Restart] }
}

fn in_microvms() -> impl Iterator<Item = &'static Seen> {
    IN_MICROVMS.into_iter().flat_map(seen)
}

fn look_around(lab: &'static Lab) -> Lookout {
    let programs = [airlock_binary(), Path::new(env!("CARGO_BIN_EXE_lab-driver"))];
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    let triggers = triggers().iter().map(|trigger| trigger.name()).collect::<Vec<_>>().join(" ");
    let script = include_str!("../lab/command.sh").replace("TRIGGERS", &triggers);
    let outcome = runtime.block_on(lab.run(&programs, &script));
    let scenario = |line| {
        let mut line: Value = serde_json::from_str(line).ok()?;
        let name = line["name"].as_str()?.to_owned();
        let place = format!("{name} in {}", lab.suite);
        Some((name, Seen { place, machine: line["machine"].take(), facts: line["facts"].take() }))
    };
    let scenarios: Option<_> = outcome.output.lines().map(scenario).collect();
    scenarios.filter(|_| outcome.status == Some(0)).ok_or_else(|| {
        let Lab { suite } = lab;
        format!("{suite} ended with {:?}\n{}\n{}", outcome.status, outcome.output, outcome.console)
    })
}

impl Seen {
    /// What a command gave back to the model.
    fn result(&self, command: &str) -> &str {
        let result = &self.facts["results"][command];
        result.as_str().unwrap_or_else(|| panic!("{}: {command} said {result}", self.place))
    }

    /// A fact that a command told in a line `NAME=VALUE`.
    fn told(&self, command: &str, name: &str) -> &str {
        let said = self.result(command);
        let value = said.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix('='));
        value.unwrap_or_else(|| panic!("{}: no {name} in {said}", self.place))
    }
}

#[test]
fn a_session_in_a_microvm_says_so_and_its_commands_run_on_another_kernel() {
    for seen in in_microvms() {
        let sandbox = &seen.facts["sandbox"];
        assert_eq!(
            (&sandbox["state"], &sandbox["isolation"]),
            (&json!("ready"), &json!("microvm")),
            "{}",
            seen.place
        );
        assert_ne!(seen.told("look", "kernel"), seen.machine["kernel"], "{}", seen.place);
        assert_ne!(seen.told("look", "boot_id"), seen.machine["boot_id"], "{}", seen.place);
    }
}

#[test]
fn what_is_written_in_a_microvm_is_in_the_upper_folder_and_the_workspace_is_as_it_was() {
    for seen in in_microvms() {
        assert_eq!(seen.told("look", "there"), "as it was", "{}", seen.place);
        let (upper, workspace) = (&seen.facts["upper"], &seen.facts["workspace"]);
        assert_eq!(upper["made.txt"], "new\n", "{}", seen.place);
        assert_eq!(upper["there.txt"], "deleted", "{}", seen.place);
        assert_eq!(*workspace, json!({"saved.txt": "after\n", "there.txt": "as it was\n"}), "{}", seen.place);
    }
}

#[test]
fn a_microvm_has_no_network() {
    for seen in in_microvms() {
        // Its monitor opens sockets on its behalf, so the host's own loopback is what it must not reach.
        assert_eq!(seen.told("look", "network"), "none", "{}", seen.place);
        // The dummy leads nowhere: krun's kernel always has it.
        let interfaces = seen.told("look", "interfaces").split_whitespace();
        assert!(interfaces.clone().all(|name| ["lo", "dummy0"].contains(&name)), "{}", seen.place);
    }
}

#[test]
fn a_microvm_has_the_memory_that_was_asked_for_and_a_command_that_wants_more_dies_alone() {
    for seen in in_microvms() {
        let total =
            seen.told("look", "MemTotal:").trim_end_matches(" kB").parse::<u64>().expect("a number") << 10;
        assert!((480 * MIB..544 * MIB).contains(&total), "{}: {} MiB", seen.place, total / MIB);
        assert!(
            seen.result("hungry").contains("[exit code 137"),
            "{}: {}",
            seen.place,
            seen.result("hungry")
        );
        assert_eq!(seen.told("again", "boot_id"), seen.told("look", "boot_id"), "{}", seen.place);
    }
}

#[test]
fn commands_in_a_microvm_are_an_ordinary_users_and_can_become_nobody_else() {
    for seen in in_microvms() {
        assert_eq!(seen.told("look", "uid"), "1000", "{}", seen.place);
        for set in ["CapInh:", "CapPrm:", "CapEff:", "CapAmb:"] {
            assert_eq!(seen.told("look", set), "0000000000000000", "{}: {set}", seen.place);
        }
        // Its bounding set stays whole, for only root may give it up: with this, nobody gets anything from it.
        assert_eq!(seen.told("look", "NoNewPrivs:"), "1", "{}", seen.place);
        assert_eq!(seen.told("look", "Seccomp:"), "2", "{}", seen.place);
    }
}

/// In a microVM no runtime's filter is around the guest, and every device is there.
#[test]
fn commands_in_a_microvm_get_no_power_over_it() {
    for seen in in_microvms() {
        for (what, expected) in [
            ("namespace", "refused"),
            ("mount", "refused"),
            ("vsock", "refused"),
            ("root", "refused"),
            ("devices", ""),
            ("kernel_files", ""),
        ] {
            assert_eq!(seen.told("look", what), expected, "{}: {what}", seen.place);
        }
    }
}

/// Its monitor serves whatever is mounted, and what it is told to run stands in a file of its root.
#[test]
fn a_microvm_sees_neither_the_key_nor_a_folder_of_the_host() {
    for seen in in_microvms() {
        assert_eq!(seen.told("look", "key"), "0", "{}", seen.place);
        let mounts = seen.told("look", "mounts");
        let served = mounts.split_whitespace().filter_map(|mount| mount.strip_suffix(":virtiofs"));
        // What is served at /proc is of the monitor's own namespace, and covered by the microVM's own.
        let allowed = |place: &str| {
            place == "/"
                || ["/usr", "/etc/", "/run/secrets", "/workspace", "/home/agent", "/tmp", "/proc"]
                    .iter()
                    .any(|known| place.starts_with(known))
        };
        assert!(served.clone().all(allowed), "{}: {mounts}", seen.place);
    }
}

#[test]
fn thirty_megabytes_come_out_of_a_microvm_whole() {
    for seen in in_microvms() {
        let flood = &seen.facts["results"]["flood"];
        let (shown, rest) = (flood[0].as_u64().expect("a count"), flood[1].as_str().expect("a text"));
        let left_out = rest.split_once("[… ").and_then(|(_, rest)| rest.split_once(" bytes left out"));
        let left_out: u64 = left_out.and_then(|(number, _)| number.parse().ok()).expect("what was left out");
        // One more is in the word "exit".
        assert_eq!(shown - 1 + left_out, 30 * MIB, "{}", seen.place);
    }
    for seen in seen("bulk") {
        assert_eq!(seen.facts, json!({"isolation": "Microvm", "bytes_unharmed": 30 * MIB}), "{}", seen.place);
    }
}

#[test]
fn the_next_turn_finds_the_same_microvm_and_what_the_user_saved_meanwhile() {
    for seen in in_microvms() {
        assert_eq!(seen.told("again", "boot_id"), seen.told("look", "boot_id"), "{}", seen.place);
        assert_eq!(
            (seen.told("look", "saved"), seen.told("again", "saved")),
            ("before", "after"),
            "{}",
            seen.place
        );
    }
}

#[test]
fn a_microvm_may_look_at_as_many_files_as_the_machine_allows() {
    for seen in in_microvms() {
        assert_eq!(seen.facts["monitor_files_max"], 524_288, "{}", seen.place);
    }
}

#[test]
fn a_closed_session_leaves_no_container_of_its_microvm() {
    for seen in in_microvms() {
        let containers = (&seen.facts["containers_running"], &seen.facts["containers_left"]);
        assert_eq!(containers, (&json!(1), &json!([])), "{}", seen.place);
    }
}

/// In a microVM, for root and for an ordinary user.
fn a_planted_link_does_no_harm(trigger: Trigger) {
    for user in ["rootful", "rootless"] {
        for seen in seen(&format!("{user}-{}", trigger.name())) {
            assert_ne!(seen.facts["boot_id"], seen.machine["boot_id"], "{}", seen.place);
            assert_eq!(seen.facts["harm"], json!([]), "{}", seen.place);
        }
    }
}

#[test]
fn a_link_that_the_agent_plants_before_its_microvm_ends_leads_no_removal_to_the_users_files() {
    a_planted_link_does_no_harm(Trigger::Restart);
}

#[test]
#[ignore = "cargo xtask test --all runs it"]
fn nor_does_it_when_something_else_makes_airlock_remove_what_the_agent_arranged() {
    assert!(
        tier::is_all(),
        "the lab runs these only where AIRLOCK_TEST_ALL=1 is set: use cargo xtask test --all"
    );
    for trigger in Trigger::ALL {
        a_planted_link_does_no_harm(trigger);
    }
}

#[test]
fn where_everything_is_there_the_doctor_boots_a_microvm_and_finds_all_well() {
    for seen in seen("doctor") {
        let Seen { place, facts, machine } = seen;
        let report = &facts["report"];
        assert_eq!((&facts["status"], &facts["log"]), (&json!(0), &json!("")), "{place}: {report:#}");
        assert_eq!((&report["well"], &report["isolation"]), (&json!(true), &json!("microvm")), "{place}");
        let state = |name: &str| {
            let checks = report["checks"].as_array().expect("checks");
            checks.iter().find(|check| check["name"] == name).map(|check| check["state"].clone())
        };
        for name in ["podman", "runtime", "krun", "kvm", "user_ids", "overlay", "control_groups", "microvm"] {
            assert_eq!(state(name), Some(json!("ok")), "{place}: {name} in {report:#}");
        }
        // Bookworm's kernel is too old for all of its rules.
        let is_old = machine["kernel"].as_str().is_some_and(|kernel| kernel.starts_with("6.1."));
        assert_eq!(state("landlock"), Some(json!(if is_old { "hint" } else { "ok" })), "{place}: {report:#}");
        assert_eq!(state("sandbox"), Some(json!("ok")), "{place}: {report:#}");
        assert_eq!(facts["state_folder_is_made"], false, "{place}");
    }
}

#[test]
fn a_krun_that_starts_plain_containers_is_called_what_it_is_and_refused_where_a_microvm_is_wanted() {
    for seen in seen("ignored") {
        assert_eq!(seen.facts["sandbox"]["isolation"], "container", "{}", seen.place);
        assert_eq!(seen.told("look", "kernel"), seen.machine["kernel"], "{}", seen.place);
        assert_eq!(seen.told("look", "boot_id"), seen.machine["boot_id"], "{}", seen.place);
    }
    for seen in seen("ignored-and-refused") {
        assert_eq!(seen.facts["sandbox"]["state"], "failed", "{}", seen.place);
        assert!(seen.result("look").contains("a microVM was asked for"), "{}", seen.result("look"));
        assert_eq!(seen.facts["upper"], json!({}), "{}", seen.place);
        assert_eq!(seen.facts["containers_left"], json!([]), "{}", seen.place);
    }
}
