//! The calls and their answers. Both sides are built together, so there is one version and no optional parts.

use serde::{Deserialize, Serialize};

/// Told in the hello: a guest of another version is refused.
pub const VERSION: u32 = 1;

/// Of each output stream, so many bytes are kept from its beginning, shown as they come.
pub const HEAD_MAX_BYTES: usize = 96 << 10;
/// And so many from its end.
pub const TAIL_MAX_BYTES: usize = 96 << 10;
/// A file that can be read or edited.
pub const FILE_MAX_BYTES: usize = 16 << 20;
/// All that one glob or grep finds.
pub const FOUND_MAX_BYTES: usize = 4 << 20;
/// Text that one read answers.
pub const READ_MAX_BYTES: usize = 192 << 10;

/// All that is said about one call, frames included. Who says more is not our guest any more.
pub const CALL_SAID_MAX_BYTES: usize = FILE_MAX_BYTES + (8 << 20);
/// How long a call may take that says nothing of its time.
pub const CALL_MAX_MS: u64 = 60_000;
/// The same for those that may look at very many files.
pub const CALL_LOOK_MAX_MS: u64 = 300_000;
/// How much longer than its own time a command may take to be answered: it has to be killed, and told.
pub const CALL_GRACE_MS: u64 = 15_000;

/// What the guest is asked to do.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "call", rename_all = "snake_case")]
pub enum Call {
    /// Who are you?
    Hello,
    /// Run a command.
    Exec(Exec),
    /// What runs in the background?
    Jobs,
    /// Read a file.
    Read(Read),
    /// Write a whole file. The content follows as data frames.
    Write {
        /// Where.
        path: String,
    },
    /// Replace exact text.
    Edit(Edit),
    /// List files.
    List(List),
    /// Search files.
    Search(Search),
    /// A file's bytes, which come as data frames.
    Fetch {
        /// What.
        path: String,
    },
    /// The files that match, which come as data frames: a JSON list of paths.
    Glob {
        /// Such as `src/**/*.rs`.
        pattern: String,
        /// How many at the most.
        paths_max: usize,
    },
    /// The lines that match, which come as data frames: a JSON list of [`FoundLine`].
    Grep {
        /// A regular expression.
        pattern: String,
        /// Only files whose path matches.
        glob: Option<String>,
        /// How many at the most.
        matches_max: usize,
    },
    /// Put a file there as the workspace now has it. The content follows as data frames.
    Put {
        /// Where.
        path: String,
        /// Permission bits.
        mode: u32,
        /// When the file was changed, in nanoseconds since 1970; now, if left out.
        modified_ns: Option<i64>,
    },
    /// Put a symbolic link there.
    PutLink {
        /// Where.
        path: String,
        /// What it says.
        target: String,
    },
    /// Put a folder there; one that is there already stays with all that is in it.
    PutFolder {
        /// Where.
        path: String,
    },
    /// Which of these do not look as expected?
    Stale {
        /// What the workspace has.
        expected: Vec<Expected>,
    },
    /// Remove a file or a folder with all that is in it.
    Remove {
        /// What.
        path: String,
    },
}

impl Call {
    /// How long it may take until it is answered.
    pub fn answer_max_ms(&self) -> u64 {
        match self {
            Self::Exec(exec) => exec.timeout_ms.saturating_add(CALL_GRACE_MS),
            Self::Read(_)
            | Self::Fetch { .. }
            | Self::List(_)
            | Self::Search(_)
            | Self::Glob { .. }
            | Self::Grep { .. } => CALL_LOOK_MAX_MS,
            _ => CALL_MAX_MS,
        }
    }
}

/// What should be at a path.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Expected {
    /// Where.
    pub path: String,
    /// What.
    pub kind: ExpectedKind,
}

/// What should be there.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ExpectedKind {
    /// Nothing.
    Missing,
    /// A file.
    File {
        /// Its size.
        bytes: u64,
        /// When it was changed, in nanoseconds since 1970.
        modified_ns: i64,
        /// Permission bits.
        mode: u32,
    },
    /// A symbolic link.
    Link {
        /// What it says.
        target: String,
    },
    /// A folder.
    Folder,
}

/// A command for bash.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Exec {
    /// What to run.
    pub command: String,
    /// Milliseconds until it is ended.
    pub timeout_ms: u64,
    /// Leave it running and answer at once.
    pub background: bool,
}

/// A range of lines.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Read {
    /// What.
    pub path: String,
    /// From 1.
    pub first_line: u64,
    /// How many.
    pub lines: u64,
}

/// Replacements that are made all or none.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Edit {
    /// Where.
    pub path: String,
    /// In order; each on the result of those before it.
    pub edits: Vec<Replacement>,
}

/// One replacement.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Replacement {
    /// Text that must be there exactly once.
    pub old: String,
    /// Text to stand there instead.
    pub new: String,
}

/// A tree of files.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct List {
    /// Its root.
    pub path: String,
    /// How deep.
    pub depth: usize,
    /// How many entries at the most.
    pub entries_max: usize,
}

/// A search.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Search {
    /// A regular expression.
    pub pattern: String,
    /// A folder or a file.
    pub path: String,
    /// Only files whose path matches.
    pub glob: Option<String>,
    /// Lines around each match.
    pub context_lines: usize,
    /// How many matching lines at the most.
    pub matches_max: usize,
}

/// A line that matches.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FoundLine {
    /// Its file.
    pub path: String,
    /// From 1.
    pub line: u32,
    /// The line, cut when it is long.
    pub text: String,
}

/// A good answer.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "answer", rename_all = "snake_case")]
pub enum Answer {
    /// To `Hello`.
    Hello(Hello),
    /// To `Exec`.
    Exited(Exited),
    /// To `Exec` in the background.
    Started(Job),
    /// To `Jobs`.
    Jobs {
        /// Those that run.
        jobs: Vec<Job>,
    },
    /// To `Read` of a text.
    Text(Text),
    /// To `Read` of something that is no text. Its bytes came as data frames, if it is an image.
    Binary {
        /// Its size.
        bytes: u64,
        /// Such as `image/png`, when it is an image that a model can see.
        media_type: Option<String>,
    },
    /// To `Stale`: the paths that look different.
    Stale {
        /// Those.
        paths: Vec<String>,
    },
    /// To `Write`, `Edit`, `Remove` and everything that puts.
    Done {
        /// What was done, for people.
        note: String,
    },
    /// To `Fetch`, `Glob` and `Grep`, after the data.
    Found {
        /// More was there than was wanted.
        cut: bool,
    },
    /// To `List` and `Search`: lines of text.
    Lines {
        /// The text.
        text: String,
        /// More was there than was wanted.
        cut: bool,
    },
}

/// Who the guest is, and what proves where it runs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Hello {
    /// [`VERSION`]
    pub version: u32,
    /// The running kernel's own id: another one than the host's means another kernel.
    pub boot_id: String,
    /// The kernel's release.
    pub kernel: String,
    /// Memory of the machine or its limit.
    pub memory_kib: u64,
    /// Processors.
    pub cpus: usize,
    /// The user that commands run as.
    pub uid: u32,
}

/// How a command ended.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Exited {
    /// The exit code, unless a signal ended it.
    pub code: Option<i32>,
    /// The signal that ended it.
    pub signal: Option<i32>,
    /// It took too long.
    pub timed_out: bool,
    /// How long it took.
    pub duration_ms: u64,
    /// Bytes of stdout between head and tail.
    pub stdout_left_out: u64,
    /// Bytes of stderr between head and tail.
    pub stderr_left_out: u64,
    /// What runs in the background: left by this command or by one before it.
    pub left_running: Vec<Job>,
    /// What the home takes of the disk, as it was counted last.
    pub home_bytes: u64,
}

/// A process that runs on.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Job {
    /// Its id.
    pub pid: u32,
    /// What it is.
    pub command: String,
    /// Where its output goes, when it was started in the background.
    pub log: Option<String>,
}

/// Lines of a file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Text {
    /// The lines, without numbers.
    pub text: String,
    /// The number of the first.
    pub first_line: u64,
    /// How many lines the file has.
    pub total_lines: u64,
    /// Lines were left out at the end because of their size.
    pub cut: bool,
}

/// A call that could not be done.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CallError {
    /// What went wrong, and what to do.
    pub message: String,
}
