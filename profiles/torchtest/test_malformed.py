"""Tests of plans that somebody else has written: each is refused with the field, or runs."""
import copy
import json
import os
import random
import sys
import tempfile
import unittest
import warnings

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.dirname(HERE)]

import memtide_torch as mt  # noqa: E402
import torch  # noqa: E402
from torch import nn  # noqa: E402
from trained import again, different, plan, run  # noqa: E402

torch.set_num_threads(1)


def small():
    torch.manual_seed(0)
    return nn.Sequential(*[nn.Sequential(nn.Linear(4, 4), nn.Tanh()) for _ in range(4)])


def whole():
    """A plan of the small network with every field that a plan may have."""
    rows = [["0", [3, 4], "float32"]]
    predicted = {"peak_bytes": 4096, "step_s": 1e-3, "keepall_peak_bytes": 8192, "again_s": 1e-4, "sent_bytes": 12, "copies_s": 0.5}
    segments = [again("0", "1", inner=[again("0")], input="offload", prefetch=1), run("offload", "2", prefetch=2), run("keep", "3")]
    net = small()
    model = {"units": [n for n, _ in net.named_children()], "classes": ["Sequential"] * 4, "ops_sha": "ab", "modules_sha": mt.modules_sha(net)}
    shape = {"budget_bytes": 9, "inputs": [["0", [5, 4], "float32"]], "predicted": dict(predicted), "segments": [again("1", "2")]}
    return {"format": "memtide-plan/1", "class": "nested", "name": "small", "made_by": "a test", "budget_bytes": 5000, "model": model, "inputs": rows, "autocast": "",
            "predicted": predicted, "warnings": ["may depend on data"], "shapes": [shape], "segments": segments}


def nested(deep):
    s = again("0")
    for _ in range(deep):
        s = again("0", inner=[s])
    return s


class Fields(unittest.TestCase):
    def refused(self, p, words):
        with self.assertRaises(mt.PlanError) as e:
            mt.apply(small(), p)
        self.assertIn(words, str(e.exception))
        self.assertNotRegex(str(e.exception), "[\x00-\x1f\x7f-\x9f\u202a-\u202e]")
        self.assertLess(len(str(e.exception)), 3000)

    def test_whole(self):
        with warnings.catch_warnings(record=True):
            warnings.simplefilter("always")
            mt.apply(small(), whole()).remove()
        mt.apply(small(), dict(plan(), model=None, shapes=None, inputs=None, predicted=None, segments=None)).remove()  # as Go writes empty lists

    def test_fields(self):
        p, s = plan, lambda **more: plan(dict(again("0"), **more))
        model = lambda **more: dict(plan(again("0")), **more)
        for bad, words in (
            ({"format": "memtide-plan/1"}, "The plan has no segments"),
            ([], "This is no plan of memtide"), (None, "This is no plan of memtide"), (5, "This is no plan of memtide"),
            (dict(p(), segments=7), "segments is 7: a list"), (dict(p(), segments=[7]), "segments[0] is 7: an object is expected"),
            (s(units=None), "segments[0].units is None: a list"), (s(units=[]), "segments[0].units is None: a list of at least one"), (s(units="0"), "segments[0].units is '0'"),
            (s(units=[["0"]]), "segments[0].units[0] is a list: a text"), (s(units=["x" * 2000]), "segments[0].units[0] is 'xxx"),
            (s(do=None), "segments[0].do: the plan wants to None 0"), (s(do=[[]]), "segments[0].do: the plan wants to a list 0"), (s(do="\x1b[2J"), "segments[0].do: the plan wants to \ufffd[2J 0"),
            (s(units=["\x1b]0;OWNED\x07"]), "The plan names module \ufffd]0;OWNED\ufffd"), (s(units=["a\u202eb\ud800"]), "a\ufffdb\ufffd"),
            (s(prefetch=10**18), "segments[0].prefetch: the plan has the prefetch 1000000000000000000 for 0"), (s(prefetch=10**5000), "prefetch a number of 16610 bits"),
            (s(prefetch=True), "segments[0].prefetch"), (s(prefetch=1.0), "segments[0].prefetch"), (s(input=5), "segments[0].input"), (s(do="keep", input="offload"), "segments[0].input"),
            (s(save=[["aten.mm.default", 0]], inner=[again("0")]), "segments[0].save"), (s(save=[["a"]]), "segments[0].save[0] is a list"), (s(save=[["a", -1]]), "segments[0].save[0][1] is -1"),
            (s(inner=[{"units": ["0"]}]), "segments[0].inner[0].do"), (s(inner=5), "segments[0].inner is 5"), (p(nested(200)), "nested deeper than 100"), (p(nested(20000)), "nested deeper than 100"),
            (model(shapes=[5]), "shapes[0] is 5: an object"), (model(shapes=[{"segments": [{}]}]), "shapes[0].segments[0].units is None"), (model(shapes={}), "shapes is a dict"),
            (model(model="x"), "model is 'x': an object"), (model(model={"units": 3}), "model.units is 3"), (model(model={"classes": [3]}), "model.classes[0] is 3"),
            (model(predicted={"peak_bytes": "1e9"}), "predicted.peak_bytes is '1e9': a whole number"), (model(predicted={"peak_bytes": 1 << 60}), "predicted.peak_bytes is"),
            (model(predicted={"peak_bytes": 1e9}), "predicted.peak_bytes is"), (model(predicted={"step_s": float("nan")}), "predicted.step_s is nan"), (model(predicted=[]), "predicted is a list"),
            (model(autocast="bfloat17"), "autocast is 'bfloat17': the name of a type for autocast"), (model(autocast=["bfloat16"]), "autocast is a list"),
            (model(inputs=[["0", [3, 4]]]), "inputs[0] is a list"), (model(inputs=[["0", [3, "4"], "float32"]]), "inputs[0][1][1] is '4'"), (model(inputs=5), "inputs is 5"),
            (model(warnings="x"), "warnings is 'x'"), (model(warnings=["x"] * 2000), "warnings is a list: a list of at most 1000"), (model(budget_bytes=-1), "budget_bytes is -1"),
        ):
            with self.subTest(words):
                self.refused(bad, words)

    def test_files(self):
        with tempfile.TemporaryDirectory() as folder:
            file = os.path.join(folder, "plan.json")
            for data, words in (
                (b"", "is no JSON"), (b"\xff\xfe\x00", "is no JSON"), (b"{", "is no JSON"), (b"[" * 20000, "is nested deeper than any plan"), (b"[]", "This is no plan"),
                (b'{"format":"memtide-plan/1","segments":' + b'[{"units":["0"],"do":"recompute","inner":' * 20000, "is nested deeper than any plan"),
                (b'{"format":"memtide-plan/1","segments":[],"budget_bytes":' + b"9" * 5000 + b"}", ""), (b"\x80\x04cos\nsystem\n", "is no JSON"),
            ):
                with open(file, "wb") as f:
                    f.write(data)
                with self.subTest(data[:40]):
                    self.refused(file, words)
            with open(file, "w") as f:
                f.truncate(mt.MOST_BYTES + 1)
            self.refused(file, "is larger than 512.0 MiB")

    def test_predictions(self):
        """The player takes the segments of a dictionary, and is as careful with them."""
        graph = mt.collect(small(), (torch.randn(3, 4),), loss=torch.sum, temps=False)
        self.assertLessEqual(graph.play(plan(again("0", "1"))).peak, graph.play().peak)
        for bad, words in ((plan(again("9")), "The plan names 9, and the graph has no call of that name"), ({"segments": 5}, "segments is 5"), (plan(again()), "segments[0].units")):
            with self.assertRaises(mt.PlanError) as e:
                graph.play(bad)
            self.assertIn(words, str(e.exception))


class Mutants(unittest.TestCase):
    """Plans changed at random: PlanError, or they are applied and the step is what it is
    without a plan."""

    JUNK = [None, True, 0, -1, 1 << 70, 1.5, float("nan"), float("inf"), "", "0", "9", "recompute", "offload", "\x1b[2J", "x" * 3000, [], {}, [[]], [5], ["0"], {"units": ["0"], "do": "recompute"}]

    def places(self, x, out):
        """All (container, key) of a plan."""
        for k in list(x) if isinstance(x, dict) else range(len(x)) if isinstance(x, list) else ():
            out.append((x, k))
            self.places(x[k], out)
        return out

    def mutant(self, chance):
        p = whole()
        for _ in range(chance.randint(1, 3)):
            at = self.places(p, [])
            if not at:
                break
            x, k = chance.choice(at)
            draw = chance.random()
            if draw < 0.5:
                x[k] = copy.deepcopy(chance.choice(self.JUNK))
            elif draw < 0.65:
                del x[k]
            elif draw < 0.8:
                y, j = chance.choice(at)
                x[k] = copy.deepcopy(y[j]) if j in y or isinstance(y, list) and j < len(y) else None
            elif isinstance(x, list):
                x.insert(k, copy.deepcopy(x[k]))
            else:
                x["other"] = x[k]
        return p

    def tried(self, net, p):
        try:
            return mt.apply(net, p)
        except mt.PlanError as e:
            self.assertNotRegex(str(e), "[\x00-\x1f]")

    def test_structure(self):
        chance, plain, net, x = random.Random(7), small(), small(), torch.randn(3, 4)
        taken = 0
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            for i in range(5000):
                p = self.mutant(chance)
                handle = self.tried(net, p)
                if handle is None:
                    continue
                taken += 1
                if taken % 5 == 0:
                    for n in (plain, net):
                        n.zero_grad()
                        n(x).sum().backward()
                    self.assertEqual(different(plain, net), [], "mutant %d: %s" % (i, p))
                handle.remove()
        self.assertTrue(500 < taken < 4500, "%d of 5000 mutants were taken: they say little" % taken)

    def test_bytes(self):
        chance, net, data = random.Random(8), small(), json.dumps(whole()).encode()
        with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
            warnings.simplefilter("ignore")
            file, taken = os.path.join(folder, "plan.json"), 0
            for _ in range(2000):
                bad = bytearray(data)
                for _ in range(chance.randint(1, 3)):
                    at = chance.randrange(len(bad))
                    if chance.random() < 0.5:
                        bad[at] = chance.randrange(256)
                    else:
                        bad[at:at + chance.randint(1, 9)] = bytes(chance.choice(b'{}[]",:0e-') for _ in range(chance.randint(0, 3)))
                with open(file, "wb") as f:
                    f.write(bad)
                handle = self.tried(net, file)
                if handle is not None:
                    taken += 1
                    handle.remove()
            self.assertTrue(100 < taken < 1900, "%d of 2000 mutants were taken: they say little" % taken)


if __name__ == "__main__":
    done = unittest.main(verbosity=1, exit=False)
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(not done.result.wasSuccessful())
