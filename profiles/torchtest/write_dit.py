"""Writes what autograd keeps of a block of Stable Diffusion 3.5 with adapters, built anew as diffusers builds
JointTransformerBlock and PEFT its adapters: python write_dit.py FILE. Autocast is written out as the copies that it
makes. Attention, LayerNorm and dropout are stand-ins that keep what the kernels of a GPU do; copies of weights are
not counted, and sizes are small, since bytes go with them."""
import json
import sys

import torch
import torch.nn.functional as F
from torch import nn

BATCH, TOKENS, TEXT, HEADS, HEAD, RANK = 2, 256, 333, 4, 32, 8
WIDTH = HEADS * HEAD
bf16, fp32 = torch.bfloat16, torch.float32


class Flash(torch.autograd.Function):
    @staticmethod
    def forward(ctx, q, k, v):
        out = torch.empty_like(q)
        ctx.save_for_backward(q, k, v, out, torch.zeros(q.shape[:-1], dtype=fp32))
        return out


class Normed(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x, *(torch.zeros(x.shape[:-1], dtype=fp32) for _ in range(2)))
        return torch.zeros_like(x)


class Dropped(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(torch.zeros(x.shape, dtype=torch.bool))
        return x.clone()


class Linear(nn.Module):
    def __init__(self, n, out, how, adapted=False):
        super().__init__()
        self.how = how
        self.weight = nn.Parameter(torch.zeros(out, n, dtype=bf16), requires_grad=False)
        self.bias = nn.Parameter(torch.zeros(out, dtype=bf16), requires_grad=False)
        self.pair = None
        if adapted:
            self.pair = nn.ParameterList(nn.Parameter(torch.zeros(s, dtype=how["stored"])) for s in ((RANK, n), (out, RANK)))

    def forward(self, x):
        y = F.linear(x.to(bf16), self.weight, self.bias)
        if self.pair is None:
            return y
        z = x.to(self.how["stored"])
        if self.how["dropout"]:
            z = Dropped.apply(z)
        for p in self.pair:
            copy = p.to(bf16)
            self.how["copies"].append(copy)
            z = F.linear(z.to(bf16), copy)
        return y + z * 1.0


def normed(x, how):
    return Normed.apply(x.float() if how["autocast"] else x)


def root(x):
    """An RMSNorm as diffusers writes it, but for its weight, which is frozen."""
    mean = x.to(fp32).pow(2).sum(-1, keepdim=True) / x.shape[-1]
    return (x * torch.rsqrt(mean + 1e-6)).to(bf16)


class Attention(nn.Module):
    def __init__(self, how, text):
        super().__init__()
        self.own, self.text = (nn.ModuleList(Linear(WIDTH, WIDTH, how, True) for _ in range(n)) for n in (4, 4 if text else 0))

    def forward(self, x, text=None):
        def three(linears, x):
            q, k, v = (f(x).view(BATCH, -1, HEADS, HEAD).transpose(1, 2) for f in linears[:3])
            return root(q), root(k), v

        all_ = three(self.own, x)
        if text is not None:
            all_ = [torch.cat(pair, 2) for pair in zip(all_, three(self.text, text))]
        out = Flash.apply(*all_).transpose(1, 2).reshape(BATCH, -1, WIDTH)
        if text is None:
            return self.own[3](out)
        return [f(y) for f, y in zip((self.own[3], self.text[3]), out.split([TOKENS, TEXT], 1))]


class Block(nn.Module):
    def __init__(self, how, dual):
        super().__init__()
        self.how, self.attend, self.alone = how, Attention(how, True), Attention(how, False) if dual else None
        self.mods = nn.ModuleList(Linear(WIDTH, n * WIDTH, how) for n in (9 if dual else 6, 6))
        self.nets = nn.ModuleList(nn.Sequential(Linear(WIDTH, 4 * WIDTH, how), nn.GELU(), Linear(4 * WIDTH, WIDTH, how)) for _ in "ab")

    def forward(self, both, time):
        parts = [m(F.silu(time)).unsqueeze(1).chunk(m.weight.shape[0] // WIDTH, 2) for m in self.mods]
        norms = [normed(x, self.how) for x in both]
        given = [n * (1 + p[1]) + p[0] for n, p in zip(norms, parts)]
        alone = norms[0] * (1 + parts[0][7]) + parts[0][6] if self.alone else None
        out = []
        for i, (x, y, p) in enumerate(zip(both, self.attend(*given), parts)):
            x = x + p[2] * y
            if i == 0 and self.alone:
                x = x + p[8] * self.alone(alone)
            out.append(x + p[5] * self.nets[i](normed(x, self.how) * (1 + p[4]) + p[3]))
        return out


def kept(dual, autocast, dropout, stored):
    how = {"autocast": autocast, "dropout": dropout, "stored": stored, "copies": []}
    block = Block(how, dual)
    both = [torch.zeros(BATCH, n, WIDTH, dtype=bf16, requires_grad=True) * 1 for n in (TOKENS, TEXT)]
    saved = []

    def pack(t):
        saved.append(t)
        return t

    with torch.autograd.graph.saved_tensors_hooks(pack, lambda t: t):
        block(both, torch.zeros(BATCH, WIDTH, dtype=bf16))
    own = {t.storage().data_ptr() for t in list(block.parameters()) + how["copies"]}
    total = {t.storage().data_ptr(): t.storage().nbytes() for t in saved if t.dim() > 0}
    return {"dual": dual, "autocast": autocast, "dropout": dropout, "stored": 2 if stored is bf16 else 4,
            "kept": sum(n for at, n in total.items() if at not in own)}


rows = [kept(dual, autocast, dropout, stored) for dual in (False, True) for dropout in (False, True)
        for autocast, stored in ((False, bf16), (True, bf16), (True, fp32))]
with open(sys.argv[1], "w") as f:
    json.dump({"doc": "Measured by profiles/torchtest/write_dit.py: what autograd keeps of a block of two rows with adapters of rank 8.",
               "torch": torch.__version__, "rows": rows}, f, indent=1)
    f.write("\n")
