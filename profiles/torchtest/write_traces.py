"""Writes the traces that Go's player is tested with, and what Python's player says of
plans for them: python write_traces.py FOLDER."""
import gzip
import json
import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.dirname(HERE)]

import memtide_torch as mt  # noqa: E402
import torch  # noqa: E402
import trained  # noqa: E402

torch.set_num_threads(1)
folder = sys.argv[1]
for name in ("resnet", "unet", "gpt", "gptcast", "frozen", "bn"):
    net, args, kwargs, loss, cast = getattr(trained, name)()
    graph = mt.collect(net, args, kwargs, loss, cast)
    graph.data["name"] = name
    whole = trained.SEGMENTS[name]
    plans = [[], whole] + [[s] for s in whole] + [mt.every(graph)["segments"], mt.every_nth(graph, 2)["segments"]]
    units = graph.units()
    plans += [mt.segments(graph, units[i:i + n])["segments"] for n in (2, 3, 5) for i in range(0, len(units) - n + 1, 2)]
    if name == "gpt":
        plans.append(trained.SEGMENTS["sac"])
    file = os.path.join(folder, name + ".json")
    graph.save(file)
    with open(file, "rb") as f, gzip.GzipFile(file + ".gz", "wb", 9, mtime=0) as z:
        z.write(f.read())
    os.remove(file)
    rows = []
    for p in plans:
        r = graph.play({"segments": p})
        rows.append({"segments": p, "peak_bytes": r.peak, "again_ns": round(r.again * 1e9), "left_bytes": r.left})
    with gzip.GzipFile(os.path.join(folder, name + ".plays"), "wb", 9, mtime=0) as z:
        z.write(json.dumps(rows).encode())
    print(name, len(graph.data["ops"]), len(plans), flush=True)
os._exit(0)
