//! What the disk's tree looks like to the kernel.

use super::tree::{Kind, Names, Node, Number, ROOT, Tree, now};
use fuser::{Errno, FileAttr, FileType, INodeNo};
use std::ffi::OsStr;

pub(super) fn node(tree: &Tree, number: Number) -> Result<&Node, Errno> {
    tree.get(number).ok_or(Errno::ESTALE)
}

pub(super) fn names(tree: &mut Tree, folder: Number) -> Result<&mut Names, Errno> {
    tree.names(folder).ok_or(Errno::ENOTDIR)
}

pub(super) fn named(tree: &Tree, folder: Number, name: &OsStr) -> Result<Number, Errno> {
    match &node(tree, folder)?.kind {
        Kind::Folder(names) => names.get(name).copied().ok_or(Errno::ENOENT),
        _ => Err(Errno::ENOTDIR),
    }
}

pub(super) fn touch(tree: &mut Tree, number: Number) {
    if let Some(node) = tree.get_mut(number) {
        node.modified = now();
    }
}

pub(super) fn is_full_folder(tree: &Tree, number: Number) -> bool {
    matches!(tree.get(number).map(|node| &node.kind), Some(Kind::Folder(names)) if !names.is_empty())
}

pub(super) fn attributes(tree: &Tree, number: Number) -> Result<FileAttr, Errno> {
    let node = node(tree, number)?;
    let (kind, size) = match &node.kind {
        Kind::File(bytes) => (FileType::RegularFile, bytes.len()),
        Kind::Folder(_) => (FileType::Directory, 0),
        Kind::Link(target) => (FileType::Symlink, target.len()),
        Kind::Whiteout => (FileType::CharDevice, 0),
    };
    let time = node.modified;
    Ok(FileAttr {
        ino: INodeNo(number),
        size: size as u64,
        blocks: size.div_ceil(512) as u64,
        atime: time,
        mtime: time,
        ctime: time,
        crtime: time,
        kind,
        perm: node.mode as u16,
        nlink: if number == ROOT { 2 } else { tree.links(number) },
        uid: node.owner.0,
        gid: node.owner.1,
        rdev: 0,
        blksize: 4096,
        flags: 0,
    })
}
