"""Descriptions of values and functions that are equal in every process."""

from __future__ import annotations

import dis
import glob
import hashlib
import json
import os
import sys
import types
import uuid
from collections.abc import Iterator
from functools import cached_property, lru_cache, partial
from pathlib import PurePath
from types import BuiltinFunctionType, CodeType, FunctionType, MethodType, ModuleType
from typing import Any

import numpy as np

# two objects that can only be told apart by identity are equal within one process alone
_PROCESS = uuid.uuid4().hex
_OPAQUE = "known to one process only: "
_PLAIN = type(None), type(...), bool, int, float, complex, str, bytes
_PACKAGE = __name__.partition(".")[0]


def fingerprint(value: Any) -> str:
    """A text that is equal for equal values and for functions that do the same.

    Functions are compared by compiled code, constants, default values, closures and the global
    variables that they use, among these other functions; functions of installed libraries by their
    names.
    """
    text = json.dumps(_Description().of(value))
    opaque = _OPAQUE if '["opaque"' in text else ""  # quotes within JSON strings are escaped
    return opaque + (text if len(text) < 80 else hashlib.sha256(text.encode()).hexdigest())


def is_portable(text: str) -> bool:
    """Whether a fingerprint has a meaning in another process."""
    return not text.startswith(_OPAQUE)


class _Description:
    """Nested lists of strings that describe a value."""

    def __init__(self) -> None:
        self.home: str | None = None
        self.names: set[str] = set()  # in the code of the current function
        self.outer: list[int] = []  # ids of the objects that contain the current one

    def of(self, value: Any) -> list[Any]:
        if isinstance(value, np.generic) and value.dtype.kind in "biuf":
            value = value.item()
        if type(value) in _PLAIN:
            return [type(value).__name__, repr(value)]
        if id(value) in self.outer:
            return ["outer", self.outer.index(id(value))]
        self.outer.append(id(value))
        describe = next((d for kinds, d in _DESCRIBERS if isinstance(value, kinds)), None)
        description: list[Any] = describe(self, value) if describe else self.instance(value)
        self.outer.pop()
        return description

    def sequence(self, value: Any) -> list[Any]:
        return ["sequence", *map(self.of, value)]

    def collection(self, value: Any) -> list[Any]:
        return ["set", *sorted(map(self.of, value), key=json.dumps)]

    def mapping(self, value: dict[Any, Any]) -> list[Any]:
        return [
            "mapping",
            *([self.of(key), self.of(value[key])] for key in sorted(value, key=repr)),
        ]

    def array(self, value: Any) -> list[Any]:
        if value.dtype.hasobject:
            return ["array", *map(self.of, value.ravel().tolist())]
        content = hashlib.sha256(np.ascontiguousarray(value).tobytes()).hexdigest()
        return ["array", value.dtype.str, list(value.shape), content]

    def partial(self, value: partial[Any]) -> list[Any]:
        return ["partial", *map(self.of, (value.func, value.args, value.keywords))]

    def method(self, value: MethodType) -> list[Any]:
        return ["method", self.of(value.__func__), self.of(value.__self__)]

    def name(self, value: Any) -> list[Any]:
        name = getattr(value, "__qualname__", None) or value.__name__
        return ["name", getattr(value, "__module__", None) or "", name]

    def is_elsewhere(self, value: Any) -> bool:
        """Whether a function or class belongs to a library, unless to the first one's module."""
        module = getattr(value, "__module__", None) or ""
        if self.home is None:
            self.home = module
        is_here = module == self.home and module.partition(".")[0] != _PACKAGE
        return not is_here and _is_of_library(module)

    def function(self, value: FunctionType) -> list[Any]:
        if self.is_elsewhere(value):
            return self.name(value)
        cells = [_content(cell) for cell in value.__closure__ or ()]
        names = sorted(set(_global_names(value.__code__)) & value.__globals__.keys())
        used = {name: value.__globals__[name] for name in names}
        parts = value.__code__, value.__defaults__, value.__kwdefaults__, cells, used
        outer, self.names = self.names, set(_names(value.__code__))
        description = ["function", *map(self.of, parts)]
        self.names = outer
        return description

    def module(self, value: ModuleType) -> list[Any]:
        """By the attributes that a function may use, but for a library."""
        if _is_of_library(value.__name__):
            return self.name(value)
        used = {name: vars(value)[name] for name in self.names & vars(value).keys()}
        return ["module", self.of(used)]

    def code(self, value: CodeType) -> list[Any]:
        counts = value.co_argcount, value.co_kwonlyargcount, value.co_flags
        names = value.co_names, value.co_varnames, value.co_freevars, value.co_cellvars
        return ["code", value.co_code.hex(), *map(self.of, (counts, *names, value.co_consts))]

    def type(self, value: type) -> list[Any]:
        if self.is_elsewhere(value):
            return self.name(value)
        members = {
            name: member
            for name, member in vars(value).items()
            if callable(member) or not name.startswith(("__", "_abc_"))
        }
        return ["class", value.__qualname__, *map(self.of, (value.__bases__, members))]

    def instance(self, value: Any) -> list[Any]:
        """By what pickle would store; by identity if pickle cannot store it."""
        if hasattr(value, "__wrapped__"):  # functools.lru_cache, whose content does not matter
            return ["wrapper", self.of(value.__wrapped__)]
        if _is_importable(value):  # a compiled function
            return self.name(value)
        try:
            reduced = value.__reduce_ex__(4)
        except Exception:  # whatever the object raises, it has no state to compare
            return ["opaque", type(value).__qualname__, f"{_PROCESS} {os.getpid()} {id(value)}"]
        if isinstance(reduced, str):
            return ["name", getattr(value, "__module__", None) or "", reduced]
        parts = [list(part) if isinstance(part, Iterator) else part for part in reduced]
        return ["object", self.of(type(value)), *map(self.of, parts)]


_DESCRIPTORS = (
    types.GetSetDescriptorType,
    types.MemberDescriptorType,
    types.MethodDescriptorType,
    types.WrapperDescriptorType,
    types.ClassMethodDescriptorType,
)
_DESCRIBERS: list[tuple[Any, Any]] = [
    ((list, tuple), _Description.sequence),
    ((set, frozenset), _Description.collection),
    (dict, _Description.mapping),
    (np.ndarray, _Description.array),
    (partial, _Description.partial),
    (MethodType, _Description.method),
    (FunctionType, _Description.function),
    (CodeType, _Description.code),
    (type, _Description.type),
    (property, lambda self, value: ["property", *map(self.of, (value.fget, value.fset))]),
    (cached_property, lambda self, value: ["property", self.of(value.func)]),
    (ModuleType, _Description.module),
    ((BuiltinFunctionType, np.ufunc, *_DESCRIPTORS), _Description.name),
]


def _is_of_library(module: str) -> bool:
    """Whether a module is installed, and not the user's own, which changes without a version."""
    top = module.partition(".")[0]
    if top == _PACKAGE or top in sys.stdlib_module_names:
        return True
    file = getattr(sys.modules.get(module), "__file__", None)
    if file is None:  # of a notebook
        return False
    path = PurePath(file)
    depth = module.count(".") + (path.stem == "__init__")
    return _has_libraries(str(path.parents[min(depth, len(path.parents) - 1)]))


@lru_cache
def _has_libraries(folder: str) -> bool:
    """Whether pip or another installer has written to a folder."""
    installed = os.path.basename(folder) in ("site-packages", "dist-packages")
    return installed or bool(glob.glob(os.path.join(glob.escape(folder), "*.dist-info")))


def _is_importable(value: Any) -> bool:
    module = sys.modules.get(getattr(value, "__module__", None) or "")
    return getattr(module, getattr(value, "__qualname__", ""), None) is value


def _content(cell: Any) -> Any:
    try:
        return cell.cell_contents
    except ValueError:  # the variable has no value yet
        return None


def _names(code: CodeType) -> Iterator[str]:
    """All names of variables and attributes in a function and in those defined in it."""
    yield from code.co_names
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _names(constant)


def _global_names(code: CodeType) -> Iterator[str]:
    """The global variables that a function uses, and those of functions defined in it."""
    for instruction in dis.get_instructions(code):
        if instruction.opname in ("LOAD_GLOBAL", "LOAD_NAME"):
            yield instruction.argval
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _global_names(constant)
