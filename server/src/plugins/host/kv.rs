//! `kv`: a small store of the plugin's own.

use super::{HostState, error, wit};
use crate::plugins::kv::{KvError, KvStore};
use std::sync::Arc;
use wit::types::ToolError;

type Answer<T> = wasmtime::Result<Result<T, ToolError>>;

impl wit::kv::Host for HostState {
    async fn get(&mut self, key: String) -> Answer<Option<Vec<u8>>> {
        Ok(self.store(move |store| store.get(&key)).await)
    }

    async fn set(&mut self, key: String, value: Vec<u8>) -> Answer<()> {
        Ok(self.store(move |store| store.set(&key, &value)).await)
    }

    async fn delete(&mut self, key: String) -> Answer<()> {
        Ok(self.store(move |store| store.delete(&key)).await)
    }

    async fn list(&mut self, prefix: String) -> Answer<Vec<String>> {
        Ok(self.store(move |store| store.list(&prefix)).await)
    }
}

impl HostState {
    async fn store<T: Send + 'static>(
        &mut self,
        work: impl FnOnce(&KvStore) -> Result<T, KvError> + Send + 'static,
    ) -> Result<T, ToolError> {
        let store = Arc::clone(&self.context.kv);
        match tokio::task::spawn_blocking(move || work(&store)).await {
            Ok(Ok(value)) => Ok(value),
            Ok(Err(KvError::TooLarge(why))) => Err(error("too-large", why)),
            Ok(Err(KvError::Failed(why))) => Err(super::passing("failed", why)),
            Err(crashed) => Err(error("failed", crashed.to_string())),
        }
    }
}
