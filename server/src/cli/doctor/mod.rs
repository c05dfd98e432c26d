//! `airlock doctor`: what is there, what is missing, and how to get it.
//!
//! | file | holds |
//! |---|---|
//! | `finding` | one thing that was looked at, and what came of it |
//! | `configuration`, `machine`, `sandbox` | what is looked at, a file a kind |
//! | `report` | the findings as text and as JSON |
//! | `fix` | runs what gets the rest, at the user's word |
//!
//! Architecture invariant: without `--fix` it asks nothing and changes nothing. It knows no package and no program by
//! itself: those below it do, and they say the same to whoever starts a session.

mod configuration;
mod finding;
mod fix;
mod machine;
mod report;
mod sandbox;

use super::arguments::DoctorArguments;
use super::exit::Exit;
use super::fail;
use super::paint::Paint;
use super::signals::Signals;
use crate::config;
use crate::distribution::Distribution;
use crate::environment::Environment;
use crate::sandbox::Isolation;
use finding::{Finding, State};
use std::io::{self, IsTerminal, Write};

/// Everything that was found.
struct Findings {
    all: Vec<Finding>,
    /// What a sandbox was proved to be.
    isolation: Option<Isolation>,
}

impl Findings {
    fn are_well(&self) -> bool {
        self.all.iter().all(|finding| finding.state != State::Failed)
    }

    fn exit(&self) -> Exit {
        if self.are_well() { Exit::Well } else { Exit::Failed }
    }
}

/// Looks at everything, and says what it found. It fails when something is missing that is needed.
pub(super) async fn run(environment: &Environment, arguments: DoctorArguments) -> Exit {
    match examine(environment, arguments).await {
        Ok(exit) => exit,
        Err(error) => fail(&error),
    }
}

async fn examine(environment: &Environment, arguments: DoctorArguments) -> anyhow::Result<Exit> {
    let distribution = Distribution::of_system();
    let mut signals = Signals::new()?;
    if arguments.json {
        return Ok(match look(environment, &mut signals, |_| Ok(())).await? {
            Ok(findings) => {
                writeln!(io::stdout(), "{:#}", report::json(&findings, &distribution))?;
                findings.exit()
            }
            Err(exit) => exit,
        });
    }
    let paint = Paint::of_stream(environment, io::stdout().is_terminal());
    let style = Style { paint, offers_fix: !arguments.fix };
    let told = tell(environment, &mut signals, &distribution, style).await?;
    match told {
        Ok(findings) if arguments.fix => {
            match fix::fix(environment, &findings, &distribution, arguments.yes, &mut signals).await? {
                fix::Fixed::Nothing(exit) => Ok(exit),
                fix::Fixed::Something => {
                    writeln!(io::stdout(), "\nLooking again:")?;
                    let again = tell(environment, &mut signals, &distribution, style).await?;
                    Ok(again.map_or_else(|exit| exit, |findings| findings.exit()))
                }
            }
        }
        Ok(findings) => Ok(findings.exit()),
        Err(exit) => Ok(exit),
    }
}

/// How it is told to a person.
#[derive(Clone, Copy)]
struct Style {
    paint: Paint,
    /// They have not asked for a fix yet.
    offers_fix: bool,
}

/// Looks, and tells each finding as soon as it is known.
async fn tell(
    environment: &Environment,
    signals: &mut Signals,
    distribution: &Distribution,
    Style { paint, offers_fix }: Style,
) -> anyhow::Result<Result<Findings, Exit>> {
    let mut stdout = io::stdout();
    writeln!(stdout, "{}", report::title(distribution))?;
    let found = look(environment, signals, |finding| {
        write!(io::stdout(), "{}", report::lines(finding, paint))?;
        io::stdout().flush()
    });
    let found = found.await?;
    if let Ok(findings) = &found {
        write!(stdout, "{}", report::summary(findings, offers_fix))?;
        stdout.flush()?;
    }
    Ok(found)
}

/// Looks at one thing after the other; how to end where a signal came meanwhile.
async fn look(
    environment: &Environment,
    signals: &mut Signals,
    mut tell: impl FnMut(&Finding) -> io::Result<()>,
) -> anyhow::Result<Result<Findings, Exit>> {
    let (settings, problems) = config::load(environment);
    let mut all = configuration::findings(environment, &settings, &problems);
    all.extend(machine::findings(environment));
    for finding in &all {
        tell(finding)?;
    }
    let waiting = Waiting::begin();
    let (of_sandbox, isolation) = tokio::select! {
        biased;
        signal = signals.next() => return Ok(Err(Exit::Signalled(signal))),
        found = sandbox::findings(environment, &settings) => found,
    };
    drop(waiting);
    for finding in of_sandbox {
        tell(&finding)?;
        all.push(finding);
    }
    Ok(Ok(Findings { all, isolation }))
}

/// A line for a person who waits; it goes when there is more to say.
struct Waiting(bool);

impl Waiting {
    fn begin() -> Self {
        let is_seen = io::stderr().is_terminal();
        if is_seen {
            // Nobody is lost who does not see it.
            let _ = write!(io::stderr(), "     starting a sandbox, to see whether it works …");
        }
        Self(is_seen)
    }
}

impl Drop for Waiting {
    fn drop(&mut self) {
        if self.0 {
            let _ = write!(io::stderr(), "\r\x1b[K");
        }
    }
}
