//! Neovim's RPC: MessagePack over its pipes. A thread reads; whoever waits for an answer is told.

use super::screen::Screen;
use rmpv::Value;
use std::collections::HashMap;
use std::io::{BufReader, BufWriter, Read, Write};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use tokio::sync::{oneshot, watch};

const REQUEST: u64 = 0;
const RESPONSE: u64 = 1;
const NOTIFICATION: u64 = 2;

type Answer = Result<Value, String>;

/// One end of it.
pub(super) struct Rpc {
    output: Mutex<Box<dyn Write + Send>>,
    next_id: AtomicU64,
    waiting: Arc<Mutex<HashMap<u64, oneshot::Sender<Answer>>>>,
    screen: Arc<Mutex<Screen>>,
    drawn: watch::Receiver<u64>,
}

impl Rpc {
    pub(super) fn new(input: impl Read + Send + 'static, output: impl Write + Send + 'static) -> Self {
        let (waiting, screen) = (Arc::default(), Arc::default());
        let (drawing, drawn) = watch::channel(0);
        let listener = Listener { waiting: Arc::clone(&waiting), screen: Arc::clone(&screen), drawing };
        std::thread::spawn(move || listener.listen(input));
        let output: Box<dyn Write + Send> = Box::new(BufWriter::new(output));
        Self { output: Mutex::new(output), next_id: AtomicU64::new(0), waiting, screen, drawn }
    }

    /// Asks for something. An `Err` is Neovim's own word, or that it is gone.
    pub(super) async fn request(&self, method: &str, arguments: Vec<Value>) -> Answer {
        let id = self.next_id.fetch_add(1, Ordering::Relaxed);
        let (sender, receiver) = oneshot::channel();
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner).insert(id, sender);
        let message = vec![REQUEST.into(), id.into(), method.into(), Value::Array(arguments)];
        self.send(message)?;
        receiver.await.unwrap_or_else(|_| Err("Neovim has ended".to_owned()))
    }

    fn send(&self, message: Vec<Value>) -> Result<(), String> {
        let mut output = self.output.lock().unwrap_or_else(PoisonError::into_inner);
        let written = rmpv::encode::write_value(&mut *output, &Value::Array(message));
        written.map_err(|error| error.to_string())?;
        output.flush().map_err(|error| error.to_string())
    }

    pub(super) fn with_screen<T>(&self, look: impl FnOnce(&Screen) -> T) -> T {
        look(&self.screen.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Counts how often the screen was drawn; closed when Neovim has ended.
    pub(super) fn drawn(&self) -> watch::Receiver<u64> {
        self.drawn.clone()
    }
}

struct Listener {
    waiting: Arc<Mutex<HashMap<u64, oneshot::Sender<Answer>>>>,
    screen: Arc<Mutex<Screen>>,
    drawing: watch::Sender<u64>,
}

impl Listener {
    fn listen(self, input: impl Read) {
        let mut input = BufReader::new(input);
        while let Ok(Value::Array(message)) = rmpv::decode::read_value(&mut input) {
            match message.first().and_then(Value::as_u64) {
                Some(RESPONSE) => self.answered(message),
                Some(NOTIFICATION) if message[1].as_str() == Some("redraw") => self.redraw(&message[2]),
                _ => {}
            }
        }
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner).clear();
    }

    fn answered(&self, message: Vec<Value>) {
        let [_, id, error, result] = <[Value; 4]>::try_from(message).expect("a response has four parts");
        let id = id.as_u64().expect("an id of ours");
        let waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner).remove(&id);
        let answer = if error.is_nil() { Ok(result) } else { Err(error.to_string()) };
        if let Some(waiting) = waiting {
            // Who asked may have given up.
            let _ = waiting.send(answer);
        }
    }

    fn redraw(&self, events: &Value) {
        let flushed = {
            let mut screen = self.screen.lock().unwrap_or_else(PoisonError::into_inner);
            events.as_array().into_iter().flatten().filter(|event| screen.take(event)).count()
        };
        if flushed > 0 {
            self.drawing.send_modify(|count| *count += 1);
        }
    }
}
