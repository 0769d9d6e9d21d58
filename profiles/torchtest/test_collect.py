"""Tests of the collector: sizes against the allocator and against figures that
are worked out by hand, stages, refusals, the link."""
import json
import os
import subprocess
import sys
import tempfile
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
DATA = os.path.join(os.path.dirname(ROOT), "shared", "data")
PYTHON = os.environ.get("PYTHON", sys.executable)  # a build that is no system's may need its own start
sys.path[:0] = [HERE, os.path.dirname(HERE)]

import memtide_torch as collect  # noqa: E402
import models  # noqa: E402
import torch  # noqa: E402
from torch import nn  # noqa: E402


def rows_of(stages, x, reps=0, loss="none"):
    for _, m in stages:
        m.to(x.device).train()
    rows, _, stages = collect.stage_rows(stages, x, reps, loss)
    return rows, stages


def with_output(row):
    """The saved set of a stage as recorded ones count it: the output is in it."""
    return row["saved_bytes"] + (row["output_bytes"] if row.get("output_unsaved") else 0)


def meta(shape):
    return torch.empty(shape, device="meta")


class Stages(unittest.TestCase):
    def test_sizes_by_hand(self):
        # 2x4x8x8 floats are 2048 bytes. The convolution keeps its input, which is
        # not counted, and its output. ReLU in place joins batch normalisation,
        # whose input is the stage's: left are its output and two statistics of 4
        # floats. Pooling keeps its input, its output and indices of 8 bytes.
        net = nn.Sequential(nn.Conv2d(3, 4, 3, padding=1), nn.BatchNorm2d(4), nn.ReLU(inplace=True), nn.MaxPool2d(2), nn.Flatten(), nn.Linear(64, 5))
        rows, _ = rows_of(collect.children(net, False), meta([2, 3, 8, 8]))
        got = [(r["name"], r["kind"], r["output_bytes"], r["saved_bytes"], r["grad_bytes"]) for r in rows]
        want = [("0", "conv", 2048, 2048, 2048), ("1+2", "norm", 2048, 2048 + 32, 2048), ("3+4", "pool", 512, 512 + 1024, 512),
                ("5", "fc", 40, 40, 40), ("loss", "loss", 0, 0, 0)]
        self.assertEqual(got, want)

    def test_in_place_at_the_beginning(self):
        with self.assertRaisesRegex(collect.CollectError, "in place"):
            rows_of([("relu", nn.ReLU(inplace=True)), ("fc", nn.Linear(4, 4))], meta([2, 4]))

    def test_nested(self):
        net = nn.Sequential(nn.Sequential(nn.Linear(4, 4), nn.Tanh()), nn.Linear(4, 4))
        self.assertEqual([n for n, _ in collect.children(net, False)], ["0", "1"])
        self.assertEqual([n for n, _ in collect.children(net, True)], ["0.0", "0.1", "1"])

    def test_traced_stages_compute_the_same(self):
        torch.manual_seed(1)
        import torchvision

        net = torchvision.models.resnet18().eval()
        x = torch.randn(2, 3, 64, 64)
        with torch.no_grad():
            want = net(x)
            y = x
            for _, stage in collect.traced(net, []):
                y = stage.eval()(y)
        self.assertTrue(torch.equal(y, want), "the stages of resnet18 one after the other give something else")

    def test_traced_names(self):
        stages, _ = collect.network("resnet18")
        self.assertEqual([n for n, _ in stages], ["conv1", "bn1+relu", "maxpool"] + ["layer%d.%d" % (i, k) for i in range(1, 5) for k in range(2)] + ["avgpool+flatten", "fc"])

    def test_cuts(self):
        stages, _ = collect.network("resnet18", cuts=["layer1", "layer3"])
        self.assertEqual(len(stages), 3)
        with self.assertRaisesRegex(collect.CollectError, "layer1.0.conv1 is not a cut"):
            collect.network("resnet18", cuts=["layer1.0.conv1"])
        with self.assertRaisesRegex(collect.CollectError, "no module nothing"):
            collect.network("resnet18", cuts=["nothing"])

    def test_unknown_network(self):
        with self.assertRaisesRegex(collect.CollectError, "resnet19"):
            collect.network("resnet19")


class Measured(unittest.TestCase):
    def test_measured_sizes_are_those_of_shapes(self):
        for factory in (models.resnet, models.vgg, models.gpt):
            net, x = factory()
            ids = not x.is_floating_point()
            here = torch.randint(0, 100, x.shape) if ids else torch.randn(x.shape)
            real, _ = rows_of(collect.children(net, False), here, 1)
            shapes, _ = rows_of(collect.children(factory()[0], False), torch.empty_like(x, device="meta"))
            for r, s in zip(real, shapes):
                where = "%s, stage %s: measured and from shapes" % (factory.__name__, r["name"])
                for key in ("name", "kind", "output_bytes", "output_unsaved", "grad_bytes"):
                    self.assertEqual(r.get(key), s.get(key), where)
                # Some versions keep the numbers that tensors are divided by, 4 or 8
                # bytes each, and have them on the CPU whatever the device.
                self.assertLessEqual(abs(r["saved_bytes"] - s["saved_bytes"]), 16, where)

    def test_saved_sets_are_what_the_allocator_holds(self):
        net, x = models.resnet()
        x = torch.randn(x.shape)
        _, stages = rows_of(collect.children(net, False), x)
        for name, m in stages:
            h = x.detach().requires_grad_(True)
            _, saved, _ = collect.saved_set(m, h)
            kept = []
            from torch.profiler import ProfilerActivity, profile

            with profile(activities=[ProfilerActivity.CPU], profile_memory=True) as p:
                kept.append(m(h))
            held = sum(e.nbytes() for e in p.profiler.kineto_results.events() if e.name() == "[memory]")
            self.assertEqual(saved, held, "stage %s: bytes that autograd keeps, and bytes that the allocator did not get back" % name)
            x = kept[0].detach()


    def test_unsaved_outputs(self):
        """A ReLU and a pool with indices keep their own results or inputs, a
        normalisation and a convolution their inputs, dropout a mask: nobody keeps
        what the normalisations and the pool before the dropout write."""
        net, x = models.normalised()
        rows, _ = rows_of(collect.children(net, False), x)
        got = [r["name"] for r in rows if r.get("output_unsaved")]
        self.assertEqual(got, ["1", "4", "8", "11", "14", "16+17"])
        norm = rows[1]
        self.assertEqual((norm["output_bytes"], norm["saved_bytes"]), (8 * 16 * 48 * 48 * 4, 2 * 16 * 4), "output, and the two statistics that are saved")
        self.assertIn('"saved_bytes":128,"output_unsaved":true,"grad_bytes"', collect.text_of({"stages": rows[:-1], "loss": rows[-1]}))
        in_place, x = models.resnet()
        rows, _ = rows_of(collect.children(in_place, False), x)
        self.assertEqual([r["name"] for r in rows if r.get("output_unsaved")], [], "outputs that a residual block or a pool keeps")

    def test_keeping_everything_is_a_plain_step(self):
        """The predicted peak of keeping everything is the measured one of a step
        that nobody has changed, within two per cent."""
        collect.torch.set_num_threads(1)
        for factory in (models.normalised, models.unet, models.resnet, models.vgg, models.gpt):
            for loss in ("none", "cross_entropy"):
                net, x = factory()
                x = torch.randint(0, 100, x.shape) if not x.is_floating_point() else torch.randn(x.shape)
                rows, stages = rows_of(collect.children(net, False), x, 1, loss)
                p = {"stages": rows[:-1], "loss": rows[-1], "input_bytes": collect.nbytes(x), "input_grad_bytes": 0, "resident": collect.resident(stages, "none")}
                predicted = collect.keep_everything(p)
                plain = collect.plain_peak(stages, x, loss) + collect.nbytes(x) + sum(p["resident"].values())
                off = 100 * (predicted / plain - 1)
                print("%s, loss %s: predicted %.2f MiB, a plain step %.2f MiB, %+.2f %%" % (factory.__name__, loss, predicted / 2**20, plain / 2**20, off))
                self.assertLess(abs(off), 2, "%s, loss %s: predicted %d bytes, a plain step %d" % (factory.__name__, loss, predicted, plain))


@unittest.skipUnless(collect.TorchDispatchMode, "the model of times needs PyTorch 1.13")
class Modelled(unittest.TestCase):
    def times(self, module, x, wants=True, **options):
        row, _, _ = collect.measure("x", module.to("meta"), x, wants, 0, collect.Model("v100-pcie-16gb", False, **options))
        return row["forward_ns"], row["backward_ns"]

    def near(self, got, want, what):
        for g, w, which in zip(got, want, ("forward", "backward")):
            self.assertAlmostEqual(g / 1e9, w, delta=2e-9, msg="%s, %s in seconds" % (what, which))

    def test_operators_by_hand(self):
        m = collect.Model("v100-pcie-16gb", False)
        size = 8 * 64 * 16 * 16 * 4  # bytes of an activation
        macs = 8 * 64 * 16 * 16 * 64 * 9
        x = meta([8, 64, 16, 16])
        conv = m.conv("mid", macs, 2 * size)
        both = lambda *times: tuple(map(sum, zip(*times)))
        cases = {
            "a convolution": (nn.Conv2d(64, 64, 3, padding=1), x, conv),
            "a transposed one": (nn.ConvTranspose2d(64, 64, 3, padding=1), x, conv),
            "normalisation and an activation in place": (nn.Sequential(nn.BatchNorm2d(64), nn.ReLU(inplace=True)), x, both(m.element("norm", size), m.element("activation", size))),
            "dropout": (nn.Dropout(), x, m.element("dropout", size)),
            "views": (nn.Sequential(nn.Flatten(), nn.Unflatten(1, (64, 16, 16))), x, (0, 0)),
            "pooling": (nn.MaxPool2d(2), x, m.max_pool(size, size // 4)),
            "a linear layer": (nn.Linear(256, 32), meta([8, 256]), m.product(8 * 256 * 32, 256 * 32 * 4)),
        }
        for what, (module, x, want) in cases.items():
            self.near(self.times(module, x), want, what)

    def test_attention(self):
        """Scores and their use are two products without weights."""

        class Scores(nn.Module):
            def forward(self, x):
                return x @ x.transpose(-2, -1) @ x

        m = collect.Model("v100-pcie-16gb", False)
        one = m.product(6 * 128 * 128 * 32, 0)
        self.near(self.times(Scores(), meta([6, 128, 32])), (2 * one[0], 2 * one[1]), "x x' x")

    def test_no_backward_where_nothing_learns(self):
        forward, backward = self.times(nn.ReLU(), meta([8, 64]), wants=False)
        self.assertGreater(forward, 0)
        self.assertEqual(backward, 0)

    def test_recorded(self):
        with open(os.path.join(HERE, "testdata", "resnet50-meta.json")) as f:
            want = json.load(f)
        stages, _ = collect.network("resnet50")
        for _, module in stages:
            module.to("meta").train()
        rows, _, _ = collect.stage_rows(stages, meta([32, 3, 224, 224]), 0, model=collect.Model("v100-pcie-16gb", False))
        for r, w in zip(rows, want["stages"] + [want["loss"]]):
            self.near((r["forward_ns"], r["backward_ns"]), (w["forward_s"], w["backward_s"]), "ResNet-50, stage " + w["name"])


@unittest.skipUnless(os.path.isdir(DATA), "the recorded sizes are not here: %s" % DATA)
class Recorded(unittest.TestCase):
    def test_sizes_of_shapes(self):
        made = {"resnet200": "models:resnet200", "resnet1001": "models:resnet1001"}
        folder, compared = os.path.join(DATA, "torch_meta"), 0
        for file in sorted(os.listdir(folder)):
            with open(os.path.join(folder, file)) as f:
                want = json.load(f)
            name, size = want["name"].rsplit("-", 1)
            stages, _ = collect.network(made.get(name, name))
            for _, m in stages:
                m.to("meta")
            rows, _ = rows_of(stages, meta([2, 3, int(size), int(size)]))
            self.assertEqual(len(rows) - 1, len(want["stages"]), "%s: stages" % want["name"])
            for r, w in zip(rows, want["stages"]):
                self.assertEqual((r["output_bytes"] // 2, with_output(r) // 2, r["grad_bytes"] // 2), (w["a_bytes"], w["abar_bytes"], w["delta_bytes"]),
                                 "%s, stage %s (theirs is %s): output, saved set and gradient per image" % (want["name"], r["name"], w["name"]))
                compared += 1
        print("recorded sizes: %d stages of %d networks compared" % (compared, len(os.listdir(folder))))

    def test_sizes_of_measurements(self):
        cases = {"resnet18-b4-64": ("resnet18", torch.randn(4, 3, 64, 64)), "gpt-L4-h256-a8-s128-b4": ("models:blocks", torch.randn(4, 128, 256))}
        for file, (name, x) in cases.items():
            with open(os.path.join(DATA, "torch_cpu", file + ".chain.json")) as f:
                want = json.load(f)["stages"][:-1]
            stages, _ = collect.network(name)
            rows, _ = rows_of(stages, x, 1)
            self.assertEqual(len(rows) - 1, len(want))
            for i, (r, w) in enumerate(zip(rows, want)):
                number = 8 if file.startswith("gpt") and collect.VERSION >= (2, 0) else 0  # recorded with 1.13, whose division keeps its divisor
                self.assertEqual((r["output_bytes"], with_output(r), r["grad_bytes"]), (w["a_bytes"], w["abar_bytes"] - number, w["delta_bytes"]), "%s, stage %s" % (file, w["name"]))
                if i:  # theirs made a gradient of the network's input, too
                    self.assertLessEqual(r["backward_temp_bytes"], w["oB_bytes"], "%s, stage %s: theirs held the output" % (file, w["name"]))
                    self.assertEqual(r["forward_temp_bytes"], w["oF_bytes"] + number, "%s, stage %s" % (file, w["name"]))


class Files(unittest.TestCase):
    def test_file_and_link(self):
        with tempfile.TemporaryDirectory() as folder:
            file = os.path.join(folder, "net.json")
            script = os.path.join(os.path.dirname(HERE), "collect.py")
            env = dict(os.environ, PYTHONPATH=HERE)
            run = lambda *args: subprocess.run([PYTHON, script] + list(args), env=env, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
            made = run("models:vgg", "--device", "cpu", "--input", "2x3x48x48", "--reps", "2", "--loss", "cross_entropy", "-o", file)
            self.assertEqual(made.returncode, 0, made.stderr)
            again = run("--link", file)
            self.assertEqual(again.stdout.strip().splitlines()[-1], made.stdout.strip().splitlines()[-1], "the link of the file is the link that was printed")
            shapes = run("models:vgg", "--meta", "--times", "a100-sxm-40gb", "--efficiency", "50", "-o", file)
            self.assertEqual(shapes.returncode, 0, shapes.stderr)
            with open(file) as f:
                source = json.load(f)["source"]
            self.assertEqual((source["sizes"], source["device"]), ("exact", "a100-sxm-40gb, 32-bit" if collect.TorchDispatchMode else ""))
            if collect.TorchDispatchMode:
                self.assertEqual(source["times"], "estimated")
                self.assertIn("products at 50 % of the peak of 19.5 TFLOP/s", source["notes"][-1])
            untimed = run("models:vgg", "--meta", "--times", "none", "-o", file)
            self.assertIn("forward 0.000 ms", untimed.stdout, untimed.stderr)
            self.assertIn("--efficiency is 0", run("models:vgg", "--meta", "--efficiency", "0").stderr)
            refused = run("torchvision_has_no_such_model")
            self.assertEqual((refused.returncode, refused.stdout.count("#v=1")), (1, 0))
            self.assertIn("torchvision has no model", refused.stderr)


if __name__ == "__main__":
    unittest.main()
