//! The catalogue: facts about models, by their names.
//!
//! The rules are data, `models.toml`, tried in order. A user's own rules come before the built-in ones, which
//! fill in the fields that an own rule leaves out. A value that no rule gives stays unknown: buddy guesses no
//! price.

mod error;

use buddy_protocol::{MicroUsd, Usage};
use serde::Deserialize;

use crate::ReasoningReplay;
use crate::family::{ModelFamilies, ModelFamily};
pub use error::CatalogueError;
pub(crate) use error::toml_error;

const BUILT_IN: &str = include_str!("models.toml");
/// The context window of an unknown model.
pub const SAFE_CONTEXT_WINDOW: u64 = 8_192;

/// The rules about models.
#[derive(Debug, Clone, Default)]
pub struct Catalogue {
    /// Lists of rules; the first list has precedence.
    lists: Vec<Vec<Rule>>,
    families: ModelFamilies,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    #[serde(default)]
    models: Vec<Rule>,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
struct Rule {
    exact: Option<String>,
    prefix: Option<String>,
    contains: Option<String>,
    context: Option<u64>,
    output: Option<u64>,
    price: Option<Price>,
    long: Option<LongPrice>,
    reasoning: Option<bool>,
    replay: Option<ReasoningReplay>,
}

/// Prices in US dollars per million tokens.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Price {
    /// Input that is neither read from nor written to the cache.
    pub input: f64,
    /// Input read from the cache [default: the input price].
    pub cached_input: Option<f64>,
    /// Input written to the cache [default: the input price].
    pub cache_write: Option<f64>,
    /// Output, reasoning included.
    pub output: f64,
}

/// The price of calls with a long prompt.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
struct LongPrice {
    above: u64,
    input: f64,
    cached_input: Option<f64>,
    cache_write: Option<f64>,
    output: f64,
}

/// The facts about one model.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ModelFacts {
    /// The context window in tokens.
    pub context_window: Option<u64>,
    /// The maximum number of tokens in an answer.
    pub output_limit: Option<u64>,
    /// Whether it reasons before it answers.
    pub reasoning: bool,
    /// Whether Chat Completions servers want reasoning back.
    pub replay: Option<ReasoningReplay>,
    /// The family of the model.
    pub family: ModelFamily,
    price: Option<Price>,
    long: Option<(u64, Price)>,
}

impl Catalogue {
    /// The rules that ship with buddy.
    pub fn built_in() -> Result<Self, CatalogueError> {
        Ok(Self { lists: vec![parse(BUILT_IN)?], families: ModelFamilies::built_in()? })
    }

    /// Puts these rules before the existing ones.
    pub fn extended(mut self, text: &str) -> Result<Self, CatalogueError> {
        self.lists.insert(0, parse(text)?);
        Ok(self)
    }

    /// The facts about the model of this name; all but its family unknown if no rule matches.
    pub fn facts(&self, name: &str) -> ModelFacts {
        ModelFacts { family: self.families.family(name), ..self.listed(name) }
    }

    fn listed(&self, name: &str) -> ModelFacts {
        let name = name.to_lowercase();
        let short = name.rsplit('/').next().unwrap_or(&name);
        // Gateways append a variant after a colon, as in `model:free`; Ollama appends a size.
        let bare = short.split(':').next().unwrap_or(short);
        let is_meant = |rule: &&Rule| [&*name, short, bare].iter().any(|name| rule.matches(name));
        let mut found = self.lists.iter().filter_map(|rules| rules.iter().find(is_meant));
        let Some(first) = found.next() else { return ModelFacts::default() };
        found.fold(first.clone(), Rule::filled).facts()
    }
}

fn parse(text: &str) -> Result<Vec<Rule>, CatalogueError> {
    let mut rules = toml::from_str::<File>(text).map_err(|error| toml_error(text, &error))?.models;
    for (number, rule) in (1..).zip(&mut rules) {
        let patterns = [&mut rule.exact, &mut rule.prefix, &mut rule.contains];
        let mut count = 0;
        for pattern in patterns.into_iter().flatten() {
            *pattern = pattern.to_lowercase();
            count += 1;
        }
        if count != 1 {
            return Err(CatalogueError::Pattern(number));
        }
        if !rule.has_sound_numbers() {
            return Err(CatalogueError::Number(number));
        }
    }
    Ok(rules)
}

impl Rule {
    fn has_sound_numbers(&self) -> bool {
        let price = self
            .price
            .map(|price| [Some(price.input), price.cached_input, price.cache_write, Some(price.output)]);
        let long =
            self.long.map(|long| [Some(long.input), long.cached_input, long.cache_write, Some(long.output)]);
        let mut prices = price.into_iter().chain(long).flatten().flatten();
        let is_empty = self.context == Some(0) || self.output == Some(0);
        !is_empty && prices.all(|price| price.is_finite() && price >= 0.0)
    }

    /// This rule, with missing fields taken from another. The prices of one rule stay together.
    fn filled(self, other: &Self) -> Self {
        let has_price = self.price.is_some();
        Self {
            context: self.context.or(other.context),
            output: self.output.or(other.output),
            price: self.price.or(other.price),
            long: if has_price { self.long } else { self.long.or(other.long) },
            reasoning: self.reasoning.or(other.reasoning),
            replay: self.replay.or(other.replay),
            ..self
        }
    }

    fn matches(&self, name: &str) -> bool {
        let exact = self.exact.as_deref().is_some_and(|pattern| name == pattern);
        let prefix = self.prefix.as_deref().is_some_and(|pattern| name.starts_with(pattern));
        exact || prefix || self.contains.as_deref().is_some_and(|pattern| name.contains(pattern))
    }

    fn facts(&self) -> ModelFacts {
        let long = self.long.map(|LongPrice { above, input, cached_input, cache_write, output }| {
            (above, Price { input, cached_input, cache_write, output })
        });
        ModelFacts {
            context_window: self.context,
            output_limit: self.output,
            reasoning: self.reasoning.unwrap_or_default(),
            replay: self.replay,
            family: ModelFamily::default(),
            price: self.price,
            long,
        }
    }
}

impl ModelFacts {
    /// The cost of a call: as the provider reports it, else by the price list; `None` if both are unknown.
    pub fn cost(&self, usage: &Usage) -> Option<MicroUsd> {
        if usage.reported_cost.is_some() {
            return usage.reported_cost;
        }
        let price = match self.long {
            Some((above, long)) if usage.input > above => long,
            _ => self.price?,
        };
        let fresh = usage.input.saturating_sub(usage.cached_input).saturating_sub(usage.cache_write);
        // Dollars per million tokens are millionths of a dollar per token.
        let micros = tokens(fresh) * price.input
            + tokens(usage.cached_input) * price.cached_input.unwrap_or(price.input)
            + tokens(usage.cache_write) * price.cache_write.unwrap_or(price.input)
            + tokens(usage.output) * price.output;
        MicroUsd::from_dollars(micros / 1_000_000.0)
    }
}

#[expect(clippy::cast_precision_loss, reason = "no call has 2^53 tokens")]
fn tokens(count: u64) -> f64 {
    count as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    fn facts(name: &str) -> ModelFacts {
        Catalogue::built_in().unwrap().facts(name)
    }

    #[test]
    fn the_first_rule_that_matches_wins() {
        assert_eq!(facts("gpt-5.3-codex").context_window, Some(400_000));
        assert_eq!(facts("gpt-5.3-codex-spark").context_window, Some(128_000));
        assert_eq!(facts("gpt-5").output_limit, Some(128_000));
        assert_eq!(facts("Anthropic/Claude-Sonnet-4.5").context_window, Some(200_000));
        assert_eq!(facts("deepseek/deepseek-v3.2:free").context_window, Some(131_072));
        assert_eq!(facts("qwen3-coder:30b").context_window, Some(262_144));
        assert_eq!(
            ModelFacts { family: ModelFamily::default(), ..facts("nobody-knows-me") },
            ModelFacts::default()
        );
    }

    #[test]
    fn a_users_rules_take_precedence() {
        let own = "[[models]]\nexact = \"gpt-5\"\ncontext = 7\n";
        let catalogue = Catalogue::built_in().unwrap().extended(own).unwrap();
        assert_eq!(catalogue.facts("gpt-5").context_window, Some(7));
        assert_eq!(catalogue.facts("gpt-5-mini").context_window, Some(400_000));
        for bad in [
            "[[models]]\nexact = \"a\"\ncontext = 0\n",
            "[[models]]\nexact = \"a\"\nprice = { input = -1, output = 1 }\n",
            "[[models]]\ncontext = 1\n",
            "[[models]]\nexact = \"a\"\nprefix = \"b\"\n",
            "[[models]]\nsize = 1\n",
        ] {
            assert!(Catalogue::built_in().unwrap().extended(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn built_in_rules_fill_gaps_in_an_own_rule() {
        let own = "[[models]]\nprefix = \"GPT-5.4\"\nprice = { input = 1, output = 1 }\n";
        let facts = Catalogue::built_in().unwrap().extended(own).unwrap().facts("gpt-5.4");
        let built_in = Catalogue::built_in().unwrap().facts("gpt-5.4");
        assert_eq!(facts.context_window, built_in.context_window);
        let usage = Usage { input: 300_000, ..Usage::default() };
        assert_eq!(facts.cost(&usage), Some(MicroUsd(300_000)), "an own price is not mixed with another");
    }

    #[test]
    fn cost_counts_each_token_once() {
        let usage = Usage {
            input: 1_000_000,
            cached_input: 400_000,
            cache_write: 100_000,
            output: 10_000,
            ..Usage::default()
        };
        // 500k at 3, 400k at 0.30, 100k at 3.75, 10k at 15.
        assert_eq!(
            facts("claude-sonnet-4-5").cost(&usage),
            Some(MicroUsd(1_500_000 + 120_000 + 375_000 + 150_000))
        );
        assert_eq!(facts("nobody-knows-me").cost(&usage), None);
        let told = Usage { reported_cost: Some(MicroUsd(5)), ..usage };
        assert_eq!(facts("nobody-knows-me").cost(&told), Some(MicroUsd(5)));
    }

    #[test]
    fn long_prompts_have_their_own_price() {
        let call = |input| facts("gpt-5.4").cost(&Usage { input, ..Usage::default() }).unwrap();
        assert_eq!(call(100_000), MicroUsd(250_000));
        assert_eq!(call(300_000), MicroUsd(1_500_000));
    }
}
