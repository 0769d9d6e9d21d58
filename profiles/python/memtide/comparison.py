"""Comparison of a plan with the framework's own checkpointing."""
import functools
import gc
import html
import random
import statistics

from .errors import size_text
from .tensors import torch
from .meter import allocated, timed
from .plans import load_plan
from .runtime import apply
from .steps import Step


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
