"""The official Python clients against the scripted server.

Takes a JSON list of {"wire", "case", "url"} as its argument and prints, for each, what the client made of the answer.
"""

import json
import sys

import anthropic
import openai

PROMPT = "Which files are there?"
SCHEMA = {
    "type": "object",
    "properties": {"path": {"type": "string"}},
    "required": ["path"],
    "additionalProperties": False,
}


class Failed(Exception):
    """An answer that says it failed; this client leaves it to its user to notice."""


def outcome(text, calls, stop, usage, reasoning=""):
    return {"text": text, "calls": calls, "stop": stop, "usage": usage, "reasoning": reasoning}


class Chat:
    def __init__(self, url, key):
        self.client = openai.OpenAI(base_url=url + "/v1", api_key=key, max_retries=0)
        self.history = [{"role": "user", "content": PROMPT}]

    def ask(self, stream):
        function = {"name": "read_file", "description": "Reads.", "parameters": SCHEMA, "strict": True}
        tools = [{"type": "function", "function": function}]
        request = {"model": "m", "messages": self.history, "tools": tools}
        if stream:
            usage = {"include_usage": True}
            with self.client.chat.completions.stream(**request, stream_options=usage) as events:
                for _ in events:
                    pass
                answer = events.get_final_completion()
        else:
            answer = self.client.chat.completions.create(**request)
        self.answer = answer.choices[0].message
        calls = [[call.function.name, json.loads(call.function.arguments)] for call in self.answer.tool_calls or []]
        usage = [answer.usage.prompt_tokens, answer.usage.completion_tokens]
        reasoning = (self.answer.model_extra or {}).get("reasoning_content", "")
        return outcome(self.answer.content or "", calls, answer.choices[0].finish_reason, usage, reasoning)

    def reply(self):
        calls = [
            {"id": call.id, "type": "function", "function": {"name": call.function.name, "arguments": call.function.arguments}}
            for call in self.answer.tool_calls
        ]
        self.history.append({"role": "assistant", "content": self.answer.content, "tool_calls": calls})
        for call in calls:
            self.history.append({"role": "tool", "tool_call_id": call["id"], "content": "empty"})


class Responses:
    def __init__(self, url, key):
        self.client = openai.OpenAI(base_url=url + "/v1", api_key=key, max_retries=0)
        self.history = [{"role": "user", "content": PROMPT}]

    def ask(self, stream):
        tools = [{"type": "function", "name": "read_file", "description": "Reads.", "parameters": SCHEMA, "strict": True}]
        request = {
            "model": "m",
            "input": self.history,
            "tools": tools,
            "store": False,
            "include": ["reasoning.encrypted_content"],
        }
        if stream:
            with self.client.responses.stream(**request) as events:
                for event in events:
                    if event.type == "response.failed":
                        raise Failed(event.response.error.message)
                answer = events.get_final_response()
        else:
            answer = self.client.responses.create(**request)
        self.answer = answer
        calls = [[item.name, json.loads(item.arguments)] for item in answer.output if item.type == "function_call"]
        usage = [answer.usage.input_tokens, answer.usage.output_tokens]
        return outcome(answer.output_text, calls, answer.status, usage)

    def reply(self):
        for item in self.answer.output:
            item = item.model_dump(exclude_none=True, exclude_unset=True)
            item.pop("parsed_arguments", None)
            for part in item.get("content", []):
                part.pop("parsed", None)
            self.history.append(item)
        for item in self.answer.output:
            if item.type == "function_call":
                self.history.append({"type": "function_call_output", "call_id": item.call_id, "output": "empty"})


class Messages:
    def __init__(self, url, key):
        self.client = anthropic.Anthropic(base_url=url, api_key=key, max_retries=0)
        self.history = [{"role": "user", "content": PROMPT}]

    def ask(self, stream):
        request = {
            "model": "m",
            "max_tokens": 4096,
            "messages": self.history,
            "tools": [{"name": "read_file", "description": "Reads.", "input_schema": SCHEMA}],
            "thinking": {"type": "enabled", "budget_tokens": 1024},
        }
        if stream:
            with self.client.messages.stream(**request) as events:
                for _ in events:
                    pass
                answer = events.get_final_message()
        else:
            answer = self.client.messages.create(**request)
        self.answer = answer
        of = lambda kind: [block for block in answer.content if block.type == kind]
        return outcome(
            "".join(block.text for block in of("text")),
            [[block.name, block.input] for block in of("tool_use")],
            answer.stop_reason,
            [answer.usage.input_tokens, answer.usage.output_tokens],
            "".join(block.thinking for block in of("thinking")),
        )

    def reply(self):
        self.history.append({"role": "assistant", "content": self.answer.content})
        results = [
            {"type": "tool_result", "tool_use_id": block.id, "content": "empty"}
            for block in self.answer.content
            if block.type == "tool_use"
        ]
        self.history.append({"role": "user", "content": results})


WIRES = {"chat": Chat, "responses": Responses, "messages": Messages}


def run(case):
    talk = WIRES[case["wire"]](case["url"], case["key"])
    outcomes = []
    for stream in case["turns"]:
        try:
            outcomes.append(talk.ask(stream))
        except (openai.APIError, anthropic.APIError, Failed) as error:
            return [{"error": type(error).__name__, "status": getattr(error, "status_code", None), "message": str(error)}]
        if outcomes[-1]["calls"]:
            talk.reply()
    if case["case"] == "counted":
        counted = talk.client.messages.count_tokens(model="m", messages=talk.history)
        outcomes.append({"tokens": counted.input_tokens})
    if case["case"] == "listed":
        outcomes.append({"models": [model.id for model in talk.client.models.list()]})
    return outcomes


print(json.dumps([run(case) for case in json.loads(sys.argv[1])]))
