"""Substitutes for products and convolutions, and the temporary memory of kernels."""
import statistics

from .errors import CollectError
from .tensors import DispatchMode, _storage, mapped, nn, tensors, torch
from .meter import allocated_both, timed
from .operators import (
    NeedsValues, frames_within, needs, passed, reads_values, short_name, signature_of, unseen,
    writes,
)


class Kernels:
    """Substitutes for products and convolutions, for versions of PyTorch without fake
    tensors. Each product or convolution runs once for its shapes, strides and types.
    Afterwards its results are zeros of the same layout, with the temporary memory of the
    kernel. `looked` is set if the model has looked at values, so that the collected step may
    be wrong."""

    HEAVY = {"aten.%s.default" % n for n in ("mm", "addmm", "bmm", "baddbmm", "convolution", "convolution_backward")}

    def __init__(self):
        self.known, self.looked = {}, False

    def look(self, name):
        self.looked = needs(name, frames_within())
        raise NeedsValues

    def run(self, func, args, kwargs, within=False):
        """Returns the result of an operator. within: the allocator is watched, so the
        temporary memory of the kernel is allocated, too."""
        if func.namespace != "aten" or reads_values(func, args):
            self.look(short_name(func))
        seen = tensors((args, kwargs))
        if str(func) not in self.HEAVY or not all(type(t) in (torch.Tensor, nn.Parameter) and t.layout is torch.strided and t.device.type == "cpu" for t in seen):
            return func(*args, **kwargs)
        key = signature_of(func, args, kwargs)
        if key not in self.known:
            if within:
                raise CollectError("A plain step does other operators than the one that was measured.")
            out, peak, left = allocated_both(lambda: func(*short(func, args), **kwargs), torch.device("cpu"))
            whole = all(_storage(t).nbytes() == t.numel() * t.element_size() for t in tensors(out))
            self.known[key] = (mapped(out, Layout) if whole else None, max(0, peak - max(0, left)))
            return out
        layouts, temp = self.known[key]
        if layouts is None:
            return func(*args, **kwargs)
        out = mapped(layouts, Layout.zeros, Layout)
        if within and temp:
            torch.empty(temp, dtype=torch.uint8)
        return out


def short(func, args):
    """Returns the operands of a product with an inner dimension of 1, if the size of the
    result and the temporary memory of the kernel stay the same: BLAS then reads both operands
    without a copy."""
    if str(func) not in ("aten.mm.default", "aten.addmm.default"):
        return args
    a, b = args[-2:]
    lies = lambda t: t.dtype in (torch.float32, torch.float64) and min(t.shape) > 1 and any(t.stride(i) == 1 and t.stride(1 - i) >= t.shape[i] for i in (0, 1))
    return args[:-2] + (a[:, :1], b[:1]) if lies(a) and lies(b) else args


class Layout:
    """The layout of a contiguous or permuted tensor on the CPU."""

    def __init__(self, t):
        self.size, self.stride, self.dtype = t.size(), t.stride(), t.dtype

    def zeros(self):
        return torch.empty_strided(self.size, self.stride, dtype=self.dtype).zero_()


class Stood(DispatchMode):
    """Substitutes operators by kernels, with their effect on the allocator, while it is
    entered."""

    def __init__(self, kernels):
        super().__init__()
        self.kernels = kernels

    def __torch_dispatch__(self, func, kinds, args=(), kwargs=None):
        if unseen(func):
            return passed(func, args, kwargs or {})
        return self.kernels.run(func, args, kwargs or {}, within=True)


class Temps(DispatchMode):
    """Measures the temporary memory and the time of kernels, once for each operator with its
    shapes."""

    def __init__(self, reps=0, kernels=None):
        super().__init__()
        self.temps, self.times, self.names, self.reps, self.known, self.kernels = [], [], [], reps, {}, kernels

    def __torch_dispatch__(self, func, kinds, args=(), kwargs=None):
        kwargs = kwargs or {}
        if unseen(func):
            return passed(func, args, kwargs)
        key = signature_of(func, args, kwargs)
        if self.kernels and key in self.kernels.known:
            out, self.known[key] = self.kernels.run(func, args, kwargs), (self.kernels.known[key][1], None)
        elif key in self.known:
            out = func(*args, **kwargs)
        else:
            out, self.known[key] = self.measured(func, args, kwargs)
        temp, ns = self.known[key]
        self.names.append(str(func))
        self.temps.append(temp)
        self.times.append(ns)
        return out

    def measured(self, func, args, kwargs):
        device = next((t.device for t in tensors((args, kwargs))), torch.device("cpu"))
        out, peak, left = allocated_both(lambda: func(*args, **kwargs), device)
        best, name = None, str(func)
        if self.reps and not writes(func, args) and not any(word in name for word in ("rand", "bernoulli", "dropout")):
            best = statistics.median_low([timed(lambda: func(*args, **kwargs), device)[1] for _ in range(self.reps)])
        return out, (max(0, peak - max(0, left)), best)
