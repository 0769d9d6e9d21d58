"""Operators as PyTorch dispatches them: their names, what they read and write, and in which
line of the model they are called.
"""
import contextlib
import os
import sys

from .tensors import DispatchMode, mapped, sha_of, tensors, torch


def unseen(func):
    """Calls that fake tensors and hooks make, and a step does not."""
    return str(func).startswith("prim.") or str(func) == "aten.detach.default"


def passed(func, args, kwargs):
    """The result of an unseen call. PyTorch 1.13 makes a number of a detached number."""
    out = func(*args, **kwargs)
    return torch.scalar_tensor(out, dtype=args[0].dtype) if isinstance(out, (bool, int, float, complex)) else out


def writes(func, args):
    """The tensors that an operator writes in place."""
    schema = getattr(func, "_schema", None)
    if schema is None or "!" not in str(schema):
        return []
    return tensors([v for a, v in zip(schema.arguments, args) if a.alias_info is not None and a.alias_info.is_write])


def signature_of(func, args, kwargs):
    """What the sizes of an operator depend on, unless they depend on values."""
    sign = lambda t: (tuple(t.shape), t.stride() if t.layout is torch.strided else None, str(t.dtype), str(t.device))
    return str(func), str(mapped(args, sign)), str(mapped(kwargs, sign))


class NeedsValues(BaseException):
    """A model looks at a value that has not been computed."""


def short_name(func):
    """The name of an operator, without the overload that most have."""
    return str(func)[:-8] if str(func).endswith(".default") else str(func)


def reads_values(func, args):
    """Whether sizes, or what Python does next, may depend on the values of args."""
    if any(getattr(t, "name", "") in ("data_dependent_output", "dynamic_output_shape") for t in func.tags):
        return True
    masks = tensors(args[1:2]) if str(func).split(".")[1].strip("_").startswith(("index", "unsafe_index")) else []
    return any(t.dtype in (torch.bool, torch.uint8) for t in masks) or any(t.layout is not torch.strided for t in tensors(args))


@contextlib.contextmanager
def watched(look):
    """Reads of values that are no operators are told to look, as their tensor and name."""
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


OUTERMOST = set()  # the code that runs a step: module steps puts it here


def frames_within():
    """The frames of the step that is being collected, as code and line, innermost first."""
    f, out = sys._getframe(1), []
    while f is not None and f.f_code not in OUTERMOST:
        out.append((f.f_code, f.f_lineno))
        f = f.f_back
    return out


def is_ours(file):
    """Whether code of file is memtide's: of this package, or of the one file made of it."""
    own = line_of.__code__.co_filename
    packed = (__package__ or "").rpartition(".")[2] == "memtide"
    return os.path.dirname(file) == os.path.dirname(own) if packed else file == own


def line_of(frames):
    """The line of the model among frames, innermost first, such as net.py:30: the first
    that lies outside of PyTorch, otherwise of PyTorch's own modules; empty if there is none."""
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
    """Which operator needs values, and in which line of the model."""
    line = line_of(frames)
    return "%s needs values%s" % (name, " (%s)" % line if line else "")


class Names(DispatchMode):
    """While it is entered, the names of the operators."""

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
