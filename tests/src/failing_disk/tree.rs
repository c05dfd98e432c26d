//! What is on the disk, and what of it a power cut leaves: of a file what was synced, of a folder the names that were.

use rustix::time::{ClockId, clock_gettime};
use std::collections::{BTreeMap, HashMap};
use std::ffi::OsString;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

pub(super) type Number = u64;
pub(super) type Names = BTreeMap<OsString, Number>;

pub(super) const ROOT: Number = 1;

#[derive(Clone)]
pub(super) struct Node {
    pub(super) kind: Kind,
    pub(super) mode: u32,
    pub(super) owner: (u32, u32),
    pub(super) modified: SystemTime,
    /// What a power cut leaves of it.
    safe: Kind,
}

#[derive(Clone, PartialEq)]
pub(super) enum Kind {
    File(Vec<u8>),
    Folder(Names),
    Link(OsString),
    /// What stands in an overlay's upper layer for something that was deleted.
    Whiteout,
}

pub(super) struct Tree {
    nodes: HashMap<Number, Node>,
    last: Number,
}

impl Tree {
    pub(super) fn new() -> Self {
        let mut root = Node::new(Kind::Folder(Names::new()), 0o755, (0, 0));
        root.safe = root.kind.clone();
        Self { nodes: HashMap::from([(ROOT, root)]), last: ROOT }
    }

    pub(super) fn get(&self, number: Number) -> Option<&Node> {
        self.nodes.get(&number)
    }

    pub(super) fn get_mut(&mut self, number: Number) -> Option<&mut Node> {
        self.nodes.get_mut(&number)
    }

    pub(super) fn names(&mut self, folder: Number) -> Option<&mut Names> {
        match &mut self.nodes.get_mut(&folder)?.kind {
            Kind::Folder(names) => Some(names),
            _ => None,
        }
    }

    pub(super) fn add(&mut self, node: Node) -> Number {
        self.last += 1;
        self.nodes.insert(self.last, node);
        self.last
    }

    /// How many names a node has.
    pub(super) fn links(&self, number: Number) -> u32 {
        let names = |node: &Node| match &node.kind {
            Kind::Folder(names) => names.values().filter(|named| **named == number).count(),
            _ => 0,
        };
        self.nodes.values().map(names).sum::<usize>() as u32
    }

    pub(super) fn sync(&mut self, number: Number) {
        if let Some(node) = self.nodes.get_mut(&number) {
            node.safe = node.kind.clone();
        }
    }

    pub(super) fn sync_all(&mut self) {
        self.nodes.values_mut().for_each(|node| node.safe = node.kind.clone());
    }

    /// Nothing is left but what was synced.
    pub(super) fn cut_power(&mut self) {
        self.nodes.values_mut().for_each(|node| node.kind = node.safe.clone());
    }
}

impl Node {
    pub(super) fn new(kind: Kind, mode: u32, owner: (u32, u32)) -> Self {
        let safe = match &kind {
            Kind::File(_) => Kind::File(Vec::new()),
            Kind::Folder(_) => Kind::Folder(Names::new()),
            // What a link says is kept with its name.
            Kind::Link(target) => Kind::Link(target.clone()),
            Kind::Whiteout => Kind::Whiteout,
        };
        Self { kind, mode, owner, modified: now(), safe }
    }
}

/// The time as the kernel gives it to files: a clock that goes in steps. A finer one would be ahead of every other disk.
pub(super) fn now() -> SystemTime {
    let time = clock_gettime(ClockId::RealtimeCoarse);
    UNIX_EPOCH + Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
}
