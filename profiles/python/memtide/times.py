"""Times from shapes: the model of memtide's package analytic, in Python."""
import math

from .tensors import DispatchMode, _key, nbytes, nn, tensors, torch
from .operators import writes

DEFAULT_DEVICE = "v100-pcie-16gb"

DEVICES = {  # peaks of arithmetic in 32 and 16 bits in TFLOP/s (0: the same as the other), memory bandwidth in GB/s
    "gtx-970": (3.9, 0, 224), "gtx-1080-ti": (11.3, 0, 484), "p100-pcie-16gb": (9.3, 0, 732),
    "v100-pcie-16gb": (14, 112, 900), "v100-sxm2-32gb": (15.7, 125, 900), "v100-sxm2-16gb-nvlink2": (15.7, 125, 900),
    "a100-sxm-40gb": (19.5, 312, 1555), "a100-sxm-80gb": (19.5, 312, 2039), "h100-pcie-80gb": (51, 756, 2000),
    "h100-sxm-80gb": (67, 989, 3350), "h200-sxm-141gb": (67, 989, 4800), "gh200-96gb": (67, 989, 4000),
    "gh200-144gb": (67, 989, 4900), "gh200-96gb-single": (67, 989, 4000), "gh200-96gb-quad": (67, 989, 4000),
    "gh200-144gb-single": (67, 989, 4900), "k40": (4.29, 0, 288), "t4": (8.1, 65, 320), "rtx-3060": (12.7, 25.5, 360),
    "rtx-3090": (35.6, 71, 936), "rtx-4060-ti-16gb": (22.1, 44.1, 288), "rtx-4070-ti-super": (44.1, 88.2, 672),
    "rtx-4080": (48.7, 97.5, 717), "rtx-4090": (82.6, 165.2, 1008), "rtx-5070-ti": (43.9, 87.9, 896),
    "rtx-5080": (56.3, 112.6, 960), "rtx-5090": (104.8, 209.5, 1792), "rtx-a4000": (19.2, 76.7, 448),
    "rtx-a6000": (38.7, 154.85, 768),
    "rtx-6000-ada": (91.1, 364, 960), "rtx-pro-6000": (126, 467.8, 1792), "a10": (31.2, 125, 600),
    "l4": (30.3, 121, 300), "l40s": (91.6, 362.05, 864), "a100-40gb": (19.5, 312, 1555), "a100-80gb": (19.5, 312, 2039),
    "a100-80gb-pcie": (19.5, 312, 1935), "h100": (67, 989, 3350), "h100-pcie": (51, 756.5, 2000),
    "h100-nvl": (60, 835, 3900), "h100-96gb": (67, 989, 3350), "h20": (44, 148, 4000), "h200": (67, 989, 4800),
    "b200": (75, 2250, 7672), "b300": (75, 2250, 7750), "gb200": (80, 2500, 8000), "gb300": (80, 2500, 8000),
    "mi300x": (163.4, 1307, 5300), "mi325x": (163.4, 1307, 6000), "mi355x": (157.3, 2500, 8000),
    "tpu-v5e": (0, 197, 819), "tpu-v5p": (0, 459, 2765), "tpu-v6e": (0, 918, 1638), "gaudi-3": (0, 1835, 3700),
}

LAUNCH = 5e-6  # seconds to start a kernel

# The share of the peak that convolutions reach on a V100 in 32 bits, and how much longer the arithmetic of the backward takes.
SHARES = {"first": (0.80, 1.7), "strided": (0.69, 2.8), "point": (0.63, 2.3), "wide": (1.70, 1.95), "mid": (0.84, 2.4),
          "narrow": (0.56, 2.5), "other": (1.10, 2.4), "grouped": (0.165, 3.5)}

# How often other operators read or write the size of their output, in the forward and in the backward.
PASSES = {"norm": (3.3, 4), "activation": (2, 3), "add": (3, 1.5), "concat": (2, 2), "dropout": (2.25, 2.25), "copy": (2, 2)}


class Model:
    """The times of operators on a device as (forward, backward) in seconds. An operator takes
    as long as its arithmetic or its memory traffic, whichever is longer, plus a launch per
    kernel. The model was fitted for a V100 in 32 bits, and is an estimate elsewhere."""

    def __init__(self, device, half, efficiency=None):
        plain, fast, bandwidth = DEVICES[device]
        v100 = device.startswith("v100-")
        self.fitted = v100 and not half and efficiency is None
        peak = fast if half and fast or not plain else plain
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
        """Returns the time of a convolution with macs multiply-adds; size is the bytes of its
        input and output."""
        share, ratio = SHARES[kind] if self.fitted else (self.share, 1 if kind == "first" else 2)
        arithmetic, traffic = 2 * macs / (self.peak * share), size / self.traffic
        return max(arithmetic, traffic) + LAUNCH, max(ratio * arithmetic, 2 * traffic) + 2 * LAUNCH

    def product(self, macs, weights):
        """Returns the time of a matrix product with macs multiply-adds that reads weights
        bytes of weights."""
        arithmetic, traffic = 2 * macs / self.linear, weights / self.traffic
        return max(arithmetic, traffic) + LAUNCH, max(2 * arithmetic, 3 * traffic) + 2 * LAUNCH

    def max_pool(self, into, out):
        return (into + 3 * out) / self.traffic + LAUNCH, (2 * into + 3 * out) / self.traffic + 2 * LAUNCH

    def mean_pool(self, into, out):
        return 2 * (into + out) / self.traffic + LAUNCH, 4 * (into + out) / self.traffic + 2 * LAUNCH

    def element(self, kind, out):
        """Returns the time of an element-wise operator that writes out bytes."""
        forward, backward = PASSES[kind]
        return forward * out / self.traffic + LAUNCH, backward * out / self.traffic + 2 * LAUNCH


def classify(into, out, height, width, stride, groups):
    """Returns the class of a convolution with into input channels and out output channels."""
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


class Work(DispatchMode):
    """Sums the model's times of all operators below autograd while it is entered."""

    def __init__(self, model, module):
        super().__init__()
        self.model, self.forward, self.backward = model, 0.0, 0.0
        self.owned = {_key(t) for t in module.parameters()} if isinstance(module, nn.Module) else set()
        self.masks = []  # masks of dropout, which some versions compute with single operators

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        out = func(*args, **(kwargs or {}))
        first = next((t for t in (out if isinstance(out, (tuple, list)) else [out]) if torch.is_tensor(t)), None)
        tensors = [t for a in args for t in (a if isinstance(a, (tuple, list)) else [a]) if torch.is_tensor(t)]
        if first is not None and tensors and first.is_floating_point():
            forward, backward = self.time(func.overloadpacket.__name__, args, tensors, first)
            self.forward, self.backward = self.forward + forward, self.backward + backward
        return out

    def time(self, name, args, tensors, out):
        """Returns the time of an operator, (0, 0) if it computes nothing."""
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


def roofline(model, func, args, kwargs, out):
    """Returns the time of an operator in ns, by its arithmetic or its traffic."""
    seen = tensors((args, kwargs))
    results = tensors(out)
    if all(any(_key(t) == _key(s) for s in seen) for t in results) and not writes(func, args):
        return 0  # a view
    name, flops = str(func).split(".")[1], 0
    if name in ("mm", "addmm", "bmm", "baddbmm"):
        flops = 2 * results[0].numel() * seen[-1].shape[-2]
    elif name == "convolution":
        flops = 2 * (seen[0] if args[6] else results[0]).numel() * seen[1][0].numel()
    elif name == "convolution_backward":
        flops = 2 * len(results[:2]) * (seen[1] if args[7] else seen[0]).numel() * seen[2][0].numel()
    elif "attention" in name and len(seen) > 1:
        flops = (10 if "backward" in name else 4) * seen[0].numel() * seen[1].shape[-2]
    return math.ceil(1e9 * (max(flops / model.linear, sum(map(nbytes, seen + results)) / model.traffic) + LAUNCH))
