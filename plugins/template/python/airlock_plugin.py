"""Makes a tool of a typed Python function.

    from airlock_plugin import Error, Tools, tool

    @tool(effects=["read"])
    def line_count(path: str, blank: bool = True) -> dict:
        \"\"\"Counts the lines of a file.\"\"\"

The docstring is what the model is told. The type hints make the JSON schema: str, int, float, bool, list, dict,
list[...], Literal[...], Optional[...]; a parameter with a default may be left out. A string that comes back is text,
all else is JSON. Raise Error to say what went wrong.

Import everything at the top: the component is a picture of Python after app.py was loaded. In a call there are no files
to import from.
"""

import inspect
import json
import types
import typing

from componentize_py_types import Err
from wit_world import exports
from wit_world.exports.tools import Tool
from wit_world.imports.types import Content_Json, Content_Text, ToolError

_tools = {}
_PLAIN = {str: "string", int: "integer", float: "number", bool: "boolean", list: "array", dict: "object"}


class Error(Exception):
    """What went wrong and what to do, with a code such as "not-found" or "invalid"."""

    def __init__(self, message, code="failed", retryable=False):
        super().__init__(message)
        self.code = code
        self.retryable = retryable


def tool(name=None, description=None, effects=()):
    """Makes the function below it a tool."""

    def register(function):
        told = description or inspect.getdoc(function)
        if not told:
            raise ValueError(f"{function.__name__}: the model must be told what the tool does: write a docstring")
        _tools[name or function.__name__] = (function, told, list(effects), _schema_of_call(function))
        return function

    return register


class Tools(exports.Tools):
    """What Airlock calls."""

    def list_tools(self):
        return [Tool(name, told, json.dumps(schema), effects) for name, (_, told, effects, schema) in _tools.items()]

    def call_tool(self, name, args):
        try:
            if name not in _tools:
                raise Error(f"the plugin has no tool {name}", "not-found")
            function, _, _, schema = _tools[name]
            answer = function(**_checked(json.loads(args), schema))
        except Error as error:
            raise Err(ToolError(error.code, str(error), error.retryable)) from error
        except Err:
            raise
        except Exception as error:
            raise Err(ToolError("failed", f"{type(error).__name__}: {error}", False)) from error
        return [Content_Text(answer) if isinstance(answer, str) else Content_Json(json.dumps(answer))]


def _checked(arguments, schema):
    missing = [name for name in schema["required"] if name not in arguments]
    unknown = [name for name in arguments if name not in schema["properties"]]
    if missing or unknown:
        told = [f"{name} is missing" for name in missing] + [f"there is no {name}" for name in unknown]
        raise Error("the arguments do not fit: " + ", ".join(told), "invalid")
    return arguments


def _schema_of_call(function):
    hints = typing.get_type_hints(function)
    parameters = inspect.signature(function).parameters.values()
    for parameter in parameters:
        if parameter.name not in hints:
            raise ValueError(f"{function.__name__}: the parameter {parameter.name} needs a type")
    return {
        "type": "object",
        "properties": {parameter.name: _schema(hints[parameter.name]) for parameter in parameters},
        "required": [parameter.name for parameter in parameters if parameter.default is parameter.empty],
        "additionalProperties": False,
    }


def _schema(hint):
    origin, inner = typing.get_origin(hint), typing.get_args(hint)
    if hint in _PLAIN:
        return {"type": _PLAIN[hint]}
    if origin is list:
        return {"type": "array", "items": _schema(inner[0])}
    if origin is dict:
        return {"type": "object", "additionalProperties": _schema(inner[1])}
    if origin is typing.Literal:
        return {"enum": list(inner)}
    if origin in (typing.Union, types.UnionType):
        return {"anyOf": [_schema(kind) for kind in inner]}
    if hint is type(None):
        return {"type": "null"}
    raise ValueError(f"{hint} has no JSON schema here: use str, int, float, bool, list, dict, Literal or Optional")
