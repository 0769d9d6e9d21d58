"""The package memtide and the one file that is made of it: each collects a step,
applies a plan, and gradients are those of the plain model."""
import copy
import importlib
import os
import subprocess
import sys
import tempfile
import types
import unittest
from unittest import mock

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

    def test_plan(self):
        """The command finds a plan for a graph and for a model, within the budget; without
        the command, and where no plan fits, it says why."""
        import memtide as mt

        net, args, kwargs, loss, cast = trained.gpt()
        graph = mt.collect(net, args, kwargs, loss, cast, progress=True)
        plan = mt.plan(graph, "80%")
        self.assertEqual(graph.play(plan).peak, plan["predicted"]["peak_bytes"])
        self.assertLessEqual(plan["predicted"]["peak_bytes"], plan["budget_bytes"])
        self.assertEqual(mt.plan(net, "80%", args, kwargs, loss, autocast=cast)["segments"], plan["segments"])
        self.assertRaisesRegex(mt.PlanError, "no plan of class nested was found", mt.plan, graph, "1%")
        self.assertRegex(repr(graph), "^<memtide graph .*operators, .* units, keeping everything takes .*MiB>$")
        self.assertRegex(repr(plan), "class nested: .* of .* units run again; peak .* instead of ")
        self.assertRegex(repr(graph.play(plan)), "^<memtide played: peak ")
        self.assertEqual(graph._repr_html_().count("<tr>"), 1 + len(graph.units()))
        self.assertEqual(plan._repr_html_().count("<tr>"), 1 + len(plan["segments"]))
        with mock.patch("memtide.command.command", lambda: None):
            self.assertRaisesRegex(mt.PlanError, "The command memtide is not here: install the wheel", mt.plan, graph)

    def test_show(self):
        """The page is opened with a link to the network in it."""
        import memtide as mt
        from memtide.showing import framed

        net, args, kwargs, loss, cast = trained.gpt()
        graph = mt.collect(net, args, kwargs, loss, cast, temps=False)
        with tempfile.TemporaryDirectory() as folder, mock.patch("memtide.showing.PAGE", os.path.join(folder, "memtide.html")):
            self.assertRaisesRegex(mt.PlanError, "The page is not beside this program", graph.show, browser=False)
            self.assertEqual(framed("<body ><script>1</script>", "a net", 10).count("</script>"), 1)  # a page does not end the script that holds it
            with open(os.path.join(folder, "memtide.html"), "w") as f:
                f.write('<body data-state="solving"><p>')
            with open(graph.show("80%", browser=False)) as f:
                self.assertRegex(f.read(), '^<body data-link="v=1&amp;(?=[^"]*m=80%25&amp;)[^"]*&amp;d=1[.][^"]*" data-state="solving"><p>$')

    def test_trainer(self):
        """The loop of Transformers' Trainer, by its protocol: every callback hears each event
        as a method of that name with args, state, control and the model by name."""
        import memtide as mt

        nothing = lambda self, args, state, control, **kwargs: None
        base = type("TrainerCallback", (), dict.fromkeys(("on_train_begin", "on_step_begin", "on_step_end", "on_train_end"), nothing))
        with mock.patch.dict(sys.modules, transformers=types.SimpleNamespace(TrainerCallback=base)):
            self.trains(mt.trainer_callback, lambda callback, event, model: getattr(callback, event)(None, None, None, model=model, optimizer=None))

    def test_lightning(self):
        """The loop of Lightning, by its protocol: events have the trainer and the module."""
        import memtide as mt

        nothing = lambda self, trainer, pl_module: None
        base = type("Callback", (), dict.fromkeys(("on_fit_start", "on_train_start", "on_train_end", "on_fit_end"), nothing))
        lightning = types.SimpleNamespace(Callback=base)
        names = {"on_train_begin": ("on_fit_start", "on_train_start"), "on_train_end": ("on_train_end", "on_fit_end")}
        with mock.patch.dict(sys.modules, {"lightning": types.SimpleNamespace(pytorch=lightning), "lightning.pytorch": lightning}):
            self.trains(lambda plan: mt.lightning_callback(plan, module=lambda whole: whole.net),
                        lambda callback, event, model: [getattr(callback, name)(None, types.SimpleNamespace(net=model)) for name in names.get(event, ())])

    def trains(self, make, tell):
        """Trains by a callback: units run twice while it does, no more afterwards, and
        gradients are those of the plain model."""
        import memtide as mt

        net, args, kwargs, loss, cast = trained.gpt()
        graph = mt.collect(net, args, kwargs, loss, cast, temps=False)
        callback = make(mt.every(graph))
        a, b, runs = net, copy.deepcopy(net), []
        unit = dict(b.named_modules())[graph.units()[1]]
        plain = type(unit).forward
        with mock.patch.object(type(unit), "forward", lambda self, *args, **kwargs: (runs.append(self), plain(self, *args, **kwargs))[1]):
            tell(callback, "on_train_begin", b)
            tell(callback, "on_step_begin", b)
            step(a, args, kwargs, loss, cast), step(b, args, kwargs, loss, cast)
            tell(callback, "on_step_end", b)
            self.assertEqual(sum(m is unit for m in runs), 2)
            self.assertEqual(different(a, b), [])
            tell(callback, "on_train_end", b)
            step(b, args, kwargs, loss, cast)
            self.assertEqual(sum(m is unit for m in runs), 3)

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
