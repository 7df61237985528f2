"""Compiles a bot's source so that the order of its sets does not depend on the image.

Set displays and comprehensions become calls to the ordered `set`, and operators whose operands may be dict views
have their results put in order (see `sets.py`). Line numbers stay as they are.
"""

import ast

SET = "__set__"
ORDERED = "__ordered__"
_VIEW_OPERATORS = (ast.BitAnd, ast.BitOr, ast.BitXor, ast.Sub)


def compile_bot(source, filename="bot.py", mode="exec", flags=0):
    """A code object for the source. Raises `SyntaxError` and its like as `compile` does."""
    if not _may_need_rewriting(source):
        return compile(source, filename, mode, flags, dont_inherit=True)
    tree = compile(source, filename, mode, flags | ast.PyCF_ONLY_AST, dont_inherit=True)
    views = "keys" in source or "items" in source
    tree = ast.fix_missing_locations(_Sets(views).visit(tree))
    return compile(tree, filename, mode, flags, dont_inherit=True)


def _may_need_rewriting(source):
    return "{" in source or "keys" in source or "items" in source


class _Sets(ast.NodeTransformer):
    def __init__(self, views):
        self.views = views

    def visit_Set(self, node):
        self.generic_visit(node)
        return _call(node, SET, ast.List(node.elts, ast.Load()))

    def visit_SetComp(self, node):
        self.generic_visit(node)
        return _call(node, SET, ast.ListComp(node.elt, node.generators))

    def visit_BinOp(self, node):
        self.generic_visit(node)
        if not self.views or not isinstance(node.op, _VIEW_OPERATORS):
            return node
        if isinstance(node.left, ast.Constant) or isinstance(node.right, ast.Constant):
            return node
        return _call(node, ORDERED, ast.Constant(type(node.op).__name__), node.left, node.right)


def _call(node, name, *arguments):
    arguments = [ast.copy_location(argument, node) for argument in arguments]
    function = ast.copy_location(ast.Name(name, ast.Load()), node)
    return ast.copy_location(ast.Call(function, arguments, []), node)


KEPT = ("act", "Bot")
"""Names that the engine looks for, and that are therefore part of what a program is."""


def canonical(source):
    """The program's tree as text, free of comments, layout, docstrings and of the names it chose itself.

    Returns nothing for a source that is not a program.
    """
    try:
        tree = ast.parse(source)
        _rename(tree, _own_names(tree))
        return ast.dump(tree)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return ""


def _named(node):
    """The field that holds a name which `node` binds or uses, if any."""
    if isinstance(node, ast.Name):
        return "id"
    if isinstance(node, (ast.arg, ast.keyword)):
        return "arg"
    if isinstance(node, ast.alias):
        return "asname"
    return "name"


def _own_names(tree):
    names = {}
    for node in ast.walk(tree):
        name = getattr(node, _named(node), None)
        uses = isinstance(node, ast.keyword) or isinstance(getattr(node, "ctx", None), ast.Load)
        if isinstance(name, str) and not uses and name not in KEPT:
            names.setdefault(name, f"n{len(names)}")
    return names


def _rename(tree, names):
    for node in ast.walk(tree):
        field = _named(node)
        name = getattr(node, field, None)
        if name in names:
            setattr(node, field, names[name])
        if isinstance(node, (ast.Global, ast.Nonlocal)):
            node.names = [names.get(name, name) for name in node.names]
        body = getattr(node, "body", None)
        if isinstance(body, list) and body and _is_text(body[0]):
            node.body = body[1:]


def _is_text(node):
    return (
        isinstance(node, ast.Expr)
        and isinstance(node.value, ast.Constant)
        and isinstance(node.value.value, str)
    )
