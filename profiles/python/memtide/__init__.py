"""The part of memtide that needs PyTorch: it collects the operators of a training
step of any module, and runs the unmodified module by a plan.

    python -m memtide my.module:factory -o net.json
    memtide torch -class nested -budget 10GiB -o plan.json operators.json

    import memtide as mt
    handle = mt.apply(model, "plan.json")      # from now on the model trains by the plan
    handle.remove()                            # until now

factory() returns model, or model, args, or model, args, kwargs, or a dictionary of
model, args, kwargs, loss, autocast. Without memtide:

    graph = mt.collect(model, (ids,), {"labels": labels})     # or loss=lambda out: ...
    plan = mt.every_nth(graph, 2)              # or every, or segments(graph, ["h.0", "h.1"])
    print(graph.play(plan).peak)               # before anything runs

To compare a plan with the framework's own checkpointing:
    python -m memtide my.module:factory --compare plan.json --device cuda

It needs only PyTorch, 1.13 or later; 2.4 for plans that keep single operators, and 2.1
to collect without computing. It was run on CPUs and on one GPU, an H200; FSDP is
untested.

With --chain (or as collect.py) it measures a network stage by stage:
    python collect.py resnet50 --input 32x3x224x224 --device cuda
    python collect.py package.module:factory --device cpu --reps 5 -o net.json
    python collect.py densenet121 --input 32x3x224x224 --meta --times a100-sxm-40gb
    python collect.py --link net.json

The network is a name of torchvision.models, or package.module:factory, where
factory() returns a module, or a module and a sample of its input. The stages of an
nn.Sequential are its children (--flat opens nested ones). Any other module is traced,
and a stage ends wherever exactly one tensor crosses, or after the modules named with
--cut. A module that works in place, or that only views its input, joins the stage
before it.

Each stage gets the median times of forward and backward; the size of its output; the
memory that autograd keeps, each storage once, without parameters, buffers and the
stage's input, with the output, unless no backward reads it; and the temporary memory
of forward and backward. Measured profiles are compared with the peak of a plain
training step. --meta derives exact sizes from shapes within seconds, and times from a
model of the device that --times names. Times of a CPU do not carry over to a GPU. It
needs only PyTorch, 1.10 or later, 1.13 for the model of times; --link needs no PyTorch.

The names in __all__ are for programs; all others are internal and may change. In a
checkout, set PYTHONPATH=profiles/python. profiles/memtide_torch.py is the same package
in one file (make generate).
"""
from .callbacks import lightning_callback, trainer_callback
from .collector import collect
from .comparison import compare
from .errors import CollectError, PlanError
from .graph import Graph, load
from .plans import Plan, load_plan, several
from .policies import every, every_nth, segments
from .player import Played
from .runtime import Runtime, apply
from .search import plan
from .version import __version__

__all__ = [
    "CollectError", "Graph", "Plan", "PlanError", "Played", "Runtime", "apply", "collect", "compare", "every", "every_nth",
    "lightning_callback", "load", "load_plan", "plan", "segments", "several", "trainer_callback",
]
