//! Asks the sandbox which of the files that the user changed it shows as they were.

use super::freshness::Suspect;
use crate::limits::STALE_CALL_MAX_BYTES;
use crate::paths::WorkspacePath;
use airlock_guest::{Answer, Call, Expected, Link, LinkError};
use std::collections::HashSet;
use std::io;

/// Those of the suspects that do not look inside as they should.
pub(super) async fn stale(link: &Link, suspects: Vec<Suspect>) -> Result<Vec<WorkspacePath>, LinkError> {
    let mut paths = HashSet::new();
    for expected in in_calls(suspects.iter().filter_map(|suspect| suspect.expected.clone()))
        .map_err(|error| LinkError::Refused(error.to_string()))?
    {
        let Answer::Stale { paths: some } = link.ask(&Call::Stale { expected }, None).await? else {
            return Err(LinkError::Refused("the sandbox gave an answer that does not fit".to_owned()));
        };
        paths.extend(some);
    }
    let stale = |suspect: &Suspect| suspect.expected.is_none() || paths.contains(suspect.path.as_str());
    Ok(suspects.into_iter().filter(stale).map(|suspect| suspect.path).collect())
}

/// As few lists as there can be, each of which fits into a call.
fn in_calls(all: impl Iterator<Item = Expected>) -> io::Result<Vec<Vec<Expected>>> {
    let (mut calls, mut bytes) = (Vec::<Vec<Expected>>::new(), 0);
    for expected in all {
        // With a comma.
        let more = serde_json::to_vec(&expected)?.len() + 1;
        bytes += more;
        match calls.last_mut() {
            Some(call) if bytes <= STALE_CALL_MAX_BYTES => call.push(expected),
            _ => {
                calls.push(vec![expected]);
                bytes = more;
            }
        }
    }
    Ok(calls)
}

#[cfg(test)]
mod tests {
    use super::*;
    use airlock_guest::ExpectedKind;
    use airlock_guest::frames::FRAME_MAX_BYTES;

    #[test]
    fn a_call_about_any_number_of_changed_files_fits_into_a_frame() {
        // As long as they get: a control character is six bytes on its way.
        let path = |number: usize| format!("{number}{}", "\u{1}".repeat(4_000));
        for count in [0, 1, 1_000] {
            let all = (0..count).map(|number| Expected { path: path(number), kind: ExpectedKind::Missing });
            let calls = in_calls(all).unwrap();
            assert_eq!(calls.iter().map(Vec::len).sum::<usize>(), count);
            for expected in calls {
                assert!(serde_json::to_vec(&Call::Stale { expected }).unwrap().len() <= FRAME_MAX_BYTES);
            }
        }
    }
}
