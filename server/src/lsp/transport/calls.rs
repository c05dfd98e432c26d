//! Runs the handlers of requests and notifications.
//!
//! A handler is polled once where it arrived, and becomes a task of its own if it is not done by then. It is polled
//! outside tokio's budget, so that a lock which nobody holds does not make it wait, and order is lost only to real waits.
//!
//! Architecture invariant: a request has exactly one response: from its handler, or from here when the handler panicked,
//! gave none, or could not be started.

use std::any::Any;
use std::future::poll_fn;
use std::ops::ControlFlow;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;

use futures::FutureExt;
use futures::future::{BoxFuture, ready};
use tokio::sync::mpsc::{self, error::TrySendError};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::task::JoinSet;
use tokio_util::sync::{CancellationToken, DropGuard};
use tower_lsp::jsonrpc::{Error, ErrorCode, Id, Request, Response};
use tower_lsp::{ExitedError, LanguageServer, LspService};
use tower_service::Service;

use super::serve::Ended;
use super::writer::Answer;
use crate::limits::{LSP_NOTIFICATION_PLACE_MAX_MS, LSP_NOTIFICATIONS_IN_WORK_MAX, LSP_REQUESTS_IN_WORK_MAX};

/// LSP's `RequestFailed`: the request was good, the server could not do it.
const REQUEST_FAILED: i64 = -32803;

type Flow = ControlFlow<Ended>;
type Outcome = Result<Result<Option<Response>, ExitedError>, Box<dyn Any + Send>>;
type Handler = BoxFuture<'static, Outcome>;

tokio::task_local! {
    /// Of the request whose handler runs.
    static ANSWERED: CancellationToken;
}

/// For what a request leads to: a token that is cancelled when the response to the request in work is written. A client may
/// take no question while it waits for a response; Emacs drops it.
pub(in crate::lsp) fn answered() -> CancellationToken {
    ANSWERED.try_with(CancellationToken::clone).unwrap_or_else(|_| {
        let at_once = CancellationToken::new();
        at_once.cancel();
        at_once
    })
}

/// The handlers, at work and about to be.
pub(super) struct Calls<S> {
    service: LspService<S>,
    responses: mpsc::Sender<Answer>,
    handlers: JoinSet<()>,
    requests_in_work: Arc<Semaphore>,
    notifications_in_work: Arc<Semaphore>,
    initialized: bool,
    shut_down: bool,
}

impl<S: LanguageServer> Calls<S> {
    pub(super) fn new(service: LspService<S>, responses: mpsc::Sender<Answer>) -> Self {
        Self {
            service,
            responses,
            handlers: JoinSet::new(),
            requests_in_work: Arc::new(Semaphore::new(LSP_REQUESTS_IN_WORK_MAX)),
            notifications_in_work: Arc::new(Semaphore::new(LSP_NOTIFICATIONS_IN_WORK_MAX)),
            initialized: false,
            shut_down: false,
        }
    }

    /// Starts the handler of a request or notification.
    pub(super) async fn take(&mut self, request: Request) -> Flow {
        while self.handlers.try_join_next().is_some() {}
        let answered = CancellationToken::new();
        let call = Call {
            method: request.method().to_owned(),
            id: request.id().cloned(),
            answered: answered.clone(),
            guard: answered.drop_guard(),
        };
        match (call.method.as_str(), &call.id) {
            ("initialize", Some(_)) => self.initialize(request, call).await,
            ("exit", _) => {
                self.request(request, call, None).await?;
                ControlFlow::Break(Ended::Exit { after_shutdown: self.shut_down })
            }
            ("shutdown", Some(_)) => {
                self.shut_down |= self.initialized;
                // However busy the server is, it can be told to stop. Only the first one reaches a handler.
                self.request(request, call, None).await
            }
            (_, Some(id)) => match self.place_for_request().await {
                Some(place) => self.request(request, call, Some(place)).await,
                None => {
                    let refusal = Response::from_error(id.clone(), too_many_requests());
                    self.refuse(Some(refusal)).await
                }
            },
            (_, None) => self.notification(request, call).await,
        }
    }

    /// Sends a response for which no handler ran.
    pub(super) async fn refuse(&mut self, response: Option<Response>) -> Flow {
        match response {
            Some(response) => {
                let answer = Answer::new(response, CancellationToken::new().drop_guard());
                self.respond(answer, None).await
            }
            None => ControlFlow::Continue(()),
        }
    }

    /// Waits until the client takes no more output.
    pub(super) async fn output_closed(&self) {
        self.responses.closed().await;
    }

    /// Takes no more calls. The handlers go on until the returned set is dropped.
    pub(super) fn finish(self) -> JoinSet<()> {
        self.handlers
    }

    /// Nothing else is looked at before the server is initialized: tower-lsp would refuse it.
    async fn initialize(&mut self, request: Request, call: Call) -> Flow {
        let outcome = self.begin(request, &call).await;
        let Some(mut answer) = call.answer(outcome) else {
            return ControlFlow::Continue(());
        };
        answer.opens = answer.response.is_ok();
        self.initialized |= answer.opens;
        self.respond(answer, None).await
    }

    async fn request(&mut self, request: Request, call: Call, place: Option<OwnedSemaphorePermit>) -> Flow {
        let mut handler = self.begin(request, &call);
        if let Some(outcome) = first_poll(&mut handler).await {
            return match call.answer(outcome) {
                Some(answer) => self.respond(answer, place).await,
                None => ControlFlow::Continue(()),
            };
        }
        let responses = self.responses.clone();
        self.handlers.spawn(async move {
            if let Some(answer) = call.answer(handler.await) {
                // It fails when there is no client left.
                let _ = responses.send(answer).await;
            }
            drop(place);
        });
        ControlFlow::Continue(())
    }

    async fn notification(&mut self, request: Request, call: Call) -> Flow {
        let mut handler = self.begin(request, &call);
        if let Some(outcome) = first_poll(&mut handler).await {
            call.answer(outcome);
        } else if let Some(place) = self.place_for_notification().await {
            self.handlers.spawn(async move {
                call.answer(handler.await);
                drop(place);
            });
        } else {
            tracing::error!(
                method = call.method,
                "a notification was given up at its first wait: too many others wait"
            );
        }
        ControlFlow::Continue(())
    }

    fn begin(&mut self, request: Request, call: &Call) -> Handler {
        // `poll_ready` need not be asked: it only tells that `initialize` is at work, which is awaited above.
        match catch_unwind(AssertUnwindSafe(|| self.service.call(request))) {
            Ok(handler) => {
                ANSWERED.scope(call.answered.clone(), AssertUnwindSafe(handler).catch_unwind()).boxed()
            }
            Err(panic) => ready(Err(panic)).boxed(),
        }
    }

    /// Handlers of the same burst may only wait for their turn to run: give them one before saying no.
    async fn place_for_request(&self) -> Option<OwnedSemaphorePermit> {
        if self.requests_in_work.available_permits() == 0 {
            tokio::task::yield_now().await;
        }
        self.requests_in_work.clone().try_acquire_owned().ok()
    }

    async fn place_for_notification(&self) -> Option<OwnedSemaphorePermit> {
        let place = self.notifications_in_work.clone().acquire_owned();
        let wait = Duration::from_millis(LSP_NOTIFICATION_PLACE_MAX_MS);
        tokio::time::timeout(wait, place).await.ok()?.ok()
    }

    /// Queues a response. If the queue is full, one with a place among those at work waits there; without one, reading
    /// waits.
    async fn respond(&mut self, answer: Answer, place: Option<OwnedSemaphorePermit>) -> Flow {
        let sent = match (self.responses.try_send(answer), place) {
            (Ok(()), _) => true,
            (Err(TrySendError::Closed(_)), _) => false,
            (Err(TrySendError::Full(answer)), None) => self.responses.send(answer).await.is_ok(),
            (Err(TrySendError::Full(answer)), Some(place)) => {
                let responses = self.responses.clone();
                self.handlers.spawn(async move {
                    let _ = responses.send(answer).await;
                    drop(place);
                });
                true
            }
        };
        if sent { ControlFlow::Continue(()) } else { ControlFlow::Break(Ended::OutputClosed) }
    }
}

async fn first_poll(handler: &mut Handler) -> Option<Outcome> {
    let poll = poll_fn(|context| match handler.as_mut().poll(context) {
        Poll::Ready(outcome) => Poll::Ready(Some(outcome)),
        Poll::Pending => Poll::Ready(None),
    });
    tokio::task::unconstrained(poll).await
}

fn too_many_requests() -> Error {
    Error {
        code: ErrorCode::ServerError(REQUEST_FAILED),
        message: format!(
            "too many requests in work; wait until some of the {LSP_REQUESTS_IN_WORK_MAX} are answered"
        )
        .into(),
        data: None,
    }
}

/// What is known of a request or notification when its handler is done.
struct Call {
    method: String,
    id: Option<Id>,
    /// Cancelled when the response is written.
    answered: CancellationToken,
    guard: DropGuard,
}

impl Call {
    /// The one response, if it was a request.
    fn answer(self, outcome: Outcome) -> Option<Answer> {
        let Self { method, id, guard, .. } = self;
        let error = match outcome {
            Ok(Ok(Some(response))) => return Some(Answer::new(response, guard)),
            // tower-lsp is silent on unknown methods that begin with `$/`; LSP wants that for notifications only.
            Ok(Ok(None)) => Error { data: Some(method.into()), ..Error::method_not_found() },
            Ok(Err(ExitedError { .. })) => Error::invalid_request(),
            Err(panic) => {
                let why = panic_message(panic.as_ref());
                tracing::error!(method, why, "a handler panicked");
                Error {
                    code: ErrorCode::InternalError,
                    message: format!("{method} failed inside the server, which goes on: {why}").into(),
                    data: None,
                }
            }
        };
        id.map(|id| Answer::new(Response::from_error(id, error), guard))
    }
}

fn panic_message(panic: &(dyn Any + Send)) -> &str {
    panic
        .downcast_ref::<&str>()
        .copied()
        .or_else(|| panic.downcast_ref::<String>().map(String::as_str))
        .unwrap_or("no reason given")
}
