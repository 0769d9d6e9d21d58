"""Tests of plans on unmodified models: bits, peaks, refusals, two processes."""
import collections
import copy
import json
import os
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
import trained  # noqa: E402
from torch import nn  # noqa: E402
from trained import again, different, plan, run, step, two  # noqa: E402

torch.set_num_threads(1)
PYTHON = os.environ.get("PYTHON", sys.executable)  # a build that is no system's may need its own start
FAKE = mt.VERSION >= (2, 1)
NETS = ["resnet", "unet", "gpt", "away", "gptcast", "frozen", "bn"] + (["sac"] if mt.VERSION >= (2, 4) else [])


def made(name):
    return getattr(trained, {"sac": "gpt", "away": "gpt"}.get(name, name))()


def gathered(name, **more):
    net, args, kwargs, loss, cast = made(name)
    return mt.collect(net, args, kwargs, loss, cast, **more)


class Bits(unittest.TestCase):
    def equal(self, a, b, what):
        self.assertEqual(different(a, b), [], "%s: what differs from plain PyTorch" % what)
        self.assertTrue(any(p.grad is not None for p in a.parameters()), "%s: no gradient at all" % what)

    def test_two_steps(self):
        """Losses, gradients, buffers, the state of random numbers, names; nothing is left."""
        for name in NETS:
            a, b, *rest = two(made(name))
            handle = mt.apply(b, plan(*trained.SEGMENTS[name]))
            for seed in range(2):
                la, ra = step(a, *rest, seed), torch.get_rng_state()
                lb, rb = step(b, *rest, seed), torch.get_rng_state()
                self.assertTrue(torch.equal(la, lb), "%s, step %d: loss %r, plain %r" % (name, seed, lb, la))
                self.assertTrue(torch.equal(ra, rb), "%s, step %d: random numbers go on differently" % (name, seed))
                self.equal(a, b, "%s, step %d" % (name, seed))
            self.assertEqual(list(a.state_dict()), list(b.state_dict()), name)
            handle.remove()
            left = [n for n, m in b.named_modules() if "forward" in m.__dict__ or any(k.startswith("_memtide") for k in m.__dict__)]
            self.assertEqual(left, [], "%s: modules that remove() left something in" % name)

    def test_examples_of_the_docs(self):
        """The networks of docs/run-a-schedule.md, with the plans that are told there."""
        with open(os.path.join(HERE, "..", "..", "docs", "run-a-schedule.md")) as f:
            blocks = [b for b in f.read().split("\n\n") if b.startswith("    ")]
        first = next(i for i, b in enumerate(blocks) if "torch.nn.functional" in b)
        last = next(i for i, b in enumerate(blocks) if "def gpt()" in b)
        nets = {}
        exec("\n".join(line[4:] for b in blocks[first:last + 1] for line in b.split("\n")), nets)
        for name, segments in (("unet", [again("d1"), again("d2", "mid", "u2"), again("c2", "u1"), again("head")]),
                               ("gpt", [again("wte"), again("wpe")] + [again("h.%d" % i) for i in (1, 2, 4, 5, 6)])):
            d = nets[name]()
            a, b, *rest = two((d["model"], d.get("args", ()), d.get("kwargs", {}), d.get("loss", lambda out: out), None))
            mt.apply(b, plan(*segments))
            step(a, *rest), step(b, *rest)
            self.equal(a, b, "%s of the docs" % name)

    def pair(self, name="gpt"):
        a, b, *rest = two(made(name))
        mt.apply(b, plan(*trained.SEGMENTS[name]))
        return a, b, rest

    def test_copies_run_their_own_weights(self):
        a, b, rest = self.pair()
        c = copy.deepcopy(b)
        step(a, *rest), step(c, *rest)
        self.equal(a, c, "a deep copy")
        self.assertTrue(all(p.grad is None for p in b.parameters()), "the copied model got gradients")

    def test_eval(self):
        a, b, (_, kwargs, _, _) = self.pair()
        a.eval(), b.eval()
        with torch.no_grad():
            self.assertTrue(torch.equal(a(**kwargs).logits, b(**kwargs).logits))

    def test_after_an_exception(self):
        a, b, rest = self.pair()
        hook = b.h[2].register_forward_pre_hook(lambda m, x: 1 / 0)
        with self.assertRaises(ZeroDivisionError):
            step(b, *rest)
        hook.remove()
        b.zero_grad()
        step(a, *rest), step(b, *rest)
        self.equal(a, b, "the step after an exception")

    def test_two_forwards_before_backward(self):
        for first in (0, 1):
            a, b, (_, kwargs, loss, _) = self.pair()
            for n in (a, b):
                torch.manual_seed(0)
                losses = [loss(n(**kwargs)), loss(n(**kwargs))]
                losses[first].backward()
                losses[1 - first].backward()
            self.equal(a, b, "backward of forward %d first" % first)

    def test_backward_twice(self):
        a, b, (_, kwargs, loss, _) = self.pair()
        for n in (a, b):
            torch.manual_seed(0)
            value = loss(n(**kwargs))
            value.backward(retain_graph=True)
            value.backward()
        self.equal(a, b, "retain_graph")

    def test_gradient_of_one_weight_and_of_gradients(self):
        a, b, (_, kwargs, loss, _) = self.pair()
        for n in (a, b):
            torch.manual_seed(0)
            g, = torch.autograd.grad(loss(n(**kwargs)), [n.h[3].qkv.weight], create_graph=True)
            n.first = g.detach()
            g.pow(2).sum().backward()
        self.assertTrue(torch.equal(a.first, b.first), "autograd.grad")
        self.equal(a, b, "create_graph")

    def test_random_of_python(self):
        class Drop(nn.Module):
            def __init__(self):
                super().__init__()
                self.f = nn.Sequential(nn.Linear(16, 16), nn.Tanh())

            def forward(self, x):
                return x + self.f(x) * (2.0 if random.random() < 0.5 else 0.3)

        torch.manual_seed(0)
        a, b, x = *two((nn.Sequential(*[Drop() for _ in range(6)]),)), torch.randn(4, 16)
        mt.apply(b, plan(again("0", "1", "2"), again("4")))
        for n in (a, b):
            random.seed(5)
            n(x).pow(2).sum().backward()
        self.equal(a, b, "random.random()")

    def test_optimizer(self):
        a, b, rest = self.pair()
        for n in (a, b):
            o = torch.optim.AdamW(n.parameters(), 1e-3)
            for i in range(4):
                o.zero_grad(set_to_none=True)
                step(n, *rest, i)
                nn.utils.clip_grad_norm_(n.parameters(), 1.0)
                o.step()
        self.assertTrue(all(torch.equal(p, q) for p, q in zip(a.parameters(), b.parameters())), "weights after four steps of AdamW")

    def test_another_batch_and_length(self):
        a, b, (args, kwargs, loss, cast) = self.pair()
        kwargs = {k: v[:2, :20].contiguous() for k, v in kwargs.items()}
        step(a, args, kwargs, loss, cast), step(b, args, kwargs, loss, cast)
        self.equal(a, b, "2x20 instead of 4x32")

    def test_checkpoint_within_a_unit(self):
        from torch.utils.checkpoint import checkpoint

        class Inner(nn.Module):
            def __init__(self):
                super().__init__()
                self.f = nn.Sequential(nn.Linear(16, 16), nn.Tanh(), nn.Linear(16, 16))

            def forward(self, x):
                return checkpoint(self.f, x, use_reentrant=False)

        torch.manual_seed(0)
        a, b, x = *two((nn.Sequential(*[Inner() for _ in range(4)]),)), torch.randn(4, 16)
        mt.apply(b, plan(again("0", "1"), again("2")))
        for n in (a, b):
            n(x).pow(2).sum().backward()
        self.equal(a, b, "torch.utils.checkpoint within units")

    def test_work_in_place_between_units(self):
        """What lies between the calls of a run does not run again: its work in place
        must not be lost."""

        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.a, self.b, self.c = (nn.Linear(8, 8) for _ in range(3))

            def forward(self, x):
                y = self.a(x)
                y += 3 * x
                return self.c(self.b(y).tanh())

        torch.manual_seed(0)
        a, b, x = *two((Net(),)), torch.randn(4, 8)
        mt.apply(b, plan(again("a", "b", "c")))
        for n in (a, b):
            n(x).pow(2).sum().backward()
        self.equal(a, b, "y += 3 * x between a and b")

    def test_the_same_module_twice(self):
        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.a, self.b = nn.Linear(8, 8), nn.Linear(8, 8)

            def forward(self, x):
                return self.b(self.a(self.b(self.a(x).tanh()).tanh()).tanh())

        for segments in ([again("a#1", "b#1")], [again("a", "b", "a#1", "b#1", inner=[again("a#1")])], [again("b", "a#1")]):
            torch.manual_seed(0)
            a, b, x = *two((Net(),)), torch.randn(4, 8)
            mt.apply(b, plan(*segments))
            for n in (a, b):
                n(x).pow(2).sum().backward()
            self.equal(a, b, "units %s" % segments[0]["units"])

    @unittest.skipUnless(FAKE, "torch.compile needs PyTorch 2")
    def test_compiled_blocks(self):
        a, b, *rest = two(made("gpt"))
        for n in (a, b):
            for block in n.h:
                block.d1.p = block.d2.p = block.d3.p = 0.0
                block.forward = torch.compile(block.forward, backend="aot_eager")
        mt.apply(b, plan(*trained.SEGMENTS["gpt"]))
        step(a, *rest), step(b, *rest)
        self.equal(a, b, "blocks compiled with aot_eager")

    def test_two_processes(self):
        """DistributedDataParallel with different data per rank, with and without
        accumulation: equal to it without a plan, and on both ranks."""
        with tempfile.TemporaryDirectory() as folder:
            env = dict(os.environ, USE_LIBUV="0")
            ranks = [subprocess.Popen([PYTHON, "-B", os.path.join(HERE, "ranks.py"), str(r), os.path.join(folder, "meet")],
                                      env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) for r in range(2)]
            for r, p in enumerate(ranks):
                out, err = p.communicate()
                self.assertIn("6 of 6", out, "rank %d: %s%s" % (r, out, err[-2000:]))


def allocator(net, args, kwargs, loss, cast):
    """The peak of a step, above what is there before it, by the allocator."""
    for p in net.parameters():
        if p.requires_grad and p.grad is None:
            p.grad = torch.zeros_like(p)
    step(net, args, kwargs, loss, cast)
    return mt.allocated(lambda: step(net, args, kwargs, loss, cast), torch.device("cpu"))[1]


class Peaks(unittest.TestCase):
    """Predicted against measured: bits alone do not show a runtime that keeps too much."""

    def test_peaks(self):
        for name in NETS:
            net, *rest = made(name)
            graph = gathered(name)
            plain = allocator(copy.deepcopy(net), *rest)
            self.within(graph.play().peak, plain, 0.001, name + ", nothing recomputed")
            whole = trained.SEGMENTS[name]
            for p in [[s] for s in whole] + [whole]:
                if name == "sac" and len(p) == 1:
                    continue
                planned = copy.deepcopy(net)
                mt.apply(planned, plan(*p))
                got, played = allocator(planned, *rest), graph.play(plan(*p))
                self.assertEqual(played.left, graph.play().left, "%s: bytes that are left after the step" % name)
                self.within(played.peak, got, 0.01, "%s, %s" % (name, " ".join(mt.name_of(s) for s in p)))

    def test_any_plan(self):
        """Plans at random: their runs end anywhere, hand anything on, and what is on the
        host comes back early or late."""
        for name in ("resnet", "unet", "gpt", "gptcast", "frozen", "bn"):
            net, *rest = made(name)
            graph, chance, plain = gathered(name), random.Random(5), copy.deepcopy(net)
            allocator(plain, *rest)
            for i in range(6):
                segments = trained.scattered(chance, graph.units(), graph.data["tied"])
                planned = copy.deepcopy(net)
                mt.apply(planned, plan(*segments))
                self.within(graph.play(plan(*segments)).peak, allocator(planned, *rest), 0.005, "%s, %s" % (name, json.dumps(segments)))
                self.assertEqual(different(plain, planned), [], "%s, %s" % (name, json.dumps(segments)))

    def within(self, predicted, measured, share, what):
        off = predicted / measured - 1
        print("%s: predicted %.3f MiB, measured %.3f MiB, %+.2f %%" % (what, predicted / 2**20, measured / 2**20, 100 * off))
        self.assertLessEqual(abs(predicted - measured), share * measured, "%s: predicted %d bytes, measured %d" % (what, predicted, measured))


class Plans(unittest.TestCase):
    def test_without_a_solver(self):
        graph = gathered("gpt", temps=False)
        second = mt.every_nth(graph, 2)
        self.assertEqual([s["units"] for s in second["segments"]], [["h.0"], ["h.2"], ["h.4"], ["h.6"]])
        runs = mt.segments(graph, ["h.0", "h.1", "h.2"], ["h.4"])
        self.assertEqual([s["units"] for s in runs["segments"]], [["h.0", "h.1", "h.2"], ["h.4"]])
        self.assertEqual(second["model"]["classes"][2], "Block")
        whole = graph.play().peak
        self.assertLess(second["predicted"]["peak_bytes"], whole)
        self.assertLess(mt.every(graph)["predicted"]["peak_bytes"], second["predicted"]["peak_bytes"])
        with self.assertRaisesRegex(mt.PlanError, "g.0 is no unit of the graph"):
            mt.segments(graph, ["g.0"])

    def test_work_in_place_stays_together(self):
        graph = gathered("resnet", temps=False)
        self.assertEqual([graph.units()[k] for k in graph.data["tied"]], ["relu"])
        self.assertEqual(mt.segments(graph, ["relu"])["segments"][0]["units"], ["bn1", "relu"])

    def test_file(self):
        graph = gathered("gpt")
        with tempfile.TemporaryDirectory() as folder:
            file = os.path.join(folder, "net.json")
            graph.save(file)
            again_ = mt.load(file)
            p = mt.every_nth(graph, 3)
            self.assertEqual(vars(again_.play(p)), vars(graph.play(p)))
            with open(os.path.join(folder, "plan.json"), "w") as f:
                json.dump(p, f)
            a, b, *rest = two(made("gpt"))
            mt.apply(b, os.path.join(folder, "plan.json"), strict=True)
            step(a, *rest), step(b, *rest)
            self.assertEqual(different(a, b), [])

    def test_command(self):
        with tempfile.TemporaryDirectory() as folder:
            script = os.path.join(os.path.dirname(HERE), "memtide_torch.py")
            with open(os.path.join(folder, "mine.py"), "w") as f:
                f.write("import trained\ndef factory():\n    net, args, kwargs, loss, cast = trained.gpt()\n    return net, args, kwargs\n")
            env = dict(os.environ, PYTHONPATH=os.pathsep.join([HERE, folder]))
            done = subprocess.run([PYTHON, "-B", script, "mine:factory", "-o", "net.json"], env=env, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertIn("so the prediction is off by +0.0 %", done.stdout.replace("-0.0", "+0.0"))
            self.assertEqual(len(mt.load(os.path.join(folder, "net.json")).units()), 12)


class Compared(unittest.TestCase):
    def test_compare(self):
        """Plain, checkpointed and planned: peaks as the allocator says, gradients equal."""
        for name, way in (("gpt", "torch checkpoint, every Block"), ("resnet", "torch checkpoint, every Basic")):
            net, args, kwargs, loss, cast = made(name)
            graph = gathered(name)
            p = mt.every_nth(graph, 1)
            plain, theirs, ours = mt.compare(net, p, args, kwargs, loss, cast, reps=1)
            self.assertEqual((plain["way"], theirs["way"], ours["way"]), ("plain", way, "plan"))
            self.assertEqual([(r["gradients"], r["buffers"], r["reserved_bytes"]) for r in (plain, ours)], [(True, True, None)] * 2, name)
            self.assertTrue(theirs["gradients"], "%s: PyTorch's own checkpoint" % name)
            self.assertEqual(theirs["buffers"], name == "gpt", "%s: PyTorch's checkpoint counts a batch twice" % name)
            self.assertLess(abs(plain["peak_bytes"] / graph.play().peak - 1), 0.001, name)
            self.assertLess(abs(ours["peak_bytes"] / ours["predicted_bytes"] - 1), 0.01, name)
            self.assertLess(ours["peak_bytes"], plain["peak_bytes"], name)
            self.assertLess(theirs["peak_bytes"], plain["peak_bytes"], name)
            self.assertTrue(all(p.grad is None for p in net.parameters()) and not any("_memtide" in m.__dict__ for m in net.modules()), "%s: the model itself" % name)
            text = mt.comparison([plain, theirs, ours], torch.device("cpu"))
            self.assertRegex(text, r"(?m)^plan +\d+\.\d MiB +\d+\.\d MiB +- +\d+\.\d ms +equal +equal$")
            self.assertIn("do not carry over to a GPU.", text)

    def test_switch_of_the_framework(self):
        net, args, kwargs, loss, cast = made("gpt")
        net.gradient_checkpointing_enable = lambda: None
        self.assertEqual(mt.checkpointed(net, plan(again("h.0"))), "gradient_checkpointing_enable()")


@unittest.skipUnless(os.environ.get("MEMTIDE"), "MEMTIDE names no program")
class Solved(unittest.TestCase):
    """Plans of memtide on the models: the budget is kept by the allocator, too."""

    def found(self, name, share, *how):
        """The plan that memtide finds for a share of keeping everything, run; None if it
        finds none."""
        net, *rest = made(name)
        graph, what = gathered(name), "%s, %s, %d %%" % (name, " ".join(how), share)
        with tempfile.TemporaryDirectory() as folder:
            file, found = os.path.join(folder, "net.json"), os.path.join(folder, "plan.json")
            graph.save(file)
            done = subprocess.run([os.environ["MEMTIDE"], "torch", *how, "-budget", "%d%%" % share, "-o", found, file], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
            print("%s: %s" % (what, done.stderr.strip()))
            if done.returncode:
                self.assertIn("no plan of class", done.stderr)
                return None
            p = mt.load_plan(found)
        played = graph.play(p)
        self.assertEqual((played.peak, played.sent), (p["predicted"]["peak_bytes"], p["predicted"].get("sent_bytes", 0)), "%s: the two players" % what)
        self.assertLessEqual(played.peak, graph.play().peak * share // 100)
        if any(s.get("save") for s in mt.walk(p["segments"])) and mt.VERSION < (2, 4):
            return p
        a, b = copy.deepcopy(net), copy.deepcopy(net)
        mt.apply(b, p, strict=True)
        got = allocator(b, *rest)
        allocator(a, *rest)
        self.assertEqual(different(a, b), [], what)
        off = played.peak / got - 1
        print("%s: predicted %d, measured %d, %+.2f %%" % (what, played.peak, got, 100 * off))
        self.assertLess(abs(off), 0.01, "%s: predicted %d bytes, measured %d" % (what, played.peak, got))
        return p

    def test_budgets(self):
        for name in ("gpt", "unet", "resnet", "bn"):
            for share in (85, 70, 55, 40):
                self.found(name, share, "-class", "nested")

    def test_single_operators_and_the_host(self):
        for name, share, kind in (("gpt", 60, "sac"), ("gpt", 40, "sac"), ("gptcast", 50, "sac"), ("gpt", 40, "offload"), ("unet", 60, "offload"), ("resnet", 45, "offload"), ("bn", 40, "offload")):
            p = self.found(name, share, "-class", kind, "-link", "100GB/s")
            self.assertIsNotNone(p, "%s, %s: no plan" % (name, kind))
            uses = [s for s in p["segments"] if (s.get("save") if kind == "sac" else s["do"] == "offload" or s.get("input"))]
            self.assertTrue(uses, "%s, %s, %d %%: the plan does nothing of its class" % (name, kind, share))

    def test_schedules_that_offload(self):
        """What strategies find for the chain, with what they move to the host."""
        for strategy, share, link in (("greedy", 80, "100GB/s"), ("offloadsearch", 80, "100GB/s"), ("pofo", 80, "100GB/s"), ("pofo", 60, "3GB/s")):
            moved = again = 0
            for name in ("gpt", "resnet", "bn"):
                p = self.found(name, share, "-strategy", strategy, "-link", link)
                segments = p["segments"] if p else []
                moved += any(s["do"] == "offload" or s.get("input") for s in segments)
                again += any(s["do"] == "recompute" for s in segments)
            self.assertGreater(moved, 0, "%s moves nothing in any plan" % strategy)
            if link == "3GB/s":
                self.assertGreater(again, 0, "%s runs nothing again in any plan" % strategy)

    def test_schedules_of_rotor(self):
        for name in ("gpt", "resnet", "bn"):
            p = self.found(name, 70, "-strategy", "rotor")
            self.assertIsNotNone(p, "%s: no plan" % name)
            self.assertEqual(p["made_by"], "memtide torch, rotor")


class Looks(nn.Module):
    """Products whose values say what comes next, in one of several ways."""

    def __init__(self, way):
        super().__init__()
        self.way, self.a, self.b = way, nn.Linear(8, 8), nn.Linear(8, 8)

    def forward(self, x):
        y = self.a(x)
        way = self.way
        if way == "branch" and y.abs().sum() > 0:
            y = y.tanh()
        if way == "mask":
            y = y[y > 0].view(1, -1).mean(1, True).expand_as(y) + y
        if way == "list" and max(map(max, y.tolist())) > 0:
            y = y.tanh()
        if way == "numpy" and y.detach().numpy().any():
            y = y.tanh()
        if way == "caught":
            try:
                y = y * (2.0 if y.sum().item() else 3.0)
            except BaseException:
                pass
        if way == "cholesky":
            y = y + torch.linalg.cholesky(self.b.weight @ self.b.weight.t()).sum()  # of zeros it fails
        return self.b(y).sum()


@unittest.skipUnless((1, 13) <= mt.VERSION < (2, 1), "fake tensors do it")
class Kernels(unittest.TestCase):
    """Where nothing is fake, products and convolutions run once for each shape."""

    def collected(self, *arguments, **more):
        made = []

        class Recorded(mt.Kernels):
            def __init__(self):
                super().__init__()
                made.append(self)

        plain, mt.Kernels = mt.Kernels, Recorded
        try:
            return mt.collect(*arguments, **more), made
        finally:
            mt.Kernels = plain

    def test_every_byte(self):
        for name in NETS:
            net, args, kwargs, loss, cast = made(name)
            got, kernels = self.collected(net, args, kwargs, loss, cast)
            want = mt.collect(net, args, kwargs, loss, cast, real=True)
            self.assertFalse(kernels[0].looked, name)
            for key in want.data:
                self.assertEqual(got.data[key], want.data[key], "%s, %s: with kernels that ran once, and with all" % (name, key))

    def test_layers_cost_no_products(self):
        ran = []
        for layers in (2, 9):
            torch.manual_seed(0)
            ids = torch.randint(0, 200, (4, 32))
            ran.append(len(self.collected(trained.GPT(layers=layers), (), {"input_ids": ids, "labels": ids})[1][0].known))
        self.assertEqual(ran[0], ran[1], "products that ran for 2 layers and for 9")

    def test_models_that_look_at_values(self):
        for way in ("branch", "mask", "list", "numpy", "caught", "cholesky"):
            torch.manual_seed(0)
            net, x = Looks(way), torch.randn(4, 8)
            got, kernels = self.collected(net, (x,))
            want = mt.collect(net, (x,), real=True)
            self.assertEqual(got.data, want.data, way)
            if way != "cholesky":
                self.assertTrue(kernels[0].looked, "%s: nobody has noticed" % way)


class Kinds(unittest.TestCase):
    """Modules that people have: what is collected is what a plain step takes, and with
    each plan losses, gradients, buffers and random numbers stay what they are."""

    NAMES = ["mobile", "channels_last", "vit", "lstm", "gru", "packed", "vae", "weight_norm", "spectral_norm", "parametrized", "function", "views",
             "again", "carried", "collecting", "input_with_gradient", "hooks", "experts"] + (["compiled"] if FAKE else [])

    def made(self, name):
        torch.manual_seed(0)
        random.seed(0)
        return getattr(kinds, name)()

    def plans(self, graph):
        units = mt.every(graph)["segments"]
        return {"every unit": units, "as a whole": mt.segments(graph, graph.units())["segments"], "offloaded": [dict(s, do="offload") for s in units],
                "inputs offloaded": [dict(s, input="offload") for s in units]}

    def test_bits(self):
        for name in self.NAMES:
            real = FAKE and name in ("packed", "experts", "collecting") or None
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                graph = mt.collect(*self.made(name), real=real)
            predicted, plain = graph.play().peak, graph.data["source"]["plain_bytes"]
            self.assertLess(abs(predicted / plain - 1), 0.01, "%s: keeping everything %d, a plain step %d" % (name, predicted, plain))
            for what, segments in self.plans(graph).items():
                a, b = self.made(name), self.made(name)
                mt.apply(b[0], plan(*segments))
                for seed in range(2):
                    la, ra = step(*a, None, seed), torch.get_rng_state()
                    lb, rb = step(*b, None, seed), torch.get_rng_state()
                    where = "%s, %s, step %d" % (name, what, seed)
                    self.assertEqual(different(a[0], b[0]), [], where)
                    self.assertTrue(torch.equal(la, lb) and torch.equal(ra, rb), where + ": the loss or random numbers")
                    for x, y in zip(a[1], b[1]):
                        self.assertTrue(x.grad is None and y.grad is None or torch.equal(x.grad, y.grad), where + ": the gradient of an input")

    def test_what_modules_collect(self):
        """Lists, dictionaries and deques of modules, and those they are given, are after a
        step what they are without a plan: nothing is put in twice."""
        told = lambda m: [[float(t) for t in m.found], list(map(float, m.losses.values())), m.counts["calls"], m.counts["sums"], [float(t.sum()) for t in m._last]]
        graph = mt.collect(*self.made("collecting"), real=True)
        for what, segments in self.plans(graph).items():
            a, b = self.made("collecting"), self.made("collecting")
            mt.apply(b[0], plan(*segments))
            for seed in range(3):
                step(*a, None, seed), step(*b, None, seed)
                for m, n in ((a[0].a, b[0].a), (a[0].b, b[0].b)):
                    self.assertEqual(told(n), told(m), "%s, step %d" % (what, seed))
                    self.assertEqual(m.counts["calls"], seed + 1)

    def test_two_optimizers(self):
        """A generator and a discriminator, each with a plan, over three steps."""
        nets = []
        for planned in (False, True):
            torch.manual_seed(0)
            net = kinds.GAN()
            if planned:
                mt.apply(net.g, plan(again("0", "1"), run("offload", "2")))
                mt.apply(net.d, plan(again("0"), again("1", "2")))
            for seed in range(3):
                net.step(seed)
            nets.append(net)
        for part in ("g", "d"):
            a, b = (getattr(n, part) for n in nets)
            self.assertEqual(different(a, b), [], part)
            for (n, p), (_, q) in zip(a.named_parameters(), b.named_parameters()):
                self.assertTrue(torch.equal(p, q), "%s: weight %s" % (part, n))

    def test_numbers_of_pytorchs_own(self):
        """The hooks of a trace may add an operator on a single number; others may not."""
        graph = gathered("bn", temps=False)
        names = [o["name"] for o in graph.data["ops"]]
        graph.data["ops"].insert(5, dict(graph.data["ops"][5], name="aten._to_copy.default", new=[]))
        self.assertEqual([k for _, k in graph.paired(names)], list(range(len(names))))
        with self.assertRaises(mt.OtherOperators):
            graph.paired(names + ["aten.mul.Tensor"])
        with self.assertRaises(mt.OtherOperators):
            graph.paired(names[1:])


class Refusals(unittest.TestCase):
    def refused(self, words, f, *args, error=mt.PlanError, **kwargs):
        with self.assertRaises(error) as e:
            f(*args, **kwargs)
        self.assertIn(words, str(e.exception))

    def test_no_loss(self):
        net, _, kwargs, _, _ = made("gpt")
        self.refused("The model returns a Out with logits and no loss: say loss=lambda out: ..., or pass labels.", mt.collect, net, (), {"input_ids": kwargs["input_ids"]},
                     child=False, error=mt.CollectError)

    def test_two_runs_differ(self):
        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.l, self.n = nn.Linear(4, 4), 0

            def forward(self, x):
                Net.n = getattr(Net, "n", 0) + 1
                return (self.l(x) * 2 if Net.n % 2 else self.l(x) + 2).sum()

        self.refused("The model does not do the same operators twice (the model: aten.mul.Tensor, then aten.add.Tensor): something beside its weights, its arguments and random numbers says what it does, such as a count of its calls; keep that as it is while you collect.",
                     mt.collect, Net(), (torch.randn(2, 4),), child=False, error=mt.CollectError)

    @unittest.skipUnless(FAKE, "shapes alone need PyTorch 2.1")
    def test_values_needed(self):
        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.l = nn.Linear(4, 4)

            def forward(self, x):
                y = self.l(x)
                return y[y.sum(1).nonzero()[:, 0]].sum()

        with self.assertRaises(mt.CollectError) as e:
            mt.collect(Net(), (torch.randn(2, 4),), temps=False, real=False)
        self.assertRegex(str(e.exception), r"^aten.nonzero needs values \(test_plans.py:\d+\): collect with real=True.$")
        with self.assertWarnsRegex(UserWarning, r"aten.nonzero needs values \(test_plans.py:\d+\), which shapes alone do not have"):
            mt.collect(Net(), (torch.randn(2, 4),), temps=False)

    def test_names_and_classes(self):
        net = made("gpt")[0]
        self.refused("The plan names module transformer.h.0, and the model has none of that name; it has wte, wpe, h, h.0 ...: collect this model and solve again.",
                     mt.apply, net, plan(again("transformer.h.0")))
        stale = dict(plan(again("h.3")), model={"units": ["h.3"], "classes": ["LlamaLayer"]})
        self.refused("h.3 is a Block, and the plan was made for a LlamaLayer: collect this model and solve again.", mt.apply, net, stale)
        self.refused("This is no plan of memtide", mt.apply, net, {"format": "memtide/1"})
        self.refused("wants to sell h.3", mt.apply, net, plan(run("sell", "h.3")))
        self.refused("has the prefetch -1 for h.3", mt.apply, net, plan(run("offload", "h.3", prefetch=-1)))
        self.refused("wants to sell the input of h.3", mt.apply, net, plan(again("h.3", input="sell")))

    def test_applied_twice(self):
        net, args, kwargs, loss, cast = made("gpt")
        mt.apply(net, plan(again("h.3")))
        self.refused("A plan is applied to this model already: remove() it first.", mt.apply, net, plan(again("h.4")))
        self.refused("A plan is applied to this model: remove() it first.", mt.collect, net, args, kwargs, error=mt.CollectError)

    @unittest.skipIf(mt.VERSION >= (2, 4), "it can")
    def test_single_operators(self):
        self.refused("The plan keeps single operators of h.0; that needs PyTorch 2.4 or later and this is %s. Solve with -class nested." % torch.__version__,
                     mt.apply, made("gpt")[0], plan(trained.SEGMENTS["sac"][0]))

    @unittest.skipUnless(FAKE, "torch.compile needs PyTorch 2")
    def test_compiled(self):
        net, *rest = made("gpt")
        net.h[0].compile(backend="aot_eager")
        self.refused("h.0 was compiled with module.compile(), which would compile the plan, too: compile its forward instead (m.forward = torch.compile(m.forward)), then apply the plan.",
                     mt.apply, net, plan(again("h.0")))
        self.refused(mt.WHOLE_COMPILE, mt.apply, torch.compile(made("gpt")[0], backend="aot_eager"), plan(again("h.0")))
        net, args, kwargs, loss, cast = made("gpt")
        mt.apply(net, plan(again("h.0")))  # and one that is compiled after it
        self.refused(mt.WHOLE_COMPILE, step, torch.compile(net, backend="aot_eager"), args, kwargs, loss, cast, error=Exception)

    def test_in_place_on_an_input(self):
        torch.manual_seed(0)
        net = nn.Sequential(nn.Conv2d(3, 8, 3), nn.BatchNorm2d(8), nn.ReLU(inplace=True), nn.Conv2d(8, 8, 3))
        mt.apply(net, plan(again("2"), again("3")))
        self.refused("An input of 2 was changed in place after it had been kept: the module's in-place operation belongs to the same unit. Collect again.",
                     net(torch.randn(2, 3, 8, 8)).sum().backward, error=RuntimeError)

    def test_not_repeatable(self):
        class Odd(nn.Module):
            def __init__(self):
                super().__init__()
                self.l, self.change = nn.Linear(8, 8), None

            def forward(self, x):
                y = self.l(x)
                if self.change == "shape":
                    return y[:1].tanh() + y
                return y if self.change == "less" else y.tanh()

        for change, words in (("shape", "computed (1, 8) float32 the second time and (4, 8) float32 the first"), ("less", "computed fewer values again than it kept the first time")):
            net = nn.Sequential(nn.Linear(8, 8), Odd(), nn.Linear(8, 8))
            mt.apply(net, plan(again("1")))
            y = net(torch.randn(4, 8))
            net[1].change = change
            self.refused("1 " + words, y.sum().backward, error=RuntimeError)

    def test_cache_in_arguments(self):
        class DynamicCache:
            def __init__(self):
                self.keys = []

        class Block(nn.Module):
            def __init__(self):
                super().__init__()
                self.l = nn.Linear(8, 8)

            def forward(self, x, cache):
                cache.keys.append(self.l(x).detach())
                return self.l(x)

        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.h = Block()

            def forward(self, x):
                return self.h(x, DynamicCache()).sum()

        net = Net()
        mt.apply(net, plan(again("h")))
        self.refused("h gets a DynamicCache and changes it; running it again would append twice: train with use_cache=False.", net, torch.randn(2, 8))

    def test_other_things_in_arguments(self):
        """What cannot be put back is refused; what stays as it is runs."""

        class Count:
            n = 0

            def __init__(self):
                self.calls, self.names = 0, set()

        changes = {"deque": (collections.deque, lambda x: x.append(1)), "set": (set, lambda x: x.add(1)), "OrderedDict": (collections.OrderedDict, lambda x: x.update(a=1)),
                   "Count": (Count, lambda x: setattr(x, "calls", x.calls + 1)), "Count ": (Count, lambda x: x.names.add(2))}
        for name, (kind, change) in changes.items():
            class Block(nn.Module):
                def __init__(self):
                    super().__init__()
                    self.l, self.change = nn.Linear(8, 8), None

                def forward(self, x, other):
                    if self.change:
                        self.change(other)
                    return self.l(x).tanh()

            class Net(nn.Module):
                def __init__(self):
                    super().__init__()
                    self.h = Block()

                def forward(self, x):
                    return self.h(x, kind()).sum()

            net = Net()
            mt.apply(net, plan(again("h")))
            net(torch.randn(2, 8)).backward()
            net.h.change = change
            self.refused("h gets a %s and changes it" % name.strip(), net, torch.randn(2, 8))

    def test_other_wrappers(self):
        net = made("gpt")[0]
        self.refused("DataParallel copies the model each step, and the plan with it is not tested: use DistributedDataParallel.", mt.apply, nn.DataParallel(net), plan(again("h.0")))
        net.is_gradient_checkpointing = True
        self.refused("model.is_gradient_checkpointing is on and would nest with the plan: call gradient_checkpointing_disable() first.", mt.apply, net, plan(again("h.0")))
        net.is_gradient_checkpointing = False
        net.h[2].__class__ = type("FSDPModule", (type(net.h[2]),), {})
        self.refused("FSDP is not supported yet: its parameters would be missing when h.2 runs again.", mt.apply, net, plan(again("h.0")))

    @unittest.skipUnless(mt.VERSION >= (2, 4), "FSDP needs a GPU")
    def test_sharded(self):
        """A model that FSDP has taken apart, before apply or after it."""
        import torch.distributed as dist
        from torch.distributed.fsdp import FullyShardedDataParallel as FSDP

        with tempfile.TemporaryDirectory() as folder:
            os.environ["USE_LIBUV"] = "0"
            dist.init_process_group("gloo", rank=0, world_size=1, init_method="file://" + os.path.join(folder, "meet"))
            try:
                for names in (True, False):
                    for when in ("before", "after"):
                        torch.manual_seed(0)
                        net = nn.Sequential(nn.Linear(8, 8), nn.Sequential(nn.Linear(8, 8), nn.Tanh()), nn.Linear(8, 1))
                        shard = lambda m: FSDP(m, device_id=torch.device("cpu"), use_orig_params=names)
                        words = "FSDP is not supported yet: its parameters would be missing when"
                        if when == "before":
                            self.refused(words, mt.apply, shard(net), plan(again("1")))
                            continue
                        mt.apply(net, plan(again("1")))
                        self.refused(words, shard(net), torch.randn(2, 8))
            finally:
                dist.destroy_process_group()

    def test_own_checkpoints(self):
        for reentrant in (False, True):
            net, args, kwargs, loss = kinds.checkpointed(reentrant)
            self.refused(mt.OWN_CHECKPOINTS, mt.collect, net, args, kwargs, loss, child=False, error=mt.CollectError)
            step(net, args, kwargs, loss, None)  # and goes on by itself

    def test_sparse_gradients(self):
        with self.assertRaisesRegex(mt.CollectError, r"aten.*sparse.* makes a tensor of layout sparse_coo, whose memory is not counted: collect with dense gradients \(sparse=False\)."):
            mt.collect(*kinds.sparse())

    def test_torchscript(self):
        self.refused("0 is a TorchScript module, whose forward cannot be replaced: apply the plan to the module that it was made of.", mt.apply, kinds.scripted()[0], plan(again("0")))

    def test_too_little_memory(self):
        net, known = made("gpt")[0], mt.free_memory
        mt.free_memory = lambda device: 15 << 30
        try:
            self.refused("The plan needs 20.0 GiB beside", mt.apply, net, dict(plan(again("h.0")), predicted={"peak_bytes": 20 << 30}))
            mt.apply(net, dict(plan(again("h.0")), predicted={"peak_bytes": 14 << 30}))
        finally:
            mt.free_memory = known

    def test_other_inputs(self):
        graph = gathered("gpt", temps=False)
        p = mt.every_nth(graph, 2)
        net, args, kwargs, loss, cast = made("gpt")
        short = {k: v[:2, :20].contiguous() for k, v in kwargs.items()}
        handle = mt.apply(net, p, strict=True)
        self.refused("The plan is strict: planned for 4x32, 4x32, running 2x20, 2x20.", step, net, args, short, loss, cast)
        handle.remove()
        mt.apply(net, p)
        with warnings.catch_warnings(record=True) as seen:
            warnings.simplefilter("always")
            step(net, args, short, loss, cast), step(net, args, short, loss, cast)
        said = [str(w.message) for w in seen if "memtide" in str(w.message)]
        self.assertEqual(said, ["memtide: planned for 4x32, 4x32, running 2x20, 2x20"], "said once")

    def test_several_shapes(self):
        """Each input runs by its own plan, and one that none was made for plainly."""
        net, args, kwargs, loss, cast = made("gpt")
        cut = lambda batch, length: {k: v[:batch, :length].contiguous() for k, v in kwargs.items()}
        sizes = ((4, 32), (2, 32), (2, 20))
        graphs = [mt.collect(net, args, cut(*size), loss, cast, temps=False) for size in sizes]
        plans = [mt.every(graphs[0]), mt.every_nth(graphs[1], 2), mt.segments(graphs[2], ["h.0", "h.1"])]
        one = json.loads(json.dumps(mt.several(plans[0], mt.several(*plans[1:]))))
        a, b = copy.deepcopy(net), copy.deepcopy(net)
        mt.apply(b, one)
        ran = []
        frame = mt.Frame.__init__
        mt.Frame.__init__ = lambda self, rt, seg: (ran.append(seg["units"]), frame(self, rt, seg))[1]
        try:
            with warnings.catch_warnings(record=True) as seen:
                warnings.simplefilter("always")
                for size, p in list(zip(sizes, plans)) + [((3, 30), {"segments": []})] * 2:
                    del ran[:]
                    step(a, args, cut(*size), loss, cast), step(b, args, cut(*size), loss, cast)
                    self.assertEqual(different(a, b), [], "%dx%d" % size)
                    self.assertEqual(ran, [s["units"] for s in p["segments"]], "%dx%d: what ran again" % size)
        finally:
            mt.Frame.__init__ = frame
        said = [str(w.message) for w in seen if "memtide" in str(w.message)]
        self.assertEqual(said, ["memtide: planned for 4x32, 4x32 and for 2x32, 2x32 and for 2x20, 2x20, running 3x30, 3x30, plainly"], "said once")
        other = dict(plans[1], model=dict(plans[1]["model"], units=["g.0"]))
        self.refused("These plans are of different models", mt.several, plans[0], other)
        self.refused("The plan is strict: planned for", step, mt.apply(copy.deepcopy(net), one, strict=True).model, args, cut(3, 30), loss, cast)

    def test_strict_counts_the_models_operators_only(self):
        """A plan copies buffers, states and blocks; that is not the model's work."""
        for name in ("resnet", "unet"):
            graph = gathered(name, temps=False)
            a, b, *rest = two(made(name))
            handle = mt.apply(b, dict(mt.every(graph), segments=trained.SEGMENTS[name]), strict=True)
            step(a, *rest), step(b, *rest)
            self.assertEqual(different(a, b), [], name)
            handle.remove()

    def test_other_operators(self):
        net, args, kwargs, loss, cast = made("gpt")
        p = mt.every_nth(gathered("gpt", temps=False), 2)
        net.ln_f = nn.Identity()
        p["model"].update(units=[], classes=[], modules_sha="")
        mt.apply(net, p, strict=True)
        self.refused("The model does other operators than the one that the plan was made for", step, net, args, kwargs, loss, cast)

    @unittest.skipUnless(FAKE and hasattr(os, "fork"), "shapes alone need PyTorch 2.1")
    def test_a_crash_takes_nothing_along(self):
        self.refused("The collecting process ended (signal 9) before it had written anything", mt.in_child, lambda: os.kill(os.getpid(), 9), error=mt.CollectError)


if __name__ == "__main__":
    done = unittest.main(verbosity=1, exit=False)
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(not done.result.wasSuccessful())  # oneDNN of some builds crashes at the end
