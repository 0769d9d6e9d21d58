"""Sizes and times of the stages of a network."""
import contextlib
import gc
import math
import statistics

from .tensors import _key, _storage, nbytes, nn, torch
from .meter import allocated, timed
from .times import Work
from .networks import Begin, Leave, joined


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
