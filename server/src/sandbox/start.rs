//! How a sandbox is started: the runtimes one after the other, until a guest answers that is what the user wants.

use super::error::{ASK_DOCTOR, SandboxError};
use super::image::MountedImage;
use super::last_words::LastWords;
use super::place::{self, Place, Size, session_folder};
use super::podman::PodmanService;
use super::runtime::Runtime;
use super::{
    Isolation, Plan, Sandbox, container, leftovers, monitor, proof, runtime, user_counts, user_namespace,
};
use crate::config::IsolationWish;
use crate::environment::Environment;
use crate::limits::SANDBOX_HELLO_MAX_MS;
use crate::storage;
use airlock_guest::{Answer, Call, Hello, Link};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64};
use std::time::Duration;

/// Starts a sandbox with the best runtime that works.
pub(super) async fn start(environment: &Environment, plan: &Plan) -> Result<Sandbox, SandboxError> {
    let (runtimes, left_out) = runtime::candidates(environment, plan.isolation)?;
    let place = Place::prepare(environment, plan)?;
    let started = start_any(environment, plan, &place, runtime::best_first(runtimes), left_out).await;
    // What podman and a runtime say of this helps nobody.
    started.map_err(|failure| user_namespace::made(environment).err().unwrap_or(failure))
}

async fn start_any(
    environment: &Environment,
    plan: &Plan,
    place: &Place,
    runtimes: Vec<Runtime>,
    left_out: Option<String>,
) -> Result<Sandbox, SandboxError> {
    let mut remarks: Vec<String> = left_out.into_iter().collect();
    let mut failure = None;
    let (mut failed, mut no_microvm) = (Vec::new(), None);
    for runtime in runtimes {
        let mut started = attempt(environment, plan, place, &runtime).await?;
        if let Err(error) = started.as_ref()
            && error.passing
        {
            tracing::info!(%error, "podman stumbled; it is started afresh and asked once more");
            started = attempt(environment, plan, place, &runtime).await?;
        }
        match started {
            Ok(mut sandbox) => {
                runtime::remember_failed(failed);
                if sandbox.isolation == Isolation::Container {
                    if plan.isolation == IsolationWish::Auto {
                        remarks.extend(runtime::why_no_microvm(&remarks));
                    }
                    sandbox.remarks.splice(0..0, remarks);
                    sandbox.no_microvm = sandbox.no_microvm.take().or(no_microvm);
                }
                return Ok(sandbox);
            }
            Err(error) => {
                let error = if runtime.is_krun { error.of_microvm() } else { error };
                tracing::info!(runtime = %runtime.program.display(), %error, "this runtime did not work");
                if runtime.is_krun {
                    remarks.push(format!("no microVM came up: {error}"));
                    no_microvm = Some(error.clone());
                }
                // Why one did not work that never did is no news.
                if failure.is_none() || !runtime::failed_before(&runtime) {
                    failure = Some(error.clone());
                }
                // A microVM that does not come up twice is most likely one that never does.
                if !error.passing || runtime.is_krun {
                    failed.push((runtime, error.to_string()));
                }
            }
        }
    }
    Err(failure.unwrap_or_else(|| SandboxError::new("there is no runtime to try", "install crun")))
}

/// One try with one runtime. The outer error is podman's own: it would be no better with another runtime.
async fn attempt(
    environment: &Environment,
    plan: &Plan,
    place: &Place,
    runtime: &Runtime,
) -> Result<Result<Sandbox, SandboxError>, SandboxError> {
    let service = Arc::new(PodmanService::start(environment, runtime).await?);
    leftovers::remove(&service, &place.upper.for_podman()).await;
    place::tidy_leftovers(environment).await;
    Ok(Start { environment, plan, place, service }.rooted().await)
}

/// A start with one runtime.
struct Start<'a> {
    environment: &'a Environment,
    plan: &'a Plan,
    place: &'a Place,
    service: Arc<PodmanService>,
}

impl Start<'_> {
    /// With the image that the user named, if any. It need be mounted only until the container runs.
    async fn rooted(self) -> Result<Sandbox, SandboxError> {
        let Some(name) = &self.place.image else { return self.with(None).await };
        let service = Arc::clone(&self.service);
        let image = MountedImage::mount(&service, name).await?;
        let started = self.with(Some(&image)).await;
        image.unmount(&service).await;
        started
    }

    async fn with(self, image: Option<&MountedImage>) -> Result<Sandbox, SandboxError> {
        let Self { environment, plan, place, service } = self;
        let size = Size::of_host();
        let upper = place.upper.for_podman();
        let labels = leftovers::labels(&plan.session_id, &upper);
        let id = match container::create(&service, place, image, size, labels).await {
            Ok(id) => id,
            Err(error) => {
                leftovers::remove_of(environment, &service, &upper).await;
                return Err(error);
            }
        };
        let last_words = LastWords::default();
        let heard = last_words.clone();
        let started = container::start(&service, &id, move |bytes| heard.hear(bytes)).await;
        let met = match started {
            Ok(stream) => match meet(stream).await {
                // A guest that is well and cannot be heard: then it is the way to it that broke.
                Err(error) if error.passing => {
                    Err(SandboxError { passing: container::is_well(&service, &id).await, ..error })
                }
                met => met,
            },
            Err(error) => Err(error),
        };
        let not_a_microvm = match &met {
            Ok((_, _, Isolation::Container)) if service.runtime().is_krun => {
                Some(why_not_a_microvm(&service, &id).await)
            }
            _ => None,
        };
        let accepted = met.and_then(|met| proof::accept(met.2, plan.isolation).map(|()| met));
        match accepted {
            Ok((link, hello, isolation)) => {
                let mut shortcomings: Vec<String> =
                    proof::memory_is_unlimited(&hello, isolation, size).into_iter().collect();
                if isolation == Isolation::Container
                    && let Some(why) = user_counts::bound(&service, &id).await
                {
                    shortcomings
                        .push(format!("a command in it can watch all the files that you may watch: {why}"));
                }
                let is_none = |why: &String| {
                    SandboxError::new(why, "see that it is crun's krun, and podman new enough")
                };
                Ok(Sandbox {
                    service,
                    id,
                    link,
                    isolation,
                    hello,
                    session_folder: session_folder(environment, &plan.session_id),
                    no_microvm: not_a_microvm.as_ref().map(is_none),
                    remarks: not_a_microvm.into_iter().collect(),
                    shortcomings,
                    last_words,
                    environment: environment.clone(),
                    is_replacement: AtomicBool::new(false),
                    end_is_told: AtomicBool::new(false),
                    home_bytes: AtomicU64::new(0),
                })
            }
            Err(error) => {
                leftovers::remove_of(environment, &service, &upper).await;
                // Somebody else may have removed it while podman died over it: then it was not found.
                monitor::end(&id).await;
                let why = not_a_microvm.map(|why| format!(": {why}")).unwrap_or_default();
                let what = format!("{}{why}{}", error.what, last_words.in_brackets());
                Err(SandboxError { what, ..error })
            }
        }
    }
}

/// What podman says about a runtime for microVMs that started a container.
async fn why_not_a_microvm(service: &PodmanService, id: &str) -> String {
    let asked = service.runtime().program.display();
    match container::runtime_used(service, id).await {
        Some(used) if used != asked.to_string() => {
            format!("podman was asked for the runtime {asked} and used {used} instead")
        }
        _ => format!("the runtime {asked} started a plain container instead of a microVM"),
    }
}

/// Asks the guest who it is, and proves where it runs.
async fn meet(
    stream: impl tokio::io::AsyncRead + tokio::io::AsyncWrite + Send + Unpin + 'static,
) -> Result<(Link, Hello, Isolation), SandboxError> {
    let link = Link::new(stream);
    let asked =
        tokio::time::timeout(Duration::from_millis(SANDBOX_HELLO_MAX_MS), link.ask(&Call::Hello, None)).await;
    let hello = match asked {
        Ok(Ok(Answer::Hello(hello))) => hello,
        Ok(Ok(other)) => {
            return Err(SandboxError::new(format!("the guest answered {other:?}"), "install Airlock again"));
        }
        Ok(Err(error)) => {
            let what = format!("the guest did not come up: {error}");
            return Err(SandboxError { passing: true, ..SandboxError::new(what, ASK_DOCTOR) });
        }
        Err(_) => {
            let what = format!("the guest did not answer within {} s", SANDBOX_HELLO_MAX_MS / 1000);
            return Err(SandboxError::new(what, "see whether the machine is very busy, and try again"));
        }
    };
    let host_boot_id = storage::read_text(Path::new("/proc/sys/kernel/random/boot_id"), 64);
    let isolation = proof::isolation(&hello, host_boot_id.ok().flatten().unwrap_or_default().trim())?;
    Ok((link, hello, isolation))
}
