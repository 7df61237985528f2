"""Whether a program's text shows that it keeps nothing from one move to the next.

Such a program moves by what it is shown alone, so it need not be asked for its earlier moves first. What is not seen
at a glance to be harmless is taken to keep something. Nothing is harmless that could tell an address in memory, nor
what catches the end of its memory: either differs from one instance to another.
"""

import ast
import builtins

MOST_CHARACTERS = 20_000

_FUNCTIONS = frozenset(
    [
        "abs", "all", "any", "bool", "dict", "enumerate", "filter", "float", "frozenset", "int", "isinstance",
        "len", "list", "map", "max", "min", "range", "reversed", "round", "set", "sorted", "sum", "tuple", "zip",
    ]
)  # fmt: skip
_OTHER_BUILTINS = frozenset(dir(builtins)) - _FUNCTIONS
_ATTRIBUTES = frozenset(
    [
        "mine", "theirs", "history", "legal", "seat", "game", "me", "them", "others", "observation", "source",
        "tree", "digest", "simulate", "proves", "TIMEOUT", "ERROR", "ILLEGAL", "name", "parameters", "moves",
        "payoffs", "seats", "rounds", "continuation", "discount", "noise", "count", "index", "get", "items",
        "keys", "values", "startswith", "endswith", "split", "splitlines", "lower", "upper", "strip", "lstrip",
        "rstrip", "replace", "join", "partition", "rpartition", "find", "rfind", "removeprefix", "removesuffix", "rng",
        "shared", "random", "choice", "drop",
    ]
)  # fmt: skip


def keeps_nothing(source):
    """Whether the program keeps nothing between its moves, for all that its text shows."""
    if len(source) > MOST_CHARACTERS:
        return False
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError, RecursionError):
        return False
    return all(map(_is_fixed, tree.body)) and all(map(_is_harmless, ast.walk(tree)))


def _is_fixed(statement):
    """Whether a statement of the program's body defines what no move can change."""
    if isinstance(statement, (ast.Assign, ast.Expr)):
        return _is_constant(statement.value)
    return isinstance(statement, ast.FunctionDef)


def _is_constant(value):
    if isinstance(value, ast.Tuple):
        return all(map(_is_constant, value.elts))
    return isinstance(value, ast.Constant)


def _is_harmless(node):
    return type(node) in _ALWAYS or (type(node) in _IF and _IF[type(node)](node))


def _name(node):
    if not isinstance(node.ctx, ast.Load):
        return node.id not in _FUNCTIONS
    return node.id not in _OTHER_BUILTINS and not node.id.startswith("__")


def _attribute(node):
    return node.attr in _ATTRIBUTES and isinstance(node.ctx, ast.Load)


def _function(node):
    decorated = getattr(node, "decorator_list", None) or getattr(node, "type_params", None)
    defaults = [*node.args.defaults, *filter(None, node.args.kw_defaults)]
    return not decorated and all(map(_is_constant, defaults))


def _operation(node):
    # A remainder by anything else might be a text being filled in.
    return not isinstance(node.op, ast.Mod) or _is_number(node.right)


def _counting(node):
    # Of a list, anything else might be an addition in place.
    plain = isinstance(node.target, ast.Name) and isinstance(node.op, (ast.Add, ast.Sub))
    return plain and _is_number(node.value)


def _is_number(node):
    return isinstance(node, ast.Constant) and type(node.value) in (int, float)


_ALWAYS = frozenset(
    (
        ast.Module, ast.Assert, ast.Assign, ast.BoolOp, ast.Break, ast.Call, ast.Compare, ast.Constant, ast.Continue,
        ast.Dict, ast.DictComp, ast.Expr, ast.For, ast.GeneratorExp, ast.If, ast.IfExp, ast.List, ast.ListComp,
        ast.NamedExpr, ast.Pass, ast.Raise, ast.Return, ast.Set, ast.SetComp, ast.Slice, ast.Starred, ast.Tuple,
        ast.UnaryOp, ast.While, ast.arg, ast.arguments, ast.comprehension, ast.keyword,
        *ast.boolop.__subclasses__(), *ast.cmpop.__subclasses__(), *ast.expr_context.__subclasses__(),
        *ast.operator.__subclasses__(), *ast.unaryop.__subclasses__(),
    )
)  # fmt: skip
_IF = {
    ast.Attribute: _attribute,
    ast.AugAssign: _counting,
    ast.BinOp: _operation,
    ast.FunctionDef: _function,
    ast.Lambda: _function,
    ast.Name: _name,
    ast.Subscript: lambda node: isinstance(node.ctx, ast.Load),
}
