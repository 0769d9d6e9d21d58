"""Kinds of modules that people have, for the tests of plans: each factory returns a
model, its arguments, keywords and the loss."""
from collections import OrderedDict, deque

import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.checkpoint import checkpoint

ROWS = 1500  # so that sizes are large beside single numbers


def square(y):
    return y.pow(2).sum()


def rows(width=16):
    return (torch.randn(ROWS, width),)


class Inverted(nn.Module):
    """A block of MobileNet."""

    def __init__(self, inner, outer, stride):
        super().__init__()
        act = lambda n: [nn.BatchNorm2d(n), nn.ReLU6(inplace=True)]
        self.conv = nn.Sequential(nn.Conv2d(inner, 32, 1, bias=False), *act(32), nn.Conv2d(32, 32, 3, stride, 1, groups=32, bias=False), *act(32),
                                  nn.Conv2d(32, outer, 1, bias=False), nn.BatchNorm2d(outer))
        self.residual = stride == 1 and inner == outer

    def forward(self, x):
        return x + self.conv(x) if self.residual else self.conv(x)


class Mobile(nn.Module):
    def __init__(self):
        super().__init__()
        self.features = nn.Sequential(nn.Sequential(nn.Conv2d(3, 8, 3, 2, 1), nn.BatchNorm2d(8), nn.ReLU6(inplace=True)), Inverted(8, 8, 1), Inverted(8, 16, 2), Inverted(16, 16, 1))
        self.classifier = nn.Sequential(nn.Dropout(0.2), nn.Linear(16, 10))

    def forward(self, x):
        return self.classifier(self.features(x).mean([2, 3]))


def mobile():
    t = torch.randint(0, 10, (8,))
    return Mobile(), (torch.randn(8, 3, 48, 48),), {}, lambda y: F.cross_entropy(y, t)


def channels_last():
    net, (x,), kwargs, loss = mobile()
    return net.to(memory_format=torch.channels_last), (x.to(memory_format=torch.channels_last),), kwargs, loss


class Encoder(nn.Module):
    def __init__(self, width=32):
        super().__init__()
        self.ln1, self.attention, self.ln2 = nn.LayerNorm(width), nn.MultiheadAttention(width, 4, dropout=0.1, batch_first=True), nn.LayerNorm(width)
        self.mlp = nn.Sequential(nn.Linear(width, 64), nn.GELU(), nn.Dropout(0.1), nn.Linear(64, width))

    def forward(self, x):
        y = self.ln1(x)
        x = x + self.attention(y, y, y, need_weights=False)[0]
        return x + self.mlp(self.ln2(x))


class ViT(nn.Module):
    def __init__(self):
        super().__init__()
        self.patch, self.first, self.place = nn.Conv2d(3, 32, 8, 8), nn.Parameter(torch.zeros(1, 1, 32)), nn.Parameter(torch.randn(1, 17, 32))
        self.layers, self.head = nn.ModuleList([Encoder() for _ in range(3)]), nn.Linear(32, 10)

    def forward(self, x):
        y = self.patch(x).flatten(2).transpose(1, 2)
        y = torch.cat([self.first.expand(len(x), -1, -1), y], 1) + self.place
        for layer in self.layers:
            y = layer(y)
        return self.head(y[:, 0])


def vit():
    t = torch.randint(0, 10, (4,))
    return ViT(), (torch.randn(4, 3, 32, 32),), {}, lambda y: F.cross_entropy(y, t)


class Recurrent(nn.Module):
    def __init__(self, kind, packed=False):
        super().__init__()
        self.e, self.r, self.o, self.packed = nn.Embedding(50, 16), kind(16, 24, 2, batch_first=True, dropout=0.3, bidirectional=True), nn.Linear(48, 50), packed

    def forward(self, x):
        h = self.e(x)
        if not self.packed:
            return self.o(self.r(h)[0])
        h = nn.utils.rnn.pack_padded_sequence(h, torch.tensor([9, 7, 5]), batch_first=True)
        return self.o(nn.utils.rnn.pad_packed_sequence(self.r(h)[0], batch_first=True)[0])


def recurrent(*kind):
    return Recurrent(*kind), (torch.randint(0, 50, (3, 9)),), {}, lambda y: y.log_softmax(-1).pow(2).mean()


def lstm():
    return recurrent(nn.LSTM)


def gru():
    return recurrent(nn.GRU)


def packed():
    return recurrent(nn.LSTM, True)


class VAE(nn.Module):
    def __init__(self):
        super().__init__()
        self.encoder, self.decoder = nn.Sequential(nn.Linear(64, 32), nn.ReLU(), nn.Linear(32, 16)), nn.Sequential(nn.Linear(8, 32), nn.ReLU(True), nn.Linear(32, 64))

    def forward(self, x):
        mean, log = self.encoder(x).chunk(2, 1)
        return self.decoder(mean + torch.exp(0.5 * log) * torch.randn_like(mean)), mean, log


def vae():
    """The loss knows a tensor that is as large as what is kept."""
    x = torch.rand(ROWS, 64)
    return VAE(), (x,), {}, lambda o: F.binary_cross_entropy_with_logits(o[0], x) - 0.5 * (1 + o[2] - o[1] ** 2 - o[2].exp()).mean()


def hooked(norm):
    return nn.Sequential(*[nn.Sequential(norm(nn.Linear(16, 16)), nn.LeakyReLU(0.2, True)) for _ in range(4)], nn.Linear(16, 1)), rows(), {}, torch.mean


def weight_norm():
    return hooked(nn.utils.weight_norm)


def spectral_norm():
    return hooked(nn.utils.spectral_norm)


def parametrized():
    return hooked(nn.utils.parametrizations.spectral_norm)


class Swish(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * torch.sigmoid(x)

    @staticmethod
    def backward(ctx, g):
        s = torch.sigmoid(ctx.saved_tensors[0])
        return g * s * (1 + ctx.saved_tensors[0] * (1 - s))


class Own(nn.Module):
    def __init__(self):
        super().__init__()
        self.l = nn.Linear(16, 16)

    def forward(self, x):
        return Swish.apply(self.l(x))


def function():
    return nn.Sequential(*[Own() for _ in range(4)]), rows(), {}, square


class Views(nn.Module):
    """Work in place on views of the block's own tensors."""

    def __init__(self):
        super().__init__()
        self.l = nn.Linear(16, 16)

    def forward(self, x):
        y = self.l(x)
        y[:, :8].mul_(2)
        a, _ = y.chunk(2, 1)
        y = y.clone()
        y[:, 8:].add_(a.sigmoid())
        y.view(-1, 2)[:, 0].zero_()
        return y


def views():
    return nn.Sequential(*[Views() for _ in range(4)]), rows(), {}, square


class Again(nn.Module):
    """One module called several times."""

    def __init__(self):
        super().__init__()
        self.b, self.n = nn.Sequential(nn.Linear(16, 32), nn.GELU(), nn.Linear(32, 16)), nn.LayerNorm(16)

    def forward(self, x):
        for _ in range(4):
            x = x + self.b(self.n(x))
        return x


def again():
    return Again(), rows(), {}, square


def input_with_gradient():
    return Again(), (torch.randn(ROWS, 16, requires_grad=True),), {}, square


def hooks():
    net = nn.Sequential(*[nn.Sequential(nn.Linear(16, 16), nn.Tanh()) for _ in range(4)])
    for b in net:
        b.register_forward_hook(lambda m, args, out: out * 1.5)
        b[0].register_forward_pre_hook(lambda m, args: (args[0] * 0.9,))
        b.register_full_backward_hook(lambda m, into, outof: tuple(None if g is None else g * 0.5 for g in into))
    return net, rows(), {}, square


class Carried(nn.Module):
    """Carries a state on, in an attribute, and counts its calls; also within one step."""

    def __init__(self):
        super().__init__()
        self.l, self.r, self.state, self.calls = nn.Linear(16, 16), nn.Linear(16, 16), None, 0

    def forward(self, x):
        self.calls += 1
        self.state = torch.tanh(self.l(x) + (0 if self.state is None else self.r(self.state))) * (1 + 0.1 * self.calls)
        return self.state


class Collecting(nn.Module):
    """Puts what it finds into lists and dictionaries, its own and those it is given."""

    def __init__(self):
        super().__init__()
        self.l, self.r, self.found, self._last = nn.Linear(16, 16), nn.Linear(16, 16), [], deque(maxlen=2)
        self.counts, self.losses = {"calls": 0, "sums": []}, OrderedDict()

    def forward(self, x, given, named):
        self.counts["calls"] += 1
        y = torch.tanh(self.l(x)) * (1 + 0.1 * self.counts["calls"] + len(given) + len(self._last) + len(named))
        given.append(y.mean())
        named["sum"] = named.get("sum", 0) + y.sum()
        self.counts["sums"].append(float(y.detach().sum()))
        self.found.append(y.pow(2).mean())
        self._last.append(y.detach()[:1])
        self.losses[len(self.losses)] = y.abs().mean()
        return self.r(y)


class Collection(nn.Module):
    def __init__(self):
        super().__init__()
        self.a, self.b, self.c = Collecting(), Collecting(), nn.Linear(16, 16)

    def forward(self, x):
        given, named = [], {}
        y = self.c(self.b(self.a(x, given, named), given, named))
        y = y.pow(2).sum() + sum(given) + named["sum"] + sum(sum(m.found[-1:]) + list(m.losses.values())[-1] for m in (self.a, self.b))
        for m in (self.a, self.b):  # what the last step has found goes with it
            m.found[:], m.losses = [t.detach() for t in m.found], OrderedDict((k, t.detach()) for k, t in m.losses.items())
        return y


def collecting():
    return Collection(), rows(), {}, lambda y: y


class Loop(nn.Module):
    def __init__(self):
        super().__init__()
        self.cell, self.o = Carried(), nn.Sequential(nn.Linear(16, 16), nn.Tanh())

    def forward(self, x):
        for _ in range(3):
            x = x + self.cell(x)
        self.cell.state = self.cell.state.detach()
        return self.o(x)


def carried():
    return Loop(), rows(), {}, square


class Experts(nn.Module):
    """What goes where depends on values."""

    def __init__(self):
        super().__init__()
        self.gate, self.experts = nn.Linear(16, 4), nn.ModuleList([nn.Sequential(nn.Linear(16, 32), nn.ReLU(), nn.Linear(32, 16)) for _ in range(4)])

    def forward(self, x):
        weight, to = self.gate(x).softmax(-1).max(-1)
        out = torch.zeros_like(x)
        for k, expert in enumerate(self.experts):
            at = (to == k).nonzero()[:, 0]
            out = out.index_add(0, at, expert(x[at]) * weight[at, None])
        return out


def experts():
    return nn.Sequential(Experts(), Experts()), rows(), {}, square


def compiled():
    """Blocks that torch.compile has made."""
    block = lambda: nn.Sequential(nn.Linear(16, 32), nn.GELU(), nn.Linear(32, 16))
    return nn.Sequential(*[torch.compile(block(), backend="aot_eager") for _ in range(3)]), rows(), {}, square


class Checkpointed(nn.Module):
    def __init__(self, reentrant):
        super().__init__()
        self.h, self.reentrant = nn.ModuleList([nn.Sequential(nn.Linear(16, 32), nn.GELU(), nn.Linear(32, 16)) for _ in range(3)]), reentrant

    def forward(self, x):
        for b in self.h:
            x = x + checkpoint(b, x, use_reentrant=self.reentrant)
        return x


def checkpointed(reentrant):
    return Checkpointed(reentrant), (torch.randn(8, 16, requires_grad=True),), {}, square


def sparse():
    return nn.Sequential(nn.Embedding(100, 16, sparse=True), nn.Linear(16, 4)), (torch.randint(0, 100, (8, 5)),), {}, square


def scripted():
    return nn.Sequential(*[torch.jit.script(nn.Sequential(nn.Linear(16, 16), nn.Tanh())) for _ in range(2)]), rows(), {}, square


class GAN:
    """A step of a generator and of a discriminator that both learn by it."""

    def __init__(self):
        self.g = nn.Sequential(*[nn.Sequential(nn.Linear(16, 16), nn.BatchNorm1d(16), nn.ReLU(True)) for _ in range(3)])
        self.d = nn.Sequential(*[nn.Sequential(nn.Linear(16, 16), nn.LeakyReLU(0.2), nn.Dropout(0.3)) for _ in range(3)], nn.Linear(16, 1))
        self.optimizers = [torch.optim.Adam(m.parameters(), 0.01, foreach=False) for m in (self.d, self.g)]

    def step(self, seed):
        torch.manual_seed(seed)
        real, noise = torch.randn(32, 16), torch.randn(32, 16)
        fake, sign = self.g(noise), F.softplus
        first, second = self.optimizers
        first.zero_grad(set_to_none=True)
        sign(-self.d(real)).mean().backward()  # a loss in two calls
        sign(self.d(fake.detach())).mean().backward()
        first.step()
        second.zero_grad(set_to_none=True)
        sign(-self.d(fake)).mean().backward()
        second.step()
