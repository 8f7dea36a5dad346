//! One tool of a session's set: what is told of it, and how a call of it is made ready.

use std::borrow::Cow;
use std::sync::Arc;

use async_trait::async_trait;
use buddy_policy::{Intent, Tier};
use buddy_protocol::{ToolDefinition, ToolFailure, ToolKind};
use schemars::generate::SchemaSettings;
use serde_json::Value;

use crate::tools::added_tool::AddedTool;
use crate::tools::advice;
use crate::tools::call_place::CallPlace;
use crate::tools::clip::TextClass;
use crate::tools::means::Means;
use crate::tools::tool::{Prepared, Preview, Sight, Tool, ToolContext};
use crate::tools::tool_spec::CommandField;

/// Built-in tools that touch no host.
const HOSTLESS: &[&str] = &["update_plan", "ask_user", "time", "fetch_url", "web_search", "search_youtube"];

/// A tool of a session.
#[derive(Clone)]
pub(crate) struct ToolEntry {
    /// The name that calls have, unique in a set.
    pub(crate) name: Cow<'static, str>,
    /// Other names that dispatch accepts.
    pub(crate) aliases: &'static [&'static str],
    pub(crate) kind: ToolKind,
    /// How calls are asked for.
    pub(crate) tier: Tier,
    /// Which limit its texts have.
    pub(crate) text: TextClass,
    /// The command in the input that a user may change before it runs.
    pub(crate) command: Option<CommandField>,
    maker: CallMaker,
}

/// The part that makes calls of a tool ready.
#[derive(Clone)]
enum CallMaker {
    BuiltIn {
        description: &'static str,
        schema: fn() -> Value,
        title: fn(&Value) -> Option<String>,
        prepare: fn(Value) -> Result<Box<dyn Prepared>, ToolFailure>,
        fit: fn(&mut ToolDefinition, Means),
    },
    Added(Arc<dyn AddedTool>),
}

impl ToolEntry {
    /// The row of a built-in tool.
    pub(crate) const fn of<T: Tool>() -> Self {
        Self {
            name: Cow::Borrowed(T::SPEC.name),
            aliases: T::SPEC.aliases,
            kind: T::SPEC.kind,
            tier: T::SPEC.tier,
            text: T::SPEC.text,
            command: T::COMMAND,
            maker: CallMaker::BuiltIn {
                description: T::SPEC.description,
                schema: schema::<T>,
                title: title::<T>,
                prepare: prepare::<T>,
                fit: T::fit,
            },
        }
    }

    /// The row of a tool from elsewhere.
    pub(crate) fn of_added(tool: Arc<dyn AddedTool>) -> Self {
        Self {
            name: Cow::Owned(tool.definition().name),
            aliases: &[],
            kind: tool.kind(),
            tier: Tier::Individual,
            text: TextClass::File,
            command: None,
            maker: CallMaker::Added(tool),
        }
    }

    /// Whether it comes with buddy. The texts of such a tool are templates.
    pub(crate) fn is_built_in(&self) -> bool {
        matches!(self.maker, CallMaker::BuiltIn { .. })
    }

    /// Whether it works on a target.
    pub(crate) fn is_on_target(&self) -> bool {
        self.is_built_in() && !HOSTLESS.contains(&&*self.name)
    }

    /// Whether it is of use only on a host with panes.
    pub(crate) fn needs_panes(&self) -> bool {
        self.is_built_in() && self.name.starts_with("tmux_")
    }

    /// Whether it tells what programs printed.
    pub(crate) fn prints(&self) -> bool {
        self.text == TextClass::Command || self.needs_panes()
    }

    /// Whether a name is one of its names.
    pub(crate) fn is_called(&self, name: &str) -> bool {
        self.name == name || self.aliases.contains(&name)
    }

    /// The text about the tool for the model.
    pub(crate) fn definition(&self) -> ToolDefinition {
        match &self.maker {
            CallMaker::BuiltIn { description, schema, .. } => ToolDefinition {
                name: self.name.to_string(),
                description: description.trim().to_owned(),
                parameters: schema(),
            },
            CallMaker::Added(tool) => tool.definition(),
        }
    }

    /// Changes what the model is told about a built-in tool by what a session has for it.
    pub(crate) fn fit(&self, definition: &mut ToolDefinition, means: Means) {
        if let CallMaker::BuiltIn { fit, .. } = &self.maker {
            fit(definition, means);
        }
    }

    /// One line for people, also for an input that is not understood.
    pub(crate) fn title(&self, input: &Value) -> String {
        let title = match &self.maker {
            CallMaker::BuiltIn { title, .. } => title(input),
            CallMaker::Added(tool) => Some(tool.title(input)),
        };
        title.unwrap_or_else(|| self.name.to_string())
    }

    /// Reads the input.
    pub(crate) fn prepare(&self, input: Value) -> Result<Box<dyn Prepared>, ToolFailure> {
        match &self.maker {
            CallMaker::BuiltIn { prepare, .. } => prepare(input),
            CallMaker::Added(tool) => Ok(Box::new(PreparedAddedCall { tool: tool.clone(), input })),
        }
    }
}

struct PreparedCall<T: Tool> {
    input: T::Input,
    lacks_risk: bool,
}

#[async_trait]
impl<T: Tool> Prepared for PreparedCall<T> {
    fn intent(&self, place: &CallPlace) -> Intent {
        T::intent(&self.input, place)
    }

    fn why(&self) -> Option<&str> {
        T::why(&self.input)
    }

    fn lacks_risk(&self) -> bool {
        self.lacks_risk
    }

    fn question(&self, place: &CallPlace) -> Option<String> {
        T::question(&self.input, place)
    }

    fn preview(&self, sight: Sight) -> Option<Preview> {
        T::preview(&self.input, sight)
    }

    fn stops(&self) -> Option<&str> {
        T::stops(&self.input)
    }

    async fn run(self: Box<Self>, context: &ToolContext) -> Result<Value, ToolFailure> {
        T::run(self.input, context).await
    }
}

/// A call of such a tool. The tool reads its input itself.
struct PreparedAddedCall {
    tool: Arc<dyn AddedTool>,
    input: Value,
}

#[async_trait]
impl Prepared for PreparedAddedCall {
    fn intent(&self, place: &CallPlace) -> Intent {
        self.tool.intent(&self.input, place)
    }

    fn why(&self) -> Option<&str> {
        None
    }

    fn lacks_risk(&self) -> bool {
        false
    }

    fn question(&self, _: &CallPlace) -> Option<String> {
        None
    }

    fn preview(&self, _: Sight) -> Option<Preview> {
        None
    }

    fn stops(&self) -> Option<&str> {
        None
    }

    async fn run(self: Box<Self>, context: &ToolContext) -> Result<Value, ToolFailure> {
        context.until_cancelled(self.tool.run(self.input, &context.cancel)).await?
    }
}

fn schema<T: Tool>() -> Value {
    let settings = SchemaSettings::draft2020_12().with(|settings| {
        settings.inline_subschemas = true;
        settings.meta_schema = None;
    });
    let mut schema = settings.into_generator().into_root_schema_for::<T::Input>().to_value();
    if let Some(object) = schema.as_object_mut() {
        object.remove("title");
        object.remove("description");
    }
    schema
}

fn title<T: Tool>(input: &Value) -> Option<String> {
    let mut input = input.clone();
    advice::complete(&mut input, &schema::<T>());
    serde_json::from_value::<T::Input>(input).ok().map(|input| T::title(&input))
}

fn prepare<T: Tool>(mut input: Value) -> Result<Box<dyn Prepared>, ToolFailure> {
    let schema = schema::<T>();
    let lacks_risk = advice::lacks_risk(&input, &schema);
    advice::complete(&mut input, &schema);
    match serde_json::from_value::<T::Input>(input) {
        Ok(input) => Ok(Box::new(PreparedCall::<T> { input, lacks_risk })),
        // The parser also lists fields that the model was not told of: aliases, and those of hosts with panes.
        Err(error) => Err(ToolFailure::new(
            "invalid_input",
            format!("the arguments do not fit: {}", describe_error(&error)),
        )
        .hint("call the tool again with arguments that follow its schema")),
    }
}

fn describe_error(error: &serde_json::Error) -> String {
    let text = error.to_string();
    let is_of_fields = text.starts_with("unknown field");
    text.split_once(", expected")
        .filter(|_| is_of_fields)
        .map_or_else(|| text.clone(), |(head, _)| head.to_owned())
}
