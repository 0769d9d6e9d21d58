"""The command line that measures a network stage by stage."""
import argparse
import sys
import time

from .errors import CollectError
from .tensors import TorchDispatchMode, nbytes, torch
from .times import DEFAULT_DEVICE, DEVICES, Model
from .networks import network
from .stages import LOSSES, OPTIMIZERS, bandwidth, keep_everything, plain_peak, resident, stage_rows
from .link import read, tell_link, text_of


def chain(argv):
    parser = argparse.ArgumentParser(description="Measure a PyTorch network stage by stage for memtide.", prog="collect.py",
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("network", nargs="?", help="a name of torchvision.models, or package.module:factory")
    parser.add_argument("--input", help="shape of the input with the batch first, such as 32x3x224x224 (images: that is the default)")
    parser.add_argument("--device", default="cpu", help="where to measure: cuda, cuda:1 or cpu (default cpu)")
    parser.add_argument("--meta", action="store_true", help="exact sizes from shapes alone, and times of a model")
    parser.add_argument("--times", default=DEFAULT_DEVICE, choices=tuple(DEVICES) + ("none",), metavar="DEVICE",
                        help="with --meta, the device that the model is of, or none (default %(default)s); known are " + ", ".join(DEVICES))
    parser.add_argument("--efficiency", type=float, help="with --meta, the share of the peak that convolutions and matrix products reach, in per cent")
    parser.add_argument("--reps", type=int, default=5, help="repetitions of each measurement; the median counts (default 5)")
    parser.add_argument("--dtype", default="float32", choices=("float32", "float16", "bfloat16"), help="of weights and images (default float32)")
    parser.add_argument("--cut", help="modules after which a stage ends, separated by commas; auto: wherever one tensor crosses")
    parser.add_argument("--flat", action="store_true", help="open nested nn.Sequential")
    parser.add_argument("--loss", default="none", choices=LOSSES, help="loss to measure as the last stage (default none: it costs nothing)")
    parser.add_argument("--optimizer", default="momentum", choices=tuple(OPTIMIZERS), help="for the memory of its state (default momentum)")
    parser.add_argument("--name", help="name of the profile")
    parser.add_argument("-o", "--output", help="file to write (default NAME.json)")
    parser.add_argument("--page", default="http://localhost:8080/", help="address of the page, for the link")
    parser.add_argument("--chain", action="store_true", help="stages: this command")
    parser.add_argument("--link", metavar="FILE", help="print the link of a file written before, and nothing else")
    args = parser.parse_args(argv)
    try:
        if args.link:
            print(tell_link(read(args.link), args.page))
            return 0
        if not args.network:
            parser.error("name a network, such as resnet50")
        if torch is None:
            raise CollectError("PyTorch is missing: install it (pip install torch torchvision, or apt-get install python3-torch python3-torchvision).")
        run(args)
    except CollectError as e:
        print("collect.py: %s" % e, file=sys.stderr)
        return 1
    return 0


def sample_of(args, sample, device, dtype):
    """Returns the input: the factory's sample, or random numbers of the shape of --input."""
    if sample is None or args.input:
        shape = args.input or ("32x3x299x299" if "inception" in args.network else "32x3x224x224")
        sample = torch.empty([int(n) for n in shape.split("x")], device="meta")
    if device.type == "meta":
        sample = torch.empty_like(sample, device="meta")
    elif sample.device.type == "meta":
        sample = torch.randn(sample.shape)
    return sample.to(device=device, dtype=dtype if sample.is_floating_point() else sample.dtype)


def run(args):
    start = time.time()
    device, dtype = torch.device("meta" if args.meta else args.device), getattr(torch, args.dtype)
    torch.manual_seed(0)
    stages, sample = network(args.network, args.flat, args.cut.split(",") if args.cut else None)
    for _, module in stages:
        module.to(device=device, dtype=dtype).train()
    x = sample_of(args, sample, device, dtype)
    show = (lambda text: print("\r\033[K" + text, end="", file=sys.stderr, flush=True)) if sys.stderr.isatty() else (lambda text: None)
    model = None
    if args.meta and args.times != "none" and TorchDispatchMode:
        if args.efficiency is not None and not 0 < args.efficiency <= 100:
            raise CollectError("--efficiency is %g; it is above 0 and at most 100, in per cent." % args.efficiency)
        model = Model(args.times, args.dtype != "float32", args.efficiency)
    rows, least, stages = stage_rows(stages, x, 0 if args.meta else args.reps, args.loss, show, model)
    p = profile(args, rows, least, stages, x, model)
    if not args.meta:
        show("a plain training step")
        p["source"]["notes"].append(tell_plain(p, stages, x, args.loss))
    show("")
    output = args.output or p["name"] + ".json"
    with open(output, "w", encoding="utf-8") as f:
        f.write(text_of(p))
    total = lambda key: sum(r[key] for r in rows)
    print("%s: %d stages, forward %.3f ms, backward %.3f ms, outputs %.1f MiB, saved %.1f MiB, weights %.1f MiB; took %.0f s" % (
        output, len(rows) - 1, total("forward_ns") / 1e6, total("backward_ns") / 1e6, total("output_bytes") / 2**20,
        total("saved_bytes") / 2**20, p["resident"]["weights"] / 2**20, time.time() - start))
    if not args.meta:
        print(p["source"]["notes"][-1])
    print(tell_link(p, args.page))


def tell_plain(p, stages, x, loss):
    """Returns how the prediction of keeping everything compares with a plain step."""
    predicted = keep_everything(p)
    try:
        plain = plain_peak(stages, x, loss) + p["input_bytes"] + sum(p["resident"].values())
    except RuntimeError as e:
        if "memory" not in str(e):
            raise
        return "Keeping everything is predicted to take %.1f MiB; a plain training step does not fit on this device." % (predicted / 2**20)
    return "Keeping everything is predicted to take %.1f MiB; a plain training step took %.1f MiB at its peak, so the prediction is off by %+.1f %%." % (
        predicted / 2**20, plain / 2**20, round(100 * (predicted - plain) / plain, 1) + 0)


def profile(args, rows, least, stages, x, model=None):
    """Returns the profile with the fields of its file; times are in nanoseconds."""
    device, link = x.device, None
    where = "CPU, threads: %d" % torch.get_num_threads() if device.type == "cpu" else ""
    notes = ["PyTorch %s, %s, batch of %s" % (torch.__version__, args.dtype, "x".join(map(str, x.shape)))]
    if device.type == "meta":
        where = model.where if model else ""
        notes.append("Sizes come from shapes alone; memory that only a kernel takes is missing.")
        notes.append(model.note if model else "There are no times: they are 0." if TorchDispatchMode else "There are no times: the model needs PyTorch 1.13 or later.")
    else:
        notes.append("Times are medians of %d; the sums of the smallest are %.3f ms forward and %.3f ms backward." % (args.reps, least[0] / 1e6, least[1] / 1e6))
    if device.type == "cpu":
        notes.append("Times of a CPU do not carry over to a GPU.")
    if device.type == "cuda":
        where, (h2d, d2h) = torch.cuda.get_device_name(device), bandwidth(device)
        link = {"name": where, "memory_bytes": torch.cuda.get_device_properties(device).total_memory, "h2d_bytes_per_s": h2d,
                "d2h_bytes_per_s": d2h, "duplex": False}
    base = args.network.replace(":", "-").split(".")[-1]
    name = args.name or "%s-b%d" % (base, x.shape[0]) + ("-%d" % x.shape[-1] if x.dim() == 4 else "")
    return {"format": "memtide/1", "kind": "chain", "name": name, "batch": x.shape[0],
            "dtype": {"float32": "f32", "float16": "f16", "bfloat16": "bf16"}[args.dtype],
            "source": {"tool": "collect.py", "times": "measured" if device.type != "meta" else model.origin if model else "",
                       "sizes": "exact" if device.type == "meta" else "measured", "device": where, "notes": notes},
            "device": link, "input_bytes": nbytes(x), "input_grad_bytes": 0, "resident": resident(stages, args.optimizer),
            "stages": rows[:-1], "loss": rows[-1]}
