"""Operators as PyTorch dispatches them: their names, the tensors that they read and write,
and the line of the model that calls them.
"""
import contextlib
import os
import sys

from .tensors import DispatchMode, mapped, sha_of, tensors, torch


def unseen(func):
    """Whether a call is made only by fake tensors and hooks, not by a step."""
    return str(func).startswith("prim.") or str(func) == "aten.detach.default"


def passed(func, args, kwargs):
    """Returns the result of an unseen call. PyTorch 1.13 makes a detached number a Python
    number."""
    out = func(*args, **kwargs)
    return torch.scalar_tensor(out, dtype=args[0].dtype) if isinstance(out, (bool, int, float, complex)) else out


def writes(func, args):
    """Returns the tensors that an operator writes in place."""
    schema = getattr(func, "_schema", None)
    if schema is None or "!" not in str(schema):
        return []
    return tensors([v for a, v in zip(schema.arguments, args) if a.alias_info is not None and a.alias_info.is_write])


def signature_of(func, args, kwargs):
    """Returns what determines the sizes of an operator's results, unless they depend on
    values."""
    sign = lambda t: (tuple(t.shape), t.stride() if t.layout is torch.strided else None, str(t.dtype), str(t.device))
    return str(func), str(mapped(args, sign)), str(mapped(kwargs, sign))


class NeedsValues(BaseException):
    """The model looks at a value that has not been computed."""


def short_name(func):
    """Returns the name of an operator, without the usual overload."""
    return str(func)[:-8] if str(func).endswith(".default") else str(func)


def reads_values(func, args):
    """Whether sizes, or what Python does next, may depend on the values of args."""
    if any(getattr(t, "name", "") in ("data_dependent_output", "dynamic_output_shape") for t in func.tags):
        return True
    masks = tensors(args[1:2]) if str(func).split(".")[1].strip("_").startswith(("index", "unsafe_index")) else []
    return any(t.dtype in (torch.bool, torch.uint8) for t in masks) or any(t.layout is not torch.strided for t in tensors(args))


@contextlib.contextmanager
def watched(look):
    """Calls look with the tensor and the name of the method when code reads values without an
    operator."""
    names = ("numpy", "tolist")

    def seen(name):
        plain = getattr(torch.Tensor, name)

        def read(t, *args, **kwargs):
            look(t, name)
            return plain(t, *args, **kwargs)

        return read

    for name in names:
        setattr(torch.Tensor, name, seen(name))
    try:
        yield
    finally:
        for name in names:
            delattr(torch.Tensor, name)


OUTERMOST = set()  # the code that runs a step; module steps adds it


def frames_within():
    """Returns the frames of the collected step as code and line, innermost first."""
    f, out = sys._getframe(1), []
    while f is not None and f.f_code not in OUTERMOST:
        out.append((f.f_code, f.f_lineno))
        f = f.f_back
    return out


def is_ours(file):
    """Whether the code of a file is memtide's: of this package, or of the single file
    generated from it."""
    own = line_of.__code__.co_filename
    packed = (__package__ or "").rpartition(".")[2] == "memtide"
    return os.path.dirname(file) == os.path.dirname(own) if packed else file == own


def line_of(frames):
    """Returns the line of the model among frames, innermost first, such as net.py:30: the
    first one outside of PyTorch, otherwise one in PyTorch's own modules, or ""."""
    folder, theirs = os.path.dirname(torch.__file__) + os.sep, ""
    for code, line in frames:
        file = code.co_filename
        if file.startswith(folder):
            if not theirs and file.startswith(folder + "nn" + os.sep) and os.path.basename(file) not in ("module.py", "container.py"):
                theirs = "torch/%s:%d" % (file[len(folder):].replace(os.sep, "/"), line)
        elif not is_ours(file):
            return "%s:%d" % (os.path.basename(file), line)
    return theirs


def needs(name, frames):
    """Returns which operator needs values, and in which line of the model."""
    line = line_of(frames)
    return "%s needs values%s" % (name, " (%s)" % line if line else "")


class Names(DispatchMode):
    """Records the names of the operators while it is entered."""

    def __init__(self):
        super().__init__()
        self.names, self.paused = [], False

    def __torch_dispatch__(self, func, kinds, args=(), kwargs=None):
        if unseen(func):
            return passed(func, args, kwargs or {})
        if not self.paused:
            self.names.append(str(func))
        return func(*args, **(kwargs or {}))

    def sha(self):
        return sha_of(self.names)
