"""Writes what a block keeps that torch.compile compiles: python write_compiled.py < ROWS > FILE, for rows of
profiles/llm/family/testdata/compiled.json. It traces the forward and backward of a block into one graph of aten's
operators and cuts it by the rules of torch/_functorch/partitioners.py of 2025, written anew, with networkx's
minimum cut. PyTorch 1.13 traces it, as Debian has it; blocks are built as Transformers and diffusers write them, in
small sizes, since bytes go with them. Attention and the products of experts are operators that compute nothing."""
import functools
import heapq
import json
import math
import operator
import sys

import networkx
import torch
import torch.nn.functional as F
from torch import fx
from torch._decomp import get_decompositions
from torch.fx.experimental.proxy_tensor import make_fx

aten, prims = torch.ops.aten, torch.ops.prims
bf16, fp32 = torch.bfloat16, torch.float32
INF = math.inf

# Operators that compute nothing and keep what the real ones do.
library = torch.library.Library("stand", "DEF")
library.define("flash(Tensor q, Tensor k, Tensor v) -> (Tensor, Tensor)")
library.define("flash_back(Tensor g, Tensor q, Tensor k, Tensor v, Tensor o, Tensor s) -> (Tensor, Tensor, Tensor)")
library.define("grouped(Tensor x, Tensor w, int n) -> Tensor")
library.define("grouped_back(Tensor g, Tensor x, Tensor w) -> Tensor")
kernels = torch.library.Library("stand", "IMPL", "CompositeExplicitAutograd")
kernels.impl("flash", lambda q, k, v: (torch.empty_like(q), torch.zeros(q.shape[:-1], dtype=fp32)))
kernels.impl("flash_back", lambda g, q, k, v, o, s: (torch.zeros_like(q), torch.zeros_like(k), torch.zeros_like(v)))
kernels.impl("grouped", lambda x, w, n: torch.zeros(x.shape[0], n, dtype=x.dtype))
kernels.impl("grouped_back", lambda g, x, w: torch.zeros_like(w))


class Flash(torch.autograd.Function):
    @staticmethod
    def forward(ctx, q, k, v):
        out, stat = torch.ops.stand.flash(q, k, v)
        ctx.save_for_backward(q, k, v, out, stat)
        return out

    @staticmethod
    def backward(ctx, g):
        return torch.ops.stand.flash_back(g, *ctx.saved_tensors)


class Grouped(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, w):
        ctx.save_for_backward(x, w)
        return torch.ops.stand.grouped(x, w, w.shape[2])

    @staticmethod
    def backward(ctx, g):
        x, w = ctx.saved_tensors
        return torch.ops.stand.grouped(g, w.transpose(1, 2), w.shape[1]), torch.ops.stand.grouped_back(g, x, w)


flash, grouped = Flash.apply, Grouped.apply

VIEWS = """_reshape_alias squeeze unsqueeze alias view slice t expand as_strided permute select transpose detach split
split_with_sizes _unsafe_view unbind""".split()
POINTWISE = """add sub div mul max min pow eq ne ge gt le lt abs neg relu round silu log log1p exp expm1 erf cos sin tan
tanh sqrt rsqrt reciprocal sigmoid softplus threshold threshold_backward clamp clamp_min clamp_max where lerp addcmul
gelu gelu_backward sum mean _grad_sum_to_size sum_to_size amax to type_as rsub _to_copy clone full_like var std reshape
scalar_tensor ones new_zeros arange triu var_mean any full zeros empty empty_like argmax maximum minimum index gather
zeros_like silu_backward sigmoid_backward tanh_backward logical_not logical_and masked_fill square new_empty
ones_like""".split()
views = {getattr(aten, n) for n in VIEWS if hasattr(aten, n)}
again = views | {getattr(aten, n) for n in POINTWISE if hasattr(aten, n)} | {operator.getitem} | {
    getattr(prims, n) for n in "convert_element_type div var sum broadcast_in_dim iota".split() if hasattr(prims, n)}
DECOMPOSED = [aten._softmax, aten._softmax_backward_data, aten.silu, aten.silu_backward, aten.sigmoid_backward,
              aten.tanh_backward, aten.gelu_backward, aten.gelu, aten.rsub, aten.addcmul, aten.threshold_backward]


def kind(n):
    return getattr(n.target, "overloadpacket", n.target)


def view(n):
    return kind(n) in views


def fusible(a, b):
    return kind(b) is aten.cat or kind(a) in again and kind(b) in again


def size(n):
    v = n.meta.get("val")
    return sum(t.numel() * t.element_size() for t in (v if isinstance(v, (list, tuple)) else [v])
               if isinstance(t, torch.Tensor))


class Sized(fx.Interpreter):
    def run_node(self, n):
        n.meta["val"] = super().run_node(n)
        return n.meta["val"]


def traced(block, params, inputs):
    """The graph of a block's forward and backward, without what is computed twice."""
    tensors = params + inputs

    def run(tensors, gradient):
        own = [t.detach().requires_grad_(r.requires_grad) for t, r in zip(tensors, every)]
        out = block(own[:len(params)], own[len(params):])
        return [out] + list(torch.autograd.grad(out, [t for t in own if t.requires_grad], gradient, allow_unused=True))

    every, plain = tensors, [t.detach() for t in tensors]
    gradient = torch.ones_like(block(params, inputs))
    graph = make_fx(run, decomposition_table=get_decompositions(DECOMPOSED))(plain, gradient)
    graph.graph.eliminate_dead_code()
    graph.recompile()
    Sized(graph).run(*plain, gradient)
    for _ in range(2):
        seen = {}
        for n in list(graph.graph.nodes):
            if n.op != "call_function":
                continue
            first = n.args[0] if kind(n) in (aten.detach, aten.alias) else seen.setdefault(
                (n.target, repr(n.args), repr(sorted(n.kwargs.items()))), n)
            if first is not n:
                n.replace_all_uses_with(first)
                graph.graph.erase_node(n)
    return graph.graph


class Cut:
    """The partitioner's view of a graph: nodes of the forward, steps to the backward, and what is banned."""

    def __init__(self, graph, count):
        self.nodes = [n for n in graph.nodes if n.op != "output"]
        places = [n for n in self.nodes if n.op == "placeholder"]
        self.given, outs = places[:count], next(n for n in graph.nodes if n.op == "output").args[0]
        back = set(places[count:]) | {n for n in outs[1:] if isinstance(n, fx.Node)}
        for n in self.nodes:
            if n in back:
                back.update(u for u in n.users if u.op != "output")
        self.back, self.forward, todo = back, set(), [outs[0]]
        while todo:
            n = todo.pop()
            if n not in self.forward:
                self.forward.add(n)
                todo += n.all_input_nodes
        self.forward -= back
        self.order = {n: i for i, n in enumerate(n for n in self.nodes if n in self.forward)}
        self.steps = {}
        for n in reversed(self.nodes):
            self.steps[n] = min([10**9] + [self.steps[u] + 1 for u in self.users(n)]) if n in self.forward else 0
        self.banned = {n for n in self.nodes if n in self.given or n in self.forward and self.bans(n)}
        self.ban_far()

    def users(self, n):
        return [u for u in n.users if u.op != "output"]

    def written_again(self, n):
        """Whether the backward reads a node by an operator that is not fused."""
        todo = [] if view(n) else [n]
        while todo:
            n = todo.pop()
            for u in self.users(n):
                if u not in self.forward and not fusible(n, u):
                    return True
                if view(u):
                    todo.append(u)
        return False

    def bans(self, n):
        if n.op != "call_function" or n.target is operator.getitem or view(n):
            return False
        small = size(n) * 4 < sum(size(i) for i in n.args if isinstance(i, fx.Node))
        return kind(n) not in again or self.written_again(n) or small

    def ban_far(self):
        for used in self.forward:
            near = [u for u in self.users(used) if u in self.forward]
            last = max((self.order[u] for u in near), default=0)
            heap, seen, first = [(self.order[u], i, u, True) for i, u in enumerate(near)], set(), last
            heapq.heapify(heap)
            while heap:
                at, _, n, fuses = heapq.heappop(heap)
                if not fuses:
                    first = at
                    break
                for u in self.users(n):
                    key = (u, fusible(n, u))
                    if u in self.forward and self.order[u] <= last and key not in seen:
                        seen.add(key)
                        heapq.heappush(heap, (self.order[u], len(seen) + len(near), u, key[1]))
            self.banned.update(u for u in near if self.order[u] > first and fusible(used, u) and not view(u))

    def weight(self, n):
        if not isinstance(n.meta.get("val"), torch.Tensor):
            return INF
        weight = int(size(n) * 1.1 ** max(min(self.steps[n], 100), 1))
        whole = n.op == "placeholder" or not all(u.op != "output" and fusible(n, u) for u in n.users)
        return weight if whole else 2 * weight

    def saved(self):
        net = networkx.DiGraph()
        for n in self.nodes:
            if n in self.back:
                net.add_edge((n, "in"), "to", capacity=INF)
                continue
            if n in self.banned:
                net.add_edge("from", (n, "in"), capacity=INF)
            net.add_edge((n, "in"), (n, "out"), capacity=self.weight(n))
            for u in self.users(n):
                net.add_edge((n, "out"), (u, "in"), capacity=INF)
        _, (near, far) = networkx.minimum_cut(net, "from", "to")
        return [n for n in self.nodes if (n, "in") in near and (n, "out") in far]


def kept(block, params, inputs, streams):
    """Bytes that a block keeps beside its parameters, copies of them, and inputs that are not its stream."""
    graph = traced(block, params, inputs)
    cut = Cut(graph, len(params) + len(inputs))
    other = set(cut.given[:len(params)] + cut.given[len(params) + streams:])
    for n in cut.nodes:
        if n.op == "call_function" and n.all_input_nodes and set(n.all_input_nodes) <= set(cut.given[:len(params)]) | (
                other - set(cut.given)):
            other.add(n)
    found = set()
    for n in cut.saved():
        while n not in cut.given and (view(n) or n.target is operator.getitem and view(n.args[0])):
            n = n.args[0]
        found.add(n)
    return sum(size(n) for n in found - other)


class Net:
    """Parameters of a block, by number; with adapters of a rank all others are frozen."""

    def __init__(self, dtype=bf16, rank=0):
        self.params, self.dtype, self.rank = [], dtype, rank

    def param(self, *shape, trains=None, dtype=None):
        t = (torch.randn(*shape) * .02).to(dtype or self.dtype)
        self.params.append(t.requires_grad_(not self.rank if trains is None else trains))
        return len(self.params) - 1

    def linear(self, i, o, bias=True):
        w, b = self.param(o, i), self.param(o) if bias else None
        pair = (self.param(self.rank, i, trains=True), self.param(o, self.rank, trains=True)) if self.rank else None

        def run(t, x):
            y = product(x, t[w], t[b] if bias else None)
            return y + product(product(x, t[pair[0]]), t[pair[1]]) * 2.0 if pair else y
        return run

    def norm(self, n, form):
        w = self.param(n)
        b = self.param(n) if form is plus_one else None
        return lambda t, x: form(x, t[w]) if b is None else form(x, t[w], t[b])


def narrow(t):
    return None if t is None else t.bfloat16()


def product(x, w, b=None):  # with autocast's copies, if weights are in fp32
    return F.linear(narrow(x), narrow(w), narrow(b)) if w.dtype == fp32 else F.linear(x, w, b)


def attended(q, k, v):
    return flash(narrow(q), narrow(k), narrow(v))


def scored(q, k, v, mask, capped):
    """Attention by products and a softmax."""
    k, v = [a.repeat_interleave(q.shape[1] // a.shape[1], 1) if a.shape[1] < q.shape[1] else a for a in (k, v)]
    s = torch.matmul(q, k.transpose(2, 3)) * 0.17
    s = torch.tanh(s / 50.0) * 50.0 if capped else s
    return torch.matmul(torch.softmax(s + mask, -1, dtype=fp32).to(q.dtype), v)


def root(f, eps=1e-6):
    return f * torch.rsqrt(f.pow(2).mean(-1, keepdim=True) + eps)


def usual(x, w):
    return w * root(x.float()).to(x.dtype)


def one_more(x, w):
    return (root(x.float()) * (1.0 + w.float())).type_as(x)


def wide(x, w):
    return (w * root(x.float())).to(x.dtype)


def diffused(x, w, eps=1e-6):
    return (x * torch.rsqrt(x.to(fp32).pow(2).mean(-1, keepdim=True) + eps)).to(w.dtype) * w


def centred(x, w, eps=1e-5):
    f = x.float()
    f = f - f.mean(-1, keepdim=True)
    return (w.float() * (f * torch.rsqrt(f.pow(2).mean(-1, keepdim=True) + eps))).to(x.dtype)


def layer(x, w=None, b=None, eps=1e-5):  # as decomposed for CUDA: statistics have 4 bytes
    f = x.float()
    v, m = torch.var_mean(f, -1, unbiased=False, keepdim=True)
    y = (f - m) * torch.rsqrt(v + eps)
    return (y if w is None else y * w + b).to(x.dtype)


def plus_one(x, w, b):
    return layer(x, w + 1, b)


def turned(x):
    a, b = x.chunk(2, -1)
    return torch.cat((-b, a), -1)


def rotated(x, cos, sin, whole):
    if whole:
        return x * cos + turned(x) * sin
    n = cos.shape[-1]
    return torch.cat([x[..., :n] * cos + turned(x[..., :n]) * sin, x[..., n:]], -1)


def xielu(x, p, n, beta=0.5, eps=-1e-6):
    p, n = F.softplus(p), beta + F.softplus(n)
    low = torch.expm1(torch.min(x, torch.tensor(eps, dtype=x.dtype))) - x
    return torch.where(x > 0, p * x * x + beta * x, low * n + beta * x)


gelu = functools.partial(F.gelu, approximate="tanh")
FORMS = {"gemma2": one_more, "gemma3_text": one_more, "olmo2": wide, "gpt_oss": wide, "cohere": centred,
         "nemotron": plus_one}


def experts(net, h, f, count, top, clamped):
    """The experts of gpt-oss or Qwen3 by grouped products [transformers: integrations/moe.py]."""
    w, up, down = [net.param(*s) for s in ((count, h), (count, h, 2 * f), (count, f, h))]
    biases = [net.param(*s) for s in ((count,), (count, 2 * f), (count, h))] if clamped else None

    def run(t, x):
        rows = x.reshape(-1, h)
        score = F.linear(rows, t[w], t[biases[0]] if biases else None)
        if clamped:
            best, index = torch.topk(score, top, dim=-1)
            score = torch.softmax(best, 1, dtype=best.dtype)
        else:
            best, index = torch.topk(torch.softmax(score, -1, dtype=fp32), top, dim=-1)
            score = (best / best.sum(-1, keepdim=True)).to(rows.dtype)
        order = torch.argsort(index.reshape(-1))
        back, chosen = torch.argsort(order), index.reshape(-1)[order]
        sent = rows[torch.arange(len(rows)).unsqueeze(1).expand(-1, top).reshape(-1)[order]]
        both = grouped(sent, t[up])
        if clamped:
            both = both + t[biases[1]][chosen]
            gate, value = both[..., ::2].clamp(min=None, max=7.0), both[..., 1::2].clamp(min=-7.0, max=7.0)
            y = grouped((value + 1) * (gate * torch.sigmoid(gate * 1.702)), t[down]) + t[biases[2]][chosen]
        else:
            gate, value = both.chunk(2, -1)
            y = grouped(F.silu(gate) * value, t[down])
        y = (y * score.reshape(-1)[order].unsqueeze(-1))[back]
        return y.view(len(rows), top, h).sum(1).view(x.shape)
    return run


def decoder(name, c, batch, seq, rank, dtype, eager):
    h, f, d = c["hidden_size"], c["intermediate_size"], c["head_dim"]
    heads, keys = c["num_attention_heads"], c["num_key_value_heads"]
    net, form = Net(dtype, rank), FORMS.get(name, usual)
    norm = functools.partial(net.norm, form=form)
    bias, joint, parallel = name in ("glm4", "gpt_oss"), name == "phi3", name == "cohere"
    before, both = name != "olmo2", name in ("gemma2", "gemma3_text", "glm4")
    parts = [net.linear(h, (heads + 2 * keys) * d, False)] if joint else [
        net.linear(h, n * d, bias) for n in (heads, keys, keys)]
    out = net.linear(heads * d, h, name == "gpt_oss")
    by_head = name in ("gemma3_text", "apertus", "qwen3", "qwen3_moe")
    qk = [norm(d), norm(d)] if by_head else [norm(heads * d), norm(keys * d)] if name == "olmo2" else None
    n1 = norm(h) if before else None
    n2 = norm(h) if before and not parallel else None
    behind = [norm(h), norm(h)] if both or not before else None
    if name in ("apertus", "nemotron"):
        up, down = net.linear(h, f, False), net.linear(f, h, False)
        signs = [net.param(1), net.param(1)] if name == "apertus" else None
    elif name in ("gpt_oss", "qwen3_moe"):
        count, each = c.get("num_local_experts") or c["num_experts"], c.get("moe_intermediate_size", f)
        net.mixture = experts(net, h, each, count, c["num_experts_per_tok"], name == "gpt_oss")
    elif name in ("phi3", "glm4"):
        up, down = net.linear(h, 2 * f, False), net.linear(f, h, False)
    else:
        gate, up, down = net.linear(h, f, False), net.linear(h, f, False), net.linear(f, h, False)
    scale = c.get("residual_multiplier", 1.0) if name == "granite" else None

    def attention(t, x, cos, sin, mask=None):
        if joint:
            a = parts[0](t, x)
            q, k, v = a[..., :heads * d], a[..., heads * d:(heads + keys) * d], a[..., (heads + keys) * d:]
        else:
            q, k, v = [p(t, x) for p in parts]
        if qk and not by_head:
            q, k = qk[0](t, q), qk[1](t, k)
        q, k, v = [a.view(batch, seq, -1, d).transpose(1, 2) for a in (q, k, v)]
        if by_head:
            q, k = qk[0](t, q), qk[1](t, k)
        whole = not joint and cos.shape[-1] == d
        q, k = rotated(q, cos, sin, whole), rotated(k, cos, sin, whole)
        a = attended(q, k, v) if mask is None else scored(q, k, v, mask, name == "gemma2")
        return out(t, a.transpose(1, 2).reshape(batch, seq, heads * d))

    def feed(t, x):
        if name in ("gpt_oss", "qwen3_moe"):
            return net.mixture(t, x)
        if name == "apertus":
            return down(t, xielu(up(t, x), *[t[i] for i in signs]))
        if name == "nemotron":
            return down(t, F.relu(up(t, x)).square())
        if name in ("phi3", "glm4"):
            a, b = up(t, x).chunk(2, -1)
            return down(t, b * F.silu(a))
        return down(t, (gelu if name.startswith("gemma") else F.silu)(gate(t, x)) * up(t, x))

    def block(t, given):
        x, *tables = given
        n = n1(t, x) if before else x
        a = attention(t, n, *tables)
        if parallel:
            return x + a + feed(t, n)
        a = behind[0](t, a) if behind else a
        x = x + (a * scale if scale else a)
        y = feed(t, n2(t, x) if before else x)
        y = behind[1](t, y) if behind else y
        return x + (y * scale if scale else y)
    turns = d // 2 if name in ("glm4", "nemotron") else d
    tables = [torch.rand(1, 1, seq, turns).to(dtype) for _ in range(2)]
    tables += [torch.zeros(batch, 1, seq, seq).to(dtype)] if eager else []
    return block, net.params, [torch.randn(batch, seq, h).to(dtype).requires_grad_()] + tables, 1


TEXT = 512


def paired(x, cos, sin):
    return torch.stack([-x[..., 1::2], x[..., 0::2]], -1).flatten(3).float() * sin + x.float() * cos


def attend(q, k, v):
    return flash(*[a.transpose(1, 2) for a in (q, k, v)]).transpose(1, 2).flatten(2, 3)


def bare(x):
    return layer(x, eps=1e-6)


def diffusion(name, heads, d, seq):
    """A block of Flux of either kind, of Wan, or of Z-Image [diffusers: models/transformers]."""
    h, net = heads * d, Net()
    square = functools.partial(net.linear, h, h)
    split = lambda x: x.view(1, -1, heads, d)
    given = lambda *shape: (torch.randn(*shape) * .02).to(bf16).requires_grad_()
    tables = lambda n: [torch.rand(1, n, 1, d), torch.rand(1, n, 1, d)]
    if name == "flux_double":
        sides = [(net.linear(h, 6 * h), [square() for _ in range(3)], [net.norm(d, diffused) for _ in range(2)],
                  square(), net.linear(h, 4 * h), net.linear(4 * h, h)) for _ in range(2)]

        def block(t, i):
            text, x, time, cos, sin = i
            parts, scales = [], []
            for v, (mod, qkv, norms, *_) in zip((text, x), sides):
                shift, scale, *more = mod(t, F.silu(time)).chunk(6, 1)
                n = bare(v) * (1 + scale[:, None]) + shift[:, None]
                q, k, v = [split(p(t, n)) for p in qkv]
                parts.append((norms[0](t, q), norms[1](t, k), v))
                scales.append(more)
            q, k, v = [torch.cat(a, 1) for a in zip(*parts)]
            a = attend(paired(q, cos, sin).to(bf16), paired(k, cos, sin).to(bf16), v)
            outs = []
            for v, a, side, (gate, shift, scale, gate2) in zip((text, x), a.split([TEXT, seq], 1), sides, scales):
                v = v + gate.unsqueeze(1) * side[3](t, a)
                n = bare(v) * (1 + scale[:, None]) + shift[:, None]
                outs.append(v + gate2.unsqueeze(1) * side[5](t, gelu(side[4](t, n))))
            return torch.cat(outs, 1)
        return block, net.params, [given(1, TEXT, h), given(1, seq, h), given(1, h)] + tables(seq + TEXT), 2
    if name == "flux_single":
        mod, up, qkv = net.linear(h, 3 * h), net.linear(h, 4 * h), [square() for _ in range(3)]
        norms, out = [net.norm(d, diffused) for _ in range(2)], net.linear(5 * h, h)

        def block(t, i):
            x, time, cos, sin = i
            shift, scale, gate = mod(t, F.silu(time)).chunk(3, 1)
            n = bare(x) * (1 + scale[:, None]) + shift[:, None]
            act, (q, k, v) = gelu(up(t, n)), [split(p(t, n)) for p in qkv]
            q, k = [paired(norm(t, a), cos, sin).to(bf16) for norm, a in zip(norms, (q, k))]
            return x + gate.unsqueeze(1) * out(t, torch.cat([attend(q, k, v), act], 2))
        return block, net.params, [given(1, seq + TEXT, h), given(1, h)] + tables(seq + TEXT), 1
    if name == "wan":
        table, qkv = net.param(1, 6, h, dtype=fp32), [square() for _ in range(3)]
        norms, out, w, b = [net.norm(h, usual) for _ in range(2)], square(), net.param(h), net.param(h)
        cross, others, last = [square() for _ in range(3)], [net.norm(h, usual) for _ in range(2)], square()
        up, down = net.linear(h, 4 * h), net.linear(4 * h, h)

        def block(t, i):
            x, text, time, cos, sin = i
            shift, scale, gate, shift2, scale2, gate2 = (t[table] + time.float()).chunk(6, 1)
            n = (bare(x.float()) * (1 + scale) + shift).type_as(x)
            q, k, v = [split(a) for a in (norms[0](t, qkv[0](t, n)), norms[1](t, qkv[1](t, n)), qkv[2](t, n))]
            a = attend(paired(q, cos, sin).to(bf16), paired(k, cos, sin).to(bf16), v).type_as(x)
            x = (x.float() + out(t, a) * gate).type_as(x)
            n = layer(x.float(), t[w].float(), t[b].float(), 1e-6).type_as(x)
            q, k, v = others[0](t, cross[0](t, n)), others[1](t, cross[1](t, text)), cross[2](t, text)
            x = x + last(t, attend(split(q), split(k), split(v)))
            n = (bare(x.float()) * (1 + scale2) + shift2).type_as(x)
            return (x.float() + down(t, gelu(up(t, n))).float() * gate2).type_as(x)
        return block, net.params, [given(1, seq, h), given(1, TEXT, h), given(1, 6, h)] + tables(seq), 1
    wide_, flat = int(h / 3 * 8), functools.partial(net.linear, bias=False)
    mod, qkv, norms = net.linear(64, 4 * h), [flat(h, h) for _ in range(3)], [net.norm(d, diffused) for _ in range(2)]
    out, around = flat(h, h), [net.norm(h, diffused) for _ in range(4)]
    gate, up, down = flat(h, wide_), flat(h, wide_), flat(wide_, h)

    def block(t, i):
        x, time, cos, sin = i
        scale, mul, scale2, mul2 = mod(t, time).unsqueeze(1).chunk(4, 2)
        n = around[0](t, x) * (1.0 + scale)
        q, k, v = [split(p(t, n)) for p in qkv]
        q, k = [paired(norm(t, a), cos, sin).to(bf16) for norm, a in zip(norms, (q, k))]
        x = x + mul.tanh() * around[1](t, out(t, attend(q, k, v)))
        n = around[2](t, x) * (1.0 + scale2)
        return x + mul2.tanh() * around[3](t, down(t, F.silu(gate(t, n)) * up(t, n)))
    return block, net.params, [given(1, seq, h), given(1, 64)] + tables(seq), 1


def main():
    all_ = json.load(sys.stdin)
    for row in all_["rows"]:
        if row["name"] in ("flux_double", "flux_single", "wan", "zimage"):
            made = diffusion(row["name"], 4, 32, row["seq"])
        else:
            made = decoder(row["name"], row["config"], row["batch"], row["seq"], row["lora"],
                           fp32 if row["states"] == "fp32" else bf16, row.get("attention") == "eager")
        row["block"] = kept(*made)
    print('{"doc": %s,\n"rows": [\n%s\n]}' % (json.dumps(all_["doc"]), ",\n".join(map(json.dumps, all_["rows"]))))


if __name__ == "__main__":
    main()
