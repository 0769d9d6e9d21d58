"""Segments that run again. Hooks replace each tensor that autograd would keep by a Handle.
When the backward needs an empty handle, the module calls of its segment run again, and
the n-th tensor that this run would keep becomes the value of the n-th handle. The graph
of the second run is not used.
"""
import weakref

from .errors import PlanError
from .tensors import _key, mapped, objects, plain, tensors, torch
from .randomness import set_random_state
from .plans import name_of
from .modules import signature
from .offload import Offloaded, unpack


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
