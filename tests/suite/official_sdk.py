"""The official SDK as the referee of the scripted Claude. Usage: official_sdk.py SCENARIO BASE_URL

Each scenario asserts on what the SDK makes of the answers; official_sdk.rs scripts them.
"""

import sys

import anthropic
from pydantic import TypeAdapter

MODEL = "claude-sonnet-5"
TOOLS = [
    {
        "name": "weather",
        "description": "The weather of a place",
        "input_schema": {"type": "object", "properties": {"place": {"type": "string"}}, "required": ["place"]},
    }
]


def client(url, key="key"):
    return anthropic.Anthropic(base_url=url, api_key=key, max_retries=0, timeout=20)


def ask(text, **more):
    return {"model": MODEL, "max_tokens": 2048, "messages": [{"role": "user", "content": text}], **more}


def valid(model):
    """The SDK does not check what it is sent; its types can."""
    type(model).model_validate(model.to_dict())
    return model


def raises(kind, call):
    try:
        call()
    except kind as error:
        assert type(error) is kind, f"{type(error)} is not exactly {kind}"
        return error
    raise AssertionError(f"{kind} was not raised")


def stream(url, **request):
    with client(url).messages.stream(**request) as events:
        pieces = list(events.text_stream)
        return pieces, events.get_final_message()


def text(url):
    pieces, message = stream(url, **ask("hi"))
    valid(message)
    assert pieces == ["Hel", "lo ", "wörld 🌍"], pieces
    assert message.content[0].text == "Hello wörld 🌍"
    assert (message.model, message.role, message.stop_reason) == (MODEL, "assistant", "end_turn")
    usage = message.usage
    assert (usage.input_tokens, usage.output_tokens) == (11, 22), usage
    assert (usage.cache_read_input_tokens, usage.cache_creation_input_tokens) == (33, 44), usage


def raw_events(url):
    """Every event of the stream is one that the SDK has a type for."""
    event_type = TypeAdapter(anthropic.types.RawMessageStreamEvent)
    events = list(client(url).messages.create(stream=True, **ask("hi", tools=TOOLS)))
    for event in events:
        event_type.validate_python(event.to_dict())
    deltas = [event.delta.type for event in events if event.type == "content_block_delta"]
    assert set(deltas) == {"thinking_delta", "signature_delta", "text_delta", "input_json_delta"}, deltas
    first = next(event for event in events if getattr(getattr(event, "delta", None), "type", "") == "input_json_delta")
    assert first.delta.partial_json == ""


def tool_loop(url):
    """Thinking, text and two calls; then their results; then the answer."""
    request = ask("Weather in Köln and Rome?", tools=TOOLS, thinking={"type": "adaptive", "display": "summarized"})
    events = []
    with client(url).messages.stream(**request) as opened:
        for event in opened:
            events.append(event.type)
        message = valid(opened.get_final_message())
    assert {"thinking", "signature", "text", "input_json"} <= set(events), events
    assert message.stop_reason == "tool_use"
    thinking, redacted, said, *calls = message.content
    assert (thinking.type, thinking.thinking, thinking.signature) == ("thinking", "Two places.", "sig-1")
    assert (redacted.type, redacted.data) == ("redacted_thinking", "b64")
    assert said.text == "I look."
    assert [(call.type, call.id, call.name) for call in calls] == [
        ("tool_use", "toolu_1", "weather"),
        ("tool_use", "toolu_2", "weather"),
    ]
    assert [call.input for call in calls] == [{"place": "Köln"}, {"place": "Rome"}]
    results = [{"type": "tool_result", "tool_use_id": call.id, "content": "rain"} for call in calls]
    request["messages"] += [{"role": "assistant", "content": message.content}, {"role": "user", "content": results}]
    pieces, message = stream(url, **request)
    assert "".join(pieces) == "It rains." and message.stop_reason == "end_turn"


def whole(url):
    """Without streaming."""
    message = valid(client(url).messages.create(**ask("hi", tools=TOOLS)))
    assert message.content[0].text == "Hello"
    assert message.content[1].input == {"place": "Rome"}
    assert message.stop_reason == "tool_use"


def unknowns(url):
    pieces, message = stream(url, **ask("hi"))
    assert pieces == ["Hello"] and message.stop_reason == "end_turn"


def one_byte_chunks(url):
    _, message = stream(url, **ask("hi", tools=TOOLS))
    assert message.content[0].text == "wörld 🌍"
    assert message.content[1].input == {"place": "Köln"}


def mid_stream_error(url):
    pieces = []

    def read():
        with client(url).messages.stream(**ask("hi")) as events:
            for piece in events.text_stream:
                pieces.append(piece)

    try:
        read()
    except anthropic.APIStatusError as error:
        assert error.type == "overloaded_error", error.type
        assert error.body["error"]["message"] == "Overloaded", error.body
    else:
        raise AssertionError("no error was raised")
    assert pieces == ["half"], pieces


def cut(url):
    def read():
        stream(url, **ask("hi"))

    try:
        read()
    except (anthropic.APIConnectionError, anthropic.APIError) as error:
        assert not isinstance(error, anthropic.APIStatusError), error
    except Exception as error:
        # The SDK lets its HTTP library's own error through when a body breaks.
        assert "RemoteProtocolError" in type(error).__name__, repr(error)
    else:
        raise AssertionError("no error was raised")


def errors(url):
    create = lambda **request: client(url, request.pop("key", "key")).messages.create(**request)
    limited = raises(anthropic.RateLimitError, lambda: create(**ask("hi")))
    assert limited.status_code == 429 and limited.type == "rate_limit_error"
    assert limited.response.headers["retry-after"] == "7" and limited.request_id
    spent = raises(anthropic.EnforcedSpendLimitReachedError, lambda: create(**ask("hi")))
    assert spent.status_code == 429 and isinstance(spent, anthropic.RateLimitError)
    overloaded = raises(anthropic.OverloadedError, lambda: create(**ask("hi")))
    assert overloaded.status_code == 529
    raises(anthropic.InternalServerError, lambda: create(**ask("hi")))
    denied = raises(anthropic.AuthenticationError, lambda: create(key="wrong", **ask("hi")))
    assert denied.type == "authentication_error"
    unknown = raises(anthropic.NotFoundError, lambda: create(**{**ask("hi"), "model": "claude-none"}))
    assert unknown.type == "not_found_error"


def invalid_history(url):
    call = {"type": "tool_use", "id": "toolu_1", "name": "weather", "input": {}}
    request = ask("hi", tools=TOOLS)
    request["messages"] += [{"role": "assistant", "content": [call]}, {"role": "user", "content": "and?"}]
    error = raises(anthropic.BadRequestError, lambda: client(url).messages.create(**request))
    assert error.type == "invalid_request_error"
    assert "without `tool_result` blocks" in error.api_message, error.api_message


def models(url):
    api = client(url).models
    sonnet = valid(api.retrieve(MODEL))
    assert (sonnet.max_input_tokens, sonnet.max_tokens) == (20_000, 128_000)
    assert sonnet.capabilities.thinking.types.adaptive.supported is True
    haiku = valid(api.retrieve("claude-haiku-4-5"))
    assert (haiku.max_input_tokens, haiku.max_tokens) == (200_000, 64_000)
    assert haiku.capabilities.thinking.types.adaptive.supported is False
    # A page of one at a time: the SDK walks them all.
    assert [valid(model).id for model in api.list(limit=1)] == [MODEL, "claude-haiku-4-5"]
    raises(anthropic.NotFoundError, lambda: api.retrieve("claude-none"))


if __name__ == "__main__":
    globals()[sys.argv[1]](sys.argv[2])
