"""Networks and their stages."""
import importlib
import operator
import os
import sys

from .errors import CollectError
from .tensors import _key, nn, torch


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
