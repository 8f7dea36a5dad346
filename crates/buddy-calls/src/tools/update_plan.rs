//! `update_plan`: the steps of the work and how far they are, for people to see.

use async_trait::async_trait;
use buddy_policy::{Intent, Tier};
use buddy_protocol::{Content, Item, ItemStatus, PlanStep, PlanStepState, ToolFailure, ToolKind};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::tools::call_place::CallPlace;

use crate::tools::tool_spec::ToolSpec;

use crate::tools::clip::TextClass;

use crate::tools::tool::{Tool, ToolContext};

/// Steps of a plan. A longer one helps nobody.
const MAX_STEPS: usize = 50;

pub(crate) struct UpdatePlan;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct UpdatePlanInput {
    /// All steps in order, each with its state; this takes the place of the plan before.
    steps: Vec<PlanStep>,
}

#[async_trait]
impl Tool for UpdatePlan {
    type Input = UpdatePlanInput;

    const SPEC: ToolSpec = ToolSpec {
        name: "update_plan",
        aliases: &[],
        kind: ToolKind::Think,
        tier: Tier::Auto,
        description: include_str!("update_plan.md"),
        text: TextClass::File,
    };

    fn title(input: &UpdatePlanInput) -> String {
        let done = input.steps.iter().filter(|step| step.state == PlanStepState::Done).count();
        format!("plan: {done} of {} done", input.steps.len())
    }

    fn intent(_: &UpdatePlanInput, _: &CallPlace) -> Intent {
        Intent::nothing()
    }

    async fn run(input: UpdatePlanInput, _: &ToolContext) -> Result<Value, ToolFailure> {
        if input.steps.is_empty() || input.steps.len() > MAX_STEPS {
            let message = format!("a plan has between 1 and {MAX_STEPS} steps");
            return Err(ToolFailure::new("invalid_input", message));
        }
        let active = input.steps.iter().filter(|step| step.state == PlanStepState::Active).count();
        if active > 1 {
            let message = format!("a plan has at most one `active` step, and this one has {active}");
            return Err(ToolFailure::new("invalid_input", message)
                .hint("send the plan again, with the steps that you do later as `pending`"));
        }
        Ok(json!({ "steps": input.steps.len() }))
    }
}

/// The plan that a call has laid down, once it has ended well.
pub fn plan(item: &Item) -> Option<Vec<PlanStep>> {
    let Content::ToolCall(call) = &item.content else { return None };
    if item.status != ItemStatus::Completed || call.name != UpdatePlan::SPEC.name {
        return None;
    }
    serde_json::from_value::<UpdatePlanInput>(call.input.value()).ok().map(|input| input.steps)
}
