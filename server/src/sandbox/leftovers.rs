//! What a killed server left behind: found by its labels, removed at the next start.

use super::container;
use super::podman::{PodmanService, within};
use crate::storage;
use podman_api::opts::{ContainerListFilter, ContainerListOpts};
use std::path::Path;

const OWNER: &str = "airlock.owner";
const SESSION: &str = "airlock.session";

/// Labels that name the server: its process and when that began, since a process id is used again.
pub(super) fn labels(session_id: &str) -> Vec<(String, String)> {
    let pid = std::process::id();
    let owner = format!("{pid}@{}", began(pid).unwrap_or_default());
    vec![(OWNER.to_owned(), owner), (SESSION.to_owned(), session_id.to_owned())]
}

/// Removes the containers of servers that are gone. What cannot be removed is left to the next start.
pub(super) async fn remove(service: &PodmanService) {
    let ours = ContainerListFilter::LabelKey(OWNER.to_owned());
    let options = ContainerListOpts::builder().all(true).filter([ours]).build();
    let listed = match within("list containers", service.api().containers().list(&options)).await {
        Ok(listed) => listed,
        Err(error) => return tracing::warn!(%error, "leftovers cannot be looked for"),
    };
    for found in listed {
        let owner = found.labels.as_ref().and_then(|labels| labels.get(OWNER));
        let (Some(id), Some(owner)) = (found.id, owner) else { continue };
        if !lives(owner)
            && let Err(error) = container::remove(service, &id).await
        {
            tracing::warn!(id, %error, "a leftover container cannot be removed");
        }
    }
}

fn lives(owner: &str) -> bool {
    let Some((pid, time)) = owner.split_once('@') else { return false };
    pid.parse().ok().and_then(began).is_some_and(|now| now == time)
}

/// When a process began, in the kernel's own count.
fn began(pid: u32) -> Option<String> {
    let stat = storage::read_text(Path::new(&format!("/proc/{pid}/stat")), 4 << 10).ok()??;
    // The name may hold anything, also spaces and brackets; what follows the last bracket is numbers.
    stat.rsplit_once(')')?.1.split_whitespace().nth(19).map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn we_live_and_a_process_that_began_at_another_time_does_not() {
        let [(_, owner), _] = &labels("s")[..] else { panic!() };
        assert!(lives(owner));
        let (pid, time) = owner.split_once('@').unwrap();
        assert!(!lives(&format!("{pid}@{time}0")));
        assert!(!lives("999999999@1") && !lives("nonsense"));
    }
}
