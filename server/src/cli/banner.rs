//! The first lines of a conversation in the terminal: who answers, where, and behind which wall.

use super::paint::Paint;
use crate::agent::{Agent, Session};
use crate::config;
use crate::neutral::neutral_line;

/// The first lines.
pub(super) async fn text(agent: &Agent, session: &Session, paint: Paint) -> String {
    let place = session.workspace().map(|root| root.as_host().display().to_string()).unwrap_or_default();
    let title = format!("airlock {}", env!("CARGO_PKG_VERSION"));
    let model = session.model();
    let mut text = format!("{} · {} · {}\n", paint.bold(&title), neutral_line(&model), neutral_line(&place));
    if !agent.settings().use_sandbox {
        text.push_str(
            &paint.doubtful("no sandbox (USE_SANDBOX=false): the agent can talk, but runs nothing"),
        );
        text.push('\n');
    }
    if agent.settings().api_key.is_none() {
        let file = config::user_file(agent.environment());
        let advice = format!("there is no API key: set ANTHROPIC_API_KEY, or api_key in {}", file.display());
        text.push_str(&format!("{}\n", paint.bad(&neutral_line(&advice))));
    }
    text.push_str(&paint.dim("/help shows the commands · Alt+Enter begins a new line · Ctrl-D ends\n"));
    text
}
