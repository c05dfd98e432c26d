//! `/model`: which model answers.

use super::{BuiltIn, CommandContext, Outcome, unless_stopped};
use futures::future::BoxFuture;

pub(super) struct Model;

impl BuiltIn for Model {
    fn info(&self) -> (&'static str, &'static str, Option<&'static str>) {
        ("model", "Show or choose the model", Some("[name]"))
    }

    fn run<'a>(
        &'a self,
        context: CommandContext<'a>,
        arguments: &'a str,
    ) -> BoxFuture<'a, Result<Outcome, String>> {
        Box::pin(async move {
            let CommandContext { session, state, cancel } = context;
            let name = arguments.trim();
            if name.is_empty() {
                session.say(format!("The model is `{}`. `/model NAME` chooses another.", state.model));
                return Ok(Outcome::Done);
            }
            // A model that the API does not know is refused now; when the API cannot be reached, its word comes later.
            if let Err(failure) = unless_stopped(cancel, session.agent.ask_model_info(name)).await?
                && failure.unknown_model
            {
                return Err(failure.message);
            }
            session.choose_model(state, name).await;
            session.say(format!("The model is now `{name}`."));
            Ok(Outcome::Done)
        })
    }
}
