"""The state of modules while they run, and what a plan stores in them."""
import collections
import contextlib
import copy
import inspect
import types

from .errors import PlanError
from .tensors import mapped, nn, sha_of, tensors, torch


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
