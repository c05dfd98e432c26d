//! The command line.

use super::plugin::PluginArguments;
use clap::{Args, Parser, Subcommand};
use std::path::PathBuf;

/// A coding agent behind your editor's language-server protocol.
///
/// Your editor starts `airlock lsp`. To talk to the agent in a terminal, run `airlock chat`.
#[derive(Debug, Parser)]
#[command(name = "airlock", version, arg_required_else_help = true, after_help = ENVIRONMENT)]
pub struct Arguments {
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

const ENVIRONMENT: &str = "\
Environment:
  ANTHROPIC_API_KEY   the key for the Claude API
  ANTHROPIC_BASE_URL  another address of the API
  MODEL, MAX_TOKENS   the model to ask, and the most that one answer may hold
  SAFEDIR             the workspace where nothing else names one
  USE_SANDBOX         false: chat only, no tool runs
  AIRLOCK_LOG         what is logged to stderr: error, warn (the default), info, debug
  NO_COLOR            no colours";

/// What the program can do.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Serve an editor on stdin and stdout (what your editor starts)
    Lsp(LspArguments),
    /// Talk to the agent in this terminal, or ask it one thing from a script
    Chat(ChatArguments),
    /// Go through what the agent changed, file by file and hunk by hunk
    Review(ReviewArguments),
    /// Try, install and look at plugins, and say what they may do
    Plugin(PluginArguments),
    /// See whether everything is there that Airlock needs, and start a sandbox to prove it
    Doctor(DoctorArguments),
}

/// `airlock doctor`.
///
/// It asks nothing and changes nothing, unless it is told to fix what is missing. The exit status is 0 when
/// everything is there that is needed.
#[derive(Debug, Args)]
pub struct DoctorArguments {
    /// Say it as JSON, for programs
    #[arg(long, conflicts_with = "fix")]
    pub json: bool,

    /// Install what is missing, after showing how and asking you
    #[arg(long)]
    pub fix: bool,

    /// With --fix: do not ask
    #[arg(short, long, requires = "fix")]
    pub yes: bool,
}

/// `airlock review`.
///
/// Without a terminal it writes the changes to stdout and takes none.
#[derive(Debug, Args)]
pub struct ReviewArguments {
    /// The session; else the newest one with changes
    #[arg(value_name = "SESSION")]
    pub session: Option<String>,

    /// The folder that the agent worked in; else SAFEDIR, else where you are
    #[arg(short, long, value_name = "DIR")]
    pub workspace: Option<PathBuf>,
}

/// `airlock lsp`.
///
/// Speaks the language-server protocol on stdin and stdout until the editor is gone. Its log goes to stderr.
#[derive(Debug, Args)]
pub struct LspArguments {
    /// Editors pass it; there is no other way to speak
    #[arg(long)]
    pub stdio: bool,
}

/// `airlock chat`.
#[derive(Debug, Args)]
#[command(after_help = CHAT_HELP)]
pub struct ChatArguments {
    /// What to say first; `-` reads it from stdin
    #[arg(value_name = "PROMPT")]
    pub prompt: Option<String>,

    /// Take one turn: the answer on stdout, everything else on stderr
    #[arg(short, long)]
    pub print: bool,

    /// The folder to work in; else SAFEDIR, else where you are
    #[arg(short, long, value_name = "DIR")]
    pub workspace: Option<PathBuf>,
}

const CHAT_HELP: &str = "\
In a terminal you are asked for one prompt after the other. Keys:
  Enter            send; Alt+Enter, or \\ and Enter, begins a new line
  Tab              complete a /command or an @file
  Ctrl-C           stop the turn, or clear the line
  Ctrl-D, /quit    end

Without a terminal, or with --print, there is one turn. Nobody can be asked then,
so what needs your permission is refused. The exit status is 0 only when the turn
ended well.

Examples:
  airlock chat
  airlock chat \"what does this project do?\"
  git diff | airlock chat --print
  airlock chat --print \"name a colour\" > colour.txt";

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn the_command_line_is_consistent() {
        Arguments::command().debug_assert();
    }

    #[test]
    fn what_editors_pass_is_accepted() {
        for line in [vec!["airlock", "lsp"], vec!["airlock", "lsp", "--stdio"]] {
            assert!(matches!(Arguments::parse_from(line).command, Command::Lsp(_)));
        }
    }
}
