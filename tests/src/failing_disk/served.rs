//! The disk as the kernel asks for it.
//!
//! Long because it is one trait, a method for each thing that the kernel may ask.

use super::look::{attributes, is_full_folder, named, names, node, touch};
use super::tree::{Kind, Names, Node, Number, Tree, now};
use super::{Hanging, Shared, lock};
use fuser::{
    BsdFileFlags, Errno, FileAttr, FileHandle, Filesystem, FopenFlags, Generation, INodeNo, LockOwner,
    OpenFlags, RenameFlags, ReplyAttr, ReplyCreate, ReplyData, ReplyDirectory, ReplyEmpty, ReplyEntry,
    ReplyOpen, ReplyStatfs, ReplyWrite, ReplyXattr, Request, TimeOrNow, WriteFlags,
};
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, SystemTime};

pub(super) struct Served {
    pub(super) shared: Arc<Mutex<Shared>>,
    pub(super) hanging: Arc<Hanging>,
}

/// Nothing is remembered: the kernel asks again each time.
const AT_ONCE: Duration = Duration::ZERO;

/// A generation for all: no number is used twice.
const FIRST: Generation = Generation(0);

/// Answers with what was found or made, or with why not.
fn entry(done: Result<FileAttr, Errno>, reply: ReplyEntry) {
    match done {
        Ok(done) => reply.entry(&AT_ONCE, &done, FIRST),
        Err(error) => reply.error(error),
    }
}

impl Served {
    /// Reads.
    fn look<T>(&self, work: impl FnOnce(&Tree) -> Result<T, Errno>) -> Result<T, Errno> {
        let shared = lock(&self.shared);
        shared.look()?;
        work(&shared.tree)
    }

    /// Changes something; `grows` needs space.
    fn change<T>(&self, grows: bool, work: impl FnOnce(&mut Tree) -> Result<T, Errno>) -> Result<T, Errno> {
        let mut shared = lock(&self.shared);
        if shared.hangs() {
            self.hanging.reached.send_replace(true);
            let mended = self.hanging.mended.wait_while(shared, |shared| shared.hangs());
            shared = mended.unwrap_or_else(PoisonError::into_inner);
        }
        shared.change(grows)?;
        work(&mut shared.tree)
    }

    /// Makes something in a folder under a name that is not taken.
    fn make(
        &self,
        request: &Request,
        parent: INodeNo,
        name: &OsStr,
        kind: Kind,
        mode: u32,
    ) -> Result<FileAttr, Errno> {
        self.change(true, |tree| {
            if names(tree, parent.0)?.contains_key(name) {
                return Err(Errno::EEXIST);
            }
            let number = tree.add(Node::new(kind, mode & 0o7777, (request.uid(), request.gid())));
            names(tree, parent.0)?.insert(name.to_owned(), number);
            touch(tree, parent.0);
            attributes(tree, number)
        })
    }

    fn sync(&self, number: Number) -> Result<(), Errno> {
        self.change(false, |tree| {
            tree.sync(number);
            Ok(())
        })
    }
}

impl Filesystem for Served {
    fn lookup(&self, _: &Request, parent: INodeNo, name: &OsStr, reply: ReplyEntry) {
        let found = self.look(|tree| attributes(tree, named(tree, parent.0, name)?));
        entry(found, reply);
    }

    fn getattr(&self, _: &Request, number: INodeNo, _: Option<FileHandle>, reply: ReplyAttr) {
        let found = self.look(|tree| attributes(tree, number.0));
        match found {
            Ok(done) => reply.attr(&AT_ONCE, &done),
            Err(error) => reply.error(error),
        }
    }

    fn setattr(
        &self,
        _: &Request,
        number: INodeNo,
        mode: Option<u32>,
        user: Option<u32>,
        group: Option<u32>,
        size: Option<u64>,
        _: Option<TimeOrNow>,
        modified: Option<TimeOrNow>,
        _: Option<SystemTime>,
        _: Option<FileHandle>,
        _: Option<SystemTime>,
        _: Option<SystemTime>,
        _: Option<SystemTime>,
        _: Option<BsdFileFlags>,
        reply: ReplyAttr,
    ) {
        let set = self.change(false, |tree| {
            let node = tree.get_mut(number.0).ok_or(Errno::ESTALE)?;
            node.mode = mode.map_or(node.mode, |mode| mode & 0o7777);
            node.owner = (user.unwrap_or(node.owner.0), group.unwrap_or(node.owner.1));
            if let (Some(size), Kind::File(bytes)) = (size, &mut node.kind) {
                bytes.resize(size as usize, 0);
                node.modified = now();
            }
            match modified {
                Some(TimeOrNow::SpecificTime(time)) => node.modified = time,
                Some(TimeOrNow::Now) => node.modified = now(),
                None => {}
            }
            attributes(tree, number.0)
        });
        match set {
            Ok(done) => reply.attr(&AT_ONCE, &done),
            Err(error) => reply.error(error),
        }
    }

    fn readlink(&self, _: &Request, number: INodeNo, reply: ReplyData) {
        let target = self.look(|tree| match &node(tree, number.0)?.kind {
            Kind::Link(target) => Ok(target.clone()),
            _ => Err(Errno::EINVAL),
        });
        match target {
            Ok(done) => reply.data(done.as_bytes()),
            Err(error) => reply.error(error),
        }
    }

    fn mknod(
        &self,
        request: &Request,
        parent: INodeNo,
        name: &OsStr,
        mode: u32,
        _: u32,
        device: u32,
        reply: ReplyEntry,
    ) {
        const KIND_MASK: u32 = 0o170_000;
        const CHARACTER_DEVICE: u32 = 0o020_000;
        let is_whiteout = mode & KIND_MASK == CHARACTER_DEVICE && device == 0;
        let kind = if is_whiteout { Kind::Whiteout } else { Kind::File(Vec::new()) };
        let made = self.make(request, parent, name, kind, mode);
        entry(made, reply);
    }

    fn mkdir(&self, request: &Request, parent: INodeNo, name: &OsStr, mode: u32, _: u32, reply: ReplyEntry) {
        let made = self.make(request, parent, name, Kind::Folder(Names::new()), mode);
        entry(made, reply);
    }

    fn symlink(&self, request: &Request, parent: INodeNo, name: &OsStr, target: &Path, reply: ReplyEntry) {
        let made = self.make(request, parent, name, Kind::Link(target.as_os_str().to_owned()), 0o777);
        entry(made, reply);
    }

    fn create(
        &self,
        request: &Request,
        parent: INodeNo,
        name: &OsStr,
        mode: u32,
        _: u32,
        _: i32,
        reply: ReplyCreate,
    ) {
        let made = self.make(request, parent, name, Kind::File(Vec::new()), mode);
        match made {
            Ok(done) => reply.created(&AT_ONCE, &done, FIRST, FileHandle(0), FopenFlags::empty()),
            Err(error) => reply.error(error),
        }
    }

    fn unlink(&self, _: &Request, parent: INodeNo, name: &OsStr, reply: ReplyEmpty) {
        let removed = self.change(false, |tree| {
            names(tree, parent.0)?.remove(name).ok_or(Errno::ENOENT)?;
            touch(tree, parent.0);
            Ok(())
        });
        match removed {
            Ok(_) => reply.ok(),
            Err(error) => reply.error(error),
        }
    }

    fn rmdir(&self, _: &Request, parent: INodeNo, name: &OsStr, reply: ReplyEmpty) {
        let removed = self.change(false, |tree| {
            if is_full_folder(tree, named(tree, parent.0, name)?) {
                return Err(Errno::ENOTEMPTY);
            }
            names(tree, parent.0)?.remove(name);
            touch(tree, parent.0);
            Ok(())
        });
        match removed {
            Ok(_) => reply.ok(),
            Err(error) => reply.error(error),
        }
    }

    fn rename(
        &self,
        _: &Request,
        parent: INodeNo,
        name: &OsStr,
        new_parent: INodeNo,
        new_name: &OsStr,
        flags: RenameFlags,
        reply: ReplyEmpty,
    ) {
        let is_plain = lock(&self.shared).is_plain;
        let renamed = self.change(false, |tree| {
            let known = RenameFlags::RENAME_NOREPLACE | RenameFlags::RENAME_EXCHANGE;
            if !known.contains(flags) || is_plain && !flags.is_empty() {
                return Err(Errno::EINVAL);
            }
            let number = named(tree, parent.0, name)?;
            let replaced = named(tree, new_parent.0, new_name);
            match replaced {
                Ok(_) if flags.contains(RenameFlags::RENAME_NOREPLACE) => return Err(Errno::EEXIST),
                Ok(replaced) if flags.contains(RenameFlags::RENAME_EXCHANGE) => {
                    names(tree, parent.0)?.insert(name.to_owned(), replaced);
                }
                Err(error) if flags.contains(RenameFlags::RENAME_EXCHANGE) => return Err(error),
                Ok(replaced) if is_full_folder(tree, replaced) => return Err(Errno::ENOTEMPTY),
                _ => drop(names(tree, parent.0)?.remove(name)),
            }
            names(tree, new_parent.0)?.insert(new_name.to_owned(), number);
            touch(tree, parent.0);
            touch(tree, new_parent.0);
            Ok(())
        });
        match renamed {
            Ok(_) => reply.ok(),
            Err(error) => reply.error(error),
        }
    }

    fn link(&self, _: &Request, number: INodeNo, parent: INodeNo, name: &OsStr, reply: ReplyEntry) {
        let linked = self.change(true, |tree| {
            if names(tree, parent.0)?.contains_key(name) {
                return Err(Errno::EEXIST);
            }
            names(tree, parent.0)?.insert(name.to_owned(), number.0);
            attributes(tree, number.0)
        });
        entry(linked, reply);
    }

    fn open(&self, _: &Request, _: INodeNo, _: OpenFlags, reply: ReplyOpen) {
        match self.look(|_| Ok(())) {
            Ok(_) => reply.opened(FileHandle(0), FopenFlags::empty()),
            Err(error) => reply.error(error),
        }
    }

    fn read(
        &self,
        _: &Request,
        number: INodeNo,
        _: FileHandle,
        offset: u64,
        size: u32,
        _: OpenFlags,
        _: Option<LockOwner>,
        reply: ReplyData,
    ) {
        let read = self.look(|tree| match &node(tree, number.0)?.kind {
            Kind::File(bytes) => {
                let from = bytes.len().min(offset as usize);
                Ok(bytes[from..bytes.len().min(from + size as usize)].to_vec())
            }
            _ => Err(Errno::EISDIR),
        });
        match read {
            Ok(done) => reply.data(&done),
            Err(error) => reply.error(error),
        }
    }

    fn write(
        &self,
        _: &Request,
        number: INodeNo,
        _: FileHandle,
        offset: u64,
        data: &[u8],
        _: WriteFlags,
        _: OpenFlags,
        _: Option<LockOwner>,
        reply: ReplyWrite,
    ) {
        let fills_up = data.len() > 1 && lock(&self.shared).fills_up();
        let data = if fills_up { &data[..data.len() / 2] } else { data };
        let write = |tree: &mut Tree| {
            let node = tree.get_mut(number.0).ok_or(Errno::ESTALE)?;
            let Kind::File(bytes) = &mut node.kind else { return Err(Errno::EISDIR) };
            let end = offset as usize + data.len();
            if bytes.len() < end {
                bytes.resize(end, 0);
            }
            bytes[offset as usize..end].copy_from_slice(data);
            node.modified = now();
            Ok(())
        };
        let written = if fills_up { write(&mut lock(&self.shared).tree) } else { self.change(true, write) };
        match written {
            Ok(_) => reply.written(data.len() as u32),
            Err(error) => reply.error(error),
        }
    }

    fn flush(&self, _: &Request, _: INodeNo, _: FileHandle, _: LockOwner, reply: ReplyEmpty) {
        reply.ok();
    }

    fn fsync(&self, _: &Request, number: INodeNo, _: FileHandle, _: bool, reply: ReplyEmpty) {
        match self.sync(number.0) {
            Ok(_) => reply.ok(),
            Err(error) => reply.error(error),
        }
    }

    fn fsyncdir(&self, _: &Request, number: INodeNo, _: FileHandle, _: bool, reply: ReplyEmpty) {
        super::lock(&self.shared).folder_syncs += 1;
        match self.sync(number.0) {
            Ok(_) => reply.ok(),
            Err(error) => reply.error(error),
        }
    }

    fn readdir(&self, _: &Request, number: INodeNo, _: FileHandle, offset: u64, mut reply: ReplyDirectory) {
        let listed = self.look(|tree| {
            let Kind::Folder(names) = &node(tree, number.0)?.kind else { return Err(Errno::ENOTDIR) };
            let kind = |number| attributes(tree, number).map(|attributes| attributes.kind);
            names.iter().map(|(name, number)| Ok((name.clone(), *number, kind(*number)?))).collect()
        });
        let listed: Vec<_> = match listed {
            Ok(listed) => listed,
            Err(error) => return reply.error(error),
        };
        for (index, (name, number, kind)) in listed.into_iter().enumerate().skip(offset as usize) {
            if reply.add(INodeNo(number), index as u64 + 1, kind, name) {
                break;
            }
        }
        reply.ok();
    }

    fn statfs(&self, _: &Request, _: INodeNo, reply: ReplyStatfs) {
        const BLOCKS: u64 = 1 << 20;
        match self.look(|_| Ok(())) {
            Ok(()) => reply.statfs(BLOCKS, BLOCKS, BLOCKS, BLOCKS, BLOCKS, 4096, 255, 4096),
            Err(error) => reply.error(error),
        }
    }

    fn getxattr(&self, _: &Request, _: INodeNo, _: &OsStr, _: u32, reply: ReplyXattr) {
        reply.error(Errno::ENODATA);
    }
}
