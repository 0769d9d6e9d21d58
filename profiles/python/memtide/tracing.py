"""Traces of one step, operator by operator."""
import functools
import re
import weakref

from .errors import CollectError
from .progress import teller
from .tensors import DispatchMode, StorageWeakRef, _key, _storage, plain, tensors, torch
from .operators import frames_within, line_of, passed, reads_values, unseen, writes
from .times import roofline

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
