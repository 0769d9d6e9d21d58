"""Writes what autograd keeps of a step of small UNets, built anew as diffusers builds UNet2DConditionModel:
python write_unet.py FILE. Attention is a stand-in that keeps what the kernel does, so is LayerNorm in 16 bits,
and a checkpoint one that keeps its inputs; sizes are small, since bytes go with them."""
import json
import sys

import torch
import torch.nn.functional as F
from torch import nn

TOKENS, RANK = 77, 4


class Flash(torch.autograd.Function):
    @staticmethod
    def forward(ctx, q, k, v):
        s = q.float() @ k.float().transpose(2, 3) / q.shape[-1] ** 0.5
        out = (s.softmax(-1) @ v.float()).to(q.dtype).transpose(1, 2).contiguous().transpose(1, 2)
        ctx.save_for_backward(q, k, v, out, s.logsumexp(-1))
        return out

    @staticmethod
    def backward(ctx, g):
        q, k, v, _, _ = ctx.saved_tensors
        return torch.ones_like(q), torch.ones_like(k), torch.ones_like(v)


class Normed(torch.autograd.Function):
    """A LayerNorm whose statistics have 4 bytes, as on a GPU; on a CPU they have the type of the input."""
    @staticmethod
    def forward(ctx, x, weight, bias):
        y, mean, rstd = torch.native_layer_norm(x.float(), x.shape[-1:], weight.float(), bias.float(), 1e-5)
        ctx.save_for_backward(x, mean, rstd, weight, bias)
        return y.to(x.dtype)

    @staticmethod
    def backward(ctx, g):
        return g.contiguous(), None, None


class Norm(nn.LayerNorm):
    def forward(self, x):
        return Normed.apply(x, self.weight, self.bias)


class Inputs(torch.autograd.Function):
    """Keeps what a checkpoint does: its inputs."""
    @staticmethod
    def forward(ctx, run, x, other, *weights):
        ctx.save_for_backward(x, other)
        with torch.no_grad():
            return run(x, other)

    @staticmethod
    def backward(ctx, g):
        return None, None, None


def called(module, ckpt, x, other):
    weights = [w for w in module.parameters() if w.requires_grad]
    if ckpt and (x.requires_grad or weights):
        return Inputs.apply(module.forward, x, other, *weights)
    return module(x, other)


class Adapted(nn.Linear):
    """A product with an adapter of LoRA beside it, where there is one."""
    def adapt(self):
        self.A, self.B = nn.Linear(self.in_features, RANK, bias=False), nn.Linear(RANK, self.out_features, bias=False)

    def forward(self, x):
        y = super().forward(x)
        return y + self.B(self.A(x)) * 1.0 if hasattr(self, "A") else y


class ResNet(nn.Module):
    def __init__(self, a, b, time, groups):
        super().__init__()
        self.norm1, self.conv1 = nn.GroupNorm(groups, a), nn.Conv2d(a, b, 3, padding=1)
        self.time = nn.Linear(time, b)
        self.norm2, self.drop, self.conv2 = nn.GroupNorm(groups, b), nn.Dropout(0.0), nn.Conv2d(b, b, 3, padding=1)
        self.shortcut = nn.Conv2d(a, b, 1) if a != b else None

    def forward(self, x, temb):
        h = self.conv1(F.silu(self.norm1(x)))
        h = self.norm2(h + self.time(F.silu(temb))[:, :, None, None])
        h = self.conv2(self.drop(F.silu(h)))
        if self.shortcut is not None:
            x = self.shortcut(x)
        return (x + h) / 1.0


class Attention(nn.Module):
    def __init__(self, h, other, heads):
        super().__init__()
        self.heads = heads
        self.q, self.k, self.v = Adapted(h, h, bias=False), Adapted(other, h, bias=False), Adapted(other, h, bias=False)
        self.o = Adapted(h, h)

    def forward(self, x, states):
        apart = lambda t: t.view(t.shape[0], t.shape[1], self.heads, -1).transpose(1, 2)  # noqa: E731
        a = Flash.apply(apart(self.q(x)), apart(self.k(states)), apart(self.v(states)))
        return self.o(a.transpose(1, 2).reshape(x.shape)) / 1.0


class Block(nn.Module):
    def __init__(self, h, text, heads):
        super().__init__()
        self.n1, self.n2, self.n3 = Norm(h), Norm(h), Norm(h)
        self.own, self.cross = Attention(h, h, heads), Attention(h, text, heads)
        self.up, self.down = nn.Linear(h, 8 * h), nn.Linear(4 * h, h)

    def forward(self, x, text):
        n = self.n1(x)
        x = self.own(n, n) + x
        x = self.cross(self.n2(x), text) + x
        value, gate = self.up(self.n3(x)).chunk(2, dim=-1)
        return self.down(value * F.gelu(gate)) + x


class Transformer(nn.Module):
    def __init__(self, h, text, heads, deep, linear, groups):
        super().__init__()
        self.linear = linear
        self.norm = nn.GroupNorm(groups, h)
        self.proj_in, self.proj_out = (nn.Linear(h, h), nn.Linear(h, h)) if linear else (nn.Conv2d(h, h, 1), nn.Conv2d(h, h, 1))
        self.blocks = nn.ModuleList(Block(h, text, heads) for _ in range(deep))

    def forward(self, x, text, ckpt):
        b, c, high, wide = x.shape
        h = self.norm(x)
        if not self.linear:
            h = self.proj_in(h)
        h = h.permute(0, 2, 3, 1).reshape(b, high * wide, c)
        if self.linear:
            h = self.proj_in(h)
        for block in self.blocks:
            h = called(block, ckpt, h, text)
        if self.linear:
            h = self.proj_out(h)
        h = h.reshape(b, high, wide, c).permute(0, 3, 1, 2).contiguous()
        return (h if self.linear else self.proj_out(h)) + x


class UNet(nn.Module):
    def __init__(self, c):
        super().__init__()
        width, layers, groups = c["block_out_channels"], c["layers_per_block"], c["norm_num_groups"]
        levels, time = len(width), 4 * width[0]
        per = lambda key: c[key] if isinstance(c[key], list) else [c[key]] * levels  # noqa: E731
        heads, deep = per("attention_head_dim"), per("transformer_layers_per_block")
        down = ["Cross" in k for k in c["down_block_types"]]
        up = ["Cross" in k for k in c["up_block_types"]][::-1]
        over = lambda i: Transformer(width[i], c["cross_attention_dim"], heads[i], deep[i], c["use_linear_projection"], groups)  # noqa: E731
        self.conv_in = nn.Conv2d(c["in_channels"], width[0], 3, padding=1)
        self.time = nn.Sequential(nn.Linear(width[0], time), nn.SiLU(), nn.Linear(time, time))
        self.added = None
        if c.get("addition_embed_type"):
            self.added = nn.Sequential(nn.Linear(c["projection_class_embeddings_input_dim"], time), nn.SiLU(), nn.Linear(time, time))
        skips, at = [width[0]], width[0]
        self.down, self.up = nn.ModuleList(), nn.ModuleList()
        for i in range(levels):
            m = nn.ModuleDict({"res": nn.ModuleList(), "att": nn.ModuleList()})
            for _ in range(layers):
                m["res"].append(ResNet(at, width[i], time, groups))
                at = width[i]
                if down[i]:
                    m["att"].append(over(i))
                skips.append(at)
            if i < levels - 1:
                m["sample"] = nn.Conv2d(at, at, 3, stride=2, padding=1)
                skips.append(at)
            self.down.append(m)
        self.mid1, self.mid, self.mid2 = ResNet(at, at, time, groups), over(levels - 1), ResNet(at, at, time, groups)
        for i in reversed(range(levels)):
            m = nn.ModuleDict({"res": nn.ModuleList(), "att": nn.ModuleList()})
            for _ in range(layers + 1):
                m["res"].append(ResNet(at + skips.pop(), width[i], time, groups))
                at = width[i]
                if up[i]:
                    m["att"].append(over(i))
            if i > 0:
                m["sample"] = nn.Conv2d(at, at, 3, padding=1)
            self.up.append(m)
        self.norm_out, self.conv_out = nn.GroupNorm(groups, at), nn.Conv2d(at, c["out_channels"], 3, padding=1)

    def forward(self, x, sines, added, text, ckpt):
        temb = self.time(sines)
        if self.added is not None:
            temb = temb + self.added(added)
        x = self.conv_in(x)
        skips = [x]
        for m in self.down:
            for i, res in enumerate(m["res"]):
                x = called(res, ckpt, x, temb)
                if len(m["att"]):
                    x = m["att"][i](x, text, ckpt)
                skips.append(x)
            if "sample" in m:
                x = m["sample"](x)
                skips.append(x)
        x = self.mid(self.mid1(x, temb), text, ckpt)
        x = called(self.mid2, ckpt, x, temb)
        for m in self.up:
            for i, res in enumerate(m["res"]):
                x = called(res, ckpt, torch.cat([x, skips.pop()], 1), temb)
                if len(m["att"]):
                    x = m["att"][i](x, text, ckpt)
            if "sample" in m:
                x = m["sample"](F.interpolate(x, scale_factor=2.0, mode="nearest"))
        return self.conv_out(F.silu(self.norm_out(x)))


def kept(config, kind, batch, side, lora, ckpt):
    torch.manual_seed(0)
    net = UNet(config)
    params = sum(w.numel() for w in net.parameters())
    if lora:
        net.requires_grad_(False)
        for m in net.modules():
            if isinstance(m, Adapted):
                m.adapt()
    net.to(kind)
    x = torch.randn(batch, config["in_channels"], side, side, dtype=kind)
    sines = torch.randn(batch, config["block_out_channels"][0], dtype=kind)
    added = torch.randn(batch, config.get("projection_class_embeddings_input_dim", 1), dtype=kind)
    text = torch.randn(batch, TOKENS, config["cross_attention_dim"], dtype=kind)
    target = torch.randn(batch, config["out_channels"], side, side)
    weights = {w.data_ptr() for w in net.parameters()}
    alive = {}

    class Packed:
        def __init__(self, t):
            self.tensor, self.key = t, t.storage().data_ptr()
            if t.dim() and t.storage().data_ptr() not in weights:  # numbers that divide are of the host
                bytes_, n = alive.get(self.key, (t.storage().nbytes(), 0))
                alive[self.key] = (bytes_, n + 1)
                self.counted = True

        def __del__(self):
            if getattr(self, "counted", False):
                bytes_, n = alive.pop(self.key)
                if n > 1:
                    alive[self.key] = (bytes_, n - 1)

    with torch.autograd.graph.saved_tensors_hooks(Packed, lambda p: p.tensor):
        loss = F.mse_loss(net(x, sines, added, text, ckpt).float(), target)
    total = sum(n for n, _ in alive.values())
    if not ckpt:
        loss.backward()
    return {"config": config, "bytes": x.element_size(), "batch": batch, "side": 8 * side, "rank": RANK if lora else 0, "full": ckpt,
            "parameters": params, "kept": total}


small = {"_class_name": "UNet2DConditionModel", "in_channels": 4, "out_channels": 4, "norm_num_groups": 4}
first = dict(small, block_out_channels=[16, 32, 48], layers_per_block=2, down_block_types=["DownBlock2D", "CrossAttnDownBlock2D", "CrossAttnDownBlock2D"],
             up_block_types=["CrossAttnUpBlock2D", "CrossAttnUpBlock2D", "UpBlock2D"], attention_head_dim=[1, 2, 3], transformer_layers_per_block=[1, 2, 3],
             use_linear_projection=True, cross_attention_dim=40, addition_embed_type="text_time", projection_class_embeddings_input_dim=24)
second = dict(small, block_out_channels=[16, 32], layers_per_block=1, down_block_types=["CrossAttnDownBlock2D", "DownBlock2D"],
              up_block_types=["UpBlock2D", "CrossAttnUpBlock2D"], attention_head_dim=2, transformer_layers_per_block=1, use_linear_projection=False, cross_attention_dim=24)
rows = [kept(c, kind, batch, side, lora, ckpt) for c, side in ((first, 16), (second, 8)) for kind in (torch.float32, torch.bfloat16)
        for batch in (1, 2) for lora in (False, True) for ckpt in (False, True)]
with open(sys.argv[1], "w") as f:
    json.dump({"doc": "Measured by profiles/torchtest/write_unet.py: what autograd keeps of a step of small UNets.", "torch": torch.__version__, "rows": rows}, f, indent=1)
    f.write("\n")
