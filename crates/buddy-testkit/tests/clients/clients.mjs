// The official JavaScript clients against the scripted server.
//
// Takes a JSON list of {"wire", "case", "url"} as its argument and prints, for each, what the client made of the answer.

import Anthropic from "@anthropic-ai/sdk";
import OpenAI from "openai";

const PROMPT = "Which files are there?";
const SCHEMA = {
  type: "object",
  properties: { path: { type: "string" } },
  required: ["path"],
  additionalProperties: false,
};

const outcome = (text, calls, stop, usage, reasoning = "") => ({ text, calls, stop, usage, reasoning });

class Chat {
  constructor(url, key) {
    this.client = new OpenAI({ baseURL: `${url}/v1`, apiKey: key, maxRetries: 0 });
    this.history = [{ role: "user", content: PROMPT }];
  }

  async ask(stream) {
    const tool = { name: "read_file", description: "Reads.", parameters: SCHEMA, strict: true };
    const request = { model: "m", messages: this.history, tools: [{ type: "function", function: tool }] };
    const completions = this.client.chat.completions;
    const answer = stream
      ? await completions.stream({ ...request, stream_options: { include_usage: true } }).finalChatCompletion()
      : await completions.create(request);
    const [choice] = answer.choices;
    this.answer = choice.message;
    const calls = (this.answer.tool_calls ?? []).map(({ function: call }) => [call.name, JSON.parse(call.arguments)]);
    const usage = [answer.usage.prompt_tokens, answer.usage.completion_tokens];
    return outcome(this.answer.content ?? "", calls, choice.finish_reason, usage, this.answer.reasoning_content);
  }

  reply() {
    const calls = this.answer.tool_calls.map(({ id, function: { name, arguments: text } }) => ({
      id,
      type: "function",
      function: { name, arguments: text },
    }));
    this.history.push({ role: "assistant", content: this.answer.content, tool_calls: calls });
    for (const { id } of calls) this.history.push({ role: "tool", tool_call_id: id, content: "empty" });
  }
}

/** An answer that says it failed; this client leaves it to its user to notice. */
class Failed extends Error {}

class Responses {
  async finished(events) {
    for await (const event of events) {
      if (event.type === "response.failed") throw new Failed(event.response.error.message);
    }
    return events.finalResponse();
  }

  constructor(url, key) {
    this.client = new OpenAI({ baseURL: `${url}/v1`, apiKey: key, maxRetries: 0 });
    this.history = [{ role: "user", content: PROMPT }];
  }

  async ask(stream) {
    const tool = { type: "function", name: "read_file", description: "Reads.", parameters: SCHEMA, strict: true };
    const include = ["reasoning.encrypted_content"];
    const request = { model: "m", input: this.history, tools: [tool], store: false, include };
    const answer = stream
      ? await this.finished(this.client.responses.stream(request))
      : await this.client.responses.create(request);
    this.answer = answer;
    const calls = answer.output
      .filter(({ type }) => type === "function_call")
      .map((item) => [item.name, JSON.parse(item.arguments)]);
    return outcome(answer.output_text, calls, answer.status, [answer.usage.input_tokens, answer.usage.output_tokens]);
  }

  reply() {
    for (const { parsed_arguments: _parsed, ...item } of this.answer.output) {
      this.history.push(item.content ? { ...item, content: item.content.map(({ parsed: _, ...part }) => part) } : item);
    }
    for (const { type, call_id } of this.answer.output) {
      if (type === "function_call") this.history.push({ type: "function_call_output", call_id, output: "empty" });
    }
  }
}

class Messages {
  constructor(url, key) {
    this.client = new Anthropic({ baseURL: url, apiKey: key, maxRetries: 0 });
    this.history = [{ role: "user", content: PROMPT }];
  }

  async ask(stream) {
    const request = {
      model: "m",
      max_tokens: 4096,
      messages: this.history,
      tools: [{ name: "read_file", description: "Reads.", input_schema: SCHEMA }],
      thinking: { type: "enabled", budget_tokens: 1024 },
    };
    const answer = stream
      ? await this.client.messages.stream(request).finalMessage()
      : await this.client.messages.create(request);
    this.answer = answer;
    const of = (kind) => answer.content.filter(({ type }) => type === kind);
    return outcome(
      of("text").map(({ text }) => text).join(""),
      of("tool_use").map(({ name, input }) => [name, input]),
      answer.stop_reason,
      [answer.usage.input_tokens, answer.usage.output_tokens],
      of("thinking").map(({ thinking }) => thinking).join(""),
    );
  }

  reply() {
    this.history.push({ role: "assistant", content: this.answer.content });
    const calls = this.answer.content.filter(({ type }) => type === "tool_use");
    const content = calls.map(({ id }) => ({ type: "tool_result", tool_use_id: id, content: "empty" }));
    this.history.push({ role: "user", content });
  }
}

const WIRES = { chat: Chat, responses: Responses, messages: Messages };

async function run({ wire, case: name, url, key, turns }) {
  const talk = new WIRES[wire](url, key);
  const outcomes = [];
  for (const stream of turns) {
    try {
      outcomes.push(await talk.ask(stream));
    } catch (error) {
      if (!(error instanceof OpenAI.APIError || error instanceof Anthropic.APIError || error instanceof Failed)) throw error;
      return [{ error: error.constructor.name, status: error.status ?? null, message: error.message }];
    }
    if (outcomes.at(-1).calls.length > 0) talk.reply();
  }
  if (name === "counted") {
    const counted = await talk.client.messages.countTokens({ model: "m", messages: talk.history });
    outcomes.push({ tokens: counted.input_tokens });
  }
  if (name === "listed") {
    const models = [];
    for await (const model of talk.client.models.list()) models.push(model.id);
    outcomes.push({ models });
  }
  return outcomes;
}

const results = [];
for (const each of JSON.parse(process.argv[2])) results.push(await run(each));
console.log(JSON.stringify(results));
