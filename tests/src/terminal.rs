//! A real terminal: tmux, on a socket of its own. A test types into it and reads its screen.

use crate::airlock_command::AirlockCommand;
use crate::deadline::DEADLINE;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// How often the screen is looked at while a test waits for something on it.
const POLL: Duration = Duration::from_millis(20);

/// Runs the words from the third on; writes the process's id to the first and its exit status to the second. tmux
/// tells a status too, but now and then it misses that its child has ended. The `cat` keeps the screen.
const AROUND: &str = r#"
id="$1" status="$2"; shift 2
trap : INT
sh -c 'echo $$ > "$0"; exec "$@"' "$id" "$@"
echo $? > "$status.new"; mv "$status.new" "$status"
cat
"#;

/// A terminal in which a program runs. Its tmux server is gone when it is dropped.
pub struct Terminal {
    /// The socket's folder.
    folder: TempDir,
}

impl Terminal {
    /// Starts Airlock in a terminal of 100 columns and 40 lines.
    pub fn start(command: &AirlockCommand) -> Self {
        Self::start_program(&command.words(), &command.home().workspace())
    }

    /// Starts any program in such a terminal, in a folder.
    pub fn start_program(words: &[OsString], folder: &Path) -> Self {
        let terminal = Self { folder: TempDir::with_prefix("airlock-tmux-").expect("a temporary directory") };
        let mut tmux = terminal.tmux();
        tmux.args(["-f", "/dev/null", "-u", "new-session", "-d", "-x", "100", "-y", "40", "-c"]);
        tmux.arg(folder).args(["--", "sh", "-c", AROUND, "sh"]);
        tmux.args([terminal.id_file(), terminal.status_file()]).args(words);
        run(&mut tmux);
        terminal
    }

    /// Presses keys by their tmux names: `Enter`, `C-c`, `M-Enter`.
    pub fn press(&self, keys: &[&str]) {
        run(self.tmux().args(["send-keys", "-t", ":0.0"]).args(keys));
    }

    /// Types a text as it is.
    pub fn type_text(&self, text: &str) {
        // A semicolon at the end would end the command to tmux.
        let text = match text.strip_suffix(';') {
            Some(rest) => format!("{rest}\\;"),
            None => text.to_owned(),
        };
        run(self.tmux().args(["send-keys", "-t", ":0.0", "-l", "--", &text]));
    }

    /// Types a text and presses Enter.
    pub fn send(&self, text: &str) {
        self.type_text(text);
        self.press(&["Enter"]);
    }

    /// Pastes a text, as a terminal does for a program that asked to be told of pastes.
    pub fn paste(&self, text: &str) {
        run(self.tmux().args(["set-buffer", "--", text]));
        run(self.tmux().args(["paste-buffer", "-p", "-d", "-t", ":0.0"]));
    }

    /// What is on the screen, without white space at the ends of lines.
    pub fn screen(&self) -> String {
        let output = run(self.tmux().args(["capture-pane", "-p", "-t", ":0.0"]));
        let screen = String::from_utf8(output.stdout).expect("a screen of UTF-8");
        screen.trim_end().to_owned()
    }

    /// What was on the screen from the beginning on, what has scrolled away included. A line that the terminal broke is
    /// one line again.
    pub fn everything(&self) -> String {
        let output = run(self.tmux().args(["capture-pane", "-p", "-J", "-S", "-", "-t", ":0.0"]));
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        text.lines().map(str::trim_end).collect::<Vec<_>>().join("\n").trim_end().to_owned()
    }

    /// Whether the program has ended.
    pub fn has_ended(&self) -> bool {
        self.status_file().exists()
    }

    /// The styles on the screen, as the sequences that set them.
    pub fn styles(&self) -> Vec<String> {
        let output = run(self.tmux().args(["capture-pane", "-p", "-e", "-t", ":0.0"]));
        let screen = String::from_utf8(output.stdout).expect("a screen of UTF-8");
        screen
            .split('\u{1b}')
            .skip(1)
            .map(|rest| rest.split_inclusive('m').next().unwrap_or(rest).to_owned())
            .collect()
    }

    /// Waits until the screen is as wanted, and gives it.
    pub async fn wait(&self, what: &str, wanted: impl Fn(&str) -> bool) -> String {
        let since = Instant::now();
        loop {
            let screen = self.screen();
            if wanted(&screen) {
                return screen;
            }
            assert!(since.elapsed() < DEADLINE, "never on the screen: {what}\n{screen}");
            tokio::time::sleep(POLL).await;
        }
    }

    /// Waits until a text is on the screen.
    pub async fn wait_for(&self, text: &str) -> String {
        self.wait(text, |screen| screen.contains(text)).await
    }

    /// Waits until a new prompt stands on the last line, behind something that contains `after`.
    pub async fn wait_for_prompt_after(&self, after: &str) -> String {
        self.wait(&format!("a prompt after {after:?}"), |screen| {
            screen.ends_with("\n>") && screen.rfind(after).is_some_and(|found| found < screen.len() - 2)
        })
        .await
    }

    /// Waits until the program has ended, and gives its exit status.
    pub async fn wait_for_end(&self) -> i32 {
        let since = Instant::now();
        loop {
            if let Ok(status) = std::fs::read_to_string(self.status_file()) {
                return status.trim().parse().expect("a number");
            }
            assert!(since.elapsed() < DEADLINE, "the program does not end\n{}", self.screen());
            tokio::time::sleep(POLL).await;
        }
    }

    /// The process that runs in it.
    pub fn process_id(&self) -> String {
        let id = std::fs::read_to_string(self.id_file()).expect("the shell wrote it before airlock began");
        id.trim().to_owned()
    }

    fn status_file(&self) -> PathBuf {
        self.folder.path().join("status")
    }

    fn id_file(&self) -> PathBuf {
        self.folder.path().join("id")
    }

    fn tmux(&self) -> Command {
        let mut tmux = Command::new("tmux");
        tmux.arg("-S").arg(self.folder.path().join("socket")).env_remove("TMUX");
        tmux
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        // It may be gone already.
        let _ = self.tmux().arg("kill-server").output();
    }
}

fn run(tmux: &mut Command) -> Output {
    let output = tmux.output().unwrap_or_else(|error| {
        panic!("tmux does not start ({error}): run cargo xtask test, which installs it")
    });
    assert!(output.status.success(), "{tmux:?}: {}", String::from_utf8_lossy(&output.stderr));
    output
}
