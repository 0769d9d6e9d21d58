"""Runs exported schedules: gradients, buffers and random numbers are those of a
plain step, and memory and time are compared with what memtide predicts.

MEMTIDE is the path of the program memtide."""
import contextlib
import importlib.util
import json
import os
import re
import statistics
import subprocess
import sys
import tempfile
import time
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.dirname(HERE)]

import memtide_torch as collect  # noqa: E402
import models  # noqa: E402
import torch  # noqa: E402
from torch import nn  # noqa: E402
from torch.profiler import ProfilerActivity, profile  # noqa: E402

MEMTIDE = os.environ.get("MEMTIDE", "memtide")
STRATEGIES = ("keepall", "sequential", "revolve", "rotor", "greedy", "pofo")
# Budgets as shares of what keeping everything takes above what always stays.
SHARES = (0.85, 0.65, 0.45)
LINK = "2GB/s"


def loss(y, target):
    return nn.functional.cross_entropy(y.reshape(-1, y.shape[-1]), target.reshape(-1))


def trained(factory, seed=3):
    """A model with zero gradients, its input and a target."""
    torch.manual_seed(seed)
    net, x = factory()
    x = torch.randint(0, 100, x.shape) if not x.is_floating_point() else torch.randn(x.shape)
    net.train()
    for p in net.parameters():
        p.grad = torch.zeros_like(p)
    with torch.no_grad():
        shape = net(x).shape[:-1]
    for m in net.modules():
        if isinstance(m, nn.BatchNorm2d):
            m.reset_running_stats()
    return net, x, torch.randint(0, 10, shape)


def state(net):
    """Copies of all that a step changes."""
    return {n: p.grad.clone() for n, p in net.named_parameters()}, {n: b.clone() for n, b in net.named_buffers()}, torch.get_rng_state()


def peak_of(step):
    """The most that PyTorch's allocator held above the start."""
    with profile(activities=[ProfilerActivity.CPU], profile_memory=True) as p:
        step()
    now = peak = 0
    for e in p.profiler.kineto_results.events():
        if e.name() == "[memory]":
            now += e.nbytes()
            peak = max(peak, now)
    return peak


def load(path, name):
    spec = importlib.util.spec_from_file_location(name, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def memtide(*args):
    return subprocess.run([MEMTIDE] + list(args), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


class Case:
    """A network with its profile and what a plain step does."""

    def __init__(self, folder, factory):
        self.name, self.factory = factory.__name__, factory
        net, x, target = trained(factory)
        stages = collect.children(net, False)
        rows, _, self.stages = collect.stage_rows(stages, x, 5, "cross_entropy")
        self.fixed = collect.resident(stages, "none")
        self.file = os.path.join(folder, self.name + ".json")
        doc = {"format": "memtide/1", "kind": "chain", "name": self.name, "batch": x.shape[0], "dtype": "f32",
               "source": {"tool": "collect.py", "times": "measured", "sizes": "measured", "device": "CPU", "notes": []},
               "input_bytes": collect.nbytes(x), "input_grad_bytes": 0, "resident": self.fixed, "stages": rows[:-1], "loss": rows[-1]}
        with open(self.file, "w") as f:
            f.write(collect.text_of(doc))
        self.base = sum(self.fixed.values()) + collect.nbytes(x)
        solved = json.loads(memtide("solve", "-json", "-strategy", "keepall", "-budget", "100%", self.file).stdout)
        self.keep_all = solved["keep_all"]["peak_bytes"]
        self.want = self.plain()

    def plain(self):
        net, x, target = trained(self.factory)
        torch.manual_seed(5)
        value = loss(net(x), target)
        value.backward()
        return (float(value),) + state(net)

    def plain_peak(self):
        net, x, target = trained(self.factory)
        return self.base + peak_of(lambda: loss(net(x), target).backward())

    def budgets(self):
        return [self.base + int(share * (self.keep_all - self.base)) for share in SHARES]


class Lazy:
    """Stands for torch.cuda where there is none: what is queued on a side stream
    happens as late as it may, when somebody waits for it."""

    class Stream:
        def __init__(self, device=None):
            self.queued, self.done = [], 0

        def run(self, until):
            while self.done < until:
                self.done += 1
                self.queued[self.done - 1]()

        def record_event(self):
            return self, len(self.queued)

        def wait_event(self, event):
            self.queued.append(lambda: event[0].run(event[1]))
            if self is Lazy.main:
                self.run(len(self.queued))

        def wait_stream(self, other):
            self.wait_event(other.record_event())

    @staticmethod
    def current_stream(device=None):
        return Lazy.main

    @staticmethod
    @contextlib.contextmanager
    def stream(side):
        """Copies within go to the side stream."""
        copy = torch.Tensor.copy_
        torch.Tensor.copy_ = lambda to, source, non_blocking: side.queued.append(lambda: copy(to, source))
        try:
            yield
        finally:
            torch.Tensor.copy_ = copy

    @staticmethod
    def get_rng_state(device=None):
        return None


Lazy.main = Lazy.Stream()


class LazyTorch:
    """torch with Lazy for its cuda; new room holds what is no number."""

    cuda = Lazy

    def __getattr__(self, name):
        return getattr(torch, name)

    @staticmethod
    def empty(size, dtype, pin_memory):
        return torch.empty(size, dtype=dtype)

    @staticmethod
    def empty_like(t, device):
        if device == "meta":
            return torch.empty_like(t, device=device)
        new = torch.empty_like(t)
        return new.fill_(float("nan")) if t.is_floating_point() else new.fill_(1)


class Exported(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        collect.clock = time.process_time_ns  # other programs may be running
        torch.set_num_threads(1)  # so that times are steady and sums have one order
        cls.cases = [Case(cls.folder.name, f) for f in (models.resnet, models.vgg, models.gpt, models.normalised, models.unet)]

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def export(self, case, strategy, budget, *more):
        """The Python file as a module; for the smallest budget that will do if
        this one is too small."""
        path = os.path.join(self.folder.name, "%s_%s_%d.py" % (case.name, strategy, budget))
        made = memtide("export", "-format", "python", "-strategy", strategy, "-budget", "%dB" % budget, "-bw", LINK, "-o", path, *more, case.file)
        smallest = re.search(r"smallest budget .* -budget (\d+)B", made.stderr)
        if made.returncode == 1 and smallest:
            return self.export(case, strategy, int(smallest.group(1)), *more)
        self.assertEqual(made.returncode, 0, made.stderr)
        return load(path, "schedule_%s_%s_%d" % (case.name, strategy, budget))

    def test_schedules(self):
        rows = []
        for case in self.cases:
            plain = case.plain_peak()
            rows.append((case.name, "plain PyTorch", case.keep_all, plain, case.base, 0, 0))
            for strategy in STRATEGIES:
                ran = set()
                for budget in [case.keep_all] if strategy == "keepall" else case.budgets():
                    schedule = self.export(case, strategy, budget)
                    if schedule.PROGRAM not in ran:
                        ran.add(schedule.PROGRAM)
                        rows.append(self.run_schedule(case, strategy, schedule))
        report(rows)

    def run_schedule(self, case, strategy, schedule):
        where = "%s by %s in %d bytes" % (case.name, strategy, schedule.SCHEDULE["budget_bytes"])
        net, x, target = trained(case.factory)
        train = schedule.Executor(net, loss)
        torch.manual_seed(5)
        value = train.step(x, target)
        self.same(where, case.want, (float(value),) + state(net))

        # A second step measures memory: what stays between steps is there.
        net, x, target = trained(case.factory)
        train = schedule.Executor(net, loss)
        train.step(x.clone(), target)
        # The input is made while memory is watched, so that its end is seen, too.
        peak = case.base - collect.nbytes(x) + peak_of(lambda: train.step([x.clone()], target))
        times = []
        for _ in range(3):
            batch = [x.clone()]
            start = collect.clock()
            train.step(batch, target)
            times.append(collect.clock() - start)
        s = schedule.SCHEDULE
        self.assertLessEqual(peak, s["budget_bytes"] * 1.1, where + ": the measured peak is more than a tenth above the budget")
        return case.name, strategy, s["peak_bytes"], peak, case.base, s["step_time_ns"] / 1e6, statistics.median(times) / 1e6

    def same(self, where, want, got):
        self.assertEqual(want[0], got[0], where + ": loss")
        for kind, w, g in (("gradient", want[1], got[1]), ("buffer", want[2], got[2])):
            for name in w:
                self.assertTrue(torch.equal(w[name], g[name]), "%s: %s of %s differs by %g" % (where, kind, name, (w[name] - g[name]).abs().max()))
        self.assertTrue(torch.equal(want[3], got[3]), where + ": the state of the random numbers after the step")

    def test_two_steps_train_as_plain_steps_do(self):
        case = self.cases[0]
        schedule = self.export(case, "rotor", case.budgets()[2])
        results = []
        for plain in (True, False):
            net, x, target = trained(case.factory)
            train = schedule.Executor(net, loss)
            optimizer = torch.optim.SGD(net.parameters(), lr=0.1, momentum=0.9)
            values = []
            for _ in range(3):
                optimizer.zero_grad(set_to_none=False)
                if plain:
                    value = loss(net(x), target)
                    value.backward()
                else:
                    value = train.step(x, target)
                optimizer.step()
                values.append(float(value))
            results.append((values, {n: b.tolist() for n, b in net.state_dict().items()}))
        self.assertEqual(results[0][0], results[1][0], "losses of three steps")
        self.assertEqual(results[0][1], results[1][1], "weights and running statistics after three steps")

    def test_copies_beside_computations(self):
        """What the executor does on CUDA, with copies that are as late as they may be."""
        for case in self.cases:
            for strategy in ("greedy", "pofo", "vdnn"):
                for duplex in ("half", "full"):
                    schedule = self.export(case, strategy, case.budgets()[1], "-duplex", duplex)
                    self.assertIn("<", schedule.PROGRAM, "%s by %s fetches nothing" % (case.name, strategy))
                    schedule.torch = LazyTorch()
                    clear = schedule._Value.clear

                    def checked(v):
                        self.assertIsNone(v.event, "room is given away while it is copied")
                        clear(v)

                    schedule._Value.clear = checked

                    class OnCUDA(schedule.Executor):
                        cuda = property(lambda self: True, lambda self, _: None)

                    net, x, target = trained(case.factory)
                    torch.manual_seed(5)
                    value = OnCUDA(net, loss).step([x], target)
                    self.same("%s by %s, %s duplex" % (case.name, strategy, duplex), case.want, (float(value),) + state(net))

    def test_no_loss_stage(self):
        """A chain whose last backward makes its own gradient."""
        case = self.cases[2]
        with open(case.file) as f:
            doc = json.load(f)
        del doc["loss"]
        doc["seed_born"] = True
        path = os.path.join(self.folder.name, "born.json")
        with open(path, "w") as f:
            json.dump(doc, f)
        made = memtide("export", "-format", "python", "-strategy", "keepall", "-budget", "1000%", "-o", path + ".py", path)
        self.assertEqual(made.returncode, 0, made.stderr)
        net, x, target = trained(case.factory)
        torch.manual_seed(5)
        value = load(path + ".py", "born").Executor(net, loss).step(x, target)
        self.same("gpt without a loss stage", case.want, (float(value),) + state(net))

    def test_refusals(self):
        case = self.cases[0]
        schedule = self.export(case, "rotor", case.keep_all)
        net, x, target = trained(case.factory)

        def refused(pattern, model, batch, **options):
            held = []
            with self.assertRaisesRegex(schedule.ScheduleError, pattern):
                peak = lambda: schedule.Executor(model, loss, **options).step(batch, target)
                with profile(activities=[ProfilerActivity.CPU], profile_memory=True) as p:
                    try:
                        peak()
                    finally:
                        held.append(p)
            # Numbers such as the divisor of a mean take 8 bytes, and no tensor does.
            allocated = [e.nbytes() for e in held[0].profiler.kineto_results.events() if e.name() == "[memory]" and e.nbytes() > 8]
            self.assertEqual(allocated, [], "bytes allocated before it said %s" % pattern)

        refused("is for 10 stages .* the model has 4", nn.Sequential(*list(net)[:4]), x)
        refused("batch size 8", net, x[:4])
        refused("smaller budget|budget of at most", net, x, limit=schedule.SCHEDULE["peak_bytes"] - 1)
        wider = list(net)
        wider[3] = models.Basic(16, 24)
        refused(r"stale: stage 3 \(3\) puts out", nn.Sequential(*wider), x)

    def test_main(self):
        case = self.cases[1]
        script = self.export(case, "rotor", case.keep_all).__file__
        env = dict(os.environ, PYTHONPATH=HERE)
        run = lambda *args: subprocess.run([os.environ.get("PYTHON", sys.executable), "-W", "error", script] + list(args), env=env, cwd=self.folder.name, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        told = run()
        self.assertEqual((told.returncode, told.stderr.count("Warning")), (0, 0), told.stderr)
        self.assertIn("vgg by rotor: 16 stages", told.stdout)
        done = run("models:vgg", "--device", "cpu", "--steps", "2")
        self.assertEqual((done.returncode, done.stdout.count("loss ")), (0, 2), done.stderr)
        stale = run("models:resnet", "--device", "cpu")
        self.assertEqual((stale.returncode, stale.stdout.count("loss ")), (1, 0))
        self.assertRegex(stale.stderr, "for 16 stages .* the model has 12")


def report(rows):
    """The table, and the mean absolute errors as arXiv:1911.13214, section 5.4 has them."""
    print("\n%-7s %-14s %10s %10s %7s %9s %9s %7s" % ("model", "schedule", "peak MiB", "measured", "error", "time ms", "measured", "error"))
    memory, above, times = [], [], []
    for name, strategy, predicted, measured, base, ms, took in rows:
        line = "%-7s %-14s %10.2f %10.2f %+6.1f%%" % (name, strategy, predicted / 2**20, measured / 2**20, 100 * (predicted / measured - 1))
        if took:
            line += " %9.1f %9.1f %+6.1f%%" % (ms, took, 100 * (ms / took - 1))
            times.append(abs(ms / took - 1))
            memory.append(abs(predicted / measured - 1))
            above.append(abs((predicted - base) / (measured - base) - 1))
        print(line)
    mean = lambda list_: 100 * sum(list_) / len(list_)
    print("Mean absolute error over %d schedules: peak memory %.1f %% (above weights, gradients and input %.1f %%), step time on the CPU %.1f %%."
          % (len(memory), mean(memory), mean(above), mean(times)))
    print("Times are those of one CPU thread with synchronous copies; the predicted ones overlap copies at %s. arXiv:1911.13214 has 3.7 %% and 7.8 %% on a V100." % LINK)


if __name__ == "__main__":
    unittest.main()
