"""Running an unmodified model by a plan: apply, and the Runtime that it returns."""
import contextlib
import types
import warnings

from .errors import PlanError, shown, size_text
from .tensors import VERSION, _key, input_rows, nbytes, tensors, torch
from .randomness import casts, random_state, set_random_state
from .meter import free_memory
from .plans import load_plan, name_of, shapes_of, walk
from .modules import (
    Contents, Planned, WHOLE_COMPILE, modules_sha, noted, own_attribute, planned, stand_in, still,
    whole,
)
from .offload import Offloaded, unpack
from .frames import Frame, Level
from .operators import Names


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
