//! Listing a thousand changes must not cost more in a large workspace than in a small one.

use super::Measure;
use super::comparison::RATIO_MAX;
use crate::editor::Home;
use crate::sandbox_desk::SandboxDesk;
use crate::workbench::Workbench;
use airlock::patterns::Patterns;
use airlock::review;
use std::path::Path;
use std::time::Instant;

const CHANGED: usize = 1_000;
const LISTINGS: usize = 15;
const TURNS: usize = 5;
/// Fewer than above, because every round of a comparison writes them again.
const FILES_OF_A_CLIENT: usize = 20_000;

pub(super) async fn listing() -> Measure {
    let (small, large) = (desk(2_000).await, desk(100_000).await);
    let (mut in_small, mut in_large) = (Vec::new(), Vec::new());
    for _ in 0..LISTINGS {
        in_small.push(time(&small).await);
        in_large.push(time(&large).await);
    }
    small.end().await;
    large.end().await;
    Measure::new("1,000 changes listed among 100,000 files", "ms", 1.5, in_large)
        .against("among 2,000", in_small)
}

/// The same as a client sees it, and the turns that make the changes.
pub(super) async fn through_the_server(binary: &Path) -> [Measure; 2] {
    let home = Home::new();
    write(&home.workspace(), FILES_OF_A_CLIENT);
    let desk = Workbench::with(|options| options.home(&home).program(binary, &["lsp"])).await;
    desk.bash("true").await;
    let (mut turns, mut listings) = (Vec::new(), Vec::new());
    for _ in 0..TURNS {
        let begun = Instant::now();
        desk.bash(&script()).await;
        turns.push(milliseconds(begun));
    }
    for _ in 0..LISTINGS {
        let begun = Instant::now();
        let changes = desk.changes().await;
        listings.push(milliseconds(begun));
        assert_eq!(changes.len(), CHANGED);
    }
    desk.end().await;
    [
        Measure::new("a turn that changes 1,000 files", "ms", RATIO_MAX, turns),
        Measure::new("1,000 changes listed for a client", "ms", RATIO_MAX, listings),
    ]
}

async fn desk(files: usize) -> SandboxDesk {
    let desk = SandboxDesk::with_files(|workspace| write(workspace, files));
    desk.bash(&script()).await;
    desk
}

fn script() -> String {
    format!("for n in $(seq 0 {}); do echo changed >> $((n / 100))/$((n % 100)).txt; done", CHANGED - 1)
}

fn write(workspace: &Path, files: usize) {
    for folder in 0..files / 100 {
        let folder = workspace.join(folder.to_string());
        std::fs::create_dir(&folder).expect("a folder");
        for file in 0..100 {
            std::fs::write(folder.join(format!("{file}.txt")), "as it was\n").expect("a file");
        }
    }
}

async fn time(desk: &SandboxDesk) -> f64 {
    let held = desk.view().hold().await.expect("a workspace");
    let begun = Instant::now();
    let listing = review::list(&held, &Patterns::default()).await.expect("a list");
    assert_eq!(listing.changes.len(), CHANGED);
    milliseconds(begun)
}

fn milliseconds(begun: Instant) -> f64 {
    begun.elapsed().as_secs_f64() * 1000.0
}
