#!/usr/bin/env python3
"""Runs one training step of a PyTorch nn.Sequential by a memtide schedule.

    from schedule import Executor            # the name of this file
    train = Executor(model, loss)            # model: nn.Sequential; loss(output, target)
    value = train.step(x, target)            # gradients are in .grad, as after backward()
    optimizer.step(); optimizer.zero_grad(set_to_none=False)

Before the first step it checks that the model is the one that the schedule was
made for, and that the device has the memory that it needs: otherwise it raises
ScheduleError, before anything is allocated. On a command line,

    python schedule.py package.module:factory --input 32x3x224x224 --device cuda

does one step with random data; factory() returns the nn.Sequential, or the
nn.Sequential and a sample of its input. Needs PyTorch 1.10 or later, nothing else.

Each stage has an autograd graph of its own. What the graph keeps is packed into
blocks that can move to the host (pinned memory and side streams on CUDA,
synchronous copies elsewhere), and the input of a stage is kept only by its
number. A stage that runs again starts from the random state and the buffers that
it had the first time, so dropout repeats itself, and the running statistics of
batch normalisation change once.

Pass the input as a list, train.step([x], target), if the schedule frees it
during the step: the list is emptied, so that nothing else holds it. Under
autocast, say cache_enabled=False: cached casts do not survive recomputation.
"""
import argparse
import copy
import importlib
import os
import sys
import time

import torch
from torch import nn

# -- schedule --
SCHEDULE = {}
STAGES = []
PROGRAM = ""
# -- end of schedule --

# The words of PROGRAM. Stage k reads a<k-1>. Values: a<k> is the output of stage
# k (a0 is the input), s<k> all that its backward keeps, a<k> included unless no
# backward reads it, and d<k> the gradient of a<k>. The stage after the last one is the loss.
#   F3   forward of stage 3 that keeps s3       B3   backward of stage 3
#   L3   forward of stage 3 that keeps only a3  -s3  s3 is not used on the device any more
#   >s3  start the copy of s3 to the host       <s3  start the copy of s3 to the device
#   =s3  go on when the copies of s3 have ended


class ScheduleError(RuntimeError):
    """The schedule does not fit the model or the device."""


def _storage(t):
    return t.untyped_storage() if hasattr(t, "untyped_storage") else t.storage()


def _key(t):
    """What identifies the storage of a tensor, also on the meta device."""
    return _storage(t)._cdata


def _mib(n):
    return "%.1f MiB" % (n / 2**20)


class _Enter(torch.autograd.Function):
    """Begins the graph of a stage: the gradient of the input goes into a slot."""

    @staticmethod
    def forward(ctx, token, x, slot):
        ctx.slot = slot
        ctx.set_materialize_grads(False)
        return x.view_as(x)

    @staticmethod
    def backward(ctx, grad):
        ctx.slot.append(grad)
        return None, None, None


class _Leave(torch.autograd.Function):
    """Ends the graph of a stage without holding its output: the gradient of the
    output comes from a slot."""

    @staticmethod
    def forward(ctx, y, slot):
        ctx.slot = slot
        ctx.set_materialize_grads(False)
        return y.new_zeros(())

    @staticmethod
    def backward(ctx, _):
        return ctx.slot.pop(), None


class _Block:
    """One storage: flat on the device, host its copy; either may be None."""

    __slots__ = ("flat", "host")

    def __init__(self, t):
        count = _storage(t).nbytes() // t.element_size()
        self.flat, self.host = t.detach().as_strided((count,), (1,), 0), None

    def nbytes(self):
        return self.flat.numel() * self.flat.element_size()


class _View:
    """A tensor within a block."""

    __slots__ = ("block", "dtype", "size", "stride", "offset")

    def __init__(self, block, t):
        self.block, self.dtype = block, t.dtype
        self.size, self.stride, self.offset = t.size(), t.stride(), t.storage_offset()

    def tensor(self):
        flat = self.block.flat
        if flat is None:
            raise ScheduleError("the schedule reads a value that is not on the device")
        if flat.dtype != self.dtype:
            flat = flat.view(self.dtype)
        return flat.as_strided(self.size, self.stride, self.offset)


class _OfInput:
    """A tensor within the input of stage k, wherever that input is by then."""

    __slots__ = ("executor", "k", "size", "stride", "offset")

    def __init__(self, executor, k, t, offset):
        self.executor, self.k = executor, k
        self.size, self.stride, self.offset = t.size(), t.stride(), t.storage_offset() - offset

    def tensor(self):
        x = self.executor._activation(self.k - 1)
        return x.as_strided(self.size, self.stride, x.storage_offset() + self.offset)


class _Value:
    """A value of the schedule: its blocks, and the graph if it is a saved set."""

    def __init__(self, blocks, view, root=None, out=None, into=None):
        self.blocks, self.view = blocks, view
        self.root, self.out, self.into = root, out, into  # the graph's end and its two slots
        self.copied = False  # the host has a copy, or one is under way
        self.event = None  # of the copy that is under way, on CUDA
        self.arriving = False  # it is a copy to the device
        self.leaving = False  # not used any more, but its copy is under way

    def clear(self):
        self.leaving = False
        for block in self.blocks:
            block.flat = None


def _value_of(t):
    if t is None:
        return _Value([], None)
    block = _Block(t)
    return _Value([block], _View(block, t))


class Executor:
    """Training steps of stages by the schedule of this file.

    stages: an nn.Sequential, or a list of modules. Joined stages such as
    "conv+relu" may be given as the modules that were joined. loss: a function of
    (output, target), or of the output if no target is given; None if the last
    stage computes the loss. limit: bytes of device memory that may be used; by
    default all that is free."""

    def __init__(self, stages, loss=None, limit=None):
        self.program = PROGRAM.split()
        self.stages = _grouped(list(stages))
        self.loss, self.limit = loss, limit
        self.checked, self.compared = False, set()  # compared: the stages whose saved sets were
        self.changing = {}  # the buffers of a stage that its forward changes
        self.times, self.last = {}, set()
        for i, word in enumerate(self.program):
            if word[0] in "FL":
                self.times[int(word[1:])] = self.times.get(int(word[1:]), 0) + 1
            if word[0] == "B" and _dropped_next(self.program[i + 1:], "s" + word[1:]):
                self.last.add(i)
        wants, self.wants = False, [None]
        for stage in self.stages:  # whether the input of stage k needs a gradient
            self.wants.append(wants)
            wants = wants or any(p.requires_grad for p in stage.parameters())
        self.wants.append(wants)
        self.hosts = {}

    # -- what has to hold before the first step

    def check(self, x):
        """Raises ScheduleError if the schedule was made for something else, or if
        the device has not the memory. Allocates nothing on the device."""
        if SCHEDULE["input_bytes"] != x.numel() * x.element_size():
            raise ScheduleError("The schedule is for an input of %d bytes and the input has %d (%s): use the batch size %s, or profile again."
                                % (SCHEDULE["input_bytes"], x.numel() * x.element_size(), tuple(x.shape), SCHEDULE["batch"] or "of the profile"))
        self._check_sizes(x)
        if x.device.type == "meta":
            return
        need, have = SCHEDULE["peak_bytes"], _available(x.device)
        if self.limit is not None:
            have = self.limit if have is None else min(have, self.limit)
        if have is not None and need > have:
            raise ScheduleError("The schedule needs %s and %s has %s: solve again with a budget of at most %s."
                                % (_mib(need), x.device, _mib(have), _mib(have)))
        self.checked = True

    def _check_sizes(self, x):
        with torch.no_grad():
            try:
                h = torch.empty_like(x, device="meta")
                for k, stage in enumerate(self.stages, 1):
                    h = _on_meta(stage)(h)
                    self._check_output(k, h)
            except ScheduleError:
                raise
            except Exception:  # an operator without shapes: the first step checks
                return

    def _check_output(self, k, y):
        name, size = STAGES[k - 1][:2]
        if not torch.is_tensor(y):
            raise ScheduleError("Stage %d (%s) returns a %s; a stage returns one tensor." % (k, name, type(y).__name__))
        if y.numel() * y.element_size() != size:
            raise ScheduleError("The schedule is stale: stage %d (%s) puts out %d bytes %s, and the schedule was made for %d. Profile the model and solve again."
                                % (k, name, y.numel() * y.element_size(), tuple(y.shape), size))

    def _check_saved(self, k, value):
        name, _, saved = STAGES[k - 1][:3]
        found = sum(b.nbytes() for b in value.blocks)
        if found > saved + saved // 50 + 2**20:
            raise ScheduleError("The schedule is stale: stage %d (%s) keeps %d bytes for its backward, and the schedule was made for %d. Profile the model on this device and solve again."
                                % (k, name, found, saved))

    # -- one step

    def step(self, x, target=None):
        """Does forward and backward; returns the loss. x may be a list of one
        tensor, which is emptied."""
        held = x if isinstance(x, list) else [x]
        if not self.checked:
            self.check(held[0])
        x = held.pop().detach()
        if ">a0" in self.program and _storage(x).nbytes() != x.numel() * x.element_size():
            x = x.clone()  # a part of something larger cannot leave by itself
        self.device = x.device
        self.cuda = self.device.type == "cuda"
        self.token = torch.zeros((), device=self.device, requires_grad=True)
        self.owned = {_key(t) for s in self.stages for t in list(s.parameters()) + list(s.buffers())}
        self.values, self.before, self.target, self.result = {"a0": _value_of(x)}, {}, target, None
        del x
        if self.cuda:
            self.out = torch.cuda.Stream(self.device)
            self.back = self.out if SCHEDULE["duplex"] == "half" else torch.cuda.Stream(self.device)
        act = {"F": self._keep, "L": self._lean, "B": self._backward, "-": self._drop, ">": self._offload, "<": self._fetch, "=": self._settle}
        for at, word in enumerate(self.program):
            self.at = at
            argument = word[1:]
            act[word[0]](int(argument) if word[0] in "FLB" else argument)
        self.values, self.before, self.target = {}, {}, None
        return self.result

    def _activation(self, k):
        """The tensor a<k>, from its own copy or from the saved set that contains it."""
        for name in ("a%d" % k, "s%d" % k):
            v = self.values.get(name)
            if v is not None and v.view is not None and v.view.block.flat is not None:
                self._ready(v)
                return v.view.tensor()
        raise ScheduleError("the schedule reads a%d, which is not on the device" % k)

    def _wait(self, v):
        """What is computed from here on comes after the copy of v that is under way."""
        if v.event is not None:
            torch.cuda.current_stream(self.device).wait_event(v.event)
            v.event, v.arriving = None, False

    def _ready(self, v):
        """A value that is on its way to the host can be read; one that arrives cannot."""
        if v.arriving:
            self._wait(v)

    def _module(self, k):
        if k <= len(self.stages):
            return self.stages[k - 1]
        if self.loss is None:
            return lambda y: y
        return self.loss if self.target is None else (lambda y: self.loss(y, self.target))

    def _run(self, k, x):
        """Runs stage k; again as it ran the first time."""
        if self.times[k] == 1:
            return self._checked_output(k, self._module(k)(x))
        buffers = dict(self.stages[k - 1].named_buffers()) if k <= len(self.stages) else {}
        if k not in self.before:
            names = self.changing.get(k, buffers)
            copies = {name: buffers[name].detach().clone() for name in names}
            self.before[k] = (torch.get_rng_state(), torch.cuda.get_rng_state(self.device) if self.cuda else None, copies)
            y = self._checked_output(k, self._module(k)(x))
            if k not in self.changing:
                self.changing[k] = [name for name in names if not torch.equal(copies[name], buffers[name])]
                for name in set(copies) - set(self.changing[k]):
                    del copies[name]
            return y
        cpu, gpu, copies = self.before[k]
        now = torch.get_rng_state(), torch.cuda.get_rng_state(self.device) if self.cuda else None
        with torch.no_grad():
            for name, then in copies.items():
                buffers[name].copy_(then)
        try:
            _set_rng(cpu, gpu, self.device)
            return self._module(k)(x)
        finally:
            _set_rng(now[0], now[1], self.device)

    def _checked_output(self, k, y):
        if k <= len(self.stages):
            self._check_output(k, y)
        elif self.result is None:
            self.result = y.detach()
        return y

    def _lean(self, k):
        with torch.no_grad():
            self.values["a%d" % k] = _value_of(self._run(k, self._activation(k - 1)))

    def _keep(self, k):
        x = self._activation(k - 1)
        blocks, out, into = {}, [], []
        source, dtype, offset = _key(x), x.dtype, x.storage_offset()

        def block(t):
            if _key(t) not in blocks:
                blocks[_key(t)] = _Block(t)
            return blocks[_key(t)]

        def pack(t):  # the graph keeps it: it must not refer to x or to blocks
            if t.layout is not torch.strided or t.device != self.device or t.numel() == 0 or _key(t) in self.owned:
                return t
            if _key(t) == source and t.dtype == dtype:
                return _OfInput(self, k, t, offset)
            return _View(block(t), t)

        with torch.enable_grad(), torch.autograd.graph.saved_tensors_hooks(pack, _unpack):
            differentiable = self.wants[k] and x.is_floating_point()
            y = self._run(k, _Enter.apply(self.token, x, into) if differentiable else x)
        root = _Leave.apply(y, out) if y.requires_grad else None
        unsaved = k <= len(self.stages) and STAGES[k - 1][3:] == (True,)  # y is a value of its own
        view = None if unsaved else _View(block(y), y)
        value = _Value(list(blocks.values()), view, root, out, into)
        blocks.clear()
        if k <= len(self.stages) and k not in self.compared:
            self.compared.add(k)
            self._check_saved(k, value)
        self.values["s%d" % k] = value
        self.values.pop("a%d" % k, None)
        if unsaved:
            self.values["a%d" % k] = _value_of(y)

    def _backward(self, k):
        v = self.values["s%d" % k]
        self._ready(v)
        if v.root is not None:
            v.out.append(self._gradient(k, v))
            root, v.root = v.root, None
            if self.at in self.last:
                v.blocks, v.view = [], None  # the graph alone holds them, and lets go one by one
            torch.autograd.backward(root, root.detach())
        self.values["d%d" % (k - 1)] = _value_of(v.into.pop() if v.into else None)

    def _gradient(self, k, v):
        """The gradient of a<k>; of the last value it is born here."""
        d = self.values.get("d%d" % k)
        if d is not None:
            self._ready(d)
            return d.view.tensor()
        if k > len(self.stages):
            return torch.ones(v.view.size, dtype=v.view.dtype, device=self.device)
        y = self._activation(k).requires_grad_()
        with torch.enable_grad():
            loss = self._module(k + 1)(y)
            self.result = loss.detach()
            return torch.autograd.grad(loss, y)[0]

    # -- memory

    def _drop(self, name):
        v = self.values.get(name)
        if v is None:
            return  # the gradient of the loss is made where it is used
        self._ready(v)
        if not v.copied:
            del self.values[name]
        elif v.event is not None:
            v.leaving = True
        else:
            v.clear()

    def _settle(self, name):
        v = self.values.get(name)
        if v is not None:
            self._wait(v)
            if v.leaving:
                v.clear()

    def _offload(self, name):
        v = self.values[name]
        self._ready(v)
        v.copied = True
        for i, block in enumerate(v.blocks):
            block.host = self._host(name, i, block.flat)
            if not self.cuda:
                block.host.copy_(block.flat)
        if self.cuda:
            self.out.wait_stream(torch.cuda.current_stream(self.device))
            with torch.cuda.stream(self.out):
                for block in v.blocks:
                    block.host.copy_(block.flat, non_blocking=True)
                v.event = self.out.record_event()

    def _fetch(self, name):
        v = self.values[name]
        for block in v.blocks:
            block.flat = torch.empty_like(block.host, device=self.device)
            if not self.cuda:
                block.flat.copy_(block.host)
        if self.cuda:
            # The room may have belonged to what has been computed until now; the copy
            # to the host has ended, or there would be no room.
            self.back.wait_stream(torch.cuda.current_stream(self.device))
            with torch.cuda.stream(self.back):
                for block in v.blocks:
                    block.flat.copy_(block.host, non_blocking=True)
                v.event, v.arriving = self.back.record_event(), True

    def _host(self, name, i, flat):
        """A host buffer like flat; the same in every step."""
        old = self.hosts.get((name, i))
        if old is None or old.numel() != flat.numel() or old.dtype != flat.dtype:
            if self.cuda:
                old = torch.empty(flat.numel(), dtype=flat.dtype, pin_memory=True)
            else:  # beside PyTorch's allocator, so that its figures are those of the device
                old = torch.frombuffer(bytearray(flat.numel() * flat.element_size()), dtype=flat.dtype)
            self.hosts[name, i] = old
        return old


def _unpack(handle):
    return handle if torch.is_tensor(handle) else handle.tensor()


def _dropped_next(words, name):
    """Whether a value is dropped before anything else happens to it."""
    for word in words:
        if word[0] in "FLB":
            return False
        if word[1:] == name:
            return word[0] == "-"
    return True


def _set_rng(cpu, gpu, device):
    torch.set_rng_state(cpu)
    if gpu is not None:
        torch.cuda.set_rng_state(gpu, device)


def _on_meta(module):
    """A copy of a module without memory."""
    memo = {}
    for p in module.parameters():
        memo[id(p)] = nn.Parameter(torch.empty_like(p, device="meta"), p.requires_grad)
    for b in module.buffers():
        memo[id(b)] = torch.empty_like(b, device="meta")
    return copy.deepcopy(module, memo)


def _grouped(modules):
    """The modules as the stages of the schedule; joined ones become one."""
    names = [stage[0] for stage in STAGES]
    if len(modules) == len(names):
        return modules
    parts = [name.count("+") + 1 for name in names]
    if sum(parts) != len(modules):
        raise ScheduleError("The schedule is for %d stages (%s to %s) and the model has %d: profile the model and solve again."
                            % (len(names), names[0], names[-1], len(modules)))
    stages, at = [], 0
    for n in parts:
        stages.append(modules[at] if n == 1 else nn.Sequential(*modules[at:at + n]))
        at += n
    return stages


def _available(device):
    """Bytes that this process can use on the device; None if that cannot be told."""
    if device.type == "cuda":
        if not hasattr(torch.cuda, "mem_get_info"):
            return torch.cuda.get_device_properties(device).total_memory
        return torch.cuda.mem_get_info(device)[0] + torch.cuda.memory_reserved(device)
    if device.type == "cpu" and os.path.exists("/proc/meminfo"):
        with open("/proc/meminfo") as f:
            for line in f:
                if line.startswith("MemAvailable:"):
                    return int(line.split()[1]) * 1024
    return None


def main(argv=None):
    """One step or more of a model on the command line."""
    parser = argparse.ArgumentParser(description="Run a training step by this memtide schedule.")
    parser.add_argument("network", nargs="?", help="package.module:factory; without it, what the schedule is for is printed")
    parser.add_argument("--input", help="shape of the input, such as 32x3x224x224, if the factory gives none")
    parser.add_argument("--device", default="cuda" if torch.cuda.is_available() else "cpu")
    parser.add_argument("--steps", type=int, default=1)
    args = parser.parse_args(argv)
    print("%s by %s: %d stages, peak %s, step time %.3f ms" % (SCHEDULE["name"], SCHEDULE["strategy"] or "a schedule",
          len(STAGES), _mib(SCHEDULE["peak_bytes"]), SCHEDULE["step_time_ns"] / 1e6))
    if not args.network:
        return 0
    try:
        _try(args)
    except ScheduleError as e:
        print(e, file=sys.stderr)
        return 1
    return 0


def _try(args):
    module, _, factory = args.network.partition(":")
    sys.path.insert(0, os.getcwd())
    model = getattr(importlib.import_module(module), factory or "model")()
    model, sample = model[:2] if isinstance(model, tuple) else (model, None)
    if sample is None:
        if not args.input:
            raise ScheduleError("The factory returns no sample: say its shape with --input, such as --input 32x3x224x224.")
        sample = torch.empty([int(n) for n in args.input.split("x")], device="meta")
    train = Executor(model, lambda y: y.float().pow(2).mean())
    train.check(torch.empty_like(sample, device="meta"))
    device = torch.device(args.device)
    if device.type == "cuda":
        device = torch.device("cuda", device.index or 0)
    need, have = SCHEDULE["peak_bytes"], _available(device)
    if have is not None and need > have:
        raise ScheduleError("The schedule needs %s and %s has %s: solve again with a smaller budget." % (_mib(need), device, _mib(have)))
    model.to(device).train()
    x = torch.randn(sample.shape, device=device) if sample.device.type == "meta" else sample.to(device)
    for _ in range(args.steps):
        start = time.perf_counter()
        value = float(train.step([x.clone()]))
        print("loss %.6g, %.3f ms" % (value, 1e3 * (time.perf_counter() - start)))
    if device.type == "cuda":
        print("peak %s" % _mib(torch.cuda.max_memory_allocated(device)))


if __name__ == "__main__":
    sys.exit(main())
