"""The generators of random numbers and the state of autocast, which a repeated run needs as
they were."""
import ctypes
import random
import sys

from .errors import CollectError
from .tensors import torch


def random_state():
    """Returns the states of all generators of random numbers that a step may use."""
    s = dict(other_random_state(), cpu=rng_bytes())
    if torch.cuda.is_available() and torch.cuda.is_initialized():
        s["cuda"] = torch.cuda.get_rng_state()
    return s


def other_random_state():
    """Returns the states of the generators other than PyTorch's."""
    return {"python": random.getstate(), **({"numpy": sys.modules["numpy"].random.get_state()} if "numpy" in sys.modules else {})}


def set_random_state(s):
    """Restores the states of all generators to those that random_state returned."""
    torch.set_rng_state(torch.frombuffer(bytearray(s["cpu"]), dtype=torch.uint8))
    random.setstate(s["python"])
    if "numpy" in s:
        sys.modules["numpy"].random.set_state(s["numpy"])
    if "cuda" in s:
        torch.cuda.set_rng_state(s["cuda"])


def seed_all(n):
    """Seeds all generators."""
    torch.manual_seed(n)
    random.seed(n)
    if "numpy" in sys.modules:
        sys.modules["numpy"].random.seed(n)


def rng_bytes():
    """Returns the state of PyTorch's generator, without using PyTorch's allocator."""
    t = torch.get_rng_state()
    return ctypes.string_at(t.data_ptr(), t.numel())


def casts():
    """Returns, for each kind of device, its name, whether autocast is on, and its type."""
    if hasattr(torch, "get_autocast_dtype"):
        return [(d, torch.is_autocast_enabled(d), torch.get_autocast_dtype(d)) for d in ("cpu", "cuda")]
    return [("cpu", torch.is_autocast_cpu_enabled(), torch.get_autocast_cpu_dtype()), ("cuda", torch.is_autocast_enabled(), torch.get_autocast_gpu_dtype())]


CASTS = ("bfloat16", "float16")


def cast_type(autocast):
    """Returns the type of autocast, which may be given by name, or None."""
    name = autocast if isinstance(autocast, str) else str(autocast or "")
    name = name[6:] if name.startswith("torch.") else name
    if name and name not in CASTS:
        raise CollectError("autocast is %r: %s or None is expected, as a type of PyTorch or as its name." % (name[:60], ", ".join(CASTS)))
    return getattr(torch, name) if name else None
