//! The user's word that a workspace's own configuration may be used.
