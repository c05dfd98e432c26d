//! What the agent, or the repository that it works in, may try, and what must happen. The scripted Claude is the
//! attacker; the binary and the sandbox are real. `SECURITY.md` lists every attack with the test that holds it.

mod accepting;
mod arguments;
mod configuration;
mod contained;
mod escapes;
mod forging;
pub(crate) mod git_hostile;
mod hostile_guest;
mod isolation;
mod kernel;
mod later;
mod led_to;
mod paths;
mod places;
mod planted;
mod races;
mod shapes;
mod strangers;
mod the_key;
mod walls;
