"""What collecting costs: python cost.py NAME prints the CPU time and the peak of
memory of one collection, in a process of its own each."""
import os
import resource
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.dirname(HERE)]

import memtide_torch as mt  # noqa: E402
import torch  # noqa: E402
import torch.nn.functional as F  # noqa: E402
import trained  # noqa: E402


def resnet50():
    import torchvision.models as models

    t = torch.randint(0, 1000, (8,))
    return models.resnet50(), (torch.randn(8, 3, 224, 224),), {}, lambda y: F.cross_entropy(y, t), None


def gpt2():
    """124 million parameters, 512 words."""
    ids = torch.randint(0, 50257, (1, 512))
    return trained.GPT(50257, 1024, 768, 12, 12), (), {"input_ids": ids, "labels": ids.clone()}, None, None


def unet():
    t = torch.randint(0, 2, (2, 256, 256))
    return trained.UNet(32), (torch.randn(2, 3, 256, 256),), {}, lambda y: F.cross_entropy(y, t), None


def spent():
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(u.ru_utime + u.ru_stime for u in used), max(u.ru_maxrss for u in used) << 10


if __name__ == "__main__":
    torch.manual_seed(0)
    net, args, kwargs, loss, cast = globals()[sys.argv[1]]()
    before, _ = spent()
    graph = mt.collect(net, args, kwargs, loss, cast)
    after, most = spent()
    print("%s, PyTorch %s: %d operators, %d units; %.1f s of CPU, %s at most in one process; keeping everything %d bytes, a plain step %d"
          % (sys.argv[1], torch.__version__, len(graph.data["ops"]), len(graph.units()), after - before, mt.size_text(most), graph.play().peak, graph.data["source"]["plain_bytes"]))
    sys.stdout.flush()
    os._exit(0)
