"""Tests of steps that are not the one that was collected: values and random numbers that
decide, backwards that call modules, other shapes, other models, plans that are removed
or saved between."""
import copy
import inspect
import json
import os
import pickle
import random
import subprocess
import sys
import tempfile
import unittest
import warnings

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.dirname(HERE)]

import kinds  # noqa: E402
import memtide_torch as mt  # noqa: E402
import torch  # noqa: E402
import torch.nn.functional as F  # noqa: E402
import trained  # noqa: E402
from torch import nn  # noqa: E402
from trained import again, different, plan, step, two  # noqa: E402

torch.set_num_threads(1)
PYTHON = os.environ.get("PYTHON", sys.executable)


def said(f, *args, **kwargs):
    """What f returns, and what memtide warns of meanwhile."""
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        out = f(*args, **kwargs)
    return out, [str(w.message) for w in seen if str(w.message).startswith("memtide: ")]


class Skipping(nn.Module):
    """Drops blocks by a draw that Python looks at."""

    def __init__(self, way, p=0.5, blocks=4):
        super().__init__()
        self.way, self.p, self.first = way, p, nn.Linear(32, 32)
        self.blocks = nn.ModuleList([nn.Sequential(nn.Linear(32, 32), nn.GELU(), nn.Linear(32, 32)) for _ in range(blocks)])

    def draw(self):
        return random.random() if self.way == "python" else torch.rand(())

    def forward(self, x):
        x = self.first(x)
        for b in self.blocks:
            if self.way == "constant" and torch.tensor([1.0]).item() > 0 or self.draw() < self.p:
                x = x + b(x)
        return x.pow(2).mean()


class Half(torch.autograd.Function):
    """x2 + f(x1), and a backward that makes x2 again: nothing of f is kept."""

    @staticmethod
    def forward(ctx, x1, x2, f, *weights):
        ctx.f = f
        with torch.no_grad():
            y = x2 + f(x1)
        ctx.save_for_backward(x1)
        return y

    @staticmethod
    def backward(ctx, g):
        x1, = ctx.saved_tensors
        with torch.enable_grad():
            x = x1.detach().requires_grad_()
            y = ctx.f(x)
        got = torch.autograd.grad(y, [x, *ctx.f.parameters()], g)
        return (got[0], g, None, *got[1:])


class Reversible(nn.Module):
    def __init__(self):
        super().__init__()
        part = lambda: nn.Sequential(nn.Linear(16, 32), nn.GELU(), nn.Linear(32, 16))
        self.f, self.g = part(), part()

    def forward(self, x):
        a, b = x.chunk(2, -1)
        b = Half.apply(a, b, self.f, *self.f.parameters())
        a = Half.apply(b, a, self.g, *self.g.parameters())
        return torch.cat([a, b], -1)


def reversible():
    torch.manual_seed(0)
    return nn.Sequential(*[Reversible() for _ in range(3)], nn.Linear(32, 4)), (torch.randn(200, 32),), {}, kinds.square


class Values(unittest.TestCase):
    def test_values_are_said_and_the_step_is_run(self):
        """A mixture of experts, by the second line of the README."""
        (graph, words) = said(mt.collect, *kinds.experts())
        self.assertRegex(words[0], r"^memtide: aten\.nonzero needs values \(kinds\.py:\d+\), which shapes alone do not have: the step is run instead, as with real=True\.$")
        self.assertNotIn("--", " ".join(words))
        self.assertLess(abs(graph.play().peak / graph.data["source"]["plain_bytes"] - 1), 0.01)

    def test_modules_of_pytorch(self):
        """Where no line is the model's own, that of PyTorch's module is named."""

        code = compile("def f():\n    g()", os.path.join(os.path.dirname(torch.__file__), "nn", "modules", "transformer.py"), "exec")
        inner = next(c for c in code.co_consts if inspect.iscode(c))
        self.assertEqual(mt.line_of([(mt.line_of.__code__, 1), (inner, 2)]), "torch/nn/modules/transformer.py:2")
        self.assertEqual(mt.line_of([(inner, 2), (self.test_modules_of_pytorch.__func__.__code__, 7)]), "test_steps.py:7")

    def test_shapes_alone_give_way(self):
        """As PyTorch 2 does it: the process that has shapes alone refuses, and the step runs."""
        version, traces, asked = mt.VERSION, mt.traces, []

        def refusing(step, real, *rest):
            asked.append(real)
            if not real:
                raise mt.ValuesNeeded("aten.nonzero needs values (net.py:7)")
            return traces(step, real, *rest)

        mt.VERSION, mt.traces = max(version, (2, 1)), refusing
        try:
            for child in (False, True):
                del asked[:]
                graph, words = said(mt.collect, *kinds.again(), child=child)
                self.assertEqual(asked, [True] if child else [False, True])  # the child's list is its own
                self.assertEqual(words, ["memtide: aten.nonzero needs values (net.py:7), which shapes alone do not have: the step is run instead, as with real=True."])
                self.assertGreater(graph.play().peak, 0)
            with self.assertRaisesRegex(mt.CollectError, r"^aten.nonzero needs values \(net.py:7\): collect with real=True\.$"):
                mt.collect(*kinds.again(), real=False)
        finally:
            mt.VERSION, mt.traces = version, traces

    def test_flags_on_the_command_line(self):
        with tempfile.TemporaryDirectory() as folder:
            with open(os.path.join(folder, "mine.py"), "w") as f:
                f.write("import kinds\ndef factory():\n    return dict(zip(('model', 'args', 'kwargs', 'loss'), kinds.experts()))\n")
            env = dict(os.environ, PYTHONPATH=os.pathsep.join([HERE, folder]))
            done = subprocess.run([PYTHON, "-B", os.path.join(os.path.dirname(HERE), "memtide_torch.py"), "mine:factory", "-o", "net.json", "--temps", "none"],
                                  env=env, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertIn("the step is run instead, as with --real.", done.stderr)
            self.assertNotIn("real=True", done.stderr)


class Doubts(unittest.TestCase):
    def collected(self, way, **more):
        torch.manual_seed(3)
        random.seed(3)
        return said(mt.collect, Skipping(way), (torch.randn(500, 32),), **more)

    def test_random_numbers(self):
        """They are said of the graph, of plans, of predictions, and when a plan is applied;
        the worst of some draws is no less than any of them takes."""
        for way, cause in (("torch", r"random numbers \(test_steps\.py:\d+\)"), ("python", r"Python's random numbers")):
            graph, words = self.collected(way)
            told = graph.data["warnings"]
            self.assertEqual(len(told), 1, told)
            self.assertRegex(told[0], "^What the step does may depend on %s: the prediction is that of one draw, and another may take more\\.$" % cause)
            self.assertIn("memtide: " + told[0] + " draws=8 collects the worst of 8.", words)
            p = json.loads(json.dumps(mt.every(graph)))
            self.assertEqual((graph.play().warnings, p["warnings"], mt.several(p, p)["warnings"]), (told, told, told))
            self.assertIn("memtide: " + told[0], said(mt.apply, Skipping(way), p)[1])
            worst, _ = self.collected(way, draws=8)
            self.assertIn("that of the worst of 8 draws", worst.data["warnings"][0])
            net, x, peaks = Skipping(way), torch.randn(500, 32), []
            for seed in range(1, 8):
                mt.seed_all(seed)
                peaks.append(mt.allocated(mt.Step(net, (x,)).copy().run, torch.device("cpu"))[1])
            self.assertGreater(max(peaks), min(peaks), "draws that all take the same show nothing")
            self.assertGreaterEqual(worst.play().peak, max(peaks), "%s: the worst of 8 draws, and what draws take" % way)

    def test_random_numbers_go_on_as_they_did(self):
        net = Skipping("python")
        mt.seed_all(5)
        before = mt.random_state()["cpu"], random.getstate()
        said(mt.collect, net, (torch.ones(5, 32),), draws=3)
        self.assertEqual((mt.random_state()["cpu"], random.getstate()), before)

    def test_data(self):
        graph, _ = said(mt.collect, *kinds.experts())
        self.assertRegex(graph.data["warnings"][0], r"^What the step does may depend on data \(kinds\.py:\d+.*\): the prediction is that of these data, and others may take more\.$")

    def test_nothing_is_said_of_others(self):
        """Dropout draws, and nobody looks; constants are looked at."""
        for made in (trained.gpt()[:3], trained.bn()[:4], (Skipping("constant", 2.0), (torch.randn(9, 32),))):
            graph, words = said(mt.collect, *made, temps=False)
            self.assertNotIn("warnings", graph.data)
            self.assertEqual([w for w in words if "depend" in w], [])


class Backwards(unittest.TestCase):
    def test_modules_that_backward_calls(self):
        graph = mt.collect(*reversible())
        d = graph.data
        late = [c["path"] for c in d["calls"] if c["end"] > d["forward_ops"]]
        self.assertEqual(late, [], "calls that lie behind the forward")
        self.assertIn("0.f", [c["path"] for c in d["calls"]])
        self.assertLess(abs(graph.play().peak / d["source"]["plain_bytes"] - 1), 0.01)
        for segments in (mt.every(graph)["segments"], mt.segments(graph, graph.units())["segments"]):
            a, b, *rest = two(reversible())
            mt.apply(b, plan(*segments))
            step(a, *rest, None), step(b, *rest, None)
            self.assertEqual(different(a, b), [])

    @unittest.skipUnless(os.environ.get("MEMTIDE"), "MEMTIDE names no program")
    def test_the_command_takes_the_file(self):
        with tempfile.TemporaryDirectory() as folder:
            file = os.path.join(folder, "net.json")
            mt.collect(*reversible()).save(file)
            done = subprocess.run([os.environ["MEMTIDE"], "torch", "-budget", "95%", file], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
            self.assertNotIn("is something else", done.stderr)
            self.assertIn(done.returncode, (0, 1), done.stderr)

    @unittest.skipUnless(os.environ.get("MEMTIDE"), "MEMTIDE names no program")
    def test_doubts_go_through_the_command(self):
        torch.manual_seed(3)
        graph, _ = said(mt.collect, Skipping("torch", 0.9), (torch.randn(500, 32),))
        with tempfile.TemporaryDirectory() as folder:
            file = os.path.join(folder, "net.json")
            graph.save(file)
            done = subprocess.run([os.environ["MEMTIDE"], "torch", "-class", "nested", "-budget", "90%", file], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertIn("note: What the step does may depend on random numbers", done.stderr)
            p = json.loads(done.stdout)
            self.assertEqual((p["warnings"], p["model"]["modules_sha"]), (graph.data["warnings"], graph.data["modules_sha"]))
            said(mt.apply, Skipping("torch", 0.9), p)

    def test_a_call_without_gradients_before_one_with(self):
        """Calls are numbered alike by the collector and when the plan runs."""

        class Twice(nn.Module):
            def __init__(self):
                super().__init__()
                self.f, self.o = nn.Sequential(nn.Linear(16, 16), nn.Tanh(), nn.Linear(16, 16)), nn.Linear(16, 4)

            def forward(self, x):
                with torch.no_grad():
                    target = self.f(x)
                return (self.o(self.f(x)) - target.mean()).pow(2).sum()

        torch.manual_seed(0)
        a, b, x = *two((Twice(),)), torch.randn(300, 16)
        ran, frame = [], mt.Frame.__init__
        mt.Frame.__init__ = lambda self, rt, seg: (ran.append(seg["units"]), frame(self, rt, seg))[1]
        try:
            mt.apply(b, plan(again("f#1")))
            a(x).backward(), b(x).backward()
        finally:
            mt.Frame.__init__ = frame
        self.assertEqual((ran, different(a, b)), ([["f#1"]], []))


class OtherSteps(unittest.TestCase):
    def planned(self, strict):
        torch.manual_seed(0)
        net, x = nn.Sequential(*[nn.Sequential(nn.Linear(8, 8), nn.Tanh()) for _ in range(3)]), torch.randn(40, 8)
        graph = mt.collect(net, (x,), loss=kinds.square, temps=False)
        return net, x, mt.apply(net, mt.every(graph), strict)

    def test_shapes_of_every_step(self):
        net, x, _ = self.planned(False)
        longer = torch.randn(400, 8)
        _, words = said(lambda: [net(y).sum().backward() for y in (x, longer, x, longer, x[:4])])
        self.assertEqual(words, ["memtide: planned for 40x8, running 400x8", "memtide: planned for 40x8, running 4x8"])
        net, x, _ = self.planned(True)
        net(x).sum().backward()
        with self.assertRaisesRegex(mt.PlanError, "^The plan is strict: planned for 40x8, running 400x8.$"):
            net(longer)
        net(x).sum().backward()

    def test_autocast_of_every_step(self):
        for strict in (False, True):
            net, x, _ = self.planned(strict)

            def cast():
                with torch.autocast("cpu", torch.bfloat16):
                    net(x).sum().backward()

            net(x).sum().backward()
            if strict:
                self.assertRaisesRegex(mt.PlanError, "planned without autocast, running under autocast to bfloat16", cast)
                continue
            self.assertEqual(said(lambda: (cast(), cast()))[1], ["memtide: planned without autocast, running under autocast to bfloat16"])

    def test_names_of_autocast(self):
        got = [mt.collect(*trained.gpt()[:3], autocast=cast, temps=False).data for cast in ("bfloat16", "torch.bfloat16", torch.bfloat16)]
        self.assertEqual((got[0], got[0]), (got[1], got[2]))
        self.assertEqual(got[0]["autocast"], "bfloat16")
        for bad in ("bfloat17", torch.float64, "\x1b[2J", 5):
            with self.assertRaisesRegex(mt.CollectError, "^autocast is .*: bfloat16, float16 or None is expected") as e:
                mt.collect(*trained.gpt()[:3], autocast=bad)
            self.assertNotIn("\x1b", str(e.exception))


class OtherModels(unittest.TestCase):
    def made(self, wide):
        torch.manual_seed(0)
        block = lambda w: nn.Sequential(nn.Linear(16, w), nn.GELU(), nn.Linear(w, 16))
        return nn.Sequential(block(32), block(wide), block(32))

    def test_a_wider_block(self):
        x = torch.randn(30, 16)
        p = json.loads(json.dumps(mt.every(mt.collect(self.made(32), (x,), loss=kinds.square, temps=False))))
        mt.apply(self.made(32), p).remove()
        for net in (self.made(64), nn.Sequential(*self.made(32), nn.Identity())):
            with self.assertRaisesRegex(mt.PlanError, "^The plan was made for a model of other modules, or of other shapes of their parameters"):
                mt.apply(net, p)
        with self.assertRaisesRegex(mt.PlanError, "These plans are of different models"):
            mt.several(p, mt.every(mt.collect(self.made(64), (x,), loss=kinds.square, temps=False)))
        del p["model"]["modules_sha"]  # an older file
        a, b = self.made(64), self.made(64)
        mt.apply(b, p)
        a(x).sum().backward(), b(x).sum().backward()
        self.assertEqual(different(a, b), [])

    def test_parameters_without_shapes(self):
        net = nn.Sequential(nn.LazyLinear(4), nn.Linear(4, 4))
        self.assertEqual(mt.modules_sha(net), "")
        mt.apply(net, dict(plan(again("1")), model={"modules_sha": "x"}))


class Ends(unittest.TestCase):
    def test_removed_before_backward(self):
        for name in ("gpt", "resnet", "bn"):
            a, b, *rest = two(getattr(trained, name)())
            args, kwargs, loss, _ = rest
            handle = mt.apply(b, plan(*trained.SEGMENTS[name]))
            torch.manual_seed(3), random.seed(3)
            value = loss(b(*args, **kwargs))
            handle.remove()
            value.backward()
            step(a, *rest)
            self.assertEqual(different(a, b), [], name)
            b.zero_grad(), a.zero_grad()
            other = mt.apply(b, plan(*trained.SEGMENTS[name][:1]))
            step(a, *rest), step(b, *rest)
            self.assertEqual(different(a, b), [], "%s, by another plan" % name)
            other.remove()

    def test_whole_models_in_files(self):
        """They are saved without their plan, open without memtide, and take one again."""
        net, args, kwargs, loss, _ = trained.bn()
        b = copy.deepcopy(net)
        handle = mt.apply(b, plan(*trained.SEGMENTS["bn"]))
        with tempfile.TemporaryDirectory() as folder:
            file = os.path.join(folder, "net.pt")
            torch.save(b, file)
            check = "import torch, sys; n = torch.load(sys.argv[1], weights_only=False); n(torch.randn(2, 3, 24, 24)).sum().backward(); assert 'memtide_torch' not in sys.modules"
            done = subprocess.run([PYTHON, "-B", "-c", check, file], cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
            self.assertEqual(done.returncode, 0, done.stderr)
            back = torch.load(file, weights_only=False)
        for m in (back, pickle.loads(pickle.dumps(b))):
            a = copy.deepcopy(net)
            step(a, args, kwargs, loss, None), step(m, args, kwargs, loss, None)
            self.assertEqual(different(a, m), [], "a file without a plan")
            again_ = mt.apply(m, plan(*trained.SEGMENTS["bn"]))
            step(a, args, kwargs, loss, None), step(m, args, kwargs, loss, None)
            self.assertEqual(different(a, m), [], "a file with a plan again")
            pickle.dumps(m)
            again_.remove()
        a = copy.deepcopy(net)
        step(a, args, kwargs, loss, None), step(b, args, kwargs, loss, None)
        self.assertEqual((different(a, b), mt.planned(b).rt), ([], handle), "the model that was saved")

    def test_a_forward_of_its_own_in_a_file(self):
        net = nn.Sequential(nn.Linear(8, 8), nn.Linear(8, 8))
        net[1].forward = net[1].forward.__func__.__get__(net[0])
        mt.apply(net, plan(again("1")))
        with self.assertRaisesRegex(mt.PlanError, "^1 has a forward of its own beside the plan, which would not be in the file: remove"):
            pickle.dumps(net)

    def test_signatures(self):
        """A Trainer asks forward which columns it takes."""
        net = trained.gpt()[0]
        mt.apply(net, plan(again("h.0")))
        self.assertEqual(list(inspect.signature(net.forward).parameters), ["input_ids", "labels"])


class Left(unittest.TestCase):
    def test_what_the_step_before_has_left(self):
        """Weights that spectral_norm leaves in an attribute are not there before the first
        step, which takes what is predicted. Later ones begin with those of the step before
        and take that much less above it: a generator and a discriminator called three times."""
        torch.manual_seed(0)
        norm, w = nn.utils.spectral_norm, 128

        class GAN(nn.Module):
            def __init__(self):
                super().__init__()
                self.g = nn.Sequential(nn.Linear(32, 64), nn.ReLU(), nn.Linear(64, 3 * 16 * 16), nn.Tanh(), nn.Unflatten(1, (3, 16, 16)))
                self.d = nn.Sequential(norm(nn.Conv2d(3, w, 4, 2, 1)), nn.LeakyReLU(0.2), norm(nn.Conv2d(w, w, 4, 2, 1)), nn.LeakyReLU(0.2), nn.Flatten(), norm(nn.Linear(w * 16, 1)))

            def forward(self, z, real):
                fake = self.g(z)
                return F.relu(1 - self.d(real)).mean() + F.relu(1 + self.d(fake.detach())).mean() - self.d(fake).mean()

        net, args = GAN(), (torch.randn(8, 32), torch.randn(8, 3, 16, 16))
        graph = mt.collect(net, args)
        normed = sum(m.weight_orig.numel() * 4 for m in net.d if hasattr(m, "weight_orig"))
        took = []
        for p in net.parameters():
            p.grad = torch.zeros_like(p)
        for _ in range(3):
            took.append(mt.allocated(lambda: net(*args).backward(), torch.device("cpu"))[1])
        played = graph.play()
        print("first step %d, later %d, predicted %d, left %d of which %d are weights" % (took[0], took[2], played.peak, played.left, normed))
        self.assertLess(abs(played.peak / took[0] - 1), 0.002)
        self.assertGreaterEqual(played.left, normed)
        self.assertEqual((took[0] - took[1], took[0] - took[2]), (normed, normed))


if __name__ == "__main__":
    done = unittest.main(verbosity=1, exit=False)
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(not done.result.wasSuccessful())
