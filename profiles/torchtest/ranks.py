"""One of two processes of test_plans.py: python ranks.py RANK FILE."""
import os
import sys
import warnings

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.dirname(HERE)]

import memtide_torch as mt  # noqa: E402
import torch  # noqa: E402
import torch.distributed as dist  # noqa: E402
import trained  # noqa: E402
from torch.nn.parallel import DistributedDataParallel as DDP  # noqa: E402

warnings.simplefilter("ignore")
torch.set_num_threads(1)
rank = int(sys.argv[1])
dist.init_process_group("gloo", rank=rank, world_size=2, init_method="file://" + sys.argv[2])
good = 0
for name in ("resnet", "gpt", "bn"):
    for accumulate in (1, 2):
        a, b, args, kwargs, loss, cast = trained.two(getattr(trained, name)())
        a, b = DDP(a), DDP(b)
        mt.apply(b, trained.plan(*trained.SEGMENTS[name]))
        for net in (a, b):
            own = torch.Generator().manual_seed(rank)
            torch.manual_seed(10 + rank)
            for k in range(accumulate):
                mine = tuple(t.flip(0) * (1 + rank) for t in args)
                words = {n: torch.randint(0, 200, t.shape, generator=own) for n, t in kwargs.items()}
                if k + 1 < accumulate:
                    with net.no_sync():
                        loss(net(*mine, **words)).backward()
                else:
                    loss(net(*mine, **words)).backward()
        norm = torch.stack([p.grad.norm() for p in b.parameters()]).norm()
        both = [torch.zeros(()) for _ in range(2)]
        dist.all_gather(both, norm)
        equal = not trained.different(a, b) and torch.equal(*both)
        good += equal
        if not equal:
            print(name, accumulate, trained.different(a, b)[:5], both)
print("%d of 6" % good, flush=True)
dist.barrier()
os._exit(0)
