"""Compiles a bot's source so that the order of its sets does not depend on the image.

Set displays and comprehensions become calls to the ordered `set`, and operators whose operands may be dict views
have their results put in order (see `sets.py`). Line numbers stay as they are.
"""

import ast
import builtins
import copy
import re

SET = "{set}"
ORDERED = "{ordered}"
"""Names that no source can spell, so that none is in their way."""

_VIEW_OPERATORS = (ast.BitAnd, ast.BitOr, ast.BitXor, ast.Sub)


def compile_bot(source, filename="bot.py", mode="exec"):
    """A code object for a source or a tree. Raises `SyntaxError` and its like as `compile` does."""
    views = not isinstance(source, str) or "keys" in source or "items" in source
    if not views and "{" not in source:
        return compile(source, filename, mode, dont_inherit=True)
    if isinstance(source, ast.AST):
        tree = copy.deepcopy(source)
    else:
        tree = compile(source, filename, mode, ast.PyCF_ONLY_AST, dont_inherit=True)
    _rewrite(tree, views)
    return compile(tree, filename, mode, dont_inherit=True)


def _rewrite(tree, views):
    """Rewrite a tree in place, and without recursion: trees may be deeper than the stack."""
    pending = [tree]
    while pending:
        node = pending.pop()
        for name, value in ast.iter_fields(node):
            if isinstance(value, list):
                value[:] = [_rewritten(child, views) for child in value]
                pending += [child for child in value if isinstance(child, ast.AST)]
            elif isinstance(value, ast.AST):
                value = _rewritten(value, views)
                setattr(node, name, value)
                pending.append(value)


def _rewritten(node, views):
    if isinstance(node, ast.Set):
        return _call(node, SET, ast.List(node.elts, ast.Load()))
    if isinstance(node, ast.SetComp):
        return _call(node, SET, ast.ListComp(node.elt, node.generators))
    if views and isinstance(node, ast.BinOp) and _on_views(node.op, node.left, node.right):
        return _call(node, ORDERED, ast.Constant(type(node.op).__name__), node.left, node.right)
    if views and isinstance(node, ast.AugAssign) and _on_views(node.op, node.value):
        return _assignment(node)
    return node


def _on_views(operator, *operands):
    """Whether dict views may be among the operands of an operator that they have."""
    return isinstance(operator, _VIEW_OPERATORS) and not any(map(_is_number, operands))


def _is_number(node):
    return isinstance(node, ast.Constant) and isinstance(node.value, (int, float, complex))


def _assignment(node):
    """`target op= value` as `target = ordered(op=, target, value)`, with the parts of the target evaluated once."""
    target = node.target
    if isinstance(target, ast.Subscript) and isinstance(target.slice, (ast.Slice, ast.Tuple)):
        return node
    old, new = copy.copy(target), copy.copy(target)
    old.ctx = ast.Load()
    for field in ("value", "slice"):
        if hasattr(target, field):
            kept = f"{{{field}}}"
            once = ast.NamedExpr(_at(node, ast.Name(kept, ast.Store())), getattr(target, field))
            setattr(old, field, _at(node, once))
            setattr(new, field, _at(node, ast.Name(kept, ast.Load())))
    operator = ast.Constant(f"{type(node.op).__name__}=")
    return _at(node, ast.Assign([new], _call(node, ORDERED, operator, old, node.value)))


def _call(node, name, *arguments):
    function = _at(node, ast.Name(name, ast.Load()))
    return _at(node, ast.Call(function, [_at(node, each) for each in arguments], []))


def _at(node, new):
    return new if hasattr(new, "lineno") else ast.copy_location(new, node)


KEPT = ("act", "Bot")
"""Names that the engine looks for, and that are therefore part of what a program is."""


_BUILTINS = frozenset(dir(builtins))
_DOCUMENTED = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)


def canonical(source):
    """The program's tree as text, free of comments, layout, docstrings and of the names it chose itself.

    Programs of one canonical form do the same, unless they look their own names or docstrings up. Returns nothing
    for a source that is not a program.
    """
    try:
        tree = ast.parse(source)
        nodes = _undocumented(tree)
        _rename(nodes, _own_names(nodes))
        return ast.dump(tree)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return ""


def _undocumented(tree):
    """All nodes of the tree, once its docstrings have been taken away."""
    nodes, pending = [], [tree]
    while pending:
        node = pending.pop()
        if isinstance(node, _DOCUMENTED) and ast.get_docstring(node, clean=False) is not None:
            del node.body[0]
        nodes.append(node)
        pending += ast.iter_child_nodes(node)
    return nodes


def _own_names(nodes):
    """Numbers for the names that the program binds and that mean nothing outside of it, nor more than a variable."""
    names, known = {}, {*KEPT}
    for node in nodes:
        if type(node) in _KNOWN:
            known.update(_KNOWN[type(node)](node))
        name = _bound(node)
        if name is not None and name not in _BUILTINS and not name.startswith("__"):
            names.setdefault(name, len(names))
    return {} if "*" in known else {name: str(n) for name, n in names.items() if name not in known}


_FIELDS = {ast.Name: "id", ast.arg: "arg", ast.alias: "asname", ast.MatchMapping: "rest"}
"""Where nodes hold a name that they bind or use; it is `name` in all others that do."""


def _bound(node):
    if isinstance(getattr(node, "ctx", None), ast.Load):
        return None
    return getattr(node, _FIELDS.get(type(node), "name"), None)


def _imported(node):
    return [node.name.partition(".")[0]] if node.asname is None else []


def _words(node):
    return re.findall(r"\w+", node.value) if isinstance(node.value, str) else []


def _in_class(node):
    """The names bound in the class's own scope."""
    scopes = (ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
    pending = [*node.body]
    while pending:
        child = pending.pop()
        yield _bound(child)
        if not isinstance(child, scopes):
            pending += ast.iter_child_nodes(child)


_KNOWN = {
    ast.alias: _imported,
    ast.Attribute: lambda node: [node.attr],
    ast.ClassDef: _in_class,
    ast.Constant: _words,
    ast.keyword: lambda node: [node.arg],
    ast.MatchClass: lambda node: node.kwd_attrs,
}
"""Names in a node that mean more than a variable: modules, attributes, arguments, and words of a text."""


def _rename(nodes, names):
    for node in nodes:
        field = _FIELDS.get(type(node), "name")
        name = getattr(node, field, None)
        if name in names:
            setattr(node, field, names[name])
        if isinstance(node, (ast.Global, ast.Nonlocal)):
            node.names = [names.get(name, name) for name in node.names]
