//! What one call of a plugin may take of this machine's memory.

use crate::limits::{PLUGIN_INSTANCES_MAX, PLUGIN_TABLE_ELEMENTS_MAX};
use wasmtime::ResourceLimiter;

/// Counts all memories and tables of a call together.
pub(super) struct Limiter {
    memory_bytes: usize,
    memory_max_bytes: usize,
    table_elements: usize,
    /// The plugin wanted more memory than there is for it.
    pub(super) refused_memory: bool,
    /// The same for tables.
    pub(super) refused_table: bool,
}

impl Limiter {
    pub(super) fn new(memory_max_bytes: usize) -> Self {
        Self {
            memory_bytes: 0,
            memory_max_bytes,
            table_elements: 0,
            refused_memory: false,
            refused_table: false,
        }
    }
}

impl ResourceLimiter for Limiter {
    fn memory_growing(&mut self, current: usize, desired: usize, _: Option<usize>) -> wasmtime::Result<bool> {
        let total = (self.memory_bytes - current.min(self.memory_bytes)).saturating_add(desired);
        if total > self.memory_max_bytes {
            self.refused_memory = true;
            return Ok(false);
        }
        self.memory_bytes = total;
        Ok(true)
    }

    fn table_growing(&mut self, current: usize, desired: usize, _: Option<usize>) -> wasmtime::Result<bool> {
        let total = (self.table_elements - current.min(self.table_elements)).saturating_add(desired);
        if total > PLUGIN_TABLE_ELEMENTS_MAX {
            self.refused_table = true;
            return Ok(false);
        }
        self.table_elements = total;
        Ok(true)
    }

    fn instances(&self) -> usize {
        PLUGIN_INSTANCES_MAX
    }

    fn tables(&self) -> usize {
        PLUGIN_INSTANCES_MAX
    }

    fn memories(&self) -> usize {
        PLUGIN_INSTANCES_MAX
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_memories_count_together() {
        let mut limiter = Limiter::new(100);
        assert!(limiter.memory_growing(0, 60, None).unwrap());
        assert!(limiter.memory_growing(0, 30, None).unwrap());
        assert!(!limiter.memory_growing(30, 50, None).unwrap());
        assert!(limiter.refused_memory);
        assert!(limiter.memory_growing(60, 70, None).unwrap());
        assert!(!limiter.memory_growing(0, usize::MAX, None).unwrap());
        assert!(!limiter.table_growing(0, PLUGIN_TABLE_ELEMENTS_MAX + 1, None).unwrap());
    }
}
