"""The operators of a step, from two traces of it. In the lean trace autograd keeps nothing,
so it shows when Python frees each tensor. The full trace shows when autograd keeps, reads
and releases tensors.
"""
import contextlib
import json
import os
import sys
import tempfile
import traceback
import warnings

from .errors import CollectError, OtherOperators, PlanError, ValuesNeeded
from .tensors import VERSION, input_rows, tensors, torch
from .randomness import random_state, seed_all, set_random_state
from .meter import allocated
from .modules import modules_sha
from .operators import NeedsValues, needs, short_name, watched
from .kernels import Kernels
from .times import DEFAULT_DEVICE, Model
from .tracing import ONE_DRAW
from .steps import Step
from .graph import Graph
from .progress import teller, telling


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
