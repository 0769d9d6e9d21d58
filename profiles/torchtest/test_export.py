"""What memtide says a program keeps, against what PyTorch's hooks count.

The programs are forward passes that make_fx has traced, written in the schema of torch.export
(torch/_export/serde/schema.py, version 8): PyTorch 1.13 has the tracer and not the exporter.
"""
import json
import operator
import os
import subprocess
import tempfile
import unittest

import torch
import torchvision.models as models
from torch import nn
from torch.fx.experimental.proxy_tensor import make_fx
from torch.nn.utils.stateless import functional_call
from torch.utils._pytree import tree_flatten

torch.set_num_threads(1)
TYPES = {torch.uint8: 1, torch.int32: 4, torch.int64: 5, torch.float32: 7, torch.bool: 12}


def meta(v, grad=False):
    return {"dtype": TYPES[v.dtype], "sizes": [{"as_int": n} for n in v.shape], "requires_grad": grad}


def argument(a):
    if isinstance(a, torch.fx.Node):
        return {"as_tensor": {"name": a.name}}
    if isinstance(a, (list, tuple)) and any(isinstance(x, torch.fx.Node) for x in a):
        return {"as_tensors": [{"name": x.name} for x in a]}
    for kind, key in [(type(None), "as_none"), (bool, "as_bool"), (int, "as_int"), (float, "as_float"), ((list, tuple), "as_ints")]:
        if isinstance(a, kind):
            return {key: True if a is None else list(a) if key == "as_ints" else a}
    return {"as_string": str(a)}


def program(model, x):
    """The forward pass in the schema of torch.export."""
    params, buffers = dict(model.named_parameters()), {k: v.clone() for k, v in model.named_buffers()}
    traced = make_fx(lambda p, b, x: functional_call(model, {**p, **b}, (x,)))({k: v.detach() for k, v in params.items()}, buffers, x)
    given = [v.detach() for v in params.values()] + list(buffers.values()) + [x]
    env, shapes, specs, nodes, parts = {}, {}, [], [], {}
    for n in traced.graph.nodes:
        if n.op == "placeholder":
            at = len(specs)
            env[n], arg = given[at], {"arg": {"name": n.name}}
            shapes[n.name] = meta(env[n], at < len(params))
            kinds = ({"parameter": arg}, {"buffer": arg}, {"user_input": {"arg": {"as_tensor": arg["arg"]}}})
            specs.append(kinds[(at >= len(params)) + (at == len(given) - 1)])
        elif n.op == "call_function":
            args, named = (torch.fx.node.map_arg(a, lambda m: env[m]) for a in (n.args, n.kwargs))
            env[n] = n.target(*args, **named)
            if n.target is operator.getitem:
                parts[n.args[0]][n.args[1]] = n.name
                continue
            names = [a.name for a in n.target._schema.arguments]
            inputs = [{"name": k, "arg": argument(a), "kind": 1} for k, a in [*zip(names, n.args), *n.kwargs.items()]]
            nodes.append((n, {"target": "torch.ops." + str(n.target), "inputs": inputs, "metadata": {}}))
            parts[n] = {}
    for n, node in nodes:
        v = env[n]
        many = v if isinstance(v, (tuple, list)) else [v]
        names = [parts[n].get(i, "%s_%d" % (n.name, i)) if many is v else n.name for i in range(len(many))]
        shapes.update({k: meta(part) for k, part in zip(names, many)})
        node["outputs"] = [{"as_tensors": [{"name": k} for k in names]}] if isinstance(v, list) else [{"as_tensor": {"name": k}} for k in names]
    graph = {"inputs": [], "outputs": [], "nodes": [node for _, node in nodes], "tensor_values": shapes}
    return {"graph_module": {"graph": graph, "signature": {"input_specs": specs}}, "schema_version": {"major": 8, "minor": 17}}


def kept(model, x):
    """Bytes of the storages that autograd packs, with the output, without weights and the input."""
    seen, held = {}, []
    outside = {t.storage().data_ptr() for t in [*model.parameters(), *model.buffers(), x]}

    def pack(t):
        held.append(t)
        seen[t.storage().data_ptr()] = t.storage().nbytes()
        return t
    with torch.autograd.graph.saved_tensors_hooks(pack, lambda t: t):
        out = model(x)
    seen[out.storage().data_ptr()] = out.storage().nbytes()
    return sum(n for at, n in seen.items() if at not in outside)


class Kept(unittest.TestCase):
    def test_networks(self):
        mlp = nn.Sequential(nn.Linear(64, 64), nn.GELU(), nn.LayerNorm(64), nn.Linear(64, 64), nn.SiLU(inplace=True), nn.Linear(64, 8))
        nets = {"mlp": (mlp, 0), "resnet18": (models.resnet18(), 0), "densenet121": (models.densenet121(), 0),
                "mobilenet_v2": (models.mobilenet_v2(), 0.01), "shufflenet_v2": (models.shufflenet_v2_x0_5(), 0.01)}
        for name, (net, off) in nets.items():
            with self.subTest(name), tempfile.NamedTemporaryFile("w", suffix=".json") as f:
                torch.manual_seed(0)
                x = torch.randn(2, 3, 64, 64)
                want = kept(net.train(), x)
                json.dump(program(net, x), f)
                f.flush()
                said = json.loads(subprocess.check_output([os.environ["MEMTIDE"], "solve", "-json", "-strategy", "sequential", "-budget", "100%", f.name]))
                got = said["question"]["network"]["saved_bytes"]
                print("%-14s PyTorch keeps %d bytes, memtide says %d" % (name, want, got))
                self.assertLessEqual(abs(got - want), off * want, "%s: %d bytes are said, and %d kept" % (name, got, want))


if __name__ == "__main__":
    unittest.main()
