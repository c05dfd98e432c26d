"""Outlines Python files with Python's own parser: what a pattern would guess, it knows."""

import ast

from airlock_plugin import Error, Tools, tool  # Airlock calls Tools: leave it imported.
from wit_world.imports import workspace

# It imports its own parts when it is first used. In a call there are no files to import from: that must be now.
ast.unparse(ast.parse("def f(x: int = 1) -> str: pass"))


@tool(effects=["read"])
def python_outline(path: str, private: bool = False) -> list:
    """Outlines a Python file: its classes, functions and methods with their signatures, lines and first line of
    documentation. Use it before reading a large Python file. Names that begin with _ come with private."""
    source = workspace.read(path)
    try:
        module = ast.parse(source)
    except (SyntaxError, ValueError) as error:
        raise Error(f"{path} is no Python that this version knows: {error}", "invalid") from error
    return list(_outline(module, private))


def _outline(scope, private):
    for node in scope.body:
        if not isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            continue
        if node.name.startswith("_") and not node.name.startswith("__") and not private:
            continue
        entry = {"name": _signature(node), "lines": f"{node.lineno}-{node.end_lineno}"}
        documentation = ast.get_docstring(node)
        if documentation:
            entry["doc"] = documentation.splitlines()[0]
        if isinstance(node, ast.ClassDef):
            entry["members"] = list(_outline(node, private))
        yield entry


def _signature(node):
    if isinstance(node, ast.ClassDef):
        bases = ", ".join(ast.unparse(base) for base in node.bases)
        return f"class {node.name}({bases})" if bases else f"class {node.name}"
    keyword = "async def" if isinstance(node, ast.AsyncFunctionDef) else "def"
    returns = f" -> {ast.unparse(node.returns)}" if node.returns else ""
    return f"{keyword} {node.name}({ast.unparse(node.args)}){returns}"
