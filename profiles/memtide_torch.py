#!/usr/bin/env python3
# Code generated from profiles/python/memtide by make generate; DO NOT EDIT.
"""The part of memtide that needs PyTorch: it collects the operators of a training
step of any module, and runs the unmodified module by a plan.

    python memtide_torch.py my.module:factory -o net.json
    memtide torch -class nested -budget 10GiB -o plan.json operators.json

    import memtide_torch as mt
    handle = mt.apply(model, "plan.json")      # from now on the model trains by the plan
    handle.remove()                            # until now

factory() returns model, or model, args, or model, args, kwargs, or a dictionary of
model, args, kwargs, loss, autocast. Without memtide:

    graph = mt.collect(model, (ids,), {"labels": labels})     # or loss=lambda out: ...
    plan = mt.every_nth(graph, 2)              # or every, or segments(graph, ["h.0", "h.1"])
    print(graph.play(plan).peak)               # before anything runs

To compare a plan with the framework's own checkpointing:
    python memtide_torch.py my.module:factory --compare plan.json --device cuda

It needs only PyTorch, 1.13 or later; 2.4 for plans that keep single operators, and 2.1
to collect without computing. It was run on CPUs and on one GPU, an H200; FSDP is
untested.

With --chain (or as collect.py) it measures a network stage by stage:
    python collect.py resnet50 --input 32x3x224x224 --device cuda
    python collect.py package.module:factory --device cpu --reps 5 -o net.json
    python collect.py densenet121 --input 32x3x224x224 --meta --times a100-sxm-40gb
    python collect.py --link net.json

The network is a name of torchvision.models, or package.module:factory, where
factory() returns a module, or a module and a sample of its input. The stages of an
nn.Sequential are its children (--flat opens nested ones). Any other module is traced,
and a stage ends wherever exactly one tensor crosses, or after the modules named with
--cut. A module that works in place, or that only views its input, joins the stage
before it.

Each stage gets the median times of forward and backward; the size of its output; the
memory that autograd keeps, each storage once, without parameters, buffers and the
stage's input, with the output, unless no backward reads it; and the temporary memory
of forward and backward. Measured profiles are compared with the peak of a plain
training step. --meta derives exact sizes from shapes within seconds, and times from a
model of the device that --times names. Times of a CPU do not carry over to a GPU. It
needs only PyTorch, 1.10 or later, 1.13 for the model of times; --link needs no PyTorch.

The names in __all__ are for programs; all others are internal and may change. In a
checkout, set PYTHONPATH=profiles/python. profiles/memtide_torch.py is the same package
in one file (make generate).
"""
import argparse
import base64
import collections
import contextlib
import copy
import ctypes
import difflib
import fnmatch
import functools
import gc
import hashlib
import html
import importlib
import inspect
import json
import math
import operator
import os
import random
import re
import shutil
import statistics
import struct
import subprocess
import sys
import sysconfig
import tempfile
import time
import traceback
import types
import uuid
import warnings
import weakref
import webbrowser
import zlib


# -- errors.py: Errors, whose text is safe on any terminal. This module imports no other module of the
# package.


STEERING = re.compile("[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")


def shown(text):
    """Returns foreign text without characters that could have an effect where it is shown:
    control characters, which can steer a terminal, marks that change the direction of text,
    and halves of surrogate pairs. White space becomes a space, the others U+FFFD, as in
    CleanText of profiles/budget.go."""
    return STEERING.sub(lambda m: " " if m[0] in "\t\n\r\u2028\u2029" else "\ufffd", text)


class Refusal(RuntimeError):
    """An error that says what was found and what to do, in a sentence that is safe on any
    terminal."""

    def __init__(self, text):
        super().__init__(shown(text))


class CollectError(Refusal):
    """The network cannot be profiled."""


class OtherOperators(CollectError):
    """A step on the device runs other operators than the step on shapes alone."""


class ValuesNeeded(CollectError):
    """The model looks at values, which shapes alone do not have. what is the operator that
    needs them, and the line of the model."""

    def __init__(self, what):
        super().__init__(what + ": collect with real=True.")
        self.what = what


class PlanError(Refusal):
    """The plan does not fit the model, or this PyTorch."""


def size_text(n):
    """Returns a number of bytes for people."""
    return "%.1f GiB" % (n / 2**30) if n >= 2**30 else "%.1f MiB" % (n / 2**20)


# -- tensors.py: PyTorch, if it is installed, and the tensors in arguments and results of modules.


try:
    import torch
    from torch import nn
    from torch.multiprocessing.reductions import StorageWeakRef
except ImportError:
    torch = nn = StorageWeakRef = None
try:
    from torch.utils._python_dispatch import TorchDispatchMode
except ImportError:  # before PyTorch 1.13
    TorchDispatchMode = None

VERSION = tuple(int(x) for x in torch.__version__.split("+")[0].replace("a0", "").split(".")[:2]) if torch else (0, 0)

DispatchMode = TorchDispatchMode or object


def tensors(x, out=None):
    """Returns all tensors in a tree of tuples, lists, dicts and objects with attributes (such
    as a ModelOutput), in order."""
    out = [] if out is None else out
    if isinstance(x, torch.Tensor):
        out.append(x)
    elif isinstance(x, (tuple, list)):
        for y in x:
            tensors(y, out)
    elif isinstance(x, dict):
        for y in x.values():
            tensors(y, out)
    elif hasattr(x, "__dict__") and not isinstance(x, (nn.Module, type, types.FunctionType)):
        for y in vars(x).values():
            tensors(y, out)
    return out


def mapped(x, change, what=None):
    """Returns the tree with change(leaf) in place of every leaf that is a tensor (or a
    `what`). Containers are new; other objects are kept."""
    if isinstance(x, what or torch.Tensor):
        return change(x)
    if isinstance(x, tuple):
        y = [mapped(e, change, what) for e in x]
        return tuple.__new__(type(x), y) if hasattr(x, "_fields") else tuple(y)  # the constructor of a PackedSequence checks its arguments
    if isinstance(x, list):
        return [mapped(e, change, what) for e in x]
    if type(x) is dict:
        return {k: mapped(v, change, what) for k, v in x.items()}
    return x


def objects(x, out=None):
    """Returns the leaves of a tree that can hold tensors and that `mapped` passes on, such as
    a cache."""
    out = [] if out is None else out
    if isinstance(x, (tuple, list)) or type(x) is dict:
        for y in x.values() if isinstance(x, dict) else x:
            objects(y, out)
    elif not isinstance(x, (torch.Tensor, nn.Module, type, types.FunctionType)) and (hasattr(x, "__dict__") or isinstance(x, (dict, set, collections.deque))):
        out.append(x)
    return out


def plain(t):
    """Whether keeping t costs autograd no memory: t is a parameter or a view of one."""
    return isinstance(t, nn.Parameter) or isinstance(getattr(t, "_base", None), nn.Parameter)


def _storage(t):
    return t.untyped_storage() if hasattr(t, "untyped_storage") else t.storage()


def _key(t):
    return _storage(t)._cdata


def nbytes(t):
    return t.numel() * t.element_size()


def input_rows(args, kwargs):
    """Returns the tensors in arguments as rows of name, shape and type."""
    named = [(str(i), a) for i, a in enumerate(args)] + sorted(kwargs.items())
    return [[n, list(t.shape), str(t.dtype)[6:]] for n, a in named for t in tensors(a)]


def sha_of(names):
    return hashlib.sha256("\n".join(names).encode()).hexdigest()[:16]


# -- randomness.py: The generators of random numbers and the state of autocast, which a repeated run needs as
# they were.


def random_state():
    """Returns the states of all generators of random numbers that a step may use."""
    s = dict(other_random_state(), cpu=rng_bytes())
    if torch.cuda.is_available() and torch.cuda.is_initialized():
        s["cuda"] = torch.cuda.get_rng_state()
    return s


def other_random_state():
    """Returns the states of the generators other than PyTorch's."""
    return {"python": random.getstate(), **({"numpy": sys.modules["numpy"].random.get_state()} if "numpy" in sys.modules else {})}


def set_random_state(s):
    """Restores the states of all generators to those that random_state returned."""
    torch.set_rng_state(torch.frombuffer(bytearray(s["cpu"]), dtype=torch.uint8))
    random.setstate(s["python"])
    if "numpy" in s:
        sys.modules["numpy"].random.set_state(s["numpy"])
    if "cuda" in s:
        torch.cuda.set_rng_state(s["cuda"])


def seed_all(n):
    """Seeds all generators."""
    torch.manual_seed(n)
    random.seed(n)
    if "numpy" in sys.modules:
        sys.modules["numpy"].random.seed(n)


def rng_bytes():
    """Returns the state of PyTorch's generator, without using PyTorch's allocator."""
    t = torch.get_rng_state()
    return ctypes.string_at(t.data_ptr(), t.numel())


def casts():
    """Returns, for each kind of device, its name, whether autocast is on, and its type."""
    if hasattr(torch, "get_autocast_dtype"):
        return [(d, torch.is_autocast_enabled(d), torch.get_autocast_dtype(d)) for d in ("cpu", "cuda")]
    return [("cpu", torch.is_autocast_cpu_enabled(), torch.get_autocast_cpu_dtype()), ("cuda", torch.is_autocast_enabled(), torch.get_autocast_gpu_dtype())]


CASTS = ("bfloat16", "float16")


def cast_type(autocast):
    """Returns the type of autocast, which may be given by name, or None."""
    name = autocast if isinstance(autocast, str) else str(autocast or "")
    name = name[6:] if name.startswith("torch.") else name
    if name and name not in CASTS:
        raise CollectError("autocast is %r: %s or None is expected, as a type of PyTorch or as its name." % (name[:60], ", ".join(CASTS)))
    return getattr(torch, name) if name else None


# -- meter.py: Measurement of the allocator's peaks, and of times.


def allocated(fn, device):
    """Returns the result of fn, and the most bytes that PyTorch's allocator held above the
    start while fn ran."""
    gc.collect()  # else garbage of earlier code could be freed meanwhile
    return allocated_both(fn, device)[:2]


def allocated_both(fn, device):
    """As allocated, with the bytes above the start at the end as well."""
    if device.type == "cuda":
        torch.cuda.synchronize(device)
        start = torch.cuda.memory_allocated(device)
        torch.cuda.reset_peak_memory_stats(device)
        result = fn()
        torch.cuda.synchronize(device)
        return result, torch.cuda.max_memory_allocated(device) - start, torch.cuda.memory_allocated(device) - start
    from torch.profiler import ProfilerActivity, profile

    with profile(activities=[ProfilerActivity.CPU], profile_memory=True) as p:
        result = fn()
    now = peak = 0
    for event in p.profiler.kineto_results.events():
        if event.name() == "[memory]":
            now += event.nbytes()
            peak = max(peak, now)
    return result, peak, now


clock = time.perf_counter_ns


def timed(fn, device):
    """Returns the result of fn, and its time in nanoseconds."""
    if device.type == "cuda":
        begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        torch.cuda.synchronize(device)
        begin.record()
        result = fn()
        end.record()
        torch.cuda.synchronize(device)
        return result, round(begin.elapsed_time(end) * 1e6)
    start = clock()
    result = fn()
    return result, clock() - start


def free_memory(device):
    """Returns the bytes that a device has free for a plan; None if unknown."""
    if device.type != "cuda":
        return None
    return torch.cuda.mem_get_info(device)[0] + torch.cuda.memory_reserved(device) - torch.cuda.memory_allocated(device)


# -- command.py: The command memtide, which a wheel for a platform contains: finding it and running it.


# The subcommands; every other first word of a command line is a network.
COMMANDS = ("solve", "sweep", "batch", "place", "doctor", "link", "svg", "export", "torch", "estimate", "diff", "plan", "pipeline", "score", "serve", "version", "help")

HOW = ("The command memtide is not here: install the wheel of your platform, put a binary of the release on the PATH, "
       "or name one with the variable MEMTIDE; with Go, go build ./cmd/memtide in the repository makes it.")


def command():
    """Returns the path of the command memtide: the variable MEMTIDE, the program of the
    wheel, or the one on the PATH. None if there is no such program."""
    name = "memtide.exe" if os.name == "nt" else "memtide"
    beside = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "bin")  # for pip install --target
    folders = [sysconfig.get_path("scripts"), sysconfig.get_path("scripts", os.name + "_user"), beside]
    found = [os.environ.get("MEMTIDE", "")] + [os.path.join(f, name) for f in folders if f] + [shutil.which("memtide") or ""]
    return next((f for f in found if f and os.access(f, os.X_OK) and os.path.isfile(f)), None)


def ask(*args):
    """Runs the command and returns its standard output and its standard error. Raises
    PlanError with its message if it fails."""
    path = command()
    if path is None:
        raise PlanError(HOW)
    done = subprocess.run([path, *args], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    if done.returncode:
        raise PlanError(done.stderr.strip().replace("\n", " "))
    return done.stdout, done.stderr


def pass_on(argv):
    """Runs the command in place of this program, and returns its exit status."""
    path = command()
    if path is None:
        print(HOW, file=sys.stderr)
        return 1
    return subprocess.call([path, *argv])


# -- showing.py: Display of graphs and plans: in a line, in a notebook, and on the page.


PAGE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "memtide.html")


def table(title, rows, head=()):
    """Returns a title and rows of text cells as HTML."""
    cells = lambda tag, row: "<tr>" + "".join("<%s style='text-align:left'>%s</%s>" % (tag, html.escape(str(c)), tag) for c in row) + "</tr>"
    return "<b>%s</b><table>%s%s</table>" % (html.escape(title), cells("th", head) if head else "", "".join(cells("td", r) for r in rows))


def page_with(fragment):
    """Returns the page in one file, which opens with the link of a fragment."""
    if not os.path.exists(PAGE):
        raise PlanError("The page is not beside this program: it is in the wheel of memtide, and make build makes dist/memtide.html.")
    with open(PAGE, encoding="utf-8") as f:
        page = f.read()
    before, body, after = page.partition("<body ")
    if not body:
        raise PlanError("%s is not the page of memtide: install the wheel again." % PAGE)
    return before + body + 'data-link="%s" ' % html.escape(fragment) + after


def framed(page, name, height):
    """Returns HTML that shows a page in a frame. The frame has an address of its own (a
    blob), because the page writes its state into its address."""
    text = json.dumps(page).replace("<", "\\u003c")  # so that the text does not end the script
    mark = "memtide-%s" % uuid.uuid4().hex
    return ('<iframe id="%s" title="%s" width="100%%" height="%d" style="border:0"></iframe><script>'
            'document.getElementById("%s").src = URL.createObjectURL(new Blob([%s], {type: "text/html;charset=utf-8"}));</script>'
            % (mark, html.escape(name), height, mark, text))


def in_notebook():
    """Whether this process runs in a notebook."""
    shell = sys.modules.get("IPython") and sys.modules["IPython"].get_ipython()
    return shell is not None and getattr(shell, "kernel", None) is not None


def show_page(save, name, budget=None, height=760, browser=True):
    """Opens the page with the network that save writes to a file: in the cell of a notebook,
    otherwise in a browser. Returns the object that displays it, or the name of the opened
    file. Fetches nothing."""
    folder = tempfile.mkdtemp(prefix="memtide-")
    net, path = os.path.join(folder, "net.json"), os.path.join(folder, "memtide.html")
    save(net)
    link, _ = ask("link", *(["-budget", str(budget)] if budget else []), net)
    page = page_with(link.strip().partition("#")[2])
    if in_notebook():
        return sys.modules["IPython"].display.HTML(framed(page, name, height))
    with open(path, "w", encoding="utf-8") as f:
        f.write(page)
    if browser and not webbrowser.open("file://" + path):
        print("No browser was found: open %s (%s) in one." % (path, size_text(len(page))), file=sys.stderr)
    return path


# -- plans.py: Plans as files: reading them, and the bounds of each field, beyond which PlanError is raised.
#
# The bounds are those of package profiles: a plan may come from an unknown author.


def walk(segments):
    """Yields all segments, each before the segments within it."""
    for s in segments or []:
        yield s
        yield from walk(s.get("inner"))


def name_of(seg):
    units = seg["units"]
    return units[0] + (" to " + units[-1] if len(units) > 1 else "")


def shapes_of(plan):
    """Returns the plans in a plan: the plan itself, and those for other inputs."""
    return [plan] + (plan.get("shapes") or [])


def several(plan, *others):
    """Returns one plan from plans for several batches or lengths of one model. Inputs without
    a plan run without one."""
    plan, others = load_plan(plan), [load_plan(p) for p in others]
    alike = lambda p: [(p.get("model") or {}).get(key) for key in ("units", "classes", "modules_sha")] + [p.get("autocast")]
    if any(alike(p) != alike(plan) for p in others):
        raise PlanError("These plans are of different models: collect one model with each of its inputs.")
    rows = [{k: p[k] for k in ("budget_bytes", "inputs", "predicted", "segments") if k in p} for o in others for p in shapes_of(o)]
    doubts = list(dict.fromkeys(w for p in [plan] + others for w in p.get("warnings") or []))
    return Plan(plan, shapes=(plan.get("shapes") or []) + rows, **({"warnings": doubts} if doubts else {}))


class Plan(dict):
    """A plan: a dictionary with the fields of its file."""

    def __repr__(self):
        rows = [r for s in shapes_of(self) for r in summary(s)]
        return "<memtide plan of %s, class %s: %s>" % (shown(str(self.get("name", ""))), self.get("class", ""), "; ".join(rows))

    def _repr_html_(self):
        rows = [(s["do"], " ".join(s["units"]), "%d segments" % len(s["inner"]) if s.get("inner") else "") for s in self["segments"]]
        return table(repr(self)[1:-1], rows, ("", "units", "within"))

    def save(self, path):
        """Writes the file that apply and the command read."""
        with open(path, "w", encoding="utf-8") as f:
            json.dump(self, f, indent=1)


def summary(plan):
    """Yields what a plan for one shape does and takes, in a few words."""
    said, again = plan.get("predicted") or {}, sum(len(s["units"]) for s in plan["segments"] if s.get("do") == "recompute")
    yield "%d of %d units run again" % (again, len((plan.get("model") or {}).get("units") or [])) if plan.get("model") else "%d units run again" % again
    if said.get("peak_bytes"):
        yield "peak %s instead of %s" % (size_text(said["peak_bytes"]), size_text(said.get("keepall_peak_bytes", 0)))
    if said.get("step_s") and said.get("again_s") is not None:
        yield "%+.0f %% time" % (100 * said["again_s"] / max(said["step_s"] - said["again_s"], 1e-9))


def load_plan(plan):
    """Returns the plan in a file or a dictionary. Raises PlanError with the field that is
    invalid."""
    if isinstance(plan, (str, os.PathLike)):
        plan = read_json(plan)
    if not isinstance(plan, dict) or plan.get("format") != "memtide-plan/1":
        raise PlanError("This is no plan of memtide (format memtide-plan/1).")
    Fields(plan).plan()
    return plan if isinstance(plan, Plan) else Plan(plan)


MOST_BYTES, MOST_NUMBER, MOST_NAME, MOST_TEXT, MOST_NOTES, MOST_ITEMS = 512 << 20, 1 << 53, 1000, 10000, 1000, 1 << 20

MOST_DEPTH = 100  # of nested segments


def read_json(path):
    """Returns the content of a JSON file, which may come from an unknown author."""
    with open(path, "rb") as f:
        data = f.read(MOST_BYTES + 1)
    if len(data) > MOST_BYTES:
        raise PlanError("%s is larger than %s, which is the most that is read." % (path, size_text(MOST_BYTES)))
    try:
        return json.loads(data)
    except RecursionError:
        raise PlanError("%s is nested deeper than any plan." % path) from None
    except ValueError as e:
        raise PlanError("%s is no JSON: %s." % (path, str(e)[:200])) from None


def brief(value):
    """Returns a JSON value for a message: the start of a text, or the type of another value."""
    if type(value) is int and value.bit_length() > 64:
        return "a number of %d bits" % value.bit_length()
    if isinstance(value, str):
        return repr(value if len(value) <= 60 else value[:60] + "...")
    return repr(value) if isinstance(value, (bool, int, float, type(None))) else "a " + type(value).__name__


class Fields:
    """Checks the fields of a plan. Fields that are missing or null have a default, except for
    segments, units and do."""

    def __init__(self, plan):
        self.top = plan

    def wrong(self, path, value, expected):
        raise PlanError("%s is %s: %s is expected. Solve again, or ask for the file again." % (path, brief(value), expected))

    def text(self, path, value, most=MOST_NAME):
        if type(value) is not str or len(value) > most:
            self.wrong(path, value, "a text of at most %d characters" % most)

    def whole(self, path, value, most=MOST_NUMBER):
        if type(value) is not int or not 0 <= value <= most:
            self.wrong(path, value, "a whole number from 0 to %d" % most)

    def number(self, path, value):
        if type(value) not in (int, float) or not 0 <= value <= MOST_NUMBER:  # false for a NaN
            self.wrong(path, value, "a number from 0 on")

    def each(self, path, value, check, most=MOST_ITEMS):
        if not isinstance(value, (list, tuple)) or len(value) > most:
            self.wrong(path, value, "a list of at most %d" % most)
        for i, v in enumerate(value):
            check("%s[%d]" % (path, i), v)

    def parts(self, path, value, checks):
        """Checks that value is an object, and each of its fields with its check."""
        if not isinstance(value, dict):
            self.wrong(path, value, "an object")
        for key, check in checks.items():
            if value.get(key) is not None:
                check("%s.%s" % (path, key) if path else key, value[key])

    def plan(self):
        long = lambda path, v: self.text(path, v, MOST_TEXT)
        names = lambda path, v: self.each(path, v, self.text)
        model = {"units": names, "classes": names, "ops_sha": self.text, "modules_sha": self.text}
        self.parts("", self.top, {
            "class": self.text, "name": self.text, "made_by": self.text, "autocast": self.cast, "model": lambda path, v: self.parts(path, v, model),
            "warnings": lambda path, v: self.each(path, v, long, MOST_NOTES), "shapes": lambda path, v: self.each(path, v, self.shape)})
        if "segments" not in self.top:
            raise PlanError("The plan has no segments: a list of what runs again or goes to the host is expected. Solve again, or ask for the file again.")
        self.shape("", self.top)

    def shape(self, path, value):
        """Checks the fields that a plan and each of its shapes have."""
        predicted = {key: self.whole for key in ("peak_bytes", "keepall_peak_bytes", "sent_bytes")}
        predicted.update((key, self.number) for key in ("step_s", "again_s", "copies_s"))
        self.parts(path, value, {
            "budget_bytes": self.whole, "inputs": lambda at, v: self.each(at, v, self.input), "predicted": lambda at, v: self.parts(at, v, predicted),
            "segments": lambda at, v: self.segments(at, v)})

    def cast(self, path, value):
        if value != "" and not (type(value) is str and value in CASTS):
            self.wrong(path, value, "the name of a type for autocast (%s), or nothing" % ", ".join(CASTS))

    def input(self, path, value):
        if not isinstance(value, (list, tuple)) or len(value) != 3:
            self.wrong(path, value, "a list of name, shape and type")
        self.text(path + "[0]", value[0])
        self.each(path + "[1]", value[1], self.whole)
        self.text(path + "[2]", value[2])

    def segments(self, path, value, deep=1):
        if deep > MOST_DEPTH:
            raise PlanError("%s...: segments are nested deeper than %d, which is the most that is read." % (path[:60], MOST_DEPTH))
        self.each(path, value, lambda at, s: self.segment(at, s, deep))

    def segment(self, path, s, deep):
        self.parts(path, s, {})
        self.each(path + ".units", s.get("units"), self.text)
        if not s["units"]:
            self.wrong(path + ".units", None, "a list of at least one module call")
        name = name_of(s)
        if s.get("do") not in ("keep", "recompute", "offload"):
            raise PlanError("%s.do: the plan wants to %s %s, which this version does not know." % (path, self.word(s.get("do")), name))
        if s.get("input") not in (None, "", "keep", "offload"):
            raise PlanError("%s.input: the plan wants to %s the input of %s, which this version does not know." % (path, self.word(s["input"]), name))
        if s.get("input") == "offload" and s["do"] != "recompute":
            raise PlanError("%s.input: the plan wants to offload the input of %s, which does not run again." % (path, name))
        n = s.get("prefetch")
        if n is not None and (type(n) is not int or not 0 <= n <= MOST_ITEMS):
            raise PlanError("%s.prefetch: the plan has the prefetch %s for %s: a number of segments, at most %d." % (path, brief(n), name, MOST_ITEMS))
        if s.get("save") and s.get("inner"):
            raise PlanError("%s.save: the plan keeps single operators of %s, which has segments within." % (path, name))
        self.parts(path, s, {"save": lambda at, v: self.each(at, v, self.saved), "inner": lambda at, v: self.segments(at, v, deep + 1)})

    def word(self, value):
        return value[:60] if isinstance(value, str) else brief(value)

    def saved(self, path, value):
        if not isinstance(value, (list, tuple)) or len(value) != 2:
            self.wrong(path, value, "a list of the name of an operator and a number")
        self.text(path + "[0]", value[0])
        self.whole(path + "[1]", value[1])


# -- modules.py: The state of modules while they run, and what a plan stores in them.


class Contents:
    """A list, dictionary, set or deque, and the containers within it, with the items of each."""

    KINDS = (list, dict, set, collections.deque, collections.OrderedDict, collections.defaultdict, collections.Counter)

    def __init__(self, x):
        self.x, self.parts, todo = x, [], [x]
        while todo:
            c = todo.pop()
            if type(c) in self.KINDS and not any(c is d for d, _ in self.parts):
                self.parts.append((c, self.items(c)))
                todo += self.parts[-1][1]

    def items(self, c):
        return [*c, *c.values()] if isinstance(c, dict) else list(c)

    def same(self):
        """Whether no item has changed since."""
        now = [self.items(c) for c, _ in self.parts]
        return all(len(a) == len(b) and all(x is y for x, y in zip(a, b)) for a, (_, b) in zip(now, self.parts))

    def put(self):
        """Restores the items, and returns the outer container."""
        for c, items in self.parts:
            c.clear()
            n = len(items) // 2
            if isinstance(c, dict):
                c.update(dict(zip(items[:n], items[n:])))
            else:
                getattr(c, "update" if isinstance(c, set) else "extend")(items)
        return self.x


def noted(value):
    """Returns an attribute, with its items if it is a container."""
    return Contents(value) if type(value) in Contents.KINDS else value


def own_attribute(name):
    """Whether an attribute belongs to the model, not to PyTorch or a plan."""
    return name not in MODULE and not name.startswith("_memtide") and name != "forward"


MODULE = set(vars(nn.Module())) if torch else set()


def still(value):
    """Returns an attribute without its autograd graph."""
    change = lambda t: t.detach().requires_grad_() if t.requires_grad and not isinstance(t, nn.Parameter) else t
    if isinstance(value, Contents):
        value.parts = [(c, [change(t) if torch.is_tensor(t) else t for t in items]) for c, items in value.parts]
        return value
    return mapped(value, change)


def signature(o):
    """Returns a value that changes when a module appends to an object, or counts in it."""
    parts = Contents([o, *(vars(o).values() if hasattr(o, "__dict__") else ())]).parts
    same = lambda v: v if isinstance(v, (int, float, str)) else id(v)
    return [(id(t), t._version, tuple(t.shape)) for t in tensors(o)], [[same(v) for v in items] for _, items in parts]


class Planned:
    """What a plan stores in a module that it names: the runtime, the path of the module, and
    the forward that the module itself had in place of its class's, or None. A deep copy of
    the module has a copy of it; a saved module has None."""

    def __init__(self, rt, path, forward):
        self.rt, self.path, self.forward = rt, path, forward

    def __deepcopy__(self, memo):
        return Planned(*copy.deepcopy((self.rt, self.path, self.forward), memo))

    def __reduce__(self):
        if self.forward is not None:
            raise PlanError("%s has a forward of its own beside the plan, which would not be in the file: remove() the plan before you save the model, or save its state_dict()."
                            % (self.path or "The model"))
        return type(None), ()


def planned(module):
    """Returns what a plan has stored in a module; None without a plan."""
    return module.__dict__.get("_memtide")


def stand_in(module):
    """Returns the forward of a module that the plan names. It is a method, so that a deep
    copy runs its own. It has the signature of the original forward, for code that inspects it
    (a Trainer drops columns that forward does not take). It is called forward, so that a
    saved module has the forward of its class."""

    def forward(self, *args, **kwargs):
        return self.__dict__["_memtide"].rt.forward(self, args, kwargs)

    with contextlib.suppress(TypeError, ValueError):  # forwards without a signature
        forward.__signature__ = inspect.signature(type(module).forward)
    return types.MethodType(forward, module)


def modules_sha(model):
    """Returns a hash of the modules of a model, by path and class, and of the shapes of their
    parameters. Buffers are left out: some grow while a model runs. Returns "" if a parameter
    has no shape yet."""
    rows = ["%s %s" % (path, type(m).__name__) for path, m in model.named_modules()]
    for name, p in model.named_parameters():
        if isinstance(p, nn.parameter.UninitializedParameter):
            return ""
        rows.append("%s %s" % (name, tuple(p.shape)))
    return sha_of(rows)


def whole(model):
    """Refuses a model that FSDP has sharded, or is about to."""
    for path, m in model.named_modules():
        kind = type(m).__name__
        if kind == "FullyShardedDataParallel" or kind.startswith("FSDP") or getattr(m, "_is_fsdp_managed_module", False):
            raise PlanError("FSDP is not supported yet: its parameters would be missing when %s runs again." % (path or "the model"))


WHOLE_COMPILE = "A plan does not go into torch.compile of the whole model: compile the blocks' forwards, then apply the plan."

OWN_CHECKPOINTS = "The model checkpoints by itself (torch.utils.checkpoint), so that what a plain step keeps is not seen: turn that off before you collect."


# -- offload.py: Activations on the host until the backward comes near.


class Offloaded:
    """The activations that an offloaded segment keeps, or the arguments of one that runs
    again. They are on the host until the backward comes near."""

    def __init__(self, rt, seg):
        self.rt, self.seg = rt, seg
        self.blocks = weakref.WeakValueDictionary()  # the handles hold the blocks, so a block is freed when the backward is done with it
        self.line, self.n = rt.offloaded, len(rt.offloaded)  # all of the same step
        self.line.append(weakref.ref(self))

    def pack(self, t):
        if plain(t) or t.layout is not torch.strided or t.numel() == 0 or _key(t) in self.rt.given:
            return t
        b = self.blocks.get(_key(t))
        if b is None:
            with self.rt.quiet():
                b = self.blocks[_key(t)] = Block(t, self.rt)
            b.alive = StorageWeakRef(_storage(t))  # a storage that is freed could share its address with a new one
            b.seen = {place(t)}
        elif place(t) not in b.seen:  # this part may have been written since, as the gates of an LSTM are
            with self.rt.quiet():
                b.send(t)
            b.seen.add(place(t))
        return self, b, t.dtype, t.size(), t.stride(), t.storage_offset()


def place(t):
    """Returns which elements of its storage a tensor is, and how often they were changed."""
    return t.dtype, t.size(), t.stride(), t.storage_offset(), t._version


class Block:
    """A storage on the host. On a GPU, copies use a side stream and pinned memory."""

    def __init__(self, t, rt):
        self.rt, self.device, self.flat, self.event = rt, t.device, None, None
        count = _storage(t).nbytes()
        flat = torch.empty(0, dtype=torch.uint8, device=t.device)
        flat.set_(_storage(t) if hasattr(t, "untyped_storage") else t.storage().untyped())
        if t.device.type != "cuda":
            self.host = torch.frombuffer(bytearray(max(1, count)), dtype=torch.uint8)[:count]
            self.host.copy_(flat)
            return
        self.host = torch.empty(count, dtype=torch.uint8, pin_memory=True)
        self.across(flat, self.host)

    def across(self, t, host):
        s = self.rt.stream(t.device)
        s.wait_stream(torch.cuda.current_stream(t.device))
        with torch.cuda.stream(s):
            host.copy_(t, non_blocking=True)
        t.record_stream(s)

    def send(self, t):
        """Copies the elements of t to the host again."""
        each = t.element_size()
        host = self.host[:self.host.numel() // each * each].view(t.dtype).as_strided(t.size(), t.stride(), t.storage_offset())
        if t.device.type == "cuda":
            self.across(t.detach(), host)
        else:
            host.copy_(t.detach())

    def fetch(self):
        if self.flat is not None:
            return
        self.flat = torch.empty(self.host.shape, dtype=torch.uint8, device=self.device)
        if self.device.type != "cuda":
            self.flat.copy_(self.host)
            return
        s = self.rt.stream(self.device)
        s.wait_stream(torch.cuda.current_stream(self.device))
        with torch.cuda.stream(s):
            self.flat.copy_(self.host, non_blocking=True)
        self.flat.record_stream(s)
        self.event = s.record_event()

    def tensor(self, dtype, size, stride, offset):
        self.fetch()
        if self.event is not None:
            torch.cuda.current_stream(self.device).wait_event(self.event)
        each = torch.empty(0, dtype=dtype).element_size()
        return self.flat[:self.flat.numel() // each * each].view(dtype).as_strided(size, stride, offset)


def unpack(h):
    if isinstance(h, torch.Tensor):
        return h
    if isinstance(h, tuple):
        h[0].rt.near(h[0])
        return h[1].tensor(*h[2:])
    while h.value is None:
        h.frame.fill()
    return h.value


# -- frames.py: Segments that run again. Hooks replace each tensor that autograd would keep by a Handle.
# When the backward needs an empty handle, the module calls of its segment run again, and
# the n-th tensor that this run would keep becomes the value of the n-th handle. The graph
# of the second run is not used.


class Handle:
    """The object that the graph keeps in place of a tensor."""

    __slots__ = ("frame", "value", "meta", "__weakref__")

    def __init__(self, frame, t):
        self.frame, self.value, self.meta = frame, None, (tuple(t.shape), t.dtype)


class Arg:
    """A tensor among the arguments of a recorded call: a value, a packed block on the host,
    or the at-th tensor that an earlier call of the frame returned."""

    __slots__ = ("value", "wants", "version", "call", "at", "packed")


class Call:
    """A recorded call of a module, with the states at its start."""

    __slots__ = ("module", "args", "kwargs", "state", "buffers", "attributes", "count", "objects")


class Frame:
    """One execution of a segment whose kept tensors are computed again when they are needed."""

    def __init__(self, rt, seg):
        self.rt, self.seg, self.calls, self.handles, self.outs = rt, seg, [], [], []
        self.running, self.away = False, Offloaded(rt, seg) if seg.get("input") == "offload" else None
        self.sac = selective(seg["save"]) if seg.get("save") else None

    def record(self, module, args, kwargs, count):
        rt, c = self.rt, Call()
        with rt.quiet():
            c.module, c.args, c.kwargs = module, mapped(args, self.keep), mapped(kwargs, self.keep)
            c.state, c.buffers, c.attributes, c.count = rt.state(), rt.before(module), rt.held(module), count
        c.objects = [(o, signature(o)) for o in objects((args, kwargs))]
        self.calls.append(c)

    def keep(self, t):
        a = Arg()
        a.call = a.value = a.packed = None
        for i in reversed(range(len(self.outs))):
            for j, (r, version) in enumerate(self.outs[i]):
                if r() is t:
                    if version == t._version:  # otherwise code outside of the calls has changed it
                        a.call, a.at = i, j
                        return a
        a.wants = t.requires_grad
        if self.away and _key(t) not in self.rt.given:
            a.packed = self.away.pack(t)
        if not isinstance(a.packed, tuple):
            a.value, a.version, a.packed = t.detach(), t._version, None
        return a

    def close(self, out):
        """Ends a recorded call."""
        c = self.calls[-1]
        for o, before in c.objects:
            if signature(o) != before:
                raise PlanError("%s gets a %s and changes it; running it again would append twice: train with use_cache=False." % (self.rt.path_of(c.module), type(o).__name__))
        c.objects = None
        self.outs.append([(weakref.ref(t), t._version) for t in tensors(out)])
        with self.rt.quiet():
            self.rt.after(c.module, c.buffers)
            self.rt.settle(c.module, c.attributes)

    def hook(self):
        """Returns pack as a hook for a graph that may outlive the frame: PyTorch 2 keeps a
        reference to it."""
        frame = weakref.ref(self)
        return lambda t: frame().pack(t)

    def pack(self, t):
        """The hook of the first run."""
        if plain(t):
            self.handles.append(None)
            return t
        h = Handle(self, t)
        self.handles.append(weakref.ref(h))
        return h

    def fill(self):
        """Runs the calls again until all handles that are alive have their tensors."""
        if self.calls is None or self.running:
            raise PlanError("%s is needed twice by backward; run backward once, or with retain_graph remove the plan." % name_of(self.seg))
        self.running = True
        rt, job = self.rt, Fill(self)
        now, outer = rt.state(), (rt.job, rt.level, rt.count)
        rt.job, rt.level = job, Level(self.seg.get("inner") or [], job)
        try:
            self.again(job)
            if job.want:
                raise PlanError("%s computed fewer values again than it kept the first time: its forward is not the same twice." % name_of(self.seg))
        finally:
            rt.job, rt.level, rt.count = outer
            set_random_state(now)
            self.running = False
        self.calls = self.sac = None

    def again(self, job):
        rt, calls, outs = self.rt, self.calls, []

        def get(a):
            if a.call is not None:
                return outs[a.call][a.at]  # the object itself: an inner run identifies it, and in-place work may follow
            if a.packed is None and a.value._version != a.version:
                raise PlanError("An input of %s was changed in place after it had been kept: the module's in-place operation belongs to the same unit. Collect again." % name_of(self.seg))
            v = (unpack(a.packed) if a.packed else a.value).detach()
            return v.requires_grad_(a.wants) if v.is_floating_point() or v.is_complex() else v

        for n, c in enumerate(calls):
            args, kwargs = mapped(c.args, get, Arg), mapped(c.kwargs, get, Arg)
            current, own = rt.swap(c.module, c.buffers), rt.bind(c.attributes)
            rt.count = dict(c.count)
            try:
                with torch.enable_grad(), rt.restored(c.state):
                    out = rt.call(c.module, args, kwargs, job, self.sac[1] if self.sac else None)
                outs.append(tensors(out))
                del out, args, kwargs
                later = set()  # results that no later call reads are freed
                for d in calls[n + 1:]:
                    mapped((d.args, d.kwargs), lambda a: a.call is not None and later.add((a.call, a.at)), Arg)
                outs = [[t if (i, j) in later else None for j, t in enumerate(o)] for i, o in enumerate(outs)]
            except Stop:
                return
            except RuntimeError:  # before PyTorch 2 an exception of a hook arrives as this type
                if job.want or not job.stopped:
                    raise
                return
            finally:
                rt.put(c.module, current)
                rt.bind(own)


class Stop(BaseException):
    """Raised when all wanted tensors have been computed."""


class Fill:
    """The state of one repeated run: the n-th tensor that autograd would keep becomes the
    value of the n-th handle."""

    def __init__(self, frame):
        self.frame, self.at, self.sub, self.stopped = frame, 0, None, False
        self.want = {i for i, r in enumerate(frame.handles) if r is not None and r() is not None}

    def pack(self, t):
        i, self.at = self.at, self.at + 1
        frame = self.frame
        if i >= len(frame.handles):
            raise PlanError("%s keeps more the second time: its forward is not the same twice." % name_of(frame.seg))
        r = frame.handles[i]
        h = r() if r is not None else None
        if h is not None and h.meta != (tuple(t.shape), t.dtype):
            raise PlanError("%s computed %s %s the second time and %s %s the first: its forward depends on something that changed." % (
                (name_of(frame.seg), tuple(t.shape), str(t.dtype)[6:]) + (h.meta[0], str(h.meta[1])[6:])))
        if self.sub is not None:  # a segment within this one takes over the handle
            self.sub.handles.append(r)
            if h is not None:
                h.frame = self.sub
        elif h is not None:
            h.value = t.detach()
        self.want.discard(i)
        if not self.want:
            self.stopped = True
            raise Stop
        return None


class Level:
    """The segment of each call, at one depth. job is the repeated run that contains it; None
    in the forward."""

    def __init__(self, segments, job=None):
        self.job, self.frames = job, {}
        self.of = {u: s for s in segments for u in s["units"]}


def selective(save):
    """Returns PyTorch's contexts that keep single operators, each given as (name, k-th of
    that name)."""
    from torch.utils.checkpoint import CheckpointPolicy, create_selective_checkpoint_contexts

    wanted, counts = {(n, k) for n, k in save}, {}

    def policy(ctx, op, *args, **kwargs):
        key = str(op), ctx.is_recompute
        k = counts[key] = counts.get(key, -1) + 1
        return CheckpointPolicy.MUST_SAVE if (str(op), k) in wanted else CheckpointPolicy.PREFER_RECOMPUTE

    return create_selective_checkpoint_contexts(policy)


# -- operators.py: Operators as PyTorch dispatches them: their names, the tensors that they read and write,
# and the line of the model that calls them.


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


# -- runtime.py: Running an unmodified model by a plan: apply, and the Runtime that it returns.


class Runtime:
    """A plan on a model; apply returns it. remove() ends it."""

    def __init__(self, model, plan, strict=False):
        self.plan, self.model, self.strict, self.shapes = plan, model, strict, shapes_of(plan)
        self.job = self.level = self.count = self.names = None
        self.modules = dict(model.named_modules())
        self.moving = {}
        self.changing, self.offloaded, self.streams, self.told, self.given, self.said = {}, [], {}, False, set(), set()
        self.named = sorted({u.split("#")[0] for p in self.shapes for s in walk(p.get("segments")) for u in s["units"]} | {""})
        fits(self.modules, self.named, plan)
        self.paths = {self.modules[path]: path for path in self.named}  # also for a backward after remove()
        for path in self.named:
            m = self.modules[path]
            own = m.__dict__.get("forward")
            of_class = getattr(own, "__self__", None) is m and getattr(own, "__func__", None) is type(m).forward  # as in a saved model with a plan
            m.__dict__["_memtide"] = Planned(self, path, None if of_class else own)
            m.forward = stand_in(m)

    def remove(self):
        """Restores the model. The backward of a forward that ran by the plan still works;
        segments within one that it runs again are kept."""
        for path in self.named:
            m = self.modules[path]
            old = m.__dict__.pop("_memtide").forward
            if old is None:
                del m.__dict__["forward"]
            else:
                m.forward = old
        self.named = []

    def original(self, m):
        own = m.__dict__.get("forward") if planned(m) is None else planned(m).forward
        return own or types.MethodType(type(m).forward, m)

    def path_of(self, m):
        return self.paths[m] or "The model"

    def forward(self, m, args, kwargs):
        if VERSION >= (2, 1) and torch.compiler.is_compiling():
            raise PlanError(WHOLE_COMPILE)
        f = self.original(m)
        if not torch.is_grad_enabled():
            if self.count is not None:  # the collector counts these calls, too
                self.segment(m)
            return f(*args, **kwargs)
        if m is self.model and self.job is None:
            return self.step(f, args, kwargs)
        level = self.level
        if self.count is None:
            return f(*args, **kwargs)
        seg, before = self.segment(m)
        if level is None or seg is None or seg["do"] == "keep":
            return f(*args, **kwargs)
        if level.job is not None:
            return self.inner(seg, m, args, kwargs, f, before)
        if seg["do"] == "offload":
            keep = level.frames.setdefault(id(seg), None) or Offloaded(self, seg)
            level.frames[id(seg)] = keep
            with torch.autograd.graph.saved_tensors_hooks(keep.pack, unpack):
                return f(*args, **kwargs)
        frame = self.begin(seg, m, args, kwargs, before)
        self.level = None  # calls within run unchanged
        try:
            with torch.autograd.graph.saved_tensors_hooks(frame.hook(), unpack), (frame.sac[0] if frame.sac else contextlib.nullcontext()):
                out = f(*args, **kwargs)
        finally:
            self.level = level
        frame.close(out)
        return out

    def step(self, f, args, kwargs):
        """Runs a forward of the whole model."""
        if not self.told:
            whole(self.model)
        self.level, self.count, self.offloaded = Level(self.fitting(args, kwargs)), {}, []
        self.given = {_key(t) for t in tensors((args, kwargs)) + list(self.model.buffers()) if t.layout is torch.strided}  # tensors that are held anyway
        names = self.names = Names() if self.strict and not self.told and (self.plan.get("model") or {}).get("ops_sha") else None
        try:
            with names or contextlib.nullcontext():
                out = f(*args, **kwargs)
        finally:
            self.level = self.count = self.names = None
        if names and names.sha() != self.plan["model"]["ops_sha"]:
            raise PlanError("The model does other operators than the one that the plan was made for: collect this model and solve again.")
        self.told = True
        return out

    @contextlib.contextmanager
    def quiet(self):
        """Keeps the operators of the plan itself out of names."""
        names = self.names
        if names is not None:
            names.paused = True
        try:
            yield
        finally:
            if names is not None:
                names.paused = False

    def fitting(self, args, kwargs):
        """Returns the segments for these inputs: those of the plan for them. Without one, it
        returns those of the only plan, or no segments if there are several plans, and reports
        it once for each input."""
        now = input_rows(args, kwargs)
        made = [[[n, list(shape), dtype] for n, shape, dtype in p.get("inputs") or []] for p in self.shapes]
        self.same_cast()
        for rows, p in zip(made, self.shapes):
            if rows == now or not rows:
                return p.get("segments") or []
        text = lambda rows: ", ".join("x".join(map(str, shape)) for _, shape, _ in rows) or "nothing"
        self.tell("planned for %s, running %s" % (" and for ".join(map(text, made)), text(now)) + (", plainly" if len(self.shapes) > 1 and not self.strict else ""))
        return self.plan.get("segments") or [] if len(self.shapes) == 1 else []

    def same_cast(self):
        """Reports an autocast other than the one for which the plan was made."""
        first, want = next(self.model.parameters(), None), self.plan.get("autocast")
        if first is None or want is None or first.device.type not in ("cpu", "cuda"):
            return
        got = next((str(dtype)[6:] for device, on, dtype in casts() if on and device == first.device.type), "")
        if got != want:
            self.tell("planned %s, running %s" % tuple("under autocast to " + t if t else "without autocast" for t in (want, got)))

    def tell(self, said):
        """Raises PlanError for a step for which the plan was not made if strict, otherwise
        warns once."""
        if self.strict:
            raise PlanError("The plan is strict: %s." % said)
        if said not in self.said:
            self.said.add(said)
            warnings.warn("memtide: " + shown(said), stacklevel=7)

    def segment(self, m):
        """Returns the segment of a call of a named module, and the counts of calls before it."""
        path = self.paths[m]
        before = dict(self.count)
        n = before.get(path, 0)
        self.count[path] = n + 1
        return self.level and self.level.of.get(path if n == 0 else "%s#%d" % (path, n)), before

    def begin(self, seg, m, args, kwargs, before):
        frames = self.level.frames
        frame = frames[id(seg)] = frames.get(id(seg)) or Frame(self, seg)
        frame.record(m, args, kwargs, before)
        return frame

    def inner(self, seg, m, args, kwargs, f, before):
        """Runs a segment within one that is run again."""
        level = self.level
        job = level.job
        if seg["do"] != "recompute" or job.sub is not None:
            return f(*args, **kwargs)
        frame = self.begin(seg, m, args, kwargs, before)
        job.sub, self.level = frame, None
        try:
            with frame.sac[0] if frame.sac else contextlib.nullcontext():
                out = f(*args, **kwargs)
        finally:
            job.sub, self.level = None, level
        frame.close(out)
        return out

    def call(self, m, args, kwargs, job, mode):
        """Runs a recorded call again; calls within it may be segments."""
        f = self.original(m)
        seg, before = self.segment(m)
        with torch.autograd.graph.saved_tensors_hooks(job.pack, unpack), mode or contextlib.nullcontext():
            return self.inner(seg, m, args, kwargs, f, before) if seg is not None else f(*args, **kwargs)

    # random numbers, autocast, buffers

    def state(self):
        return dict(random_state(), cache=torch.is_autocast_cache_enabled(), cast=casts())

    @contextlib.contextmanager
    def restored(self, s):
        set_random_state(s)
        with contextlib.ExitStack() as stack:
            for (device, on, dtype), (_, now, _) in zip(s["cast"], casts()):
                if on or now:
                    stack.enter_context(torch.autocast(device, dtype=dtype, enabled=on, cache_enabled=s["cache"]))
            yield

    def before(self, m):
        """Returns copies of the buffers that a call of m may change: of all buffers until
        this is known."""
        names = self.changing.get(self.path_of(m))
        return {n: b.detach().clone() for n, b in m.named_buffers() if names is None or n in names}

    def after(self, m, copies):
        if self.path_of(m) not in self.changing:
            changed = self.changing[self.path_of(m)] = {n for n, b in m.named_buffers() if not torch.equal(b, copies[n])}
            for n in set(copies) - changed:
                del copies[n]

    def swap(self, m, copies):
        """Restores the buffers of m, and returns their previous values."""
        buffers = dict(m.named_buffers())
        now = {n: buffers[n].detach().clone() for n in self.changing.get(self.path_of(m), ())}
        self.put(m, copies)
        return now

    def put(self, m, copies):
        buffers = dict(m.named_buffers())
        for n, b in copies.items():
            buffers[n].data.copy_(b)  # .data makes no new version: autograd may have kept the buffer

    # attributes that a module assigns while it runs, such as a carried state, or changes, such as
    # a list of losses

    def held(self, m):
        """Returns the attributes that a call of m may change: all attributes until this is
        known."""
        names = self.moving.get(self.path_of(m))
        if names is None:
            return {(sub, n): noted(v) for sub in m.modules() for n, v in vars(sub).items() if own_attribute(n)}
        return {(sub, n): still(noted(vars(sub).get(n, self))) for sub, n in names}  # self stands for a missing attribute

    def settle(self, m, before):
        if self.path_of(m) not in self.moving:
            for sub in m.modules():
                for n in filter(own_attribute, vars(sub)):
                    before.setdefault((sub, n), self)
            same = lambda now, v: now is v.x and v.same() if isinstance(v, Contents) else now is v
            names = self.moving[self.path_of(m)] = [(sub, n) for (sub, n), v in before.items() if not same(vars(sub).get(n, self), v)]
            kept = {key: still(before[key]) for key in names}
            before.clear()
            before.update(kept)

    def bind(self, attributes):
        """Assigns attributes, and returns their previous values."""
        now = {(sub, n): noted(vars(sub).get(n, self)) for sub, n in attributes}
        for (sub, n), v in attributes.items():
            if isinstance(v, Contents):
                v = v.put()
            if v is self:
                vars(sub).pop(n, None)
            else:
                vars(sub)[n] = v
        return now

    # offloading

    def stream(self, device):
        if device not in self.streams:
            self.streams[device] = torch.cuda.Stream(device)
        return self.streams[device]

    def near(self, keep):
        """Fetches an offloaded segment that the backward has reached, and those before it
        within the prefetch distance."""
        for i in range(keep.n, max(-1, keep.n - 1 - (keep.seg.get("prefetch") or 0)), -1):
            k = keep.line[i]()
            for b in list(k.blocks.values()) if k is not None else ():
                b.fetch()


def fits(modules, named, plan):
    """Refuses a plan that these modules cannot run."""
    for s in (s for p in shapes_of(plan) for s in walk(p.get("segments"))):
        if s.get("save") and VERSION < (2, 4):
            raise PlanError("The plan keeps single operators of %s; that needs PyTorch 2.4 or later and this is %s. Solve with -class nested." % (name_of(s), torch.__version__))
    for path in named:
        if path not in modules:
            have = [n for n in modules if n]
            raise PlanError("The plan names module %s, and the model has none of that name; it has %s%s: collect this model and solve again."
                            % (path, ", ".join(have[:4]), " ..." if len(have) > 4 else ""))
    known = plan.get("model") or {}
    for unit, kind in zip(known.get("units") or [], known.get("classes") or []):
        m = modules.get(unit.split("#")[0])
        if m is not None and type(m).__name__ != kind:
            raise PlanError("%s is a %s, and the plan was made for a %s: collect this model and solve again." % (unit, type(m).__name__, kind))
    sha = modules_sha(modules[""])
    if known.get("modules_sha") and sha and sha != known["modules_sha"]:
        raise PlanError("The plan was made for a model of other modules, or of other shapes of their parameters (model.modules_sha is %s, that of this model %s): collect this model and solve again."
                        % (known["modules_sha"], sha))
    for path in named:
        if planned(modules[path]) is not None:
            raise PlanError("A plan is applied to this model already: remove() it first.")
        if isinstance(modules[path], torch.jit.ScriptModule):
            raise PlanError("%s is a TorchScript module, whose forward cannot be replaced: apply the plan to the module that it was made of." % (path or "The model"))
        if getattr(modules[path], "_compiled_call_impl", None) is not None:
            raise PlanError("%s was compiled with module.compile(), which would compile the plan, too: compile its forward instead (m.forward = torch.compile(m.forward)), then apply the plan." % (path or "The model"))


def apply(model, plan, strict=False):
    """Makes the model train by a plan (a dictionary, or the name of its file) until remove()
    of the returned Runtime. Losses, gradients, buffers and random numbers are those of the
    model without the plan. strict refuses other inputs and other operators than those for
    which the plan was made."""
    plan = load_plan(plan)
    for doubt in plan.get("warnings") or []:
        warnings.warn("memtide: " + shown(doubt), stacklevel=2)
    kind = type(model).__name__
    if kind == "DataParallel":
        raise PlanError("DataParallel copies the model each step, and the plan with it is not tested: use DistributedDataParallel.")
    if kind == "OptimizedModule":
        raise PlanError(WHOLE_COMPILE)
    if kind == "DistributedDataParallel":
        model = model.module
    whole(model)
    if getattr(model, "is_gradient_checkpointing", False):
        raise PlanError("model.is_gradient_checkpointing is on and would nest with the plan: call gradient_checkpointing_disable() first.")
    first = next(model.parameters(), None)
    free, needs = free_memory(first.device) if first is not None else None, max((p.get("predicted") or {}).get("peak_bytes") or 0 for p in shapes_of(plan))
    if free is not None and needs > free:
        held = sum({_key(p): nbytes(p) for p in model.parameters()}.values())
        raise PlanError("The plan needs %s beside %s of weights, gradients and optimizer, and %s has %s free: solve again with -budget %s."
                        % (size_text(needs), size_text(held), first.device, size_text(free), size_text(free).replace(" ", "")))
    return Runtime(model, plan, strict)


# -- callbacks.py: Plans in the training loops of Transformers' Trainer and of Lightning.


class Applied:
    """A plan that is applied while a loop trains. Each begin has at most one end."""

    def __init__(self, plan, strict):
        self.plan, self.strict, self.handle = plan, strict, None

    def begin(self, model):
        if self.handle is None:
            self.handle = apply(model, self.plan, self.strict)

    def end(self):
        if self.handle is not None:
            self.handle.remove()
            self.handle = None


def trainer_callback(plan, strict=False):
    """Returns a callback for Transformers: Trainer(..., callbacks=[trainer_callback(plan)])
    trains its model by the plan. TrainingArguments have to leave gradient_checkpointing off."""
    from transformers import TrainerCallback

    class TrainByPlan(TrainerCallback):
        applied = Applied(plan, strict)

        def on_train_begin(self, args, state, control, model=None, **kwargs):
            self.applied.begin(model)

        def on_train_end(self, args, state, control, **kwargs):
            self.applied.end()

    return TrainByPlan()


def lightning_callback(plan, module=lambda whole: whole, strict=False):
    """Returns a callback for Lightning: Trainer(callbacks=[lightning_callback(plan)]) trains
    by the plan. module returns the part of the LightningModule for which the plan was made,
    such as lambda whole: whole.net; by default it is the LightningModule itself."""
    try:
        from lightning.pytorch import Callback
    except ImportError:
        from pytorch_lightning import Callback

    class TrainByPlan(Callback):
        applied = Applied(plan, strict)

        def on_fit_start(self, trainer, pl_module):
            self.applied.begin(module(pl_module))

        def on_fit_end(self, trainer, pl_module):
            self.applied.end()

        def on_exception(self, trainer, pl_module, exception):
            self.applied.end()

    return TrainByPlan()


# -- kernels.py: Substitutes for products and convolutions, and the temporary memory of kernels.


class Kernels:
    """Substitutes for products and convolutions, for versions of PyTorch without fake
    tensors. Each product or convolution runs once for its shapes, strides and types.
    Afterwards its results are zeros of the same layout, with the temporary memory of the
    kernel. `looked` is set if the model has looked at values, so that the collected step may
    be wrong."""

    HEAVY = {"aten.%s.default" % n for n in ("mm", "addmm", "bmm", "baddbmm", "convolution", "convolution_backward")}

    def __init__(self):
        self.known, self.looked = {}, False

    def look(self, name):
        self.looked = needs(name, frames_within())
        raise NeedsValues

    def run(self, func, args, kwargs, within=False):
        """Returns the result of an operator. within: the allocator is watched, so the
        temporary memory of the kernel is allocated, too."""
        if func.namespace != "aten" or reads_values(func, args):
            self.look(short_name(func))
        seen = tensors((args, kwargs))
        if str(func) not in self.HEAVY or not all(type(t) in (torch.Tensor, nn.Parameter) and t.layout is torch.strided and t.device.type == "cpu" for t in seen):
            return func(*args, **kwargs)
        key = signature_of(func, args, kwargs)
        if key not in self.known:
            if within:
                raise CollectError("A plain step does other operators than the one that was measured.")
            out, peak, left = allocated_both(lambda: func(*short(func, args), **kwargs), torch.device("cpu"))
            whole = all(_storage(t).nbytes() == t.numel() * t.element_size() for t in tensors(out))
            self.known[key] = (mapped(out, Layout) if whole else None, max(0, peak - max(0, left)))
            return out
        layouts, temp = self.known[key]
        if layouts is None:
            return func(*args, **kwargs)
        out = mapped(layouts, Layout.zeros, Layout)
        if within and temp:
            torch.empty(temp, dtype=torch.uint8)
        return out


def short(func, args):
    """Returns the operands of a product with an inner dimension of 1, if the size of the
    result and the temporary memory of the kernel stay the same: BLAS then reads both operands
    without a copy."""
    if str(func) not in ("aten.mm.default", "aten.addmm.default"):
        return args
    a, b = args[-2:]
    lies = lambda t: t.dtype in (torch.float32, torch.float64) and min(t.shape) > 1 and any(t.stride(i) == 1 and t.stride(1 - i) >= t.shape[i] for i in (0, 1))
    return args[:-2] + (a[:, :1], b[:1]) if lies(a) and lies(b) else args


class Layout:
    """The layout of a contiguous or permuted tensor on the CPU."""

    def __init__(self, t):
        self.size, self.stride, self.dtype = t.size(), t.stride(), t.dtype

    def zeros(self):
        return torch.empty_strided(self.size, self.stride, dtype=self.dtype).zero_()


class Stood(DispatchMode):
    """Substitutes operators by kernels, with their effect on the allocator, while it is
    entered."""

    def __init__(self, kernels):
        super().__init__()
        self.kernels = kernels

    def __torch_dispatch__(self, func, kinds, args=(), kwargs=None):
        if unseen(func):
            return passed(func, args, kwargs or {})
        return self.kernels.run(func, args, kwargs or {}, within=True)


class Temps(DispatchMode):
    """Measures the temporary memory and the time of kernels, once for each operator with its
    shapes."""

    def __init__(self, reps=0, kernels=None):
        super().__init__()
        self.temps, self.times, self.names, self.reps, self.known, self.kernels = [], [], [], reps, {}, kernels

    def __torch_dispatch__(self, func, kinds, args=(), kwargs=None):
        kwargs = kwargs or {}
        if unseen(func):
            return passed(func, args, kwargs)
        key = signature_of(func, args, kwargs)
        if self.kernels and key in self.kernels.known:
            out, self.known[key] = self.kernels.run(func, args, kwargs), (self.kernels.known[key][1], None)
        elif key in self.known:
            out = func(*args, **kwargs)
        else:
            out, self.known[key] = self.measured(func, args, kwargs)
        temp, ns = self.known[key]
        self.names.append(str(func))
        self.temps.append(temp)
        self.times.append(ns)
        return out

    def measured(self, func, args, kwargs):
        device = next((t.device for t in tensors((args, kwargs))), torch.device("cpu"))
        out, peak, left = allocated_both(lambda: func(*args, **kwargs), device)
        best, name = None, str(func)
        if self.reps and not writes(func, args) and not any(word in name for word in ("rand", "bernoulli", "dropout")):
            best = statistics.median_low([timed(lambda: func(*args, **kwargs), device)[1] for _ in range(self.reps)])
        return out, (max(0, peak - max(0, left)), best)


# -- times.py: Times from shapes: the model of memtide's package analytic, in Python.


DEFAULT_DEVICE = "v100-pcie-16gb"

DEVICES = {  # peaks of arithmetic in 32 and 16 bits in TFLOP/s (0: the same as the other), memory bandwidth in GB/s
    "gtx-970": (3.9, 0, 224), "gtx-1080-ti": (11.3, 0, 484), "p100-pcie-16gb": (9.3, 0, 732),
    "v100-pcie-16gb": (14, 112, 900), "v100-sxm2-32gb": (15.7, 125, 900), "v100-sxm2-16gb-nvlink2": (15.7, 125, 900),
    "a100-sxm-40gb": (19.5, 312, 1555), "a100-sxm-80gb": (19.5, 312, 2039), "h100-pcie-80gb": (51, 756, 2000),
    "h100-sxm-80gb": (67, 989, 3350), "h200-sxm-141gb": (67, 989, 4800), "gh200-96gb": (67, 989, 4000),
    "gh200-144gb": (67, 989, 4900), "gh200-96gb-single": (67, 989, 4000), "gh200-96gb-quad": (67, 989, 4000),
    "gh200-144gb-single": (67, 989, 4900), "k40": (4.29, 0, 288), "t4": (8.1, 65, 320), "rtx-3060": (12.7, 25.5, 360),
    "rtx-3090": (35.6, 71, 936), "rtx-4060-ti-16gb": (22.1, 44.1, 288), "rtx-4070-ti-super": (44.1, 88.2, 672),
    "rtx-4080": (48.7, 97.5, 717), "rtx-4090": (82.6, 165.2, 1008), "rtx-5070-ti": (43.9, 87.9, 896),
    "rtx-5080": (56.3, 112.6, 960), "rtx-5090": (104.8, 209.5, 1792), "rtx-a4000": (19.2, 76.7, 448),
    "rtx-a6000": (38.7, 154.85, 768),
    "rtx-6000-ada": (91.1, 364, 960), "rtx-pro-6000": (126, 467.8, 1792), "a10": (31.2, 125, 600),
    "l4": (30.3, 121, 300), "l40s": (91.6, 362.05, 864), "a100-40gb": (19.5, 312, 1555), "a100-80gb": (19.5, 312, 2039),
    "a100-80gb-pcie": (19.5, 312, 1935), "h100": (67, 989, 3350), "h100-pcie": (51, 756.5, 2000),
    "h100-nvl": (60, 835, 3900), "h100-96gb": (67, 989, 3350), "h20": (44, 148, 4000), "h200": (67, 989, 4800),
    "b200": (75, 2250, 7672), "b300": (75, 2250, 7750), "gb200": (80, 2500, 8000), "gb300": (80, 2500, 8000),
    "mi300x": (163.4, 1307, 5300), "mi325x": (163.4, 1307, 6000), "mi355x": (157.3, 2500, 8000),
    "tpu-v5e": (0, 197, 819), "tpu-v5p": (0, 459, 2765), "tpu-v6e": (0, 918, 1638), "gaudi-3": (0, 1835, 3700),
}

LAUNCH = 5e-6  # seconds to start a kernel

# The share of the peak that convolutions reach on a V100 in 32 bits, and how much longer the arithmetic of the backward takes.
SHARES = {"first": (0.80, 1.7), "strided": (0.69, 2.8), "point": (0.63, 2.3), "wide": (1.70, 1.95), "mid": (0.84, 2.4),
          "narrow": (0.56, 2.5), "other": (1.10, 2.4), "grouped": (0.165, 3.5)}

# How often other operators read or write the size of their output, in the forward and in the backward.
PASSES = {"norm": (3.3, 4), "activation": (2, 3), "add": (3, 1.5), "concat": (2, 2), "dropout": (2.25, 2.25), "copy": (2, 2)}


class Model:
    """The times of operators on a device as (forward, backward) in seconds. An operator takes
    as long as its arithmetic or its memory traffic, whichever is longer, plus a launch per
    kernel. The model was fitted for a V100 in 32 bits, and is an estimate elsewhere."""

    def __init__(self, device, half, efficiency=None):
        plain, fast, bandwidth = DEVICES[device]
        v100 = device.startswith("v100-")
        self.fitted = v100 and not half and efficiency is None
        peak = fast if half and fast or not plain else plain
        share = efficiency / 100 if efficiency else 0.45
        self.peak = 15.7e12 if self.fitted else peak * 1e12
        self.traffic = 900e9 * 0.86 if v100 else bandwidth * 1e9 * 0.80
        self.share = share
        self.linear = self.peak * (0.60 if self.fitted else share)
        bits = "16-bit" if half else "32-bit"
        self.origin = "analytic" if self.fitted else "estimated"
        self.where = "Tesla V100, 32-bit" if self.fitted else "%s, %s" % (device, bits)
        self.note = "Times: a roofline model of a V100 in 32 bits, fitted to a public trace of ResNet-50." if self.fitted else (
            "Times: an estimate for %s in %s: products at %g %% of the peak of %g TFLOP/s, everything else at %g %% of the memory bandwidth of %g GB/s."
            % (device, bits.replace("-bit", " bits"), share * 100, peak, 86 if v100 else 80, bandwidth))

    def conv(self, kind, macs, size):
        """Returns the time of a convolution with macs multiply-adds; size is the bytes of its
        input and output."""
        share, ratio = SHARES[kind] if self.fitted else (self.share, 1 if kind == "first" else 2)
        arithmetic, traffic = 2 * macs / (self.peak * share), size / self.traffic
        return max(arithmetic, traffic) + LAUNCH, max(ratio * arithmetic, 2 * traffic) + 2 * LAUNCH

    def product(self, macs, weights):
        """Returns the time of a matrix product with macs multiply-adds that reads weights
        bytes of weights."""
        arithmetic, traffic = 2 * macs / self.linear, weights / self.traffic
        return max(arithmetic, traffic) + LAUNCH, max(2 * arithmetic, 3 * traffic) + 2 * LAUNCH

    def max_pool(self, into, out):
        return (into + 3 * out) / self.traffic + LAUNCH, (2 * into + 3 * out) / self.traffic + 2 * LAUNCH

    def mean_pool(self, into, out):
        return 2 * (into + out) / self.traffic + LAUNCH, 4 * (into + out) / self.traffic + 2 * LAUNCH

    def element(self, kind, out):
        """Returns the time of an element-wise operator that writes out bytes."""
        forward, backward = PASSES[kind]
        return forward * out / self.traffic + LAUNCH, backward * out / self.traffic + 2 * LAUNCH


def classify(into, out, height, width, stride, groups):
    """Returns the class of a convolution with into input channels and out output channels."""
    narrow = min(into, out)
    if groups > 1:
        return "grouped"
    if into == 3:
        return "first"
    if stride > 1:
        return "strided"
    if height == 1 and width == 1:
        return "point"
    if height != 3 or width != 3:
        return "other"
    return "wide" if narrow >= 128 else "mid" if narrow >= 64 else "narrow"


OPERATORS = {
    "norm": {"native_batch_norm", "cudnn_batch_norm", "_native_batch_norm_legit", "_batch_norm_with_update", "native_layer_norm", "native_group_norm", "_fused_rms_norm"},
    "add": {"add", "sub"}, "concat": {"cat", "stack"}, "dropout": {"bernoulli", "native_dropout"},
    "copy": {"embedding", "clone", "copy", "_to_copy", "index_select", "index", "gather", "constant_pad_nd", "contiguous"},
}

REDUCTIONS = {"mean", "sum", "avg_pool2d", "avg_pool1d", "avg_pool3d", "_adaptive_avg_pool2d", "_adaptive_avg_pool3d"}


class Work(DispatchMode):
    """Sums the model's times of all operators below autograd while it is entered."""

    def __init__(self, model, module):
        super().__init__()
        self.model, self.forward, self.backward = model, 0.0, 0.0
        self.owned = {_key(t) for t in module.parameters()} if isinstance(module, nn.Module) else set()
        self.masks = []  # masks of dropout, which some versions compute with single operators

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        out = func(*args, **(kwargs or {}))
        first = next((t for t in (out if isinstance(out, (tuple, list)) else [out]) if torch.is_tensor(t)), None)
        tensors = [t for a in args for t in (a if isinstance(a, (tuple, list)) else [a]) if torch.is_tensor(t)]
        if first is not None and tensors and first.is_floating_point():
            forward, backward = self.time(func.overloadpacket.__name__, args, tensors, first)
            self.forward, self.backward = self.forward + forward, self.backward + backward
        return out

    def time(self, name, args, tensors, out):
        """Returns the time of an operator, (0, 0) if it computes nothing."""
        plain, model, size = name.rstrip("_"), self.model, nbytes(out)
        if plain == "convolution":
            return self.conv(args, out)
        if plain in ("mm", "addmm", "bmm", "baddbmm"):
            a, b = tensors[-2:]
            return model.product(out.numel() * a.shape[-1], nbytes(b) if _key(b) in self.owned else 0)
        if plain.startswith("_scaled_dot_product") or plain.startswith("_flash_attention") or plain.startswith("_efficient_attention"):
            query, key = tensors[:2]
            return model.product(2 * query.numel() * key.shape[-2], 0)
        if plain == "max_pool2d_with_indices":
            return model.max_pool(nbytes(tensors[0]), size)
        if plain in REDUCTIONS:
            return model.mean_pool(nbytes(tensors[0]), size)
        if any(m is t or _key(m) == _key(t) for m in self.masks for t in tensors) or plain in ("detach", "empty_like", "zeros_like", "ones_like", "new_zeros", "zero", "fill"):
            return 0, 0
        if plain == "bernoulli":
            self.masks.append(out)
        elif not name.endswith("_") and any(_key(out) == _key(t) for t in tensors):
            return 0, 0  # a view
        return model.element(next((k for k, names in OPERATORS.items() if plain in names), "activation"), size)

    def conv(self, args, out):
        x, weight, stride, transposed, groups = args[0], args[1], args[3], args[6], args[8]
        macs = (x if transposed else out).numel() * weight[0].numel()
        into, onto = x.shape[1], out.shape[1]
        height, width = weight.shape[2], weight.shape[3] if weight.dim() > 3 else 1
        return self.model.conv(classify(into, onto, height, width, max(stride), groups), macs, nbytes(x) + nbytes(out))


def roofline(model, func, args, kwargs, out):
    """Returns the time of an operator in ns, by its arithmetic or its traffic."""
    seen = tensors((args, kwargs))
    results = tensors(out)
    if all(any(_key(t) == _key(s) for s in seen) for t in results) and not writes(func, args):
        return 0  # a view
    name, flops = str(func).split(".")[1], 0
    if name in ("mm", "addmm", "bmm", "baddbmm"):
        flops = 2 * results[0].numel() * seen[-1].shape[-2]
    elif name == "convolution":
        flops = 2 * (seen[0] if args[6] else results[0]).numel() * seen[1][0].numel()
    elif name == "convolution_backward":
        flops = 2 * len(results[:2]) * (seen[1] if args[7] else seen[0]).numel() * seen[2][0].numel()
    elif "attention" in name and len(seen) > 1:
        flops = (10 if "backward" in name else 4) * seen[0].numel() * seen[1].shape[-2]
    return math.ceil(1e9 * (max(flops / model.linear, sum(map(nbytes, seen + results)) / model.traffic) + LAUNCH))


# -- progress.py: The progress of collect, shown with tqdm if it is installed, otherwise in a line.


PARTS = ("what Python keeps", "what autograd keeps", "what kernels take", "the peak of a plain step")


class Silent:
    """Shows no progress."""

    def part(self, k):
        """Part k of PARTS begins."""

    def operators(self, n):
        """n operators of the part have run."""

    def close(self):
        """The work is finished."""


class Line(Silent):
    """Shows progress on the standard error: in one line that is rewritten, or with tqdm. A
    copy of this process may use it, so each call has all the state."""

    def __init__(self):
        self.k, self.bar = 0, None
        with contextlib.suppress(ImportError):
            from tqdm.auto import tqdm

            self.bar = tqdm(total=len(PARTS), desc="memtide", leave=False, file=sys.stderr)

    def part(self, k):
        self.k = k
        self.say("")

    def operators(self, n):
        if n % 100 == 0:
            self.say(", %d operators" % n)

    def say(self, more):
        text = PARTS[self.k] + more
        if self.bar is not None:
            self.bar.n = self.k
            self.bar.set_description_str("memtide: " + text, refresh=True)
        else:
            sys.stderr.write("\r\033[Kmemtide: %s (%d of %d)" % (text, self.k + 1, len(PARTS)))
            sys.stderr.flush()

    def close(self):
        if self.bar is not None:
            self.bar.close()
        else:
            sys.stderr.write("\r\033[K")
            sys.stderr.flush()


teller = [Silent()]  # the last one is used


@contextlib.contextmanager
def telling(wanted):
    """While it is entered, collect shows its progress if wanted; None means in a terminal or
    a notebook."""
    if wanted is None:
        wanted = sys.stderr.isatty() or "ipykernel" in sys.modules
    teller.append(Line() if wanted else Silent())
    try:
        yield
    finally:
        teller.pop().close()


# -- tracing.py: Traces of one step, operator by operator.


ONE_DRAW = "that of one draw"


class Origins:
    """The causes of the values in storages, and the causes of those that Python has read:
    with other values, Python might have run other operators. roles are the roles of the
    storages that existed before the step."""

    RANDOM = re.compile("rand|bernoulli|dropout|normal|uniform|exponential|multinomial|geometric|cauchy|poisson")
    SAID = {"random numbers": "the prediction is %s, and another may take more" % ONE_DRAW,
            "Python's random numbers": "the prediction is %s, and another may take more" % ONE_DRAW,
            "numpy's random numbers": "the prediction is %s, and another may take more" % ONE_DRAW,
            "data": "the prediction is that of these data, and others may take more",
            "weights or buffers": "the prediction is that of those that it was collected with"}

    def __init__(self, roles):
        self.roles, self.known, self.looks = roles, {}, {}

    def of(self, n):
        """Returns the causes of storage n. A storage that no operator has made is data, such
        as the targets of the loss."""
        if n in self.known:
            return self.known[n]
        return frozenset(["weights or buffers" if self.roles.get(n) in ("weight", "buffer", "grad") else "data"])

    def follow(self, func, ins, outs):
        """Records that the storages outs are computed from ins."""
        name = str(func).split(".")[1]
        causes = frozenset() if name.startswith("lift_fresh") else frozenset().union(*map(self.of, ins))
        if self.RANDOM.search(name):
            causes |= {"random numbers"}
        for n in outs:
            self.known[n] = causes | self.known.get(n, frozenset())

    def look(self, ins):
        """Records that Python reads values of ins."""
        causes = frozenset().union(*map(self.of, ins))
        if len(causes) > 1:
            causes -= {"weights or buffers"}
        for cause in causes:
            self.looks.setdefault(cause, {})[line_of(frames_within())] = True

    def drawn(self, before, after):
        """Records whether generators other than PyTorch's were used, from their states before
        and after the forward."""
        if before["python"] != after["python"]:
            self.looks["Python's random numbers"] = {}
        told = lambda s: (s[1].tolist(), s[2:])
        if "numpy" in before and told(before["numpy"]) != told(after["numpy"]):
            self.looks["numpy's random numbers"] = {}

    def doubts(self):
        """Returns the reasons why the prediction may not hold, in sentences."""
        where = lambda lines: " (%s)" % ", ".join(lines[:3]) if lines else ""
        return ["What the step does may depend on %s%s: %s." % (cause, where([line for line in self.looks[cause] if line]), said)
                for cause, said in self.SAID.items() if cause in self.looks]


class Trace(DispatchMode):
    """One step, operator by operator: the storages that each makes, reads and writes, when
    they are freed, what autograd keeps and until when, and the module calls."""

    def __init__(self, model=None, kernels=None):
        super().__init__()
        self.kernels = kernels
        self.ops, self.sizes, self.live, self.death = [], [], {}, {}
        self.events, self.stack, self.calls, self.packs = [], [], [], []
        self.phase, self.counts, self.made, self.roles = "forward", {}, {}, {}
        self.model, self.end, self.origins = model, 0, Origins(self.roles)

    def sid(self, t):
        """Returns the number of a tensor's storage."""
        key = _key(t)
        if key not in self.live:
            self.live[key] = len(self.sizes), StorageWeakRef(_storage(t))
            self.sizes.append(_storage(t).nbytes())
        return self.live[key][0]

    def sids(self, tree):
        return sorted({self.sid(t) for t in tensors(tree) if t.layout is torch.strided})

    def base(self, tree, role):
        """Records storages that exist before the step."""
        for t in tensors(tree):
            self.roles.setdefault(self.sid(t), role)

    def poll(self):
        for key in [k for k, (n, w) in self.live.items() if w.expired()]:
            n, _ = self.live.pop(key)
            self.death[n] = len(self.ops)
            self.events.append(["free", n])

    def __torch_dispatch__(self, func, kinds, args=(), kwargs=None):
        kwargs = kwargs or {}
        if unseen(func):
            return passed(func, args, kwargs)
        self.poll()
        ins, before = self.sids((args, kwargs)), len(self.sizes)
        if self.phase == "forward" and reads_values(func, args):
            self.origins.look(ins)
        out = self.kernels.run(func, args, kwargs) if self.kernels else func(*args, **kwargs)
        for t in tensors(out):
            if t.layout is not torch.strided:
                raise CollectError("%s makes a tensor of layout %s, whose memory is not counted: collect with dense gradients (sparse=False)." % (str(func).replace(".default", ""), str(t.layout)[6:]))
        outs = self.sids(out)
        if self.phase == "forward":
            self.origins.follow(func, ins, outs + self.sids(writes(func, args)))
        row = {"name": str(func), "pass": self.phase, "call": self.stack[-1] if self.stack else None, "in": ins,
               "new": [n for n in outs if n >= before], "view": [n for n in outs if n < before], "write": self.sids(writes(func, args)),
               "time_ns": roofline(self.model, func, args, kwargs, out) if self.model else 0, "temp_bytes": 0}
        self.events.append(["op", len(self.ops)])
        self.ops.append(row)
        teller[-1].operators(len(self.ops))
        return out

    # module calls

    def wrap(self, net):
        for path, m in net.named_modules():
            m.__dict__["forward"] = functools.partial(self.called, path, type(m).__name__, m.forward)

    def called(self, path, kind, f, *args, **kwargs):
        if self.phase == "backward":  # an autograd.Function that repeats its forward: no plan can name the call
            return f(*args, **kwargs)
        n = self.counts[path] = self.counts.get(path, -1) + 1
        i = len(self.calls)
        c = {"path": path if n == 0 else "%s#%d" % (path, n), "class": kind, "parent": self.stack[-1] if self.stack else None, "op": len(self.ops),
             "args": [self.arg(t) for t in tensors((args, kwargs))]}
        self.calls.append(c)
        self.events.append(["enter", i])
        self.stack.append(i)
        try:
            out = f(*args, **kwargs)
        finally:
            self.stack.pop()
        self.poll()
        c["end"], c["outs"] = len(self.ops), [self.sid(t) for t in tensors(out)]
        for j, t in enumerate(tensors(out)):
            self.made.setdefault(id(t), []).append((weakref.ref(t), t._version, i, j))
        self.events.append(["leave", i])
        return out

    def arg(self, t):
        """Returns the row of an argument: its storage, and the calls that have returned this
        very tensor, if it has not changed since."""
        return [self.sid(t), [[i, j] for r, version, i, j in self.made.get(id(t), []) if r() is t and version == t._version]]

    # what autograd keeps

    def note(self, t):
        self.poll()
        self.packs.append([self.sid(t) if t.layout is torch.strided else None, self.stack[-1] if self.stack else None, plain(t)])
        self.events.append(["pack", len(self.packs) - 1])
        return len(self.packs) - 1

    def pack(self, t):
        return Kept(self, self.note(t), t)

    def drop(self, t):
        n = self.note(t)
        return t if plain(t) else n

    def unpack(self, k):
        self.poll()
        self.events.append(["unpack", k.n])
        return k.t


class Kept:
    """The object that autograd keeps of a tensor in a full trace. It records its release."""

    def __init__(self, trace, n, t):
        self.trace, self.n, self.t = trace, n, t

    def __del__(self):
        try:
            self.t = None
            self.trace.poll()
            self.trace.events.append(["release", self.n])
        except Exception:
            pass


# -- steps.py: A training step of a model, and running it on copies and tracing it.


def scalar(out):
    """Returns the loss in the result of a model."""
    if torch.is_tensor(out) and out.numel() == 1:
        return out
    loss = out.get("loss") if isinstance(out, dict) else getattr(out, "loss", None)
    if torch.is_tensor(loss):
        return loss
    what = "a tensor of %s" % (tuple(out.shape),) if torch.is_tensor(out) else "a %s" % type(out).__name__
    keys = sorted(out) if isinstance(out, dict) else sorted(vars(out)) if hasattr(out, "__dict__") and not torch.is_tensor(out) else []
    raise CollectError("The model returns %s%s and no loss: say loss=lambda out: ..., or pass labels." % (what, " with " + ", ".join(k for k in keys if k != "loss") if keys else ""))


def attributes(model):
    """Returns the tensors in modules other than parameters and buffers."""
    return tensors([{k: v for k, v in vars(m).items() if not k.startswith("_")} for m in model.modules()])


@contextlib.contextmanager
def checkpointing(instead):
    """While it is entered, PyTorch's checkpoint calls instead, however it was imported."""
    import torch.utils.checkpoint as c

    old = {n: getattr(c, n) for n in ("CheckpointFunction", "_checkpoint_without_reentrant", "_checkpoint_without_reentrant_generator") if hasattr(c, n)}
    for n in old:
        setattr(c, n, types.SimpleNamespace(apply=instead) if n == "CheckpointFunction" else instead)
    try:
        yield
    finally:
        for n, f in old.items():
            setattr(c, n, f)


class Step:
    """A model, its arguments, and how a training step runs it."""

    def __init__(self, model, args=(), kwargs=None, loss=None, autocast=None):
        self.model, self.args, self.kwargs, self.loss, self.autocast = model, tuple(args), dict(kwargs or {}), loss or scalar, cast_type(autocast)
        if any(planned(m) is not None for m in model.modules()):
            raise CollectError("A plan is applied to this model: remove() it first.")
        first = next(model.parameters(), None)
        self.device = first.device if first is not None else torch.device("cpu")

    def cast(self):
        return torch.autocast(self.device.type, self.autocast) if self.autocast else contextlib.nullcontext()

    def run(self):
        """Runs a step on the model itself."""
        with self.cast():
            loss = self.loss(self.model(*self.args, **self.kwargs))
        loss.backward()

    def copy(self):
        """Returns the step on a copy of the model, with gradients."""
        made = {id(t): t.detach().clone() for t in attributes(self.model) if not t.is_leaf}  # weight_norm leaves such tensors
        net = copy.deepcopy(self.model, made)
        args, kwargs = mapped((self.args, self.kwargs), lambda t: t.detach().clone().requires_grad_() if t.requires_grad else t)
        for t in list(net.parameters()) + tensors((args, kwargs)):
            t.grad = torch.zeros_like(t) if t.requires_grad else None
        return Step(net, args, kwargs, self.loss, self.autocast)

    def half(self, fake, lean, model, kernels):
        """Returns one of the two traces. fake is the mode that computes nothing, or None;
        kernels are the substitutes for kernels, or None."""
        faked = (lambda t: fake.from_tensor(t.detach())) if fake else (lambda t: t.detach().clone())
        memo, old = {}, self.model
        for p in old.parameters():
            memo[id(p)] = nn.Parameter(faked(p), p.requires_grad)
        for t in list(old.buffers()) + attributes(old):
            if id(t) not in memo:
                memo[id(t)] = faked(t)
        net = copy.deepcopy(old, memo)
        args, kwargs = mapped((self.args, self.kwargs), lambda t: faked(t).requires_grad_(t.requires_grad))
        tr = Trace(model, kernels)
        tr.base(list(net.parameters()), "weight")
        tr.base(list(net.buffers()), "buffer")
        tr.base((args, kwargs), "input")
        with fake or contextlib.nullcontext():
            for p in list(net.parameters()) + tensors((args, kwargs)):
                if p.requires_grad:
                    p.grad = torch.zeros(p.shape, dtype=p.dtype, device=p.device)
                    tr.base(p.grad, "grad")
        tr.wrap(net)
        try:
            self.play(tr, net, args, kwargs, fake, lean)
        finally:  # leave no cycle to the garbage collector: PyTorch 2.6 crashes on one with fake tensors
            for m in net.modules():
                m.__dict__.pop("forward", None)
            for p in list(net.parameters()) + tensors((args, kwargs)):
                p.grad = None
            memo.clear()
            tr.live.clear()
            tr.made.clear()
        return tr

    def play(self, tr, net, args, kwargs, fake, lean):
        def refuse(*args, **kwargs):
            raise CollectError(OWN_CHECKPOINTS)

        with checkpointing(refuse):
            self.traced(tr, net, args, kwargs, fake, lean)

    def traced(self, tr, net, args, kwargs, fake, lean):
        hooks = torch.autograd.graph.saved_tensors_hooks(tr.drop if lean else tr.pack, (lambda n: n) if lean else tr.unpack)
        reads = contextlib.nullcontext() if fake or tr.kernels else watched(lambda t, name: tr.origins.look(tr.sids(t)))
        before = other_random_state()
        with fake or contextlib.nullcontext(), hooks, tr:
            with self.cast(), reads:
                out = net(*args, **kwargs)
                loss = self.loss(out)
            del out
            tr.origins.drawn(before, other_random_state())
            tr.poll()
            tr.end = len(tr.ops)
            if not lean:
                tr.phase = "backward"
                tr.events.append(["backward", 0])
                loss.backward()
                tr.poll()
            del loss


OUTERMOST.update((Step.traced.__code__, Step.run.__code__))


# -- player.py: The player: the peak and the time of a step under a plan, before anything runs.


class Played:
    """The result of playing a plan, in bytes and seconds. sent is the bytes that go to the
    host and back; the seconds do not contain their time. left is the bytes that remain after
    the step, in attributes of modules: a step that starts with as many bytes of the step
    before takes up to that much less above its start. warnings are reasons why the result may
    not hold."""

    def __init__(self, peak, time, again, left, sent, warnings=()):
        self.peak, self.time, self.again, self.left, self.sent, self.warnings = peak, time, again, left, sent, list(warnings)

    def __repr__(self):
        away = ", %s to the host and back" % size_text(self.sent) if self.sent else ""
        return "<memtide played: peak %s, %.4g s, %.4g s of it again%s>" % (size_text(self.peak), self.time, self.again, away)

    def _repr_html_(self):
        return table("memtide played", [("peak", size_text(self.peak)), ("time", "%.4g s" % self.time), ("of it again", "%.4g s" % self.again),
                                        ("to the host and back", size_text(self.sent)), *(("warning", w) for w in self.warnings)])


class Player:
    """Plays the trace of a step under a plan. An instance of a storage is (number, run),
    where run 0 is the forward. It exists while it has a holder."""

    def __init__(self, graph, segments):
        self.g, self.d, self.segments = graph, graph.data, segments
        self.now = self.peak = self.runs = self.again = self.sent = 0
        self.held, self.filler, self.holds, self.owner = {}, {}, {}, {}
        self.line = []  # frames with data on the host, in order
        self.deaths = sorted([d, n] for n, d in self.d["python_frees"])
        gone = {n for _, n in self.deaths}
        self.late = {n for n, i in graph.first.items() if i < graph.end and n not in gone}
        self.place = {(e[0], e[1]): k for k, e in enumerate(self.d["events"])}

    def hold(self, key, holder):
        if key[0] in self.g.base:
            return
        holders = self.held.setdefault(key, set())
        if not holders:
            self.now += self.d["storages"][key[0]]
            self.peak = max(self.peak, self.now)
        holders.add(holder)

    def drop(self, key, holder):
        holders = self.held.get(key)
        if holders and holder in holders:
            holders.discard(holder)
            if not holders:
                self.now -= self.d["storages"][key[0]]
                del self.held[key]

    def run(self):
        self.forward(0, self.g.split, self.calls_of(self.segments), 0, None)
        for kind, i in self.d["events"][self.g.split:]:
            if kind == "op":
                o = self.d["ops"][i]
                for n in o["new"]:
                    self.hold((n, 0), "python")
                self.peak = max(self.peak, self.now + o["temp_bytes"])
            elif kind == "free" and (self.g.first.get(i, 0) >= self.g.end or i in self.late):
                self.drop((i, 0), "python")
            elif kind == "unpack":
                self.need(i)
            elif kind == "release":
                f = self.filler.pop(i, None)
                if i in self.holds:
                    self.drop(self.holds.pop(i), ("kept", i))
                if f is not None:
                    f["alive"].discard(i)
                    if not f["alive"]:
                        self.close(f)
        time = sum(o["time_ns"] for o in self.d["ops"]) + self.again
        return Played(self.peak, time / 1e9, self.again / 1e9, self.now, self.sent, self.d.get("warnings", ()))

    def calls_of(self, segments):
        """Returns the segment of each call."""
        return {self.g.at[u]: s for s in segments for u in s["units"]}

    def frame(self, seg, run):
        self.runs += 1
        f = {"seg": seg, "run": run, "id": self.runs, "alive": set(), "inputs": [], "away": [], "back": False, "calls": [], "kept": [], "first": {}, "second": {}, "place": len(self.line)}
        if "offload" in (seg["do"], seg.get("input")):
            self.line.append(f)
        return f

    def close(self, f):
        f["back"] = True
        for key in f["inputs"]:
            self.drop(key, ("input", f["id"]))
        f["inputs"] = []

    def forward(self, begin, end, level, run, fill):
        """Plays events of the forward. fill is the frame that runs again, or None."""
        d, frames, mine, held = self.d, {}, set(), []
        cur = opened = inside = None
        want = set(fill["alive"]) if fill else None
        deaths, reads = self.deaths, self.reads(fill["calls"]) if fill else {}
        if fill:
            first, last = d["calls"][fill["calls"][0]]["op"], d["calls"][fill["calls"][-1]]["end"]
            deaths = [x for x in deaths if first < x[0] <= last and x[1] not in reads]
        dead = 0
        for kind, i in d["events"][begin:end]:
            if kind == "enter":
                if fill and i in fill["calls"]:
                    inside = i
                s = level.get(i)
                if cur is None and s and s["do"] != "keep" and (not fill or inside is not None):
                    cur, opened = i, frames.get(id(s))
                    if opened is None:
                        opened = frames[id(s)] = self.frame(s, run)
                    self.enter(opened, i, run, mine)
            elif kind == "leave":
                if cur == i:
                    cur = opened = None
                if inside == i:
                    inside = None
                    self.ended(i, run, mine, reads)
            elif fill and inside is None:
                continue
            elif kind == "op":
                while dead < len(deaths) and deaths[dead][0] <= i:
                    n = deaths[dead][1]
                    dead += 1
                    if n in mine or run == 0:
                        self.drop((n, run), "python")
                self.operator(d["ops"][i], opened or fill, fill, run, mine, held)
            elif kind == "pack":
                if fill and i not in fill["alive"]:
                    continue
                if opened:
                    if opened["seg"]["do"] == "offload":
                        self.send(opened, d["keeps"][i][0])
                    opened["alive"].add(i)
                    self.filler[i] = opened
                else:
                    key = self.key(d["keeps"][i][0], run, mine)
                    self.hold(key, ("kept", i))
                    self.holds[i] = key
                    self.filler.pop(i, None)
                if fill:
                    want.discard(i)
                    if not want:
                        break
        self.settle(deaths[dead:], run, fill, mine, held)
        for f in frames.values():
            if not f["alive"]:  # it keeps nothing, so the backward will not need it
                self.close(f)

    def reads(self, calls):
        """Returns the last reader of each storage that one of the calls passes to a later
        one."""
        return {n: c for c in calls for n, made in self.d["calls"][c]["args"] if any(k in calls for k, _ in made)}

    def ended(self, call, run, mine, reads):
        """Ends a repeated call: frees what it made, except for what a later call reads."""
        for n in [n for n in mine if reads.get(n, -1) <= call]:
            self.drop((n, run), "python")
            if n in self.owner:  # later calls read the instance of the frame
                mine.discard(n)

    def enter(self, f, call, run, mine):
        for n, made in self.d["calls"][call]["args"]:
            if f["seg"]["do"] == "offload" or any(c in f["calls"] for c, _ in made):
                continue
            if f["seg"].get("input") == "offload" and n not in self.g.base:
                self.send(f, n)
                continue
            key = self.key(n, run, mine)
            self.hold(key, ("input", f["id"]))
            f["inputs"].append(key)
        f["calls"].append(call)

    def send(self, f, n):
        if n not in f["away"]:
            f["away"].append(n)
            self.sent += self.d["storages"][n]

    def operator(self, o, f, fill, run, mine, held):
        saved = False
        if f and f["seg"].get("save"):
            counts = f["second" if f is fill else "first"]
            k = counts[o["name"]] = counts.get(o["name"], -1) + 1
            saved = [o["name"], k] in f["seg"]["save"]
        if saved and f is fill:  # its result was kept, so it does not run
            for n in o["new"]:
                self.hold((n, f["run"]), "python")
                held.append((n, f["run"]))
                self.owner[n] = f["run"]
            return
        for n in o["new"]:
            mine.add(n)
            self.hold((n, run), "python")
            if saved:
                self.hold((n, run), ("operator", f["id"]))
                f["kept"].append((n, run))
        self.peak = max(self.peak, self.now + o["temp_bytes"])
        if run:
            self.again += o["time_ns"]

    def settle(self, deaths, run, fill, mine, held):
        """Ends a forward: frees what Python still held."""
        if not fill:
            for _, n in deaths:
                self.drop((n, run), "python")
            return
        for n in mine:
            self.drop((n, run), "python")
        for key in held:
            self.drop(key, "python")
        for key in fill["kept"]:
            self.drop(key, ("operator", fill["id"]))
        fill["kept"] = []

    def key(self, n, run, mine):
        return (n, run) if n in mine or run == 0 else (n, self.owner.get(n, 0))

    def need(self, p):
        """Provides what the backward needs: p is an index of keeps."""
        if p in self.filler and self.filler[p]["seg"]["do"] == "offload":
            self.near(self.filler[p])
        while p in self.filler and p not in self.holds:
            f = self.filler[p]
            if f["seg"]["do"] == "offload":
                return
            self.runs += 1
            if f["away"]:
                self.near(f)
            self.owner = dict(f["inputs"])
            begin, end = self.place["enter", f["calls"][0]], self.place["leave", f["calls"][-1]] + 1
            self.forward(begin, end, self.calls_of(f["seg"].get("inner") or []), self.runs, f)
            self.close(f)

    def near(self, f):
        """Brings back a frame that the backward has reached from the host, and those before
        it within the prefetch distance."""
        for k in self.line[max(0, f["place"] - (f["seg"].get("prefetch") or 0)):f["place"] + 1]:
            if k["seg"]["do"] == "offload":
                for q in sorted(k["alive"] - self.holds.keys()):
                    self.holds[q] = (self.d["keeps"][q][0], k["id"])
                    self.hold(self.holds[q], ("kept", q))
            elif not k["back"]:
                k["back"] = True
                for n in k["away"]:
                    self.hold((n, k["id"]), ("input", k["id"]))
                    k["inputs"].append((n, k["id"]))


# -- graph.py: The operators of a training step (memtide/1, kind operators): units, sizes, files.


class Graph:
    """The operators of a training step, with the fields of their file (memtide/1, kind
    operators; docs/formats.md)."""

    def __init__(self, data):
        self.data = data
        self.end = data["forward_ops"]
        self.base = set(data["resident"])
        self.split = data["events"].index(["backward", 0])
        self.first = {n: i for i, o in enumerate(data["ops"]) for n in o["new"]}
        self.at = {c["path"]: i for i, c in enumerate(data["calls"])}

    # units

    def choose(self, patterns=None):
        """Sets the units, the module calls from which a plan chooses, in order, and those
        that have to stay with the unit before them because of work in place."""
        if patterns:
            found = [i for i, c in enumerate(self.data["calls"]) if any(fnmatch.fnmatchcase(c["path"], p) for p in patterns)]
            inside = lambda i: i is not None and (i in found or inside(self.data["calls"][i]["parent"]))
            units = [i for i in found if not inside(self.data["calls"][i]["parent"])]
            if not units:
                raise CollectError("No module is called %s." % ", ".join(patterns))
        else:
            units = self.opened()
        self.data["units"], self.data["tied"] = self.together(units)

    def opened(self, share=0.125):
        """Returns the units: a call is replaced by its children if they are containers, or if
        it keeps much memory and has no siblings of its own class."""
        d, kept, children = self.data, {}, {}
        for n, c in d["keeps"]:
            while c is not None:
                kept.setdefault(c, set()).add(n)
                c = d["calls"][c]["parent"]
        size = {c: sum(d["storages"][n] for n in ns) for c, ns in kept.items()}
        for i, c in enumerate(d["calls"]):
            children.setdefault(c["parent"], []).append(i)
        total, out = max(1, size.get(0, 0)), []

        def visit(i):
            below = children.get(i, [])
            inner = [k for k in below if children.get(k)]
            kind = d["calls"][i]["class"]
            twin = kind != "Sequential" and sum(d["calls"][k]["class"] == kind for k in children.get(d["calls"][i]["parent"], [])) > 1
            if kind == "OptimizedModule" and i:  # a module of torch.compile runs as a whole
                out.append(i)
            elif i == 0 or (inner and len(inner) == len(below)) or (inner and not twin and size.get(i, 0) > share * total):
                for k in below:
                    visit(k)
            elif d["calls"][i]["end"] > d["calls"][i]["op"]:
                out.append(i)

        visit(0)
        return out

    def together(self, units):
        """Returns the units that can be recomputed, and those that are tied to the unit
        before them. A unit that works in place, or that reads a storage which is changed
        later, is tied to the unit that made the storage. It cannot be recomputed if no unit
        made the storage."""
        d = self.data
        of = {op: k for k, u in enumerate(units) for op in range(d["calls"][u]["op"], d["calls"][u]["end"])}
        written = {}
        for i, o in enumerate(d["ops"][:self.end]):
            for n in o["write"]:
                written.setdefault(n, []).append(i)
        tied, out = set(), set()

        def tie(maker, k):
            if maker is None:
                out.add(k)
            elif maker != k:
                tied.update(range(maker + 1, k + 1))

        for n, at in written.items():
            if d["roles"].get(str(n)) in ("weight", "buffer", "grad"):
                continue  # they belong to the unit itself
            maker = of.get(self.first.get(n))
            for i in at:
                if of.get(i) is not None:
                    tie(maker, of[i])
            for k, u in enumerate(units):
                c = d["calls"][u]
                if any(s == n for s, _ in c["args"]) and at[-1] >= c["end"]:
                    tie(maker, k)
        keep = [k for k in range(len(units)) if k not in out]
        return [units[k] for k in keep], [j for j, k in enumerate(keep) if k in tied]

    def units(self):
        """Returns the names of the units."""
        return [self.data["calls"][i]["path"] for i in self.data["units"]]

    # sizes and times that only a real step knows

    def measure(self, step, reps=0, kernels=None):
        """Measures the temporary memory of kernels, their times if reps is not 0, and the
        peak of a plain step, with steps of a copy. kernels substitutes kernels that have run."""
        own, rng = step.copy(), random_state()
        teller[-1].part(2)
        with Temps(reps, kernels) as seen:
            own.run()
        set_random_state(rng)
        for o, k in self.paired(seen.names):
            temp, ns = seen.temps[k], seen.times[k]
            o["temp_bytes"] = temp
            o["time_ns"] = ns if ns else o["time_ns"]
        teller[-1].part(3)
        with Stood(kernels) if kernels else contextlib.nullcontext():
            _, self.data["source"]["plain_bytes"] = allocated(own.run, step.device)
        set_random_state(rng)
        self.data["source"].update(temps="measured", **({"times": "measured", "notes": []} if reps else {}))

    def off(self):
        """Returns the relative error of the predicted peak of a plain step."""
        plain = self.data["source"]["plain_bytes"]
        return abs(self.play().peak - plain) / max(plain, 1)

    def paired(self, names):
        """Returns pairs of an operator and the index of the same operator in a step on the
        device. Hooks turn numbers of PyTorch into tensors, so there may be additional
        operators on single numbers, which take no temporary memory."""
        ops = self.data["ops"]
        own = [o["name"] for o in ops]
        if own == names:
            return list(zip(ops, range(len(ops))))
        pairs, more = [], len(names)
        for a, b, n in difflib.SequenceMatcher(None, own, names, False).get_matching_blocks():
            pairs += [(ops[a + k], b + k) for k in range(n)]
            more -= n
        paired = {id(o) for o, _ in pairs}
        if more or any(self.data["storages"][n] > 16 for o in ops if id(o) not in paired for n in o["new"]):
            raise OtherOperators("The step on the device does %d operators and its shapes %d: collect with real=True." % (len(names), len(own)))
        return pairs

    # plans

    def play(self, plan=None):
        """Returns what a plan takes: .peak above the memory before the step, and in seconds
        .again, the time of what runs twice, and .time of the whole step."""
        segments = plan.get("segments") or [] if plan else []
        Fields(plan).segments("segments", segments)
        for s in walk(segments):
            for u in s["units"]:
                if u not in self.at:
                    raise PlanError("The plan names %s, and the graph has no call of that name: collect the model again, or solve again." % u)
        return Player(self, segments).run()

    def plan(self, segments, kind, maker="memtide_torch.py"):
        """Returns a plan of these segments, with its predicted peak and times."""
        d, whole = self.data, self.play()
        played = self.play({"segments": segments})
        sha = sha_of([o["name"] for o in d["ops"][d["calls"][0]["op"]:d["calls"][0]["end"]]])
        doubts = {"warnings": d["warnings"]} if d.get("warnings") else {}
        return Plan({"format": "memtide-plan/1", "class": kind, "name": d["name"], "made_by": maker, "budget_bytes": 0,
                "model": {"units": self.units(), "classes": [d["calls"][i]["class"] for i in d["units"]], "ops_sha": sha, "modules_sha": d.get("modules_sha", "")}, **doubts,
                "inputs": d["inputs"], "autocast": d["autocast"],
                "predicted": {"peak_bytes": played.peak, "step_s": played.time, "keepall_peak_bytes": whole.peak, "again_s": played.again},
                "segments": segments})

    # how it shows itself

    def __repr__(self):
        return "<memtide graph %s: %d operators, %d units, keeping everything takes %s>" % (
            self.data["name"], len(self.data["ops"]), len(self.data["units"]), size_text(self.play().peak))

    def _repr_html_(self):
        kept = {}
        for n, c in self.data["keeps"]:
            kept.setdefault(c, {})[n] = self.data["storages"][n]
        rows = [(c["path"], c["class"], size_text(sum({n: s for i, ns in kept.items() if i is not None and self.within(i, u) for n, s in ns.items()}.values())))
                for u in self.data["units"] for c in [self.data["calls"][u]]]
        return table(repr(self)[1:-1], rows, ("unit", "class", "autograd keeps"))

    def within(self, call, unit):
        """Whether a call is a unit or within it."""
        while call is not None and call != unit:
            call = self.data["calls"][call]["parent"]
        return call == unit

    def show(self, budget=None, browser=True):
        """Opens the page with this network: in the cell of a notebook, otherwise in a
        browser, unless browser is False. Returns the opened file. Fetches nothing, and sends
        nothing."""
        return show_page(self.save, self.data["name"], budget, browser=browser)

    # files

    def save(self, path):
        data = dict(self.data, ops=[dict({k: v for k, v in o.items() if k != "time_ns"}, time_s=o["time_ns"] / 1e9) for o in self.data["ops"]])
        with open(path, "w", encoding="utf-8") as f:
            json.dump(data, f, separators=(",", ":"))


def load(path):
    """Returns the graph in a file."""
    with open(path, encoding="utf-8") as f:
        data = json.load(f)
    if data.get("format") != "memtide/1" or data.get("kind") != "operators":
        raise CollectError("%s is no memtide/1 file of kind operators." % path)
    for o in data["ops"]:
        o["time_ns"] = round(o.pop("time_s") * 1e9)
    return Graph(data)


# -- collector.py: The operators of a step, from two traces of it. In the lean trace autograd keeps nothing,
# so it shows when Python frees each tensor. The full trace shows when autograd keeps, reads
# and releases tensors.


def needs_values(e):
    """Returns the error for an operator whose result depends on data, or None."""
    if type(e).__name__ not in ("DataDependentOutputException", "DynamicOutputShapeException", "UnsupportedOperatorException"):
        return None
    frames, tb = [], e.__traceback__
    while tb is not None:
        frames.append((tb.tb_frame.f_code, tb.tb_lineno))
        tb = tb.tb_next
    return ValuesNeeded(needs(short_name(e.func), frames[::-1]))


def traces(step, real, model, kernels=None):
    """Returns the rows of a graph, from the two traces of a step."""
    fake = None
    if not real:
        from torch._subclasses.fake_tensor import FakeTensorMode

        fake = FakeTensorMode(allow_non_fake_inputs=True)
    rng = random_state()
    try:
        teller[-1].part(0)
        lean = step.half(fake, True, None, kernels)
        set_random_state(rng)
        teller[-1].part(1)
        full = step.half(fake, False, model, kernels)
    except Exception as e:
        told = needs_values(e)
        if told is None:
            raise
        raise told from None
    finally:
        set_random_state(rng)
    for i in range(max(lean.end, full.end)):
        a, b = (tr.ops[i] if i < tr.end else {"name": "nothing", "call": None} for tr in (lean, full))
        if a["name"] != b["name"]:
            c = b["call"] if b["call"] is not None else a["call"]
            raise CollectError("The model does not do the same operators twice (%s: %s, then %s): something beside its weights, its arguments and random numbers says what it does, such as a count of its calls; keep that as it is while you collect."
                               % (full.calls[c]["path"] or "the model" if c is not None else "outside of it", a["name"].replace(".default", ""), b["name"].replace(".default", "")))
    return rows_of(lean, full, step)


def rows_of(lean, full, step):
    """Returns the content of a file of kind operators."""
    made = {n for o in full.ops for n in o["new"]}
    for n in range(len(full.sizes)):  # storages that are neither made nor freed: targets of the loss, masks of modules
        if n not in made and n not in full.death:
            full.roles.setdefault(n, "input")
    base, at, events = set(full.roles), {}, []
    for e in full.events:  # without what autograd keeps at no cost
        if e[0] in ("pack", "unpack", "release"):
            n, _, own = full.packs[e[1]]
            if own or n is None or n in base:
                continue
            e = [e[0], at.setdefault(e[1], len(at))]
        events.append(e)
    first = {n: i for i, o in enumerate(full.ops) for n in o["new"]}
    rows = {"format": "memtide/1", "kind": "operators", "name": type(step.model).__name__, "batch": 0, "dtype": "f32",
            "source": {"tool": "memtide_torch.py", "torch": torch.__version__, "times": "", "temps": "none", "sizes": "exact", "device": str(step.device)},
            "inputs": input_rows(step.args, step.kwargs), "autocast": str(step.autocast)[6:] if step.autocast else "",
            "storages": full.sizes, "resident": sorted(base), "roles": {str(n): role for n, role in sorted(full.roles.items())},
            "ops": full.ops, "forward_ops": full.end, "calls": full.calls, "keeps": [full.packs[i][:2] for i in at], "units": [], "tied": [],
            "events": events, "python_frees": sorted([n, d] for n, d in lean.death.items() if n in first)}
    rows["modules_sha"] = modules_sha(step.model)
    if full.origins.looks:
        rows["warnings"] = full.origins.doubts()
    seen = tensors((step.args, step.kwargs))
    rows["batch"] = seen[0].shape[0] if seen and seen[0].dim() else 0
    dtype = step.autocast or next((p.dtype for p in step.model.parameters()), torch.float32)
    rows["dtype"] = {torch.float16: "f16", torch.bfloat16: "bf16"}.get(dtype, "f32")
    return rows


def in_child(make):
    """Returns the result of make(), which runs in a copy of this process, so that a crash
    does not affect this one. Without fork it runs in this process."""
    if not hasattr(os, "fork") or torch.cuda.is_initialized():
        return make()
    with tempfile.TemporaryFile("w+") as f, warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        sys.stdout.flush()
        sys.stderr.flush()
        pid = os.fork()
        if pid == 0:
            try:
                torch.set_num_threads(1)  # the threads of the parent do not exist in the copy
                try:
                    made = ["rows", make()]
                except ValuesNeeded as e:
                    made = ["values", e.what]
                except (CollectError, PlanError) as e:
                    made = ["refused", str(e)]
                except BaseException as e:
                    made = ["failed", "".join(traceback.format_exception(type(e), e, e.__traceback__))]
                json.dump(made, f)
                f.flush()
            finally:
                os._exit(0)
        _, status = os.waitpid(pid, 0)
        f.seek(0)
        text = f.read()
    try:
        what, made = json.loads(text)
    except ValueError:
        raise CollectError("The collecting process ended (%s) before it had written anything; nothing else is lost. Collect with real=True, or fewer layers."
                           % ("signal %d" % os.WTERMSIG(status) if os.WIFSIGNALED(status) else "status %d" % status)) from None
    if what == "values":
        raise ValuesNeeded(made)
    if what == "refused":
        raise CollectError(made)
    if what == "failed" and "Autograd-and-Fork" in made:  # after a backward in this process, its copies cannot run one
        return make()
    if what == "failed":
        raise RuntimeError("The model failed while it was collected:\n" + made)
    return made


def collect(model, args=(), kwargs=None, loss=None, autocast=None, real=None, temps=True, times=None, reps=0, units=None, child=True, draws=1, progress=None):
    """Returns the operators of one training step as a Graph.

    Only shapes are run, in a process of their own, unless real is true, or a plain step on the
    device differs from them, or the model looks at values, which is reported. PyTorch before 2.1
    runs the step: its products and convolutions once for each shape, or all of it if the model
    looks at values; real=True runs all of it at once.

    loss computes the loss from the model's result; by default it is the result itself if that is
    one number, or its .loss. autocast is a type or its name. temps: a step of a copy measures
    the temporary memory of kernels, and the peak of a plain step. times is the device whose
    model gives the times of operators; reps measures their times that often instead. units are
    patterns of the names of modules (h.*). draws: of that many draws of random numbers, take the
    one whose plain step needs the most memory. progress: show progress; None means in a terminal
    or a notebook."""
    if torch is None:
        raise CollectError("PyTorch is missing: install it (pip install torch, or apt-get install python3-torch).")
    step = Step(model, args, kwargs, loss, autocast)
    clock_of = Model(times or DEFAULT_DEVICE, step.autocast is not None)

    def graph_of(real, kernels=None):
        make = lambda: traces(step, real, clock_of, kernels)
        graph = Graph(in_child(make) if child and not real else make())
        graph.data["source"].update(times=clock_of.origin, notes=[clock_of.note])
        graph.choose(units)
        if temps or reps:
            graph.measure(step, reps, kernels if not reps else None)
        return graph

    before = random_state()
    try:
        if draws > 1:
            set_random_state(worst_draw(step, draws))
        with telling(progress):
            graph, needed = collected(step, graph_of, real, temps or reps)
    finally:
        set_random_state(before)
    if needed:
        warnings.warn("memtide: %s, which shapes alone do not have: the step is run instead, as with real=True." % needed, stacklevel=2)
    doubts = graph.data.get("warnings", [])
    doubts[:] = [d.replace(ONE_DRAW, "that of the worst of %d draws" % draws) if draws > 1 else d for d in doubts]
    for d in doubts:
        warnings.warn("memtide: %s%s" % (d, " draws=8 collects the worst of 8." if ONE_DRAW in d else ""), stacklevel=2)
    return graph


def collected(step, graph_of, real, measured):
    """Returns the graph of graph_of, from shapes alone if that works, and otherwise what in
    the model needs values, or ""."""
    needed = ""
    if real is None and (1, 13) <= VERSION < (2, 1) and step.device.type == "cpu":
        kernels, before = Kernels(), random_state()
        with contextlib.suppress(Exception, NeedsValues), watched(lambda t, name: kernels.look("Tensor." + name)):
            graph = graph_of(True, kernels)
            if not kernels.looked:
                return graph, ""
        set_random_state(before)
        needed = kernels.looked
    if real is not None or VERSION < (2, 1):
        return graph_of(VERSION < (2, 1) if real is None else real), needed
    graph = None
    try:
        graph = graph_of(False)
        if not measured or graph.off() <= 0.01:
            return graph, ""
    except OtherOperators:
        pass
    except ValuesNeeded as e:
        needed = e.what
    ran = graph_of(True)
    return ran if graph is None or ran.off() < graph.off() else graph, needed


def worst_draw(step, draws):
    """Returns the random state, the present one or that of a seed, with which a plain step
    takes the most memory."""
    now, worst, most = random_state(), None, -1
    for seed in range(draws):
        if seed:
            seed_all(seed)
        state = random_state()
        _, peak = allocated(step.copy().run, step.device)
        if peak > most:
            worst, most = state, peak
        set_random_state(now)
    return worst


# -- comparison.py: Comparison of a plan with the framework's own checkpointing.


def checkpointed(model, plan):
    """Turns on the checkpointing of the model's own framework: its switch, or PyTorch's
    checkpoint around every unit of the most frequent class among the plan's units. Returns
    its name."""
    if hasattr(model, "gradient_checkpointing_enable"):
        model.gradient_checkpointing_enable()
        return "gradient_checkpointing_enable()"
    from torch.utils.checkpoint import checkpoint

    modules = dict(model.named_modules())
    units = (plan.get("model") or {}).get("units") or [u for s in plan["segments"] for u in s["units"]]
    paths = [u for u in units if "#" not in u]
    kinds = [type(modules[u]).__name__ for u in paths]
    common = max(sorted(set(kinds)), key=kinds.count)
    for path in paths:
        m = modules[path]
        if type(m).__name__ == common:
            m.forward = functools.partial(checkpoint, m.forward, use_reentrant=False)
    return "torch checkpoint, every %s" % common


def compare(model, plan, args=(), kwargs=None, loss=None, autocast=None, reps=3):
    """Measures a training step on copies of the model: plain, with the framework's own
    checkpointing, and by the plan. Each row has the peak of the allocator above the memory
    before the step, the reserved memory (None without a GPU), the median time of reps steps
    in seconds, and whether gradients and buffers equal those of the plain step, bit by bit.
    The row of the plain step says whether they equal those of a second plain step, which some
    kernels of a GPU do not ensure. The row of the plan has the predicted peak."""
    plan, rows, want = load_plan(plan), [], None
    step = Step(model, args, kwargs, loss, autocast)
    device = step.device
    for way in ("plain", "checkpoint", "plan"):
        own, name = step.copy(), way
        if way == "checkpoint":
            name = checkpointed(own.model, plan)
        handle = apply(own.model, plan) if way == "plan" else None
        row = {"way": name, "predicted_bytes": (plan.get("predicted") or {}).get("peak_bytes") if handle else None, "reserved_bytes": None}

        run, found = trained(own)
        if want is None:
            want, found = found, trained(step.copy())[1]
        row["gradients"], row["buffers"] = (alike(a, b) for a, b in zip(found, want))
        if device.type == "cuda":
            torch.cuda.empty_cache()
        _, row["peak_bytes"] = allocated(run, device)
        if device.type == "cuda":
            row["reserved_bytes"] = torch.cuda.max_memory_reserved(device)
        row["time_s"] = statistics.median(timed(run, device)[1] for _ in range(reps)) / 1e9
        rows.append(row)
        del own, handle, run
        gc.collect()
    return Report(rows, device)


def trained(own):
    """Runs a step twice. Returns a function that runs it once more, and the gradients and
    buffers after the second run by name: the first run creates the gradients."""
    def run():
        torch.manual_seed(0)
        random.seed(0)
        own.run()

    run()
    for p in own.model.parameters():
        if p.grad is not None:
            p.grad.zero_()
    run()
    copied = lambda t: None if t is None else t.detach().cpu().clone()
    return run, ([(n, copied(p.grad)) for n, p in own.model.named_parameters()], [(n, copied(b)) for n, b in own.model.named_buffers()])


class Report(list):
    """The rows of compare."""

    def __init__(self, rows, device):
        super().__init__(rows)
        self.device = device

    def __repr__(self):
        return comparison(self, self.device)

    def _repr_html_(self):
        return "<pre>%s</pre>" % html.escape(repr(self))


def alike(a, b):
    """Whether named tensors are equal bit by bit."""
    return all(n == m and (x is None) == (y is None) and (x is None or torch.equal(x, y)) for (n, x), (m, y) in zip(a, b))


def comparison(rows, device):
    """Returns the rows of compare as a table."""
    lines = [("", "peak", "predicted", "reserved", "time", "gradients", "buffers")]
    for r in rows:
        size = lambda key: "-" if r[key] is None else size_text(r[key])
        lines.append((r["way"], size("peak_bytes"), size("predicted_bytes"), size("reserved_bytes"), "%.1f ms" % (r["time_s"] * 1e3),
                      *("equal" if r[k] else "other" for k in ("gradients", "buffers"))))
    widths = [max(map(len, column)) for column in zip(*lines)]
    text = "\n".join("  ".join(c.ljust(w) if i == 0 else c.rjust(w) for i, (c, w) in enumerate(zip(line, widths))) for line in lines)
    if device.type == "cuda":
        text += "\nOn %s, PyTorch %s." % (torch.cuda.get_device_name(device), torch.__version__)
        if not rows[0]["gradients"]:
            text += " Two plain steps differ, too: kernels add in any order, unless torch.use_deterministic_algorithms(True)."
        return text
    return text + "\nOn a CPU, PyTorch %s: its times do not carry over to a GPU." % torch.__version__


# -- policies.py: Plans that need no solver.


def every_nth(graph, n):
    """Returns the plan that recomputes every n-th unit of the most frequent class; all of
    them for n = 1."""
    calls = [graph.data["calls"][i] for i in graph.data["units"]]
    kinds = [c["class"] for c in calls]
    common = max(sorted(set(kinds)), key=kinds.count)
    chosen = [c["path"] for c in calls if c["class"] == common][::n]
    return segments(graph, *[[u] for u in chosen], kind="unit")


def every(graph):
    """Returns the plan that recomputes every unit by itself."""
    return segments(graph, *[[u] for u in graph.units()], kind="unit")


def segments(graph, *runs, kind="wrappable"):
    """Returns the plan that recomputes each run of units as a whole."""
    where = {u: k for k, u in enumerate(graph.units())}
    tied, out = {graph.units()[k] for k in graph.data["tied"]}, []
    for run in runs:
        for u in run:
            if u not in where:
                raise PlanError("%s is no unit of the graph; the units are %s." % (u, ", ".join(graph.units())))
        ks = sorted(where[u] for u in run)
        while graph.units()[ks[0]] in tied:  # it works in place on the result of the unit before
            ks.insert(0, ks[0] - 1)
        while ks[-1] + 1 < len(where) and ks[-1] + 1 in graph.data["tied"]:
            ks.append(ks[-1] + 1)
        names = [graph.units()[k] for k in range(ks[0], ks[-1] + 1)]
        if not any(set(names) & set(s["units"]) for s in out):
            out.append({"units": names, "do": "recompute"})
    return graph.plan(out, kind)


# -- search.py: Plans that the command finds.


def plan(model, budget="60%", args=(), kwargs=None, loss=None, kind="nested", strategy=None, **collecting):
    """Returns the fastest plan found within a budget, for a model or for a collected graph;
    the other arguments are those of collect. budget is the memory of a step above weights,
    gradients and optimizer: a size such as 10GiB, or a share of keeping everything. kind is
    what a plan may do: unit, wrappable, nested, sac or offload. strategy takes the schedule
    of a strategy, such as rotor, instead. A faster plan may exist."""
    graph = model if isinstance(model, Graph) else collect(model, args, kwargs, loss, **collecting)
    with tempfile.TemporaryDirectory() as folder:
        net, out = (os.path.join(folder, name) for name in ("net.json", "plan.json"))
        graph.save(net)
        ask("torch", "-class", kind, "-budget", str(budget), *(["-strategy", strategy] if strategy else []), "-o", out, net)
        return load_plan(out)


# -- version.py: The release of memtide.


__version__ = "1.0.0"


__all__ = [
    "CollectError", "Graph", "Plan", "PlanError", "Played", "Runtime", "apply", "collect", "compare", "every", "every_nth",
    "lightning_callback", "load", "load_plan", "plan", "segments", "several", "trainer_callback",
]


# -- networks.py: Networks and their stages.


def network(name, flat=False, cuts=None):
    """Returns the stages of a network as a list of (name, module), and a sample of its input,
    or None."""
    sample = None
    if ":" in name:
        sys.path.insert(0, os.getcwd())
        module, _, factory = name.partition(":")
        made = getattr(importlib.import_module(module), factory)()
        model, sample = made[:2] if isinstance(made, tuple) else (made, None)
    else:
        import torchvision.models as models

        if not hasattr(models, name):
            raise CollectError("torchvision has no model %r; name one that it has, or your own as package.module:factory." % name)
        side = {"aux_logits": False, "init_weights": False} if name in ("inception_v3", "googlenet") else {}
        model = getattr(models, name)(**side)
        if name == "inception_v3" and not cuts:
            cuts = [n for n, _ in model.named_children()]
        if name.startswith("densenet") and not cuts:
            return dense(model), sample
    model.train()
    if isinstance(model, nn.Sequential) and not cuts:
        return children(model, flat), sample
    return traced(model, [] if cuts == ["auto"] else cuts or []), sample


def children(model, flat, prefix=""):
    """Returns the children of an nn.Sequential; flat opens nested ones."""
    stages = []
    for name, child in model.named_children():
        if flat and isinstance(child, nn.Sequential):
            stages += children(child, flat, prefix + name + ".")
        else:
            stages.append((prefix + name, child))
    return stages


def dense(model):
    """Returns a DenseNet of torchvision as a chain: each layer passes on its input besides
    its output, as in arXiv:1911.13214, section 5.3."""

    class Layer(nn.Module):
        def __init__(self, layer):
            super().__init__()
            self.layer = layer

        def forward(self, x):
            m = self.layer
            return torch.cat([x, m.conv2(m.relu2(m.norm2(m.conv1(m.relu1(m.norm1(x))))))], 1)

    class Head(nn.Module):
        def forward(self, x):
            return torch.flatten(nn.functional.adaptive_avg_pool2d(nn.functional.relu(x), (1, 1)), 1)

    stages = []
    for name, child in model.features.named_children():
        if name.startswith("denseblock"):
            stages += [(name + "." + n, Layer(layer)) for n, layer in child.named_children()]
        else:
            stages.append((name, child))
    model.train()
    return stages + [("relu+pool+flatten", Head()), ("classifier", model.classifier)]


def traced(model, cuts):
    """Splits a module that torch.fx can trace, after the modules in cuts, or wherever exactly
    one tensor crosses."""
    import torch.fx

    class Tracer(torch.fx.Tracer):
        calls = []  # (first node, node after the last, input, module) of calls with one input

        def is_leaf_module(self, module, name):
            return name in cuts or super().is_leaf_module(module, name)

        def call_module(self, module, forward, args, kwargs):
            begin = len(self.graph.nodes)
            out = super().call_module(module, forward, args, kwargs)
            if len(args) == 1 and not kwargs and isinstance(args[0], torch.fx.Proxy):
                self.calls.append((begin, len(self.graph.nodes), args[0].node, module))
            return out

    tracer = Tracer()
    try:
        graph = tracer.trace(model)
    except Exception as e:
        raise CollectError("%s cannot be traced (%s): make it an nn.Sequential of its stages." % (type(model).__name__, str(e).splitlines()[0]))
    nodes = list(graph.nodes)
    inputs = [n for n in nodes if n.op == "placeholder" and n.users]
    if len(inputs) != 1:
        raise CollectError("%s has %d inputs; a chain has one. Make it an nn.Sequential of its stages." % (type(model).__name__, len(inputs)))
    at = {n: i for i, n in enumerate(nodes)}
    ends = []
    for i, node in enumerate(nodes[:-1]):
        alive = [n for n in nodes[:i + 1] if n.op != "get_attr" and any(at[u] > i for u in n.users)]
        alone = alive == [node] and node not in inputs
        if cuts and node.op == "call_module" and node.target in cuts:
            if not alone and node is not _result(nodes):
                raise CollectError("%s is not a cut: %s cross it too. Leave it out of --cut." % (node.target, ", ".join(str(n) for n in alive if n is not node)))
            ends.append(node)
        elif not cuts and alone and not any(_tied(model, u) for u in node.users if u.op != "output"):
            ends.append(node)
    missing = set(cuts) - {n.target for n in ends}
    if missing:
        raise CollectError("There is no module %s that the network calls; --cut takes names of modules, such as layer1.0." % ", ".join(sorted(missing)))
    if not ends or ends[-1] is not _result(nodes):
        ends.append(_result(nodes))
    stages, begin, source = [], 0, inputs[0]
    for end in ends:
        part = [n for n in nodes[begin:at[end] + 1] if n.op not in ("placeholder", "get_attr")]
        whole = _whole(tracer.calls, nodes, at[part[0]], at[end] + 1, source)
        stages.append((_name(part), whole or _part(model, part, source, end)))
        begin, source = at[end] + 1, end
    return stages


def _result(nodes):
    return nodes[-1].args[0]


def _whole(calls, nodes, begin, end, source):
    """Returns the modules of which a stage consists, one after the other, or None if it has
    other nodes as well. They are better than their nodes: tracing turns += into a sum."""
    modules = []
    while begin < end:
        fitting = [c for c in calls if c[0] == begin and c[1] <= end and c[2] is source]
        if not fitting:
            return None
        _, begin, _, module = max(fitting, key=lambda c: c[1])
        modules.append(module)
        source = nodes[begin - 1]
    return modules[0] if len(modules) == 1 else nn.Sequential(*modules)


def _part(model, part, source, end):
    """Returns the nodes of a stage as a module."""
    graph = torch.fx.Graph()
    copies = {source: graph.placeholder("x")}

    def find(n):
        if n not in copies and n.op == "get_attr":
            copies[n] = graph.node_copy(n)
        return copies[n]

    for n in part:
        copies[n] = graph.node_copy(n, find)
    graph.output(copies[end])
    return torch.fx.GraphModule(model, graph).train()


VIEWS = {"view", "reshape", "flatten", "permute", "transpose", "squeeze", "unsqueeze", "contiguous", "expand", "chunk", "split", "t"}


def _tied(model, node):
    """Whether a node works in place on its input, or only views it."""
    if node.op == "call_module":
        module = model.get_submodule(node.target)
        return bool(getattr(module, "inplace", False)) or isinstance(module, (nn.Flatten, nn.Identity))
    name = node.target if isinstance(node.target, str) else node.target.__name__
    return bool(node.kwargs.get("inplace")) or name.endswith("_") or name in VIEWS or node.target in (operator.iadd, operator.imul, operator.getitem)


def _name(part):
    """Returns the name of the module that contains a whole stage, or the joined names of its
    nodes."""
    targets = [n.target.split(".") if n.op == "call_module" else None for n in part]
    known = [t for t in targets if t]
    if known and len(part) > 1:
        prefix = os.path.commonprefix(known)
        if prefix and prefix != known[0]:
            return ".".join(prefix)
    names = [".".join(t) if t else n.name for t, n in zip(targets, part)]
    return "+".join([names[0]] + [n.split(".")[-1] for n in names[1:]][:4])


def joined(stages, x):
    """Returns the stages; a stage that overwrites or only views its input is joined with the
    one before."""
    out = []
    with torch.no_grad():
        for name, module in stages:
            version, source = x._version, _key(x)
            y = module(x)
            if not torch.is_tensor(y):
                raise CollectError("Stage %s returns a %s; a stage returns one tensor." % (name, type(y).__name__))
            tied = x._version != version or _key(y) == source
            if tied and not out and x._version != version:
                raise CollectError("The first stage (%s) works in place on the network's input: build it with inplace=False." % name)
            if tied and out:
                before, first = out[-1]
                parts = list(first) if isinstance(first, Joined) else [first]
                out[-1] = (before + "+" + name.split(".")[-1], Joined(*parts, module))
            else:
                out.append((name, module))
            x = y
    return out


if torch:

    class Joined(nn.Sequential):
        """Stages that were joined into one."""

    class Leave(torch.autograd.Function):
        """Ends a stage's graph without holding its output, as in a training step: the
        gradient of the output comes from a list."""

        @staticmethod
        def forward(ctx, y, slot):
            ctx.slot = slot
            return y.new_zeros(())

        @staticmethod
        def backward(ctx, _):
            return ctx.slot[0], None


    class Begin(torch.autograd.Function):
        """Starts a backward with a gradient of ones that has no other holder."""

        @staticmethod
        def forward(ctx, y):
            ctx.like = y.shape, y.dtype, y.device
            return y.new_zeros(())

        @staticmethod
        def backward(ctx, _):
            shape, dtype, device = ctx.like
            return torch.ones(shape, dtype=dtype, device=device)
else:  # without PyTorch nothing is measured
    Begin = Leave = None


# -- stages.py: Sizes and times of the stages of a network.


def saved_set(module, x):
    """Runs a stage. Returns its output; the bytes of all storages that its backward needs,
    with the output and without the input; and whether its backward reads its input, and its
    output."""
    owned = {_key(t) for t in list(module.parameters()) + list(module.buffers())} if isinstance(module, nn.Module) else set()
    source, seen, held = _key(x), {}, []
    reads = set()

    def pack(t):
        reads.add(_key(t))
        if t.layout is torch.strided and t.device == x.device and _key(t) not in owned and _key(t) != source:
            seen[_key(t)] = _storage(t).nbytes()
            held.append(t)  # its key is unique while it is alive
        return t

    with torch.autograd.graph.saved_tensors_hooks(pack, lambda t: t):
        y = module(x)
    own = _key(y) in seen
    seen.setdefault(_key(y), _storage(y).nbytes())
    return y, max(sum(seen.values()), nbytes(y)), (source in reads, own)


def measure(name, module, x, wants, reps, model=None):
    """Returns one row of the profile, the output, and the smallest times. wants: the input
    needs a gradient. reps is 0 on the meta device; times are then those of the model, if
    there is one."""
    device = x.device
    fresh = lambda: x.detach().requires_grad_(wants)
    for p in module.parameters() if isinstance(module, nn.Module) else ():
        if p.requires_grad and p.grad is None:
            p.grad = torch.zeros_like(p)
    work = Work(model, module) if model and not reps else contextlib.nullcontext()
    with work:
        y, saved, reads = saved_set(module, fresh())
    row = {"name": name, "kind": kind(module), "forward_ns": 0, "backward_ns": 0, "output_bytes": nbytes(y), "saved_bytes": saved,
           "grad_bytes": nbytes(y) if y.requires_grad else 0, "forward_temp_bytes": 0, "backward_temp_bytes": 0, "reads": reads, "storage": _storage(y).nbytes()}
    if not reps:
        if model:
            row["forward_ns"] = math.ceil(work.forward * 1e9)
            row["backward_ns"] = math.ceil(work.backward * 1e9) if y.requires_grad else 0
        return row, y.detach(), (0, 0)
    forward, backward = [], []
    gradient = torch.ones_like(y) if y.requires_grad else None
    if gradient is not None:
        y.backward(gradient)  # the first backward creates the gradients
    for _ in range(reps):
        h = fresh()
        y, t = timed(lambda: module(h), device)
        forward.append(t)
        if gradient is not None:
            backward.append(timed(lambda: y.backward(gradient), device)[1])
    row["forward_ns"] = round(statistics.median(forward))
    row["backward_ns"] = round(statistics.median(backward)) if backward else 0
    del y
    gc.collect()
    h = fresh()
    y, peak = allocated(lambda: module(h), device)
    row["forward_temp_bytes"] = max(0, peak - saved)
    output = y.detach().clone()  # the next input; it must not hold memory that the backward frees
    if gradient is not None:
        root = Leave.apply(y, [gradient])
        del y
        _, peak = allocated(lambda: root.backward(root.detach()), device)
        row["backward_temp_bytes"] = max(0, peak - (nbytes(h) if wants else 0))
    return row, output, (min(forward), min(backward or [0]))


KINDS = (("conv", "Conv"), ("fc", "Linear"), ("pool", "Pool"), ("norm", "Norm"), ("embedding", "Embedding"), ("dropout", "Dropout"),
         ("view", "Flatten"), ("act", ("ReLU", "GELU", "SiLU", "Sigmoid", "Tanh", "Hardswish")))


def kind(module):
    """Returns the kind of a stage in a word; a stage of several products is a block."""
    if not isinstance(module, nn.Module):
        return "loss"
    leaves = [type(m).__name__ for m in module.modules() if not list(m.children())]
    products = [n for n in leaves if "Conv" in n or "Linear" in n]
    if len(products) > 1:
        return "block"
    for word, parts in KINDS:
        if any(p in n for n in leaves for p in ([parts] if isinstance(parts, str) else parts)):
            return word
    return ""


LOSSES = ("none", "cross_entropy", "mse", "mean")


def loss_stage(name, y):
    """Returns the loss as a stage: a function of the output."""
    if name == "cross_entropy":
        target = torch.zeros(y.shape[:-1], dtype=torch.int64, device=y.device)
        return lambda h: nn.functional.cross_entropy(h.reshape(-1, h.shape[-1]), target.reshape(-1))
    if name == "mse":
        target = torch.zeros_like(y)
        return lambda h: nn.functional.mse_loss(h, target)
    return lambda h: h.mean()


def settle(rows):
    """Determines which backward reads the output of each stage. If neither the stage's own
    backward nor the next one reads it, it does not count as saved. If only the next one reads
    it, it is freed before the stage's own backward, which the file cannot express: the
    temporary memory of that backward is reduced by its size. The output of the network counts
    as read by the next backward, because another loss may read it."""
    for row, after in zip(rows, rows[1:]):
        (_, own), next_reads = row["reads"], after["reads"][0]
        if own or row["output_bytes"] != row["storage"]:
            continue
        if next_reads or after is rows[-1]:
            row["backward_temp_bytes"] = max(0, row["backward_temp_bytes"] - row["output_bytes"])
        else:
            row["output_unsaved"] = True
            row["saved_bytes"] -= row["output_bytes"]


def keep_everything(p):
    """Returns the peak of a profile if everything is kept, as memtide counts it."""
    rows = p["stages"] + [p["loss"]]
    beside = [0] + [r["output_bytes"] if r.get("output_unsaved") else 0 for r in rows]
    held = p["input_bytes"] + rows[-1]["grad_bytes"]
    peak = held
    for k, r in enumerate(rows):
        peak = max(peak, held + r["saved_bytes"] + beside[k + 1] + r["forward_temp_bytes"])
        held += r["saved_bytes"] + beside[k + 1] - beside[k]
    before = [p["input_grad_bytes"]] + [r["grad_bytes"] for r in rows]
    for k in reversed(range(len(rows))):
        r = rows[k]
        peak = max(peak, held + before[k] + r["backward_temp_bytes"])
        held += before[k] - r["grad_bytes"] - r["saved_bytes"]
    return peak + sum(p["resident"].values())


def plain_peak(stages, x, loss="none"):
    """Returns the peak of PyTorch's allocator in an unmodified training step, without the
    memory before the step: input, weights, their gradients."""
    end = loss_stage(loss, forward_of(stages, x).detach()) if loss != "none" else Begin.apply

    def step():
        end(forward_of(stages, x)).backward()

    step()  # the first step creates the gradients
    gc.collect()
    return allocated(step, x.device)[1]


def forward_of(stages, x):
    for _, module in stages:
        x = module(x)
    return x


def stage_rows(stages, x, reps, loss="none", progress=lambda text: None, model=None):
    """Returns the rows of all stages and of the loss, the smallest times, and the joined
    stages."""
    rows, wants, least = [], False, [0, 0]
    stages = joined(stages, x.clone())
    last = None
    for i, (name, module) in enumerate(stages):
        progress("%d/%d %s" % (i + 1, len(stages), name))
        row, y, (f, b) = measure(name, module, x, wants and x.is_floating_point(), reps, model)
        rows.append(row)
        least = [least[0] + f, least[1] + b]
        wants = wants or any(p.requires_grad for p in module.parameters())
        x = last = y
    end = {"name": "loss", "kind": "loss", "forward_ns": 0, "backward_ns": 0, "output_bytes": 0, "saved_bytes": 0, "grad_bytes": 0,
           "forward_temp_bytes": 0, "backward_temp_bytes": 0, "reads": (True, True), "storage": 0}
    if loss != "none":
        end, _, (f, b) = measure("loss", loss_stage(loss, last), x, wants, reps, model)
        end["kind"], least = "loss", [least[0] + f, least[1] + b]
    rows.append(end)
    settle(rows)
    return rows, least, stages


OPTIMIZERS = {"none": 0, "sgd": 0, "momentum": 1, "adam": 2}


def resident(stages, optimizer):
    """Returns the memory that stays on the device, each tensor once."""
    once = lambda tensors: sum({_key(t): nbytes(t) for t in tensors}.values())
    parameters = [p for _, m in stages for p in m.parameters()]
    trained = once([p for p in parameters if p.requires_grad])
    return {"weights": once(parameters), "grads": trained, "optimizer": OPTIMIZERS[optimizer] * trained,
            "pinned": once([b for _, m in stages for b in m.buffers()])}


def bandwidth(device, size=256 << 20):
    """Returns the bytes per second to the device and to the host, through pinned memory."""
    here, there = torch.empty(size, dtype=torch.uint8, device=device), torch.empty(size, dtype=torch.uint8, pin_memory=True)
    rate = lambda fn: int(size / (min(timed(fn, device)[1] for _ in range(5)) / 1e9))
    return rate(lambda: here.copy_(there, non_blocking=True)), rate(lambda: there.copy_(here, non_blocking=True))


# -- link.py: A profile of stages as a file, and as a link whose fragment is the profile.


COLUMNS = ("forward", "backward", "output_bytes", "saved_bytes", "grad_bytes", "forward_temp_bytes", "backward_temp_bytes")


def text_of(p):
    """Returns the profile as JSON, one line per stage; times are exact to the nanosecond."""

    def stage(row):
        cells = ['"name":' + json.dumps(row["name"])] + (['"kind":' + json.dumps(row["kind"])] if row["kind"] else [])
        for word in COLUMNS[:2]:
            cells.append('"%s_s":%s' % (word, ("%d.%09d" % divmod(row[word + "_ns"], 10**9)).rstrip("0").rstrip(".")))
        cells += ['"%s":%d' % (word, row[word]) for word in COLUMNS[2:]]
        if row.get("output_unsaved"):
            cells.insert(-3, '"output_unsaved":true')
        return "{" + ",".join(cells) + "}"

    head = json.dumps({k: v for k, v in p.items() if k not in ("stages", "loss") and v is not None}, ensure_ascii=False)
    return head[:-1] + ',\n "stages":[\n  ' + ",\n  ".join(map(stage, p["stages"])) + '],\n "loss":' + stage(p["loss"]) + "}\n"


LONGEST_LINK = 32000  # longer addresses get lost; send the file instead


def number(n):
    """Returns an unsigned number in groups of seven bits, the lowest first."""
    out = bytearray()
    while n > 127:
        out.append(n & 127 | 128)
        n >>= 7
    out.append(n)
    return bytes(out)


def signed(n):
    return number(n << 1 if n >= 0 else (-n << 1) - 1)


def words(s):
    data = s.encode()
    return number(len(data)) + data


def deflate(data):
    c = zlib.compressobj(9, zlib.DEFLATED, -15)
    return c.compress(data) + c.flush()


def successor(s):
    """Returns the text with its last number incremented: h.9.attn, h.10.attn."""
    end = max([i for i, c in enumerate(s) if c in "0123456789"], default=-1) + 1
    start = end
    while start > 0 and s[start - 1] in "0123456789":
        start -= 1
    if start == end or int(s[start:end]) >= 1 << 32:
        return s
    return s[:start] + str(int(s[start:end]) + 1) + s[end:]


def names(list_):
    out, before = b"", ""
    for n in list_:
        out += number(1) if n == before else number(2) if n == successor(before) else number(0) + words(n)
        before = n
    return out


def column(earlier, values):
    """Returns a column, encoded as its difference from the best predictor: nothing, the row
    before, or an earlier column, once or twice. The minimum is subtracted and the common
    divisor divided out. The rest is encoded as numbers, or with as many bits for each number
    as the largest needs."""
    best = None
    for k in range(2 + 2 * len(earlier)):
        if k >= 2:
            guess = [v * (1 + k % 2) for v in earlier[(k - 2) // 2]]
        else:
            guess = [0] + values[:-1] if k else [0] * len(values)
        rest = [v - g for v, g in zip(values, guess)]
        low = min(rest)
        divisor = functools.reduce(math.gcd, (r - low for r in rest))
        rest = [(r - low) // max(divisor, 1) for r in rest]
        head = bytes([k]) + signed(low) + number(divisor)
        width = max(rest).bit_length()
        packed = sum(r << (i * width) for i, r in enumerate(rest)).to_bytes((width * len(rest) + 7) // 8, "little")
        plain = b"".join(map(number, rest)) if divisor else b""
        for b in (head + b"\0" + plain, head + bytes([width]) + packed):
            size = len(deflate(b))
            if best is None or size < best[0]:
                best = size, b
    return best[1]


def body(p):
    """Returns the bytes of a profile in a link, before compression, and their layout."""
    source, r, device, rows = p.get("source", {}), p.get("resident", {}), p.get("device"), p["stages"] + [p["loss"]]
    out = b"".join(words(s) for s in (p.get("name", ""), p.get("dtype", ""), "memtide", source.get("tool", ""), source.get("times", ""),
                                     source.get("sizes", ""), source.get("device", ""), source.get("url", "")))
    for texts in (source.get("notes", []), p.get("warnings", [])):
        out += number(len(texts)) + b"".join(map(words, texts))
    if device:
        out += number(1) + words(device.get("name", ""))
        for key in ("memory_bytes", "d2h_bytes_per_s", "h2d_bytes_per_s", "duplex"):
            out += number(int(device.get(key, 0)))
    else:
        out += number(0)
    for n in (p.get("batch", 0), p.get("input_bytes", 0), p.get("input_grad_bytes", 0), r.get("weights", 0), r.get("grads", 0),
              r.get("optimizer", 0), r.get("pinned", 0), 0, len(rows)):
        out += number(n)
    out += names([row["name"] for row in rows]) + names([row.get("kind", "") for row in rows])
    table = []
    for word in COLUMNS:
        table.append([row[word + "_ns" if word in COLUMNS[:2] else word] for row in rows])
        out += column(table[:-1], table[-1])
    unsaved = [int(row.get("output_unsaved", False)) for row in rows]
    if any(unsaved):
        return out + number(2) + column([], unsaved), b"m\x02"
    return out, b"m\x01"


def fragment(p):
    """Returns the fragment of the address that shows a profile, without the #."""
    plain, layout = body(p)
    codec, sent = "1.", deflate(plain)
    if len(sent) >= len(plain):
        codec, sent = "0.", plain
    check = struct.pack("<I", zlib.crc32(sent, zlib.crc32(codec.encode())))
    data = layout + number(4 + len(sent)) + check + sent
    return "v=1&d=" + codec + base64.urlsafe_b64encode(data).decode().rstrip("=")


def read(path):
    """Returns a profile that this program has written, with times in nanoseconds."""
    with open(path, encoding="utf-8") as f:
        p = json.load(f, parse_float=str)
    if p.get("format") != "memtide/1" or p.get("kind", "chain") != "chain":
        raise CollectError("%s is not a memtide/1 profile of a chain." % path)
    for row in p["stages"] + [p["loss"]]:
        for word in COLUMNS[:2]:
            whole, _, part = str(row.pop(word + "_s")).partition(".")
            row[word + "_ns"] = int(whole) * 10**9 + int((part + "0" * 9)[:9])
    return p


def tell_link(p, page):
    address = page + "#" + fragment(p)
    if len(address) > LONGEST_LINK:
        return "The profile is too long for a link (%d characters): open the page and drop the file on it." % len(address)
    return address


# -- chain.py: The command line that measures a network stage by stage.


def chain(argv):
    parser = argparse.ArgumentParser(description="Measure a PyTorch network stage by stage for memtide.", prog="collect.py",
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("network", nargs="?", help="a name of torchvision.models, or package.module:factory")
    parser.add_argument("--input", help="shape of the input with the batch first, such as 32x3x224x224 (images: that is the default)")
    parser.add_argument("--device", default="cpu", help="where to measure: cuda, cuda:1 or cpu (default cpu)")
    parser.add_argument("--meta", action="store_true", help="exact sizes from shapes alone, and times of a model")
    parser.add_argument("--times", default=DEFAULT_DEVICE, choices=tuple(DEVICES) + ("none",), metavar="DEVICE",
                        help="with --meta, the device that the model is of, or none (default %(default)s); known are " + ", ".join(DEVICES))
    parser.add_argument("--efficiency", type=float, help="with --meta, the share of the peak that convolutions and matrix products reach, in per cent")
    parser.add_argument("--reps", type=int, default=5, help="repetitions of each measurement; the median counts (default 5)")
    parser.add_argument("--dtype", default="float32", choices=("float32", "float16", "bfloat16"), help="of weights and images (default float32)")
    parser.add_argument("--cut", help="modules after which a stage ends, separated by commas; auto: wherever one tensor crosses")
    parser.add_argument("--flat", action="store_true", help="open nested nn.Sequential")
    parser.add_argument("--loss", default="none", choices=LOSSES, help="loss to measure as the last stage (default none: it costs nothing)")
    parser.add_argument("--optimizer", default="momentum", choices=tuple(OPTIMIZERS), help="for the memory of its state (default momentum)")
    parser.add_argument("--name", help="name of the profile")
    parser.add_argument("-o", "--output", help="file to write (default NAME.json)")
    parser.add_argument("--page", default="http://localhost:8080/", help="address of the page, for the link")
    parser.add_argument("--chain", action="store_true", help="stages: this command")
    parser.add_argument("--link", metavar="FILE", help="print the link of a file written before, and nothing else")
    args = parser.parse_args(argv)
    try:
        if args.link:
            print(tell_link(read(args.link), args.page))
            return 0
        if not args.network:
            parser.error("name a network, such as resnet50")
        if torch is None:
            raise CollectError("PyTorch is missing: install it (pip install torch torchvision, or apt-get install python3-torch python3-torchvision).")
        run(args)
    except CollectError as e:
        print("collect.py: %s" % e, file=sys.stderr)
        return 1
    return 0


def sample_of(args, sample, device, dtype):
    """Returns the input: the factory's sample, or random numbers of the shape of --input."""
    if sample is None or args.input:
        shape = args.input or ("32x3x299x299" if "inception" in args.network else "32x3x224x224")
        sample = torch.empty([int(n) for n in shape.split("x")], device="meta")
    if device.type == "meta":
        sample = torch.empty_like(sample, device="meta")
    elif sample.device.type == "meta":
        sample = torch.randn(sample.shape)
    return sample.to(device=device, dtype=dtype if sample.is_floating_point() else sample.dtype)


def run(args):
    start = time.time()
    device, dtype = torch.device("meta" if args.meta else args.device), getattr(torch, args.dtype)
    torch.manual_seed(0)
    stages, sample = network(args.network, args.flat, args.cut.split(",") if args.cut else None)
    for _, module in stages:
        module.to(device=device, dtype=dtype).train()
    x = sample_of(args, sample, device, dtype)
    show = (lambda text: print("\r\033[K" + text, end="", file=sys.stderr, flush=True)) if sys.stderr.isatty() else (lambda text: None)
    model = None
    if args.meta and args.times != "none" and TorchDispatchMode:
        if args.efficiency is not None and not 0 < args.efficiency <= 100:
            raise CollectError("--efficiency is %g; it is above 0 and at most 100, in per cent." % args.efficiency)
        model = Model(args.times, args.dtype != "float32", args.efficiency)
    rows, least, stages = stage_rows(stages, x, 0 if args.meta else args.reps, args.loss, show, model)
    p = profile(args, rows, least, stages, x, model)
    if not args.meta:
        show("a plain training step")
        p["source"]["notes"].append(tell_plain(p, stages, x, args.loss))
    show("")
    output = args.output or p["name"] + ".json"
    with open(output, "w", encoding="utf-8") as f:
        f.write(text_of(p))
    total = lambda key: sum(r[key] for r in rows)
    print("%s: %d stages, forward %.3f ms, backward %.3f ms, outputs %.1f MiB, saved %.1f MiB, weights %.1f MiB; took %.0f s" % (
        output, len(rows) - 1, total("forward_ns") / 1e6, total("backward_ns") / 1e6, total("output_bytes") / 2**20,
        total("saved_bytes") / 2**20, p["resident"]["weights"] / 2**20, time.time() - start))
    if not args.meta:
        print(p["source"]["notes"][-1])
    print(tell_link(p, args.page))


def tell_plain(p, stages, x, loss):
    """Returns how the prediction of keeping everything compares with a plain step."""
    predicted = keep_everything(p)
    try:
        plain = plain_peak(stages, x, loss) + p["input_bytes"] + sum(p["resident"].values())
    except RuntimeError as e:
        if "memory" not in str(e):
            raise
        return "Keeping everything is predicted to take %.1f MiB; a plain training step does not fit on this device." % (predicted / 2**20)
    return "Keeping everything is predicted to take %.1f MiB; a plain training step took %.1f MiB at its peak, so the prediction is off by %+.1f %%." % (
        predicted / 2**20, plain / 2**20, round(100 * (predicted - plain) / plain, 1) + 0)


def profile(args, rows, least, stages, x, model=None):
    """Returns the profile with the fields of its file; times are in nanoseconds."""
    device, link = x.device, None
    where = "CPU, threads: %d" % torch.get_num_threads() if device.type == "cpu" else ""
    notes = ["PyTorch %s, %s, batch of %s" % (torch.__version__, args.dtype, "x".join(map(str, x.shape)))]
    if device.type == "meta":
        where = model.where if model else ""
        notes.append("Sizes come from shapes alone; memory that only a kernel takes is missing.")
        notes.append(model.note if model else "There are no times: they are 0." if TorchDispatchMode else "There are no times: the model needs PyTorch 1.13 or later.")
    else:
        notes.append("Times are medians of %d; the sums of the smallest are %.3f ms forward and %.3f ms backward." % (args.reps, least[0] / 1e6, least[1] / 1e6))
    if device.type == "cpu":
        notes.append("Times of a CPU do not carry over to a GPU.")
    if device.type == "cuda":
        where, (h2d, d2h) = torch.cuda.get_device_name(device), bandwidth(device)
        link = {"name": where, "memory_bytes": torch.cuda.get_device_properties(device).total_memory, "h2d_bytes_per_s": h2d,
                "d2h_bytes_per_s": d2h, "duplex": False}
    base = args.network.replace(":", "-").split(".")[-1]
    name = args.name or "%s-b%d" % (base, x.shape[0]) + ("-%d" % x.shape[-1] if x.dim() == 4 else "")
    return {"format": "memtide/1", "kind": "chain", "name": name, "batch": x.shape[0],
            "dtype": {"float32": "f32", "float16": "f16", "bfloat16": "bf16"}[args.dtype],
            "source": {"tool": "collect.py", "times": "measured" if device.type != "meta" else model.origin if model else "",
                       "sizes": "exact" if device.type == "meta" else "measured", "device": where, "notes": notes},
            "device": link, "input_bytes": nbytes(x), "input_grad_bytes": 0, "resident": resident(stages, args.optimizer),
            "stages": rows[:-1], "loss": rows[-1]}


# -- cli.py: The command line that writes the operators of a step.


def step_of(args):
    """Returns the model and the arguments of its step for a command line: of
    package.module:factory, which returns a model, a model and arguments, or a dictionary, or
    of a model of torchvision."""
    if ":" not in args.network:
        import torchvision.models as models

        if not hasattr(models, args.network):
            raise CollectError("torchvision has no model %r; name one that it has, or your own as package.module:factory." % args.network)
        shape = [int(n) for n in (args.input or "32x3x224x224").split("x")]
        made = {"model": getattr(models, args.network)(), "args": (torch.randn(shape),), "loss": lambda out: out.float().mean()}
    else:
        sys.path.insert(0, os.getcwd())
        module, _, factory = args.network.partition(":")
        made = getattr(importlib.import_module(module), factory)()
        if not isinstance(made, dict):
            made = dict(zip(("model", "args", "kwargs"), made if isinstance(made, tuple) else (made,)))
    if torch.is_tensor(made.get("args")):
        made["args"] = (made["args"],)
    device = torch.device(args.device)
    model = made.pop("model").to(device)
    send = lambda tree: mapped(tree, lambda t: t.to(device))
    made.pop("optimizer", None)
    return model.train(), {k: send(v) if k in ("args", "kwargs") else v for k, v in made.items()}


def program():
    """Returns how this program was started, for usage and messages."""
    return "python -m memtide" if os.path.basename(sys.argv[0]) == "__main__.py" else "memtide_torch.py"


def operators(argv):
    """Runs the command that writes the operators of a step."""
    parser = argparse.ArgumentParser(description="Write the operators of a training step for memtide (with --chain: a network stage by stage).",
                                     prog=program(), formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("network", help="package.module:factory, or a name of torchvision.models")
    parser.add_argument("--input", help="of torchvision's models: shape of the input, such as 32x3x224x224")
    parser.add_argument("--device", default="cpu", help="the device that the model trains on (default cpu)")
    parser.add_argument("--real", action="store_true", help="run steps instead of shapes alone (before PyTorch 2.1: always)")
    parser.add_argument("--draws", type=int, default=1, metavar="N", help="of N draws of random numbers take the one whose step takes the most (default 1: the first)")
    parser.add_argument("--temps", choices=("measured", "none"), default="measured", help="what kernels take beside their results: measured by one real step, or left out")
    parser.add_argument("--times", default=DEFAULT_DEVICE, choices=tuple(DEVICES), metavar="DEVICE", help="the device whose model says how long operators take (default %(default)s)")
    parser.add_argument("--reps", type=int, default=0, help="measure the times of operators so often instead; the median counts")
    parser.add_argument("--units", help="patterns of the names of modules that a plan chooses from, separated by commas: h.*,lm_head")
    parser.add_argument("-o", "--output", help="file to write (default NAME.json)")
    parser.add_argument("--compare", metavar="PLAN", help="measure steps instead: plain, with the framework's checkpointing, and by this plan")
    args = parser.parse_args(argv)
    try:
        start = time.time()
        model, made = step_of(args)
        if args.compare:
            print(compare(model, args.compare, reps=args.reps or 3, **made))
            return 0
        with warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always")
            graph = collect(model, draws=args.draws, real=args.real or None, temps=args.temps == "measured", times=args.times, reps=args.reps,
                        units=args.units and args.units.split(","), **made)
        for w in said:
            print("%s: %s" % (program(), flagged(str(w.message))), file=sys.stderr)
        graph.data["name"] = args.network.split(":")[-1].split(".")[-1]
        output = args.output or graph.data["name"] + ".json"
        graph.save(output)
        peak, plain_bytes = graph.play().peak, graph.data["source"].get("plain_bytes", 0)
        print("%s: %d operators, %d units; took %.0f s" % (output, len(graph.data["ops"]), len(graph.units()), time.time() - start))
        print("Keeping everything takes %s" % size_text(peak) + ("; a plain step took %s at its peak, so the prediction is off by %+.1f %%." % (
            size_text(plain_bytes), round(100 * (peak / plain_bytes - 1), 1) + 0) if plain_bytes else "; no step was run."))
    except (CollectError, PlanError) as e:
        print("%s: %s" % (program(), flagged(str(e))), file=sys.stderr)
        return 1
    return 0


def estimate(argv):
    """Runs the command that estimates the memory of a step on a card, for a file, or for a
    network that it collects first."""
    at = next((i for i, a in enumerate(argv) if ":" in a and not a.startswith("-")), None)
    if at is None:
        return pass_on(["estimate", *argv])
    if torch is None:
        return missing()
    with tempfile.TemporaryDirectory() as folder:
        net = os.path.join(folder, "net.json")
        try:
            model, made = step_of(argparse.Namespace(network=argv[at], input=None, device="cpu"))
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                graph = collect(model, **made)
            graph.data["name"] = argv[at].split(":")[-1]
            graph.save(net)
            out, err = ask("estimate", *argv[:at], *argv[at + 1:], net)
        except (CollectError, PlanError) as e:
            print("%s: %s" % (program(), flagged(str(e))), file=sys.stderr)
            return 1
    print(out, end="")
    print(err, end="", file=sys.stderr)
    return 0


def missing():
    """Reports that PyTorch is missing, and returns the exit status."""
    print("%s: PyTorch is missing: install it (pip install torch, or apt-get install python3-torch)." % program(), file=sys.stderr)
    return 1


def flagged(text):
    """Returns a message with the command's flags in place of Python arguments."""
    return text.replace("memtide: ", "", 1).replace("real=True", "--real").replace("draws=8", "--draws 8")


def main(argv=None):
    """Runs a command of memtide: stages with --chain and with --link, otherwise the operators
    of a step. Returns the exit status."""
    argv = sys.argv[1:] if argv is None else list(argv)
    if argv and argv[0] in COMMANDS:
        return estimate(argv[1:]) if argv[0] == "estimate" else pass_on(argv)
    if "--chain" in argv or "--link" in argv:
        return chain(argv)
    return missing() if torch is None else operators(argv)


# -- __main__.py: The command line: python -m memtide.


if __name__ == "__main__":
    sys.exit(main())
