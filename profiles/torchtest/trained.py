"""Networks as people write them, for the tests of plans: each factory returns a
model, its arguments and keywords, the loss, and the type of autocast or None."""
import copy
import random

import models
import torch
import torch.nn.functional as F
from torch import nn


class Out:
    """An output with attributes, as of Hugging Face."""

    def __init__(self, loss, logits):
        self.loss, self.logits = loss, logits


class GPT(nn.Module):
    """Blocks in a ModuleList, a head tied to the embedding, keywords in, an object out."""

    def __init__(self, words=200, length=32, width=64, layers=8, heads=4):
        super().__init__()
        self.wte, self.wpe = nn.Embedding(words, width), nn.Embedding(length, width)
        self.h = nn.ModuleList([models.Block(width, heads) for _ in range(layers)])
        self.ln_f, self.lm_head = nn.LayerNorm(width), nn.Linear(width, words, bias=False)
        self.lm_head.weight = self.wte.weight

    def forward(self, input_ids, labels=None):
        x = self.wte(input_ids) + self.wpe(torch.arange(input_ids.shape[1], device=input_ids.device))
        for block in self.h:
            x = block(x)
        y = self.lm_head(self.ln_f(x))
        loss = F.cross_entropy(y.view(-1, y.shape[-1]).float(), labels.view(-1)) if labels is not None else None
        return Out(loss, y)


class UNet(nn.Module):
    """Skips, pooling and concatenation between module calls."""

    def __init__(self, c=8):
        super().__init__()
        conv = lambda i, o: nn.Sequential(nn.Conv2d(i, o, 3, padding=1), nn.BatchNorm2d(o), nn.ReLU(), nn.Conv2d(o, o, 3, padding=1), nn.BatchNorm2d(o), nn.ReLU())
        self.d1, self.d2, self.d3, self.mid = conv(3, c), conv(c, 2 * c), conv(2 * c, 4 * c), conv(4 * c, 8 * c)
        self.u3, self.u2, self.u1 = nn.ConvTranspose2d(8 * c, 4 * c, 2, 2), nn.ConvTranspose2d(4 * c, 2 * c, 2, 2), nn.ConvTranspose2d(2 * c, c, 2, 2)
        self.c3, self.c2, self.c1 = conv(8 * c, 4 * c), conv(4 * c, 2 * c), conv(2 * c, c)
        self.head = nn.Conv2d(c, 2, 1)

    def forward(self, x):
        a = self.d1(x)
        b = self.d2(F.max_pool2d(a, 2))
        c = self.d3(F.max_pool2d(b, 2))
        y = self.c3(torch.cat([self.u3(self.mid(F.max_pool2d(c, 2))), c], 1))
        y = self.c2(torch.cat([self.u2(y), b], 1))
        return self.head(self.c1(torch.cat([self.u1(y), a], 1)))


class ResNet(nn.Module):
    """Blocks that work in place, with batch normalisation."""

    def __init__(self, c=16):
        super().__init__()
        self.conv1, self.bn1, self.relu, self.maxpool = nn.Conv2d(3, c, 7, 2, 3, bias=False), nn.BatchNorm2d(c), nn.ReLU(inplace=True), nn.MaxPool2d(3, 2, 1)
        inner = c
        for k in range(4):
            outer = c << k
            layer = nn.Sequential(models.Basic(inner, outer, 2 if k else 1), models.Basic(outer, outer))
            setattr(self, "layer%d" % (k + 1), layer)
            inner = outer
        self.avgpool, self.fc = nn.AdaptiveAvgPool2d(1), nn.Linear(inner, 100)

    def forward(self, x):
        x = self.maxpool(self.relu(self.bn1(self.conv1(x))))
        x = self.layer4(self.layer3(self.layer2(self.layer1(x))))
        return self.fc(torch.flatten(self.avgpool(x), 1))


def resnet():
    torch.manual_seed(0)
    t = torch.randint(0, 100, (8,))
    return ResNet(), (torch.randn(8, 3, 64, 64),), {}, lambda y: F.cross_entropy(y, t), None


def unet():
    torch.manual_seed(0)
    t = torch.randint(0, 2, (2, 64, 64))
    return UNet(), (torch.randn(2, 3, 64, 64),), {}, lambda y: F.cross_entropy(y, t), None


def gpt(cast=None):
    torch.manual_seed(0)
    ids = torch.randint(0, 200, (4, 32))
    return GPT(), (), {"input_ids": ids, "labels": ids.clone()}, lambda out: out.loss, cast


def gptcast():
    return gpt(torch.bfloat16)


def frozen():
    """The first blocks do not learn."""
    net, *rest = gpt()
    for m in (net.wte, net.wpe, net.h[0], net.h[1]):
        for p in m.parameters():
            p.requires_grad_(False)
    return (net, *rest)


def bn():
    """Convolutions, batch normalisation, ReLU and dropout in an nn.Sequential."""
    torch.manual_seed(0)
    layers, inner = [], 3
    for outer in (16, 32, 32, 64, 64, 64):
        layers += [nn.Conv2d(inner, outer, 3, padding=1), nn.BatchNorm2d(outer), nn.ReLU(), nn.Dropout(0.2)]
        inner = outer
    t = torch.randint(0, 10, (8,))
    net = nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Dropout(0.5), nn.Linear(64, 10))
    return net, (torch.randn(8, 3, 24, 24),), {}, lambda y: F.cross_entropy(y, t), None


def run(d, *units, **more):
    """A segment of a plan."""
    return dict({"units": list(units), "do": d}, **more)


def again(*units, **more):
    return run("recompute", *units, **more)


SEGMENTS = {
    "resnet": [again("layer1.0", "layer1.1"),
               again("layer2.0", "layer2.1", "layer3.0", "layer3.1", inner=[again("layer2.0", "layer2.1", inner=[again("layer2.0")])]), run("offload", "layer4.1")],
    "unet": [again("d1"), again("d2", "d3", inner=[again("d2")]), again("mid"), again("c3", "c2"), run("offload", "c1")],
    "gpt": [again("h.0", "h.1", "h.2", "h.3", inner=[again("h.0", "h.1", inner=[again("h.0")])]), again("h.5"), run("offload", "h.6")],
    "bn": [again("0", "1", "2", "3", "4", "5"), again("8", "9", "10", "11", "12", "13", inner=[again("8", "9", "10")]), run("offload", "16", "17")],
    "sac": [again("h.%d" % i, save=[["aten.mm.default", 0], ["aten.addmm.default", 0], ["aten.addmm.default", 2]]) for i in range(8)],
}
SEGMENTS["away"] = [again("h.0", "h.1", input="offload"), again("h.2", "h.3", "h.4", input="offload", inner=[again("h.2", "h.3")]), run("offload", "h.5"), again("h.6", input="offload")]
SEGMENTS["gptcast"] = SEGMENTS["frozen"] = SEGMENTS["gpt"]


def scattered(chance, units, tied, deep=2):
    """Segments at random: runs of units that run again, some with others within, or that
    go to the host. tied are the places of units that go with the one before."""
    out, i = [], 0
    while i < len(units):
        end = min(len(units), i + chance.randint(1, 4))
        while end in tied:
            end += 1
        run_, draw = units[i:end], chance.random()
        if draw < 0.2 and deep == 2:
            out.append(run("offload", *run_, prefetch=chance.randint(0, 2)))
        elif draw < 0.75:
            more = {"input": "offload", "prefetch": chance.randint(0, 2)} if draw < 0.3 and deep == 2 and not any(k in tied for k in range(i, end)) else {}
            inner = scattered(chance, run_, [k - i for k in tied], deep - 1) if deep and len(run_) > 1 else []
            out.append(again(*run_, **dict(more, **({"inner": inner} if inner else {}))))
        i = end
    return out


def plan(*segments):
    return {"format": "memtide-plan/1", "segments": list(segments)}


def two(made):
    """Two copies of the model that a factory has made, and the rest."""
    net, *rest = made
    return (copy.deepcopy(net), copy.deepcopy(net), *rest)


def step(net, args, kwargs, loss, cast, seed=3):
    """One step that adds to the gradients; its loss."""
    torch.manual_seed(seed)
    random.seed(seed)
    if cast:
        with torch.autocast("cpu", cast):
            value = loss(net(*args, **kwargs))
    else:
        value = loss(net(*args, **kwargs))
    value.backward()
    return value.detach()


def different(a, b):
    """The names of gradients and buffers that are not equal bit by bit."""
    out = []
    for (n, p), (_, q) in zip(a.named_parameters(), b.named_parameters()):
        if (p.grad is None) != (q.grad is None) or (p.grad is not None and not torch.equal(p.grad, q.grad)):
            out.append("gradient of " + n)
    return out + ["buffer " + n for (n, p), (_, q) in zip(a.named_buffers(), b.named_buffers()) if not torch.equal(p, q)]
