"""Plans that the command finds."""
import os
import tempfile

from .command import ask
from .collector import collect
from .graph import Graph
from .plans import load_plan


def plan(model, budget="60%", args=(), kwargs=None, loss=None, kind="nested", strategy=None, **collecting):
    """Returns the fastest plan found within a budget, for a model or for a collected graph;
    the other arguments are those of collect. budget is the memory of a step above weights,
    gradients and optimizer: a size such as 10GiB, or a share of keeping everything. kind is
    what a plan may do: unit, wrappable, nested, sac or offload. strategy takes the schedule
    of a strategy, such as rotor, instead. A faster plan may exist."""
    graph = model if isinstance(model, Graph) else collect(model, args, kwargs, loss, **collecting)
    with tempfile.TemporaryDirectory() as folder:
        net, out = (os.path.join(folder, name) for name in ("net.json", "plan.json"))
        graph.save(net)
        ask("torch", "-class", kind, "-budget", str(budget), *(["-strategy", strategy] if strategy else []), "-o", out, net)
        return load_plan(out)
