"""PyTorch, if it is installed, and the tensors in arguments and results of modules."""
import collections
import hashlib
import types

try:
    import torch
    from torch import nn
    from torch.multiprocessing.reductions import StorageWeakRef
except ImportError:
    torch = nn = StorageWeakRef = None
try:
    from torch.utils._python_dispatch import TorchDispatchMode
except ImportError:  # before PyTorch 1.13
    TorchDispatchMode = None

VERSION = tuple(int(x) for x in torch.__version__.split("+")[0].replace("a0", "").split(".")[:2]) if torch else (0, 0)

DispatchMode = TorchDispatchMode or object


def tensors(x, out=None):
    """Returns all tensors in a tree of tuples, lists, dicts and objects with attributes (such
    as a ModelOutput), in order."""
    out = [] if out is None else out
    if isinstance(x, torch.Tensor):
        out.append(x)
    elif isinstance(x, (tuple, list)):
        for y in x:
            tensors(y, out)
    elif isinstance(x, dict):
        for y in x.values():
            tensors(y, out)
    elif hasattr(x, "__dict__") and not isinstance(x, (nn.Module, type, types.FunctionType)):
        for y in vars(x).values():
            tensors(y, out)
    return out


def mapped(x, change, what=None):
    """Returns the tree with change(leaf) in place of every leaf that is a tensor (or a
    `what`). Containers are new; other objects are kept."""
    if isinstance(x, what or torch.Tensor):
        return change(x)
    if isinstance(x, tuple):
        y = [mapped(e, change, what) for e in x]
        return tuple.__new__(type(x), y) if hasattr(x, "_fields") else tuple(y)  # the constructor of a PackedSequence checks its arguments
    if isinstance(x, list):
        return [mapped(e, change, what) for e in x]
    if type(x) is dict:
        return {k: mapped(v, change, what) for k, v in x.items()}
    return x


def objects(x, out=None):
    """Returns the leaves of a tree that can hold tensors and that `mapped` passes on, such as
    a cache."""
    out = [] if out is None else out
    if isinstance(x, (tuple, list)) or type(x) is dict:
        for y in x.values() if isinstance(x, dict) else x:
            objects(y, out)
    elif not isinstance(x, (torch.Tensor, nn.Module, type, types.FunctionType)) and (hasattr(x, "__dict__") or isinstance(x, (dict, set, collections.deque))):
        out.append(x)
    return out


def plain(t):
    """Whether keeping t costs autograd no memory: t is a parameter or a view of one."""
    return isinstance(t, nn.Parameter) or isinstance(getattr(t, "_base", None), nn.Parameter)


def _storage(t):
    return t.untyped_storage() if hasattr(t, "untyped_storage") else t.storage()


def _key(t):
    return _storage(t)._cdata


def nbytes(t):
    return t.numel() * t.element_size()


def input_rows(args, kwargs):
    """Returns the tensors in arguments as rows of name, shape and type."""
    named = [(str(i), a) for i, a in enumerate(args)] + sorted(kwargs.items())
    return [[n, list(t.shape), str(t.dtype)[6:]] for n, a in named for t in tensors(a)]


def sha_of(names):
    return hashlib.sha256("\n".join(names).encode()).hexdigest()[:16]
