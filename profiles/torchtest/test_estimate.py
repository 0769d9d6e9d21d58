"""memtide estimate beside what PyTorch's allocator says of two steps on the CPU, where there
are no segments: what is allocated is compared. python test_estimate.py --table prints it."""
import copy
import json
import os
import subprocess
import sys
import tempfile
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(os.path.dirname(HERE), "python")]

import kinds  # noqa: E402
import memtide as mt  # noqa: E402
import torch  # noqa: E402
import trained  # noqa: E402
from memtide.command import command  # noqa: E402
from memtide.meter import allocated  # noqa: E402
from memtide.tensors import nbytes, tensors  # noqa: E402

torch.set_num_threads(1)

MODELS = [getattr(trained, n) for n in ("resnet", "unet", "gpt", "frozen", "bn")]
MORE = [getattr(kinds, n) for n in ("mobile", "channels_last", "vit", "lstm", "gru", "packed", "vae", "spectral_norm", "parametrized",
                                    "function", "views", "again", "hooks", "experts")]


def measured(net, args, kwargs, loss, cast):
    """The most that is allocated in two steps with SGD and momentum, weights and inputs
    counted."""
    net = copy.deepcopy(net)
    there = {t.data_ptr(): nbytes(t) for t in [*net.parameters(), *net.buffers(), *tensors((args, kwargs))]}

    def steps():
        optimizer = torch.optim.SGD(net.parameters(), lr=1e-3, momentum=0.9, foreach=False)
        for _ in range(2):
            with torch.autocast("cpu", torch.bfloat16, enabled=cast is not None):
                out = net(*args, **kwargs)
                value = loss(out) if loss else getattr(out, "loss", out)
            del out
            value.backward()
            del value
            optimizer.step()
            optimizer.zero_grad(set_to_none=True)

    return sum(there.values()) + allocated(steps, torch.device("cpu"))[1]


def estimated(net, args, kwargs, loss, cast):
    with tempfile.TemporaryDirectory() as folder:
        file = os.path.join(folder, "net.json")
        mt.collect(net, args, kwargs, loss, cast).save(file)
        text = subprocess.run([command(), "estimate", "-json", "-optimizer", "momentum", file], stdout=subprocess.PIPE, check=True, text=True).stdout
        return json.loads(text)


class Estimate(unittest.TestCase):
    def test_allocated(self):
        """Within 4 %: sizes are rounded to 512 bytes as on a GPU, and where a gradient is made
        in two parts the second may be there with the first."""
        for make in MODELS:
            made = (*make(), None)[:5]
            said, want = estimated(*made), measured(*made)
            self.assertLess(abs(said["allocated_bytes"] / want - 1), 0.04, (make.__name__, said, want))
            self.assertLessEqual(said["allocated_bytes"], said["reserved_bytes"])

    def test_command(self):
        """A factory is collected first; what is refused is said."""
        with tempfile.TemporaryDirectory() as folder:
            with open(os.path.join(folder, "mine.py"), "w") as f:
                f.write("import trained\ndef factory():\n    return trained.gpt()[:3]\n")
            env = dict(os.environ, PYTHONPATH=os.pathsep.join([HERE, folder, sys.path[1]]))
            ask = lambda *args: subprocess.run([sys.executable, "-B", "-m", "memtide", "estimate", *args], env=env, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
            done = ask("-card", "rtx-4090", "mine:factory")
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertRegex(done.stdout, "^factory on RTX 4090: fits. The driver would show ")
            done = ask("-card", "nothing", "mine:factory")
            self.assertEqual((done.returncode, "there is no card" in done.stderr), (1, True), done.stderr)


def table():
    print("| model | measured | estimated | differs | reserved |\n|---|---|---|---|---|")
    for make in MODELS + MORE:
        try:
            made = (*make(), None)[:5]
            said, want = estimated(*made), measured(*made)
            print("| %s | %s | %s | %+.1f %% | %s |" % (make.__name__, mt.size(want), mt.size(said["allocated_bytes"]), 100 * (said["allocated_bytes"] / want - 1), mt.size(said["reserved_bytes"])))
        except Exception as e:
            print("| %s | - | %s: %s |" % (make.__name__, type(e).__name__, str(e)[:100]))
        sys.stdout.flush()


if __name__ == "__main__":
    if sys.argv[1:] == ["--table"]:
        from memtide.errors import size_text as size

        mt.size = size
        table()
    else:
        unittest.main()
