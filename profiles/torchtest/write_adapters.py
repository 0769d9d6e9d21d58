"""Writes what autograd keeps of one block of a Llama with adapters, written as Transformers, PEFT and
bitsandbytes write it, under autocast: python write_adapters.py FILE. Attention and the product of weights in
4 bits are stand-ins that keep what the kernels do; sizes are small, since bytes go with them."""
import json
import sys

import torch
import torch.nn.functional as F

B, S, H, HEADS, KEYS, D, WIDE, R = 2, 24, 64, 4, 2, 16, 160, 4
half = torch.bfloat16


class Flash(torch.autograd.Function):
    @staticmethod
    def forward(ctx, q, k, v):
        rep = q.shape[1] // k.shape[1]
        with torch.autocast("cpu", enabled=False):
            s = q.float() @ k.repeat_interleave(rep, 1).float().transpose(2, 3) / D ** 0.5
            out = (s.softmax(-1) @ v.repeat_interleave(rep, 1).float()).to(q.dtype).transpose(1, 2).contiguous()
        ctx.save_for_backward(q, k, v, out, s.logsumexp(-1))
        return out

    @staticmethod
    def backward(ctx, g):
        q, k, v, _, _ = ctx.saved_tensors
        return torch.zeros_like(q), torch.zeros_like(k), torch.zeros_like(v)


class FourBits(torch.autograd.Function):  # bitsandbytes: autograd/_functions.py, MatMul4Bit, which keeps no activation
    @staticmethod
    def forward(ctx, x, weight):
        ctx.weight = weight
        return x @ weight.t()

    @staticmethod
    def backward(ctx, g):
        return g @ ctx.weight, None


class EightBits(torch.autograd.Function):  # MatMul8bitLt, which keeps its input
    @staticmethod
    def forward(ctx, x, weight):
        ctx.save_for_backward(x)
        ctx.weight = weight
        return (x.to(half) @ weight.t()).to(x.dtype)

    @staticmethod
    def backward(ctx, g):
        return (g.to(half) @ ctx.weight).to(g.dtype), None


class Adapted(torch.nn.Module):
    """A frozen product with an adapter: peft/tuners/lora/layer.py, bnb.py and dora.py."""

    def __init__(self, n_in, n_out, bits, dora, kind):
        super().__init__()
        self.weight = torch.nn.Parameter(torch.randn(n_out, n_in, dtype=half) / 8, requires_grad=False)
        self.A = torch.nn.Linear(n_in, R, bias=False, dtype=kind)
        self.B = torch.nn.Linear(R, n_out, bias=False, dtype=kind)
        self.magnitude = torch.nn.Parameter(torch.ones(n_out)) if dora else None
        self.bits = bits

    def forward(self, x):
        if self.bits == 8:
            result = EightBits.apply(x, self.weight)
        elif self.bits == 4:  # nn/modules.py, Linear4bit: computed in bf16, returned in the type of the input
            result = FourBits.apply(x.to(half), self.weight).to(x.dtype).clone()
        else:
            result = F.linear(x, self.weight)
        kind = result.dtype
        if self.bits == 16:
            x = x.to(self.A.weight.dtype)
        if self.magnitude is None:
            result = result + self.B(self.A(x)) * 2.0
        else:
            delta = self.B(self.A(torch.eye(x.shape[-1]))).T.to(x.dtype)
            norm = torch.linalg.norm(self.weight.to(x.dtype) + 2.0 * delta.detach(), dim=1).detach()
            scale = (self.magnitude / norm).view(1, -1)
            result = result + ((scale - 1) * result + scale * self.B(self.A(x)) * 2.0)
        return result.to(kind) if self.bits == 16 else result


class Norm(torch.nn.Module):
    def __init__(self, kind):
        super().__init__()
        self.weight = torch.nn.Parameter(torch.ones(H, dtype=kind), requires_grad=False)

    def forward(self, x):
        kind = x.dtype
        x = x.to(torch.float32)
        mean = x.pow(2).sum(-1, keepdim=True) / H  # mean() of PyTorch 1.13 keeps its input, of later ones not
        return self.weight * (x * torch.rsqrt(mean + 1e-6)).to(kind)


class Block(torch.nn.Module):
    def __init__(self, bits, dora, kbit, narrow, square):
        super().__init__()
        self.square = square
        self.kind = torch.float32 if kbit else half
        self.n1, self.n2 = Norm(self.kind), Norm(self.kind)
        new = lambda a, b: Adapted(a, b, bits, dora, half if narrow else torch.float32)  # noqa: E731
        self.q, self.k, self.v, self.o = new(H, HEADS * D), new(H, KEYS * D), new(H, KEYS * D), new(HEADS * D, H)
        self.up, self.down = new(H, WIDE), new(WIDE, H)
        self.gate = None if square else new(H, WIDE)

    def forward(self, x, cos, sin):
        heads = lambda t: t.view(B, S, -1, D).transpose(1, 2)  # noqa: E731
        turn = lambda t: t * cos + torch.cat((-t[..., D // 2:], t[..., :D // 2]), -1) * sin  # noqa: E731
        n = self.n1(x)
        q, k, v = turn(heads(self.q(n))), turn(heads(self.k(n))), heads(self.v(n))
        x = x + self.o(Flash.apply(q.to(half), k.to(half), v.to(half)).reshape(B, S, -1))
        n = self.n2(x)
        if self.square:  # activations.py, ReLUSquaredActivation; autocast on CUDA widens what a power reads
            return x + self.down(torch.square(F.relu(self.up(n)).float()))
        return x + self.down(F.silu(self.gate(n)) * self.up(n))


def kept(bits, dora, kbit, narrow=False, square=False):
    torch.manual_seed(0)
    block = Block(bits, dora, kbit, narrow, square)
    cos, sin = torch.randn(2, S, D).to(block.kind)
    wide = kbit or bits < 16 and (dora or square)  # what leaves a block goes into the next one
    x = torch.randn(B, S, H).to(torch.float32 if wide else half).requires_grad_()
    weights = {w.data_ptr() for w in block.parameters()} | {cos.data_ptr(), sin.data_ptr()}
    shapes = {tuple(w.shape) for w in block.parameters() if w.dim() > 1}  # copies that autocast makes of them
    shapes |= {s[::-1] for s in shapes}
    alive = {}

    class Packed:
        def __init__(self, t):
            self.tensor, self.key = t, t.storage().data_ptr()
            if t.dim() and t.data_ptr() not in weights and tuple(t.shape) not in shapes:
                bytes_, n = alive.get(self.key, (t.storage().nbytes(), 0))
                alive[self.key] = (bytes_, n + 1)
                self.counted = True

        def __del__(self):
            if getattr(self, "counted", False):
                bytes_, n = alive.pop(self.key)
                if n > 1:
                    alive[self.key] = (bytes_, n - 1)

    with torch.autograd.graph.saved_tensors_hooks(Packed, lambda p: p.tensor):
        with torch.autocast("cpu", half):
            y = block(x, cos, sin)
    total = sum(n for n, _ in alive.values())
    if (y.dtype == torch.float32) != wide:
        sys.exit(f"a block of {bits} bits (DoRA {dora}, k-bit {kbit}, squares {square}) reads another type than it returns")
    y.float().sum().backward()
    adapters = sum(w.numel() for w in block.parameters() if w.requires_grad)
    return {"bits": bits, "dora": dora, "kbit": kbit, "narrow": narrow, "square": square, "kept": total, "adapters": adapters}


rows = [kept(bits, dora, kbit) for bits, kbit in ((16, False), (8, False), (8, True), (4, False), (4, True)) for dora in (False, True)]
rows += [kept(bits, False, False, True) for bits in (16, 4)]
rows += [kept(bits, False, False, square=True) for bits in (16, 8, 4)]
with open(sys.argv[1], "w") as f:
    json.dump({"doc": "Measured by profiles/torchtest/write_adapters.py: what autograd keeps of a block, its input included, and the numbers of its adapters.",
               "torch": torch.__version__, "batch": B, "seq": S, "hidden": H, "heads": HEADS, "keys": KEYS, "head": D, "wide": WIDE, "rank": R, "rows": rows}, f, indent=1)
    f.write("\n")
