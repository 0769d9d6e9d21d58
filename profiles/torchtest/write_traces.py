"""Writes the traces that Go's player is tested with, and what Python's player says of
plans for them: python write_traces.py FOLDER."""
import gzip
import json
import os
import random
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.dirname(HERE)]

import memtide_torch as mt  # noqa: E402
import torch  # noqa: E402
import trained  # noqa: E402

torch.set_num_threads(1)
folder = sys.argv[1]
for name in ("resnet", "unet", "gpt", "gptcast", "frozen", "bn"):
    file = os.path.join(folder, name + ".json")
    if os.path.exists(file + ".gz"):  # a trace that is there stays
        with gzip.open(file + ".gz", "rb") as z, open(file, "wb") as f:
            f.write(z.read())
        graph = mt.load(file)
    else:
        net, args, kwargs, loss, cast = getattr(trained, name)()
        graph = mt.collect(net, args, kwargs, loss, cast)
        graph.data["name"] = name
        graph.save(file)
        with open(file, "rb") as f, gzip.GzipFile(file + ".gz", "wb", 9, mtime=0) as z:
            z.write(f.read())
    os.remove(file)
    whole = trained.SEGMENTS[name]
    plans = [[], whole] + [[s] for s in whole] + [mt.every(graph)["segments"], mt.every_nth(graph, 2)["segments"]]
    units = graph.units()
    plans += [mt.segments(graph, units[i:i + n])["segments"] for n in (2, 3, 5) for i in range(0, len(units) - n + 1, 2)]
    if name == "gpt":
        plans += [trained.SEGMENTS["sac"], trained.SEGMENTS["away"]]
    plans += [[trained.run("offload", u)] for u in units[::3]] + [[trained.again(*units[i:i + 2], input="offload")] for i in range(0, len(units) - 1, 2) if i + 2 not in graph.data["tied"] and i not in graph.data["tied"]]
    plans += [[trained.run("offload", u, prefetch=n) for u in units] for n in (1, 2)]
    plans += [trained.scattered(random.Random(seed), units, graph.data["tied"]) for seed in range(8)]
    rows = []
    for p in plans:
        r = graph.play({"segments": p})
        rows.append({"segments": p, "peak_bytes": r.peak, "again_ns": round(r.again * 1e9), "left_bytes": r.left, "sent_bytes": r.sent})
    with gzip.GzipFile(os.path.join(folder, name + ".plays"), "wb", 9, mtime=0) as z:
        z.write(json.dumps(rows).encode())
    print(name, len(graph.data["ops"]), len(plans), flush=True)
os._exit(0)
