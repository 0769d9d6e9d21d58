"""The package memtide and the one file that is made of it: each collects a step,
applies a plan, and gradients are those of the plain model."""
import copy
import importlib
import os
import subprocess
import sys
import tempfile
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
ABOVE = os.path.dirname(HERE)
PACKAGE = os.path.join(ABOVE, "python")
PYTHON = os.environ.get("PYTHON", sys.executable)
sys.path[:0] = [HERE, ABOVE, PACKAGE]

import torch  # noqa: E402
import trained  # noqa: E402
from trained import different, step  # noqa: E402

torch.set_num_threads(1)


class Both(unittest.TestCase):
    def test_gradients(self):
        peaks = []
        for name in ("memtide", "memtide_torch"):
            mt = importlib.import_module(name)
            net, args, kwargs, loss, cast = trained.gpt()
            graph = mt.collect(net, args, kwargs, loss, cast)
            plan = mt.every(graph)
            peaks.append((graph.play().peak, graph.play(plan).peak))
            self.assertLess(peaks[-1][1], peaks[-1][0], name)
            a, b = net, copy.deepcopy(net)
            mt.apply(b, plan, strict=True)
            step(a, args, kwargs, loss, cast), step(b, args, kwargs, loss, cast)
            self.assertEqual(different(a, b), [], name)
        self.assertEqual(*peaks)

    def test_names(self):
        a, b = (importlib.import_module(name) for name in ("memtide", "memtide_torch"))
        self.assertEqual(a.__all__, b.__all__)
        for name in a.__all__:
            self.assertTrue(hasattr(a, name) and hasattr(b, name), name)

    def test_lines_of_the_model(self):
        """A refusal names the line of the model, not one of the package."""
        from memtide import operators, tracing

        here = self.test_lines_of_the_model.__func__.__code__
        self.assertEqual(operators.line_of([(tracing.Trace.poll.__code__, 1), (here, 7)]), "test_package.py:7")

    def test_command(self):
        with tempfile.TemporaryDirectory() as folder:
            with open(os.path.join(folder, "mine.py"), "w") as f:
                f.write("import trained\ndef factory():\n    return trained.gpt()[:3]\n")
            said = []
            for way in (["-m", "memtide"], [os.path.join(ABOVE, "memtide_torch.py")]):
                env = dict(os.environ, PYTHONPATH=os.pathsep.join([HERE, folder, PACKAGE]))
                done = subprocess.run([PYTHON, "-B", *way, "mine:factory", "-o", "net.json"], env=env, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
                self.assertEqual(done.returncode, 0, done.stderr)
                said.append(done.stdout.split("; took")[0])
            self.assertEqual(*said)


if __name__ == "__main__":
    unittest.main()
