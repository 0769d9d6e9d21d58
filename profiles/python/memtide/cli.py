"""The command line that writes the operators of a step."""
import argparse
import importlib
import os
import sys
import tempfile
import time
import warnings

from .errors import CollectError, PlanError, size_text
from .tensors import mapped, torch
from .times import DEFAULT_DEVICE, DEVICES
from .collector import collect
from .command import COMMANDS, ask, pass_on
from .comparison import compare
from .chain import chain


def step_of(args):
    """Returns the model and the arguments of its step for a command line: of
    package.module:factory, which returns a model, a model and arguments, or a dictionary, or
    of a model of torchvision."""
    if ":" not in args.network:
        import torchvision.models as models

        if not hasattr(models, args.network):
            raise CollectError("torchvision has no model %r; name one that it has, or your own as package.module:factory." % args.network)
        shape = [int(n) for n in (args.input or "32x3x224x224").split("x")]
        made = {"model": getattr(models, args.network)(), "args": (torch.randn(shape),), "loss": lambda out: out.float().mean()}
    else:
        sys.path.insert(0, os.getcwd())
        module, _, factory = args.network.partition(":")
        made = getattr(importlib.import_module(module), factory)()
        if not isinstance(made, dict):
            made = dict(zip(("model", "args", "kwargs"), made if isinstance(made, tuple) else (made,)))
    if torch.is_tensor(made.get("args")):
        made["args"] = (made["args"],)
    device = torch.device(args.device)
    model = made.pop("model").to(device)
    send = lambda tree: mapped(tree, lambda t: t.to(device))
    made.pop("optimizer", None)
    return model.train(), {k: send(v) if k in ("args", "kwargs") else v for k, v in made.items()}


def program():
    """Returns how this program was started, for usage and messages."""
    return "python -m memtide" if os.path.basename(sys.argv[0]) == "__main__.py" else "memtide_torch.py"


def operators(argv):
    """Runs the command that writes the operators of a step."""
    parser = argparse.ArgumentParser(description="Write the operators of a training step for memtide (with --chain: a network stage by stage).",
                                     prog=program(), formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("network", help="package.module:factory, or a name of torchvision.models")
    parser.add_argument("--input", help="of torchvision's models: shape of the input, such as 32x3x224x224")
    parser.add_argument("--device", default="cpu", help="the device that the model trains on (default cpu)")
    parser.add_argument("--real", action="store_true", help="run steps instead of shapes alone (before PyTorch 2.1: always)")
    parser.add_argument("--draws", type=int, default=1, metavar="N", help="of N draws of random numbers take the one whose step takes the most (default 1: the first)")
    parser.add_argument("--temps", choices=("measured", "none"), default="measured", help="what kernels take beside their results: measured by one real step, or left out")
    parser.add_argument("--times", default=DEFAULT_DEVICE, choices=tuple(DEVICES), metavar="DEVICE", help="the device whose model says how long operators take (default %(default)s)")
    parser.add_argument("--reps", type=int, default=0, help="measure the times of operators so often instead; the median counts")
    parser.add_argument("--units", help="patterns of the names of modules that a plan chooses from, separated by commas: h.*,lm_head")
    parser.add_argument("-o", "--output", help="file to write (default NAME.json)")
    parser.add_argument("--compare", metavar="PLAN", help="measure steps instead: plain, with the framework's checkpointing, and by this plan")
    args = parser.parse_args(argv)
    try:
        start = time.time()
        model, made = step_of(args)
        if args.compare:
            print(compare(model, args.compare, reps=args.reps or 3, **made))
            return 0
        with warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always")
            graph = collect(model, draws=args.draws, real=args.real or None, temps=args.temps == "measured", times=args.times, reps=args.reps,
                        units=args.units and args.units.split(","), **made)
        for w in said:
            print("%s: %s" % (program(), flagged(str(w.message))), file=sys.stderr)
        graph.data["name"] = args.network.split(":")[-1].split(".")[-1]
        output = args.output or graph.data["name"] + ".json"
        graph.save(output)
        peak, plain_bytes = graph.play().peak, graph.data["source"].get("plain_bytes", 0)
        print("%s: %d operators, %d units; took %.0f s" % (output, len(graph.data["ops"]), len(graph.units()), time.time() - start))
        print("Keeping everything takes %s" % size_text(peak) + ("; a plain step took %s at its peak, so the prediction is off by %+.1f %%." % (
            size_text(plain_bytes), round(100 * (peak / plain_bytes - 1), 1) + 0) if plain_bytes else "; no step was run."))
    except (CollectError, PlanError) as e:
        print("%s: %s" % (program(), flagged(str(e))), file=sys.stderr)
        return 1
    return 0


def estimate(argv):
    """Runs the command that estimates the memory of a step on a card, for a file, or for a
    network that it collects first."""
    at = next((i for i, a in enumerate(argv) if ":" in a and not a.startswith("-")), None)
    if at is None:
        return pass_on(["estimate", *argv])
    if torch is None:
        return missing()
    with tempfile.TemporaryDirectory() as folder:
        net = os.path.join(folder, "net.json")
        try:
            model, made = step_of(argparse.Namespace(network=argv[at], input=None, device="cpu"))
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                graph = collect(model, **made)
            graph.data["name"] = argv[at].split(":")[-1]
            graph.save(net)
            out, err = ask("estimate", *argv[:at], *argv[at + 1:], net)
        except (CollectError, PlanError) as e:
            print("%s: %s" % (program(), flagged(str(e))), file=sys.stderr)
            return 1
    print(out, end="")
    print(err, end="", file=sys.stderr)
    return 0


def missing():
    """Reports that PyTorch is missing, and returns the exit status."""
    print("%s: PyTorch is missing: install it (pip install torch, or apt-get install python3-torch)." % program(), file=sys.stderr)
    return 1


def flagged(text):
    """Returns a message with the command's flags in place of Python arguments."""
    return text.replace("memtide: ", "", 1).replace("real=True", "--real").replace("draws=8", "--draws 8")


def main(argv=None):
    """Runs a command of memtide: stages with --chain and with --link, otherwise the operators
    of a step. Returns the exit status."""
    argv = sys.argv[1:] if argv is None else list(argv)
    if argv and argv[0] in COMMANDS:
        return estimate(argv[1:]) if argv[0] == "estimate" else pass_on(argv)
    if "--chain" in argv or "--link" in argv:
        return chain(argv)
    return missing() if torch is None else operators(argv)
