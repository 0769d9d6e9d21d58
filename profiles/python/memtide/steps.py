"""A training step of a model, and running it on copies and tracing it."""
import contextlib
import copy
import types

from .errors import CollectError
from .tensors import mapped, nn, tensors, torch
from .randomness import cast_type, other_random_state
from .modules import OWN_CHECKPOINTS, planned
from .operators import OUTERMOST, watched
from .tracing import Trace


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
