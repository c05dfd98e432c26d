//! Listing a thousand changes must not cost more in a large workspace than in a small one.

use super::{Measure, median};
use crate::sandbox_desk::SandboxDesk;
use airlock::patterns::Patterns;
use airlock::review;
use std::path::Path;
use std::time::Instant;

const CHANGED: usize = 1_000;
const LISTINGS: usize = 15;

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
        .against("among 2,000", median(in_small))
}

async fn desk(files: usize) -> SandboxDesk {
    let desk = SandboxDesk::with_files(|workspace| write(workspace, files));
    let script =
        format!("for n in $(seq 0 {}); do echo changed >> $((n / 100))/$((n % 100)).txt; done", CHANGED - 1);
    desk.bash(&script).await;
    desk
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
    begun.elapsed().as_secs_f64() * 1000.0
}
