//! A verdict of somebody who has just looked at all that waits for review.

use airlock::patterns::Patterns;
use airlock::review::{self, Displayed, Selection};
use airlock::view::HeldView;

/// This selection, of what is listed now. Where nothing can be listed, nothing was shown.
pub async fn shown(held: &HeldView<'_>, selection: Selection) -> Selection {
    let listing = review::list(held, &Patterns::default()).await;
    Selection { shown: listing.map(|listing| Displayed::all_of(&listing)).unwrap_or_default(), ..selection }
}
