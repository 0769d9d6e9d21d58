#!/usr/bin/env python3
"""Measures a PyTorch network stage by stage and writes a memtide/1 profile.

    python collect.py resnet50 --input 32x3x224x224 --device cuda
    python collect.py package.module:factory --device cpu --reps 5 -o net.json
    python collect.py densenet121 --input 32x3x224x224 --meta --times a100-sxm-40gb
    python collect.py --link net.json

The network is a name of torchvision.models, or package.module:factory, where
factory() returns a module, or a module and a sample of its input. The stages are
the children of an nn.Sequential (--flat opens nested ones); those of any other
module are found by tracing it: all places that exactly one tensor crosses, or
the modules named with --cut. A module that works in place, or that only looks at
its input in another way, joins the stage before it.

For each stage: the median of the times of forward and backward; the output; what
autograd keeps, each storage once, without parameters, buffers and the stage's
input, with the output, unless autograd keeps that for nobody; what forward and
backward take beside that. Measured profiles are held against the peak of a plain
training step. --meta gives
exact sizes from shapes in seconds, and times of a model of the device that --times
names. Times of a CPU do not carry over to a GPU. Needs PyTorch 1.10 or later, the
model 1.13 or later, nothing else; --link needs no PyTorch.
"""
import argparse
import base64
import contextlib
import functools
import gc
import importlib
import json
import math
import operator
import os
import statistics
import struct
import sys
import time
import zlib

try:
    import torch
    from torch import nn
except ImportError:
    torch = None
try:
    from torch.utils._python_dispatch import TorchDispatchMode
except ImportError:  # before PyTorch 1.13
    TorchDispatchMode = None


class CollectError(RuntimeError):
    """What keeps a network from being profiled, in a sentence."""


# -- networks and their stages


def network(name, flat=False, cuts=None):
    """The stages of a network as a list of (name, module), and a sample of its
    input, or None."""
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
    """The children of an nn.Sequential; flat opens those that are one."""
    stages = []
    for name, child in model.named_children():
        if flat and isinstance(child, nn.Sequential):
            stages += children(child, flat, prefix + name + ".")
        else:
            stages.append((prefix + name, child))
    return stages


def dense(model):
    """A DenseNet of torchvision as a chain: each layer passes its input on
    beside its output, as in arXiv:1911.13214, section 5.3."""

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
    """Splits any module that torch.fx can trace, after the modules that cuts
    names, or wherever one tensor alone crosses."""
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
    """The modules that a stage consists of, one after the other; None if it is
    more than that. They are better than their nodes: tracing makes += a sum."""
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
    """The nodes of a stage as a module."""
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
    """Whether a node works in place on what it reads, or only views it."""
    if node.op == "call_module":
        module = model.get_submodule(node.target)
        return bool(getattr(module, "inplace", False)) or isinstance(module, (nn.Flatten, nn.Identity))
    name = node.target if isinstance(node.target, str) else node.target.__name__
    return bool(node.kwargs.get("inplace")) or name.endswith("_") or name in VIEWS or node.target in (operator.iadd, operator.imul, operator.getitem)


def _name(part):
    """The module that all of a stage belongs to, or its nodes joined."""
    targets = [n.target.split(".") if n.op == "call_module" else None for n in part]
    known = [t for t in targets if t]
    if known and len(part) > 1:
        prefix = os.path.commonprefix(known)
        if prefix and prefix != known[0]:
            return ".".join(prefix)
    names = [".".join(t) if t else n.name for t, n in zip(targets, part)]
    return "+".join([names[0]] + [n.split(".")[-1] for n in names[1:]][:4])


def joined(stages, x):
    """Joins stages that destroy or only view their input with the one before.
    Returns the stages and the size of each output."""
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
        """Stages that had to become one."""

    class Leave(torch.autograd.Function):
        """Ends a stage's graph without holding its output, as a training step
        does: the gradient of the output comes from a list."""

        @staticmethod
        def forward(ctx, y, slot):
            ctx.slot = slot
            return y.new_zeros(())

        @staticmethod
        def backward(ctx, _):
            return ctx.slot[0], None


    class Begin(torch.autograd.Function):
        """Begins a backward with a gradient of ones that nobody else holds."""

        @staticmethod
        def forward(ctx, y):
            ctx.like = y.shape, y.dtype, y.device
            return y.new_zeros(())

        @staticmethod
        def backward(ctx, _):
            shape, dtype, device = ctx.like
            return torch.ones(shape, dtype=dtype, device=device)


# -- sizes and times of a stage


def _storage(t):
    return t.untyped_storage() if hasattr(t, "untyped_storage") else t.storage()


def _key(t):
    return _storage(t)._cdata


def nbytes(t):
    return t.numel() * t.element_size()


def saved_set(module, x):
    """Runs a stage and returns its output, the bytes of all storages that its
    backward needs, the output's included and the input's not, and whether its
    backward reads its input, and its output."""
    owned = {_key(t) for t in list(module.parameters()) + list(module.buffers())} if isinstance(module, nn.Module) else set()
    source, seen, held = _key(x), {}, []
    reads = set()

    def pack(t):
        reads.add(_key(t))
        if t.layout is torch.strided and t.device == x.device and _key(t) not in owned and _key(t) != source:
            seen[_key(t)] = _storage(t).nbytes()
            held.append(t)  # as long as it lives, its key is its own
        return t

    with torch.autograd.graph.saved_tensors_hooks(pack, lambda t: t):
        y = module(x)
    own = _key(y) in seen
    seen.setdefault(_key(y), _storage(y).nbytes())
    return y, max(sum(seen.values()), nbytes(y)), (source in reads, own)


def allocated(fn, device):
    """What fn returns, and the most that PyTorch's allocator held above the
    start while it ran, in bytes."""
    if device.type == "cuda":
        torch.cuda.synchronize(device)
        start = torch.cuda.memory_allocated(device)
        torch.cuda.reset_peak_memory_stats(device)
        result = fn()
        torch.cuda.synchronize(device)
        return result, torch.cuda.max_memory_allocated(device) - start
    from torch.profiler import ProfilerActivity, profile

    with profile(activities=[ProfilerActivity.CPU], profile_memory=True) as p:
        result = fn()
    now = peak = 0
    for event in p.profiler.kineto_results.events():
        if event.name() == "[memory]":
            now += event.nbytes()
            peak = max(peak, now)
    return result, peak


clock = time.perf_counter_ns


def timed(fn, device):
    """What fn returns, and its time in nanoseconds."""
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


def measure(name, module, x, wants, reps, model=None):
    """One row of the profile. wants: the input needs a gradient. reps is 0 on
    the meta device; times are then those of the model, if there is one."""
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
        y.backward(gradient)  # the first backward makes what later ones find
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
    output = y.detach().clone()  # the next input; it must not hold what the backward lets go
    if gradient is not None:
        root = Leave.apply(y, [gradient])
        del y
        _, peak = allocated(lambda: root.backward(root.detach()), device)
        row["backward_temp_bytes"] = max(0, peak - (nbytes(h) if wants else 0))
    return row, output, (min(forward), min(backward or [0]))


# -- times from shapes: the model of memtide's package analytic, in Python

DEFAULT_DEVICE = "v100-pcie-16gb"
DEVICES = {  # the peaks of arithmetic in 32 and 16 bits in TFLOP/s (0: as in 32 bits), the bandwidth of the memory in GB/s
    "gtx-970": (3.9, 0, 224), "gtx-1080-ti": (11.3, 0, 484), "p100-pcie-16gb": (9.3, 0, 732), "v100-pcie-16gb": (14.0, 112, 900),
    "v100-sxm2-32gb": (15.7, 125, 900), "v100-sxm2-16gb-nvlink2": (15.7, 125, 900), "a100-sxm-40gb": (19.5, 312, 1555),
    "a100-sxm-80gb": (19.5, 312, 2039), "h100-pcie-80gb": (51, 756, 2000), "h100-sxm-80gb": (67, 989, 3350),
    "h200-sxm-141gb": (67, 989, 4800), "gh200-96gb": (67, 989, 4000), "gh200-144gb": (67, 989, 4900),
}
LAUNCH = 5e-6  # seconds to start a kernel
# The share of the peak that convolutions reach on a V100 in 32 bits, and how much longer the arithmetic of the backward takes.
SHARES = {"first": (0.80, 1.7), "strided": (0.69, 2.8), "point": (0.63, 2.3), "wide": (1.70, 1.95), "mid": (0.84, 2.4),
          "narrow": (0.56, 2.5), "other": (1.10, 2.4), "grouped": (0.165, 3.5)}
# How often other operators travel over their output, in the forward and in the backward.
PASSES = {"norm": (3.3, 4), "activation": (2, 3), "add": (3, 1.5), "concat": (2, 2), "dropout": (2.25, 2.25), "copy": (2, 2)}


class Model:
    """How long operators take on a device, as (forward, backward) in seconds: as
    long as their arithmetic or their memory traffic, whichever is longer, and the
    start of each kernel. Fitted for a V100 in 32 bits, an estimate elsewhere."""

    def __init__(self, device, half, efficiency=None):
        plain, fast, bandwidth = DEVICES[device]
        v100 = device.startswith("v100-")
        self.fitted = v100 and not half and efficiency is None
        peak = fast if half and fast else plain
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
        """A convolution of so many multiply-adds between values of so many bytes,
        input and output together."""
        share, ratio = SHARES[kind] if self.fitted else (self.share, 1 if kind == "first" else 2)
        arithmetic, traffic = 2 * macs / (self.peak * share), size / self.traffic
        return max(arithmetic, traffic) + LAUNCH, max(ratio * arithmetic, 2 * traffic) + 2 * LAUNCH

    def product(self, macs, weights):
        """A matrix product that reads so many bytes of weights."""
        arithmetic, traffic = 2 * macs / self.linear, weights / self.traffic
        return max(arithmetic, traffic) + LAUNCH, max(2 * arithmetic, 3 * traffic) + 2 * LAUNCH

    def max_pool(self, into, out):
        return (into + 3 * out) / self.traffic + LAUNCH, (2 * into + 3 * out) / self.traffic + 2 * LAUNCH

    def mean_pool(self, into, out):
        return 2 * (into + out) / self.traffic + LAUNCH, 4 * (into + out) / self.traffic + 2 * LAUNCH

    def element(self, kind, out):
        """An operator that writes so many bytes, element by element."""
        forward, backward = PASSES[kind]
        return forward * out / self.traffic + LAUNCH, backward * out / self.traffic + 2 * LAUNCH


def classify(into, out, height, width, stride, groups):
    """The class of a convolution from so many channels to so many."""
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

if TorchDispatchMode:

    class Work(TorchDispatchMode):
        """While it is entered, adds up what the model says of every operator that
        runs below autograd."""

        def __init__(self, model, module):
            super().__init__()
            self.model, self.forward, self.backward = model, 0.0, 0.0
            self.owned = {_key(t) for t in module.parameters()} if isinstance(module, nn.Module) else set()
            self.masks = []  # of dropout, which some versions make of single operators

        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            out = func(*args, **(kwargs or {}))
            first = next((t for t in (out if isinstance(out, (tuple, list)) else [out]) if torch.is_tensor(t)), None)
            tensors = [t for a in args for t in (a if isinstance(a, (tuple, list)) else [a]) if torch.is_tensor(t)]
            if first is not None and tensors and first.is_floating_point():
                forward, backward = self.time(func.overloadpacket.__name__, args, tensors, first)
                self.forward, self.backward = self.forward + forward, self.backward + backward
            return out

        def time(self, name, args, tensors, out):
            """The time of an operator, (0, 0) if it computes nothing."""
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


KINDS = (("conv", "Conv"), ("fc", "Linear"), ("pool", "Pool"), ("norm", "Norm"), ("embedding", "Embedding"), ("dropout", "Dropout"),
         ("view", "Flatten"), ("act", ("ReLU", "GELU", "SiLU", "Sigmoid", "Tanh", "Hardswish")))


def kind(module):
    """What a stage computes, in a word; a stage of several products is a block."""
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
    """The loss as a stage: a function of the output."""
    if name == "cross_entropy":
        target = torch.zeros(y.shape[:-1], dtype=torch.int64, device=y.device)
        return lambda h: nn.functional.cross_entropy(h.reshape(-1, h.shape[-1]), target.reshape(-1))
    if name == "mse":
        target = torch.zeros_like(y)
        return lambda h: nn.functional.mse_loss(h, target)
    return lambda h: h.mean()


def settle(rows):
    """Says of every stage's output who keeps it. One that neither its own backward
    nor the next one's reads is kept for nobody: it does not count as saved. One that
    only the next one's reads is gone when its own begins, and the file counts it as
    there: the temporaries of that backward lie in its place. The output of the network
    is taken for one of those: another loss may read it."""
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
    """The peak of a profile if everything is kept, as memtide counts it."""
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
    """The most that PyTorch's allocator holds in a training step that nobody has
    changed, without what is there before: input, weights, their gradients."""
    end = loss_stage(loss, forward_of(stages, x).detach()) if loss != "none" else Begin.apply

    def step():
        end(forward_of(stages, x)).backward()

    step()  # the first one makes what later ones find
    gc.collect()
    return allocated(step, x.device)[1]


def forward_of(stages, x):
    for _, module in stages:
        x = module(x)
    return x


def collect(stages, x, reps, loss="none", progress=lambda text: None, model=None):
    """The rows of all stages and of the loss, the smallest times, and whether
    the stages have been joined."""
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
    """What stays on the device, each tensor once."""
    once = lambda tensors: sum({_key(t): nbytes(t) for t in tensors}.values())
    parameters = [p for _, m in stages for p in m.parameters()]
    trained = once([p for p in parameters if p.requires_grad])
    return {"weights": once(parameters), "grads": trained, "optimizer": OPTIMIZERS[optimizer] * trained,
            "pinned": once([b for _, m in stages for b in m.buffers()])}


def bandwidth(device, size=256 << 20):
    """Bytes per second to the device and to the host, through pinned memory."""
    here, there = torch.empty(size, dtype=torch.uint8, device=device), torch.empty(size, dtype=torch.uint8, pin_memory=True)
    rate = lambda fn: int(size / (min(timed(fn, device)[1] for _ in range(5)) / 1e9))
    return rate(lambda: here.copy_(there, non_blocking=True)), rate(lambda: there.copy_(here, non_blocking=True))


# -- the file


COLUMNS = ("forward", "backward", "output_bytes", "saved_bytes", "grad_bytes", "forward_temp_bytes", "backward_temp_bytes")


def text_of(p):
    """The profile as JSON, one line per stage; times are exact to the nanosecond."""

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


# -- the link: the profile itself as the fragment of the page's address

LONGEST_LINK = 32000  # addresses above it do not survive; the file travels better


def number(n):
    """An unsigned number in groups of seven bits, the lowest first."""
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
    """The text with its last number one higher: h.9.attn, h.10.attn."""
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
    """What remains of a column after its best predictor: nothing, the row before,
    or an earlier column, taken once or twice; its least value taken off and its
    divisor taken out; as numbers that may repeat, or in as many bits as the largest."""
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
    """The bytes of a profile in a link, before compression, and their layout."""
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
    """The fragment of the address that shows a profile, without the #."""
    plain, layout = body(p)
    codec, sent = "1.", deflate(plain)
    if len(sent) >= len(plain):
        codec, sent = "0.", plain
    check = struct.pack("<I", zlib.crc32(sent, zlib.crc32(codec.encode())))
    data = layout + number(4 + len(sent)) + check + sent
    return "v=1&d=" + codec + base64.urlsafe_b64encode(data).decode().rstrip("=")


def read(path):
    """A profile that this program has written, with times in nanoseconds."""
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


# -- the command line


def main(argv=None):
    parser = argparse.ArgumentParser(description="Measure a PyTorch network stage by stage for memtide.", epilog=__doc__.split("\n\n", 2)[2],
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
    """The input: that of the factory, or random numbers of the shape that was asked for."""
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
    rows, least, stages = collect(stages, x, 0 if args.meta else args.reps, args.loss, show, model)
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
    """How the prediction of keeping everything compares with a plain step."""
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
    """The profile as the file has it; times in nanoseconds."""
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


if __name__ == "__main__":
    sys.exit(main())
