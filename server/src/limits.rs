//! What bounds what a user, a model, a plugin or another program can bring, in one place, with its unit in its name.
//!
//! Long because it is the one place: a constant and what it means, and nothing else.

/// One LSP message may be this large; a longer one is answered with an error and skipped.
pub const LSP_FRAME_MAX_BYTES: usize = 64 << 20;
/// The header block of an LSP message.
pub const LSP_HEADER_MAX_BYTES: usize = 4 << 10;
/// A message that is too long is skipped by its length up to here; a longer one is not believed.
pub const LSP_SKIP_MAX_BYTES: u64 = 4 << 30;
/// The id of a request, when it is a string.
pub const LSP_REQUEST_ID_MAX_BYTES: usize = 1 << 10;
/// Requests of the client that may be in work at once.
pub const LSP_REQUESTS_IN_WORK_MAX: usize = 256;
/// Notifications of the client whose handlers may wait for something at once.
pub const LSP_NOTIFICATIONS_IN_WORK_MAX: usize = 256;
/// How long reading stops for a notification's handler that finds no place among them. Then it is given up.
pub const LSP_NOTIFICATION_PLACE_MAX_MS: u64 = 1_000;
/// Responses that wait for a client that does not read.
pub const LSP_RESPONSES_QUEUED_MAX: usize = 1024;
/// Messages of ours that may overtake a response which was ready before them.
pub const LSP_OVERTAKING_MAX: usize = 1024;
/// How long the last responses may take to reach the client once the stream has ended.
pub const LSP_DRAIN_MAX_MS: u64 = 1_000;
/// How much is read from the client, and written to it, at a time.
pub const LSP_CHUNK_BYTES: usize = 64 << 10;
/// How long the client may take to answer a request of ours that no person has to think about.
pub const LSP_CLIENT_ANSWER_MAX_MS: u64 = 10_000;
/// How long an editor may take to tell the new text of a document after it made an edit of ours.
pub const LSP_EDIT_SHOWN_MAX_MS: u64 = 2_000;
/// Documents that may be open at once.
pub const LSP_DOCUMENTS_MAX: usize = 10_000;
/// Changes of one document that another may come behind and still find its place.
pub const LSP_CHANGES_KEPT_MAX: usize = 64;
/// Text in them.
pub const LSP_CHANGES_KEPT_MAX_BYTES: usize = 1024 * 1024;

/// Pools that the memory allocator may have; the threads that run tasks are as many.
pub const ALLOCATOR_POOLS_MAX: i32 = 2;

/// How long a person may think about a permission request before it counts as refused.
pub const PERMISSION_ANSWER_MAX_MS: u64 = 10 * 60_000;

/// Sessions that may be open at once.
pub const SESSIONS_MAX: usize = 64;
/// A prompt's text.
pub const PROMPT_MAX_BYTES: usize = 1 << 20;
/// Files, ranges and diagnostics that may come along with a prompt.
pub const PROMPT_CONTEXT_MAX_ITEMS: usize = 64;
/// What one of them may add to the prompt.
pub const PROMPT_CONTEXT_ITEM_MAX_BYTES: usize = 256 << 10;
/// A document with the answers of a session, for editors without the extension. A full one is followed by another.
pub const ANSWERS_FILE_MAX_BYTES: usize = 1 << 20;
/// Updates that wait for a slow client, in bytes of text. A turn waits while there are more.
pub const OUTBOX_MAX_BYTES: usize = 4 << 20;

/// Messages that one turn may ask of the model.
pub const TURN_ROUNDS_MAX: u32 = 100;
/// How often the same call may bring the same result in a row before the user is asked.
pub const TURN_SAME_CALL_MAX: u32 = 3;
/// How long a cancelled turn waits for its last words to be saved before it ends.
pub const TURN_LAST_SAVE_MAX_MS: u64 = 60;
/// How long a turn waits for the count of its changes. It is told later then.
pub const TURN_TELL_CHANGES_MAX_MS: u64 = 1_000;

/// One server-sent event.
pub const SSE_EVENT_MAX_BYTES: usize = 16 << 20;
/// All content of one message of the model.
pub const MESSAGE_MAX_BYTES: usize = 32 << 20;
/// Content blocks in one message of the model.
pub const MESSAGE_BLOCKS_MAX: usize = 1024;
/// Lists and objects within each other in a tool's input or another block. The library for JSON reads twice as many,
/// and some are around it in a history.
pub const MESSAGE_DEPTH_MAX: usize = 64;
/// The input of one tool call.
pub const TOOL_INPUT_MAX_BYTES: usize = 1 << 20;
/// What one tool call may answer to the model.
pub const TOOL_RESULT_MAX_BYTES: usize = 256 << 10;
/// The images in the answers to one message together, as they are sent. The API takes requests of 32 MB.
pub const MESSAGE_IMAGES_MAX_BYTES: usize = 16 << 20;
/// Tool calls that run at once, when all of them only read.
pub const TOOL_CALLS_AT_ONCE_MAX: usize = 16;
/// The name of a tool: the API takes no longer one.
pub const TOOL_NAME_MAX_CHARS: usize = 128;
/// How long a command of the agent may run where it says nothing.
pub const TOOL_COMMAND_S: u64 = 120;
/// What it may say.
pub const TOOL_COMMAND_MAX_S: u64 = 3_600;
/// Lines that `read_file` gives where the model does not say how many.
pub const TOOL_READ_LINES: u64 = 2_000;
/// An image that the model is shown: the API takes no larger one.
pub const TOOL_IMAGE_MAX_BYTES: usize = 5 << 20;
/// Entries that `list_files` gives. More would tell the model little and cost a lot.
pub const TOOL_LIST_ENTRIES_MAX: usize = 1_000;
/// How deep it looks where the model does not say.
pub const TOOL_LIST_DEPTH: usize = 4;
/// What the model may say.
pub const TOOL_LIST_DEPTH_MAX: usize = 32;
/// Lines that `search_files` finds. More would tell the model little and cost a lot.
pub const TOOL_SEARCH_MATCHES_MAX: usize = 500;
/// Lines that it shows around each.
pub const TOOL_SEARCH_CONTEXT_LINES_MAX: usize = 20;
/// Pieces of a tool's live output that wait to be shown.
pub const TOOL_PROGRESS_WAITING_MAX: usize = 64;
/// How long stopped tools may take to clean up before they are dropped.
pub const TOOLS_STOP_MAX_MS: u64 = 2_000;
/// The body of an error response that is read.
pub const ERROR_BODY_MAX_BYTES: usize = 64 << 10;
/// How long a connection may take to come up.
pub const CONNECT_MAX_MS: u64 = 10_000;
/// How long the model's stream may be silent; pings count as life.
pub const STREAM_SILENCE_MAX_MS: u64 = 60_000;
/// How long the question for a model's properties may take.
pub const MODEL_INFO_MAX_MS: u64 = 3_000;
/// How often a request is tried again.
pub const RETRIES_MAX: u32 = 8;
/// The longest `retry-after` that is obeyed.
pub const RETRY_AFTER_MAX_MS: u64 = 60_000;

/// A history file that can be loaded.
pub const HISTORY_FILE_MAX_BYTES: usize = 512 << 20;
/// Lines of a history that wait in memory while the disk takes none.
pub const HISTORY_UNWRITTEN_MAX_BYTES: usize = 64 << 20;
/// Histories that are listed.
pub const HISTORY_LIST_MAX: usize = 200;
/// Second names that are tried for a history whose name is taken.
pub const HISTORY_NAME_SUFFIX_MAX: u32 = 1000;
/// A session's title.
pub const TITLE_MAX_CHARS: usize = 80;

/// A configuration file.
pub const CONFIG_FILE_MAX_BYTES: usize = 256 << 10;
/// A model's name.
pub const MODEL_NAME_MAX_BYTES: usize = 256;
/// An image's name.
pub const IMAGE_NAME_MAX_BYTES: usize = 512;
/// What the user may set `max_tokens` to.
pub const SETTING_TOKENS_MAX: u64 = 1_000_000;
/// What the user may set `max_rounds` to.
pub const SETTING_ROUNDS_MAX: u64 = 10_000;
/// What the user may set `retries` to.
pub const SETTING_RETRIES_MAX: u64 = 100;
/// What the user may set `max_session_disk_gib` to: a disk of a PiB.
pub const SETTING_DISK_GIB_MAX: u64 = 1 << 20;
/// What the user may set a time in seconds to: a day.
pub const SETTING_TIME_MAX_S: u64 = 86_400;
/// A mistyped name that a known one is guessed for.
pub const NAME_GUESS_MAX_BYTES: usize = 128;

/// Files of a workspace that trust would make effective.
pub const TRUST_FILES_MAX: usize = 1000;
/// One of them.
pub const TRUST_FILE_MAX_BYTES: usize = 32 << 20;
/// All of them.
pub const TRUST_FILES_TOTAL_MAX_BYTES: usize = 64 << 20;
/// How deep their folders may nest.
pub const TRUST_FOLDERS_MAX_DEPTH: usize = 12;
/// The trust store.
pub const TRUST_STORE_MAX_BYTES: usize = 16 << 20;
/// How long another process may hold the trust store.
pub const TRUST_LOCK_MAX_MS: u64 = 5_000;

/// `AGENTS.md` or `CLAUDE.md`.
pub const INSTRUCTIONS_FILE_MAX_BYTES: usize = 128 << 10;
/// A slash command's markdown file.
pub const COMMAND_FILE_MAX_BYTES: usize = 128 << 10;
/// Slash-command files in one directory tree.
pub const COMMAND_FILES_MAX: usize = 500;
/// How deep slash-command folders may nest.
pub const COMMAND_FOLDERS_MAX_DEPTH: usize = 4;
/// A slash command's description or hint.
pub const COMMAND_DESCRIPTION_MAX_CHARS: usize = 200;
/// A file that a prompt or slash command brings in with `@file`.
pub const MENTIONED_FILE_MAX_BYTES: usize = 256 << 10;

/// The conversation is compacted when it fills this share of the model's window.
pub const COMPACT_AT_PERCENT: u64 = 80;
/// The recent conversation that a compaction keeps word for word, as a share of the window.
pub const COMPACT_KEEP_PERCENT: u64 = 10;
/// A compaction must bring the conversation below this share of what it was, or it counts as having freed nothing.
pub const COMPACT_MUST_REACH_PERCENT: u64 = 70;

/// What a tool result keeps in the text that a summary is made of.
pub const COMPACT_RESULT_MAX_BYTES: usize = 4_000;
/// What a token is taken for until the API tells the true number: rather too little than too much.
pub const BYTES_PER_TOKEN: u64 = 3;

/// Lines of a tool's output that the terminal shows as they come.
pub const CHAT_OUTPUT_HEAD_LINES: usize = 20;
/// Lines of a tool's output that the terminal shows when it has ended, if there were more.
pub const CHAT_OUTPUT_TAIL_LINES: usize = 10;
/// How much of one line of a tool's output the terminal shows.
pub const CHAT_OUTPUT_LINE_MAX_CHARS: usize = 500;
/// Prompts that the terminal remembers.
pub const CHAT_PROMPTS_KEPT_MAX: usize = 1000;
/// Names in one folder that are looked at to complete a path.
pub const CHAT_COMPLETION_NAMES_MAX: usize = 10_000;
/// Completions that are offered at once.
pub const CHAT_COMPLETIONS_MAX: usize = 100;
/// Questions to the user that may wait for their turn.
pub const CHAT_QUESTIONS_MAX: usize = 16;

/// How long something may take before the user is told what it is.
pub const PATIENCE_MS: u64 = 1_000;
/// How long until they are told again.
pub const PATIENCE_AGAIN_MS: u64 = 5_000;

/// How long our own podman may take to come up.
pub const PODMAN_START_MAX_MS: u64 = 10_000;
/// How long podman may take to answer a call.
pub const PODMAN_ANSWER_MAX_MS: u64 = 30_000;
/// How long the guest may take to say hello. A microVM has to boot first.
pub const SANDBOX_HELLO_MAX_MS: u64 = 30_000;
/// Memory of the sandbox.
pub const SANDBOX_MEMORY_MIB: u64 = 512;
/// What `/tmp` of the sandbox may hold. It is in that memory.
pub const SANDBOX_TEMPORARY_MIB: u64 = 256;
/// What its `/dev/shm` may hold. That is in it, too.
pub const SANDBOX_SHARED_MEMORY_MIB: u64 = 64;
/// What a microVM needs on this machine besides that memory.
pub const MICROVM_MONITOR_MIB: u64 = 128;
/// Files that a microVM may have looked at and still know.
pub const MICROVM_FILES_MAX: u64 = 1 << 20;
/// Files that one process in the sandbox may have open.
pub const SANDBOX_FILES_MAX: u64 = 16_384;
/// Of what the kernel counts per user a sandbox gets one part in so many.
pub const SANDBOX_USER_SHARE: u64 = 4;
/// Programs in it that may watch files: many systems allow the user 128.
pub const SANDBOX_WATCHERS_MAX: u64 = 32;
/// Processes in the sandbox.
pub const SANDBOX_PROCESSES_MAX: u64 = 512;
/// What a session may take of the disk, in its changes and its home together, where the user doesn't say.
pub const SESSION_DISK_GIB: u64 = 20;
/// What is kept free on the disk that the sandbox writes to.
pub const SANDBOX_DISK_KEPT_MIB: u64 = 1024;
/// Files that can still be made there.
pub const SANDBOX_DISK_KEPT_FILES: u64 = 10_000;
/// How often that is looked at.
pub const SANDBOX_DISK_LOOK_MS: u64 = 500;
/// How long the sandbox may take to be gone.
pub const SANDBOX_STOP_MAX_MS: u64 = 30_000;
/// How many podmans are asked to end it, one after the other, where the one that started it cannot.
pub const SANDBOX_STOP_PODMANS_MAX: usize = 3;
/// A file whose content is compared, pushed and merged. A larger one is known by its digest.
pub const VIEW_CONTENT_MAX_BYTES: usize = 16 << 20;
/// A file that is looked at at all: reading a larger one takes longer than anybody waits.
pub const VIEW_FILE_MAX_BYTES: u64 = 1 << 30;
/// What one list of changes holds of files; the rest is told and not listed.
pub const CHANGES_HELD_MAX_BYTES: u64 = 256 << 20;
/// What it reads of files that are too large to be held; the others are told and not listed.
pub const CHANGES_LARGE_MAX_BYTES: u64 = 4 << 30;
/// How deep folders may nest where the agent's changes are looked for.
pub const VIEW_FOLDERS_MAX_DEPTH: usize = 128;
/// A path that is looked at: no program can name a longer one in one call.
pub const VIEW_PATH_MAX_BYTES: usize = 4096;
/// All paths that one look at a view may hold.
pub const VIEW_PATHS_MAX_BYTES: usize = 16 << 20;
/// Things in the upper folder that are looked at after a tool call, to remember what they were made from.
pub const VIEW_MENTIONS_MAX: usize = 50_000;
/// Names of the user's that are looked up in folders that the agent made anew, to see whether it misses any.
pub const VIEW_UNCOVER_NAMES_MAX: usize = 10_000;
/// One line of the log of what both sides agreed on. A longer one says nothing.
pub const VIEW_BASE_LINE_MAX_BYTES: usize = 1 << 20;
/// Files that hold the state of a repository. One with more, or with larger ones than are compared, isn't copied.
pub const GIT_STATE_FILES_MAX: usize = 1_000;
/// What is kept of the agent's copies of the state of git.
pub const GIT_COPIES_MAX_BYTES: usize = 64 << 20;
/// Lines that this log may have besides twice those that still say something.
pub const VIEW_BASE_OLD_LINES_MAX: usize = 1_000;
/// Changes of a session that are listed.
pub const CHANGES_MAX: usize = 20_000;
/// A file of the user's in which names of what runs are looked for. Around a larger manifest everything counts as named.
pub const PROTECTED_FILE_MAX_BYTES: usize = 4 << 20;
/// Names that are followed through links. When there are more, everything counts as named.
pub const PROTECTED_NAMES_MAX: usize = 20_000;
/// Packages of cargo's, and folders in which these are looked for. When there are more, all code in Rust counts as run.
pub const PROTECTED_PACKAGES_MAX: usize = 2_000;
/// Hooks in one folder in which names are looked for.
pub const PROTECTED_HOOKS_MAX: usize = 1_000;
/// Files that settings of git include. When there are more, everything in the repository counts as named.
pub const PROTECTED_INCLUDES_MAX: usize = 100;
/// How much of a repository's index is read.
pub const GIT_INDEX_MAX_BYTES: u64 = 256 << 20;
/// Links that git tracks which are followed.
pub const PROTECTED_LINKS_MAX: usize = 4_000;
/// Files that are written before the first of them gets its name. Each keeps two handles open.
pub const ACCEPT_BATCH_MAX: usize = 64;
/// How many of them are synced at once.
pub const ACCEPT_SYNCS_AT_ONCE: usize = 16;
/// A text that is compared line by line and merged. A larger one is accepted or rejected as a whole.
pub const MERGE_MAX_BYTES: usize = 4 << 20;
/// The record of what was accepted and is not committed yet.
pub const ACCEPTED_FILE_MAX_BYTES: usize = 16 << 20;
/// How long another process may hold that record.
pub const ACCEPTED_LOCK_MAX_MS: u64 = 5_000;
/// The record of what is being written to the user's files.
pub const UNFINISHED_FILE_MAX_BYTES: usize = 4 << 20;
/// Turns of a session that can be undone.
pub const CHECKPOINTS_MAX: usize = 50;
/// How many more there may be before the oldest go.
pub const CHECKPOINTS_DROPPED: usize = 10;
/// Folders of the workspace that are watched.
pub const WATCHED_FOLDERS_MAX: usize = 100_000;
/// Paths of the workspace that changed since the last tool call. When there are more, a fresh sandbox is cheaper than
/// bringing them in one by one.
pub const CHANGED_PATHS_MAX: usize = 5_000;
/// What may be brought into the sandbox before a tool call. When there is more, it gets a fresh sandbox instead.
pub const PUSH_MAX_BYTES: u64 = 64 << 20;
/// A file with rules of what git ignores. A larger one is not read: understood, each byte may take a KiB of memory.
pub const GIT_RULES_FILE_MAX_BYTES: usize = 64 << 10;
/// All of them on the way to one folder; those further down are not read.
pub const GIT_RULES_MAX_BYTES: usize = 256 << 10;
/// All of them that one list reads. What further ones ignore is listed.
pub const GIT_RULES_LIST_MAX_BYTES: usize = 1 << 20;
/// What one question to the sandbox may list of them; there are as many questions as it takes. A frame holds a little more.
pub const STALE_CALL_MAX_BYTES: usize = 192 << 10;
/// How long a tool call waits until the watch stands.
pub const WATCH_START_MAX_MS: u64 = 1_000;
/// How long a tool call waits until the watch has seen all that happened before it.
pub const WATCH_CATCH_UP_MAX_MS: u64 = 500;
/// How long one call of git may take.
pub const GIT_ANSWER_MAX_MS: u64 = 60_000;
/// How long git may take to push.
pub const GIT_PUSH_MAX_MS: u64 = 5 * 60_000;
/// What one call of git may answer.
pub const GIT_OUTPUT_MAX_BYTES: usize = 16 << 20;
/// What git may say about what went wrong; the rest is dropped.
pub const GIT_WORDS_MAX_BYTES: usize = 16 << 10;
/// One file that is committed.
pub const GIT_FILE_MAX_BYTES: usize = 100 << 20;
/// Paths that one call of git is given as arguments.
pub const GIT_PATHS_PER_CALL_MAX: usize = 500;
/// A commit's message.
pub const GIT_MESSAGE_MAX_BYTES: usize = 64 << 10;
/// The user's own settings of git, and those of a repository.
pub const GIT_SETTINGS_MAX_BYTES: usize = 256 << 10;
/// Names in a repository's own folder that are looked at, lest one be a link.
pub const GIT_NAMES_MAX: usize = 1 << 20;
/// Folders in each other there.
pub const GIT_FOLDERS_MAX_DEPTH: usize = 64;
/// Commits and files that are shown one by one.
pub const GIT_SHOWN_MAX: usize = 100;
/// How long GitHub or Gitea may take to answer.
pub const FORGE_ANSWER_MAX_MS: u64 = 30_000;
/// The title of a pull request.
pub const PULL_REQUEST_TITLE_MAX_CHARS: usize = 200;
/// How long the process may take to end after the editor is gone. What is left then is removed at the next start.
pub const EXIT_MAX_MS: u64 = 4_000;

/// A plugin's component.
pub const PLUGIN_FILE_MAX_BYTES: usize = 32 << 20;
/// A plugin's `plugin.toml`.
pub const PLUGIN_MANIFEST_MAX_BYTES: usize = 64 << 10;
/// A file of cases of `airlock plugin test`.
pub const PLUGIN_CASES_MAX_BYTES: usize = 4 << 20;
/// Plugins in one folder.
pub const PLUGINS_MAX: usize = 200;
/// Tools, and slash commands, of one plugin.
pub const PLUGIN_TOOLS_MAX: usize = 64;
/// The name of a plugin, and of a tool of one.
pub const PLUGIN_NAME_MAX_CHARS: usize = 64;
/// Origins that a plugin may ask for; also its secrets.
pub const PLUGIN_ORIGINS_MAX: usize = 32;
/// Paths, and methods, of one origin that a plugin asks for.
pub const PLUGIN_PATHS_MAX: usize = 16;
/// A path, an origin, a header or a method that a plugin asks for: a person reads it before they say yes.
pub const PLUGIN_ASKED_MAX_BYTES: usize = 200;
/// The description of a plugin's tool.
pub const PLUGIN_DESCRIPTION_MAX_BYTES: usize = 4 << 10;
/// The input schema of a plugin's tool.
pub const PLUGIN_SCHEMA_MAX_BYTES: usize = 64 << 10;
/// Words that say what a plugin's tool may do.
pub const PLUGIN_EFFECTS_MAX: usize = 16;
/// One of them.
pub const PLUGIN_EFFECT_MAX_BYTES: usize = 64;
/// How long a call of a plugin may take.
pub const PLUGIN_CALL_MAX_MS: u64 = 30_000;
/// How long a plugin may compute in one call; what it waits for does not count.
pub const PLUGIN_CPU_MAX_MS: u64 = 5_000;
/// How often a computing plugin is looked at.
pub const PLUGIN_TICK_MS: u64 = 10;
/// How long a plugin may go on once the user stopped it, so that it can say something.
pub const PLUGIN_STOP_MAX_MS: u64 = 500;
/// Memory of one call of a plugin: all its memories together. Tables are bounded apart.
pub const PLUGIN_MEMORY_MAX_BYTES: usize = 64 << 20;
/// Elements of all tables of one call of a plugin.
pub const PLUGIN_TABLE_ELEMENTS_MAX: usize = 200_000;
/// Core instances, memories and tables of one call of a plugin.
pub const PLUGIN_INSTANCES_MAX: usize = 200;
/// Handles that a call of a plugin may hold at once.
pub const PLUGIN_HANDLES_MAX: usize = 1_000;
/// The stack of a plugin.
pub const PLUGIN_STACK_MAX_BYTES: usize = 512 << 10;
/// What our own functions have of the stack below a plugin's.
pub const PLUGIN_HOST_STACK_BYTES: usize = 2 << 20;
/// What a plugin may hand over in one call of the host, and as its answer.
pub const PLUGIN_HOST_CALL_MAX_BYTES: usize = 17 << 20;
/// Random bytes that a plugin may ask for at once.
pub const PLUGIN_RANDOM_MAX_BYTES: u64 = 64 << 10;
/// What a plugin's tool may answer to the model.
pub const PLUGIN_OUTPUT_MAX_BYTES: usize = 64 << 10;
/// What is kept of the end of a plugin's stdout and stderr.
pub const PLUGIN_STDERR_TAIL_BYTES: usize = 4 << 10;
/// Log lines of one call of a plugin.
pub const PLUGIN_LOG_LINES_MAX: usize = 1_000;
/// One of them, and one report of progress.
pub const PLUGIN_LOG_LINE_MAX_BYTES: usize = 4 << 10;
/// Reports of progress of one call of a plugin.
pub const PLUGIN_PROGRESS_MAX: usize = 1_000;
/// Commands that a plugin may run in one call.
pub const PLUGIN_EXECS_MAX: usize = 100;
/// Compiled plugins that are kept on the disk.
pub const PLUGIN_CACHE_FILES_MAX: usize = 200;
/// What the lists of the plugins' tools may take on the disk.
pub const PLUGIN_INDEX_MAX_BYTES: usize = 16 << 20;
/// Files that a plugin gets from one glob.
pub const PLUGIN_GLOB_MAX: usize = 10_000;
/// Lines that a plugin gets from one grep.
pub const PLUGIN_GREP_MAX: usize = 5_000;
/// The body of a plugin's request.
pub const PLUGIN_REQUEST_MAX_BYTES: usize = 4 << 20;
/// The headers of a plugin's request.
pub const PLUGIN_HEADERS_MAX: usize = 64;
/// The answer to a plugin's request.
pub const PLUGIN_RESPONSE_MAX_BYTES: usize = 8 << 20;
/// How long the answer to a plugin's request may take.
pub const PLUGIN_REQUEST_MAX_MS: u64 = 20_000;
/// Redirects that are followed.
pub const PLUGIN_REDIRECTS_MAX: usize = 5;
/// Requests that a plugin may send in a minute.
pub const PLUGIN_REQUESTS_PER_MINUTE_MAX: usize = 120;
/// What a plugin may keep in its store.
pub const PLUGIN_STORE_MAX_BYTES: usize = 4 << 20;
/// Keys in a plugin's store.
pub const PLUGIN_KEYS_MAX: usize = 1_000;
/// One of them.
pub const PLUGIN_KEY_MAX_BYTES: usize = 256;
/// One value in a plugin's store.
pub const PLUGIN_VALUE_MAX_BYTES: usize = 1 << 20;
/// How long another call may hold a plugin's store, or another process the grants.
pub const PLUGIN_LOCK_MAX_MS: u64 = 5_000;
/// The record of what plugins were granted.
pub const GRANTS_MAX_BYTES: usize = 4 << 20;
