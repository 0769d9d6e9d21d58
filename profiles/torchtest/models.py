"""Networks for the tests: small ones that a CPU trains in a moment, and deep ones
of the papers for their sizes. Factories return an nn.Sequential and a sample."""
import torch
from torch import nn


class Basic(nn.Module):
    """A residual block of two convolutions (arXiv:1512.03385, figure 2)."""

    def __init__(self, inner, outer, stride=1):
        super().__init__()
        self.conv1, self.bn1 = nn.Conv2d(inner, outer, 3, stride, 1, bias=False), nn.BatchNorm2d(outer)
        self.conv2, self.bn2 = nn.Conv2d(outer, outer, 3, 1, 1, bias=False), nn.BatchNorm2d(outer)
        self.relu = nn.ReLU(inplace=True)
        self.down = nn.Sequential(nn.Conv2d(inner, outer, 1, stride, bias=False), nn.BatchNorm2d(outer)) if stride != 1 or inner != outer else None

    def forward(self, x):
        y = self.bn2(self.conv2(self.relu(self.bn1(self.conv1(x)))))
        y += x if self.down is None else self.down(x)
        return self.relu(y)


def resnet():
    """A small ResNet with batch normalisation and works in place."""
    stages = [nn.Conv2d(3, 16, 3, 1, 1, bias=False), nn.BatchNorm2d(16), nn.ReLU(inplace=True)]
    for inner, outer, stride in ((16, 16, 1), (16, 16, 1), (16, 32, 2), (32, 32, 1), (32, 64, 2), (64, 64, 1)):
        stages.append(Basic(inner, outer, stride))
    stages += [nn.AdaptiveAvgPool2d((1, 1)), nn.Flatten(), nn.Linear(64, 10)]
    return nn.Sequential(*stages), torch.empty(8, 3, 48, 48, device="meta")


def vgg():
    """A small VGG: convolutions, ReLU in place, pooling, dropout."""
    stages, inner = [], 3
    for outer in (16, 16, 16, 0, 32, 32, 32, 32, 0, 64, 64, 64, 0):
        if outer:
            stages += [nn.Conv2d(inner, outer, 3, padding=1), nn.ReLU(inplace=True)]
            inner = outer
        else:
            stages.append(nn.MaxPool2d(2, 2))
    stages += [nn.Flatten(), nn.Linear(64 * 6 * 6, 128), nn.ReLU(inplace=True), nn.Dropout(), nn.Linear(128, 10)]
    return nn.Sequential(*stages), torch.empty(8, 3, 48, 48, device="meta")


def triples(inner, *widths):
    """Convolutions, each with batch normalisation and a ReLU, none in place: nobody
    keeps what a normalisation writes once the ReLU has read it."""
    modules = []
    for outer in widths:
        modules += [nn.Conv2d(inner, outer, 3, padding=1, bias=False), nn.BatchNorm2d(outer), nn.ReLU()]
        inner = outer
    return modules


def normalised():
    """A small network of such triples, a pool and a classifier with dropout."""
    stages = triples(3, 16, 16) + [nn.MaxPool2d(2)] + triples(16, 32, 32, 32) + [nn.AdaptiveAvgPool2d((1, 1)), nn.Flatten(), nn.Dropout(0.2), nn.Linear(32, 10)]
    return nn.Sequential(*stages), torch.empty(8, 3, 48, 48, device="meta")


class Down(nn.Module):
    """A level of a U-Net: what comes in, beside what the levels below make of it."""

    def __init__(self, width, below):
        super().__init__()
        self.below = nn.Sequential(nn.MaxPool2d(2), *triples(width, 2 * width), *below, *triples(2 * width, 2 * width), nn.ConvTranspose2d(2 * width, width, 2, 2))

    def forward(self, x):
        return torch.cat([self.below(x), x], 1)


def unet():
    """A small U-Net with a classifier (arXiv:1505.04597, figure 1)."""
    below = [Down(32, []), *triples(64, 32)]
    stages = triples(3, 16, 16) + [Down(16, below)] + triples(32, 16, 16) + [nn.Conv2d(16, 4, 1), nn.AdaptiveAvgPool2d((4, 4)), nn.Flatten(), nn.Linear(64, 10)]
    return nn.Sequential(*stages), torch.empty(4, 3, 64, 64, device="meta")


class Block(nn.Module):
    """A transformer block as in GPT-2, with plain attention and dropout."""

    def __init__(self, width, heads, p=0.1):
        super().__init__()
        self.heads = heads
        self.ln1, self.ln2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.qkv, self.proj = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.up, self.down = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)
        self.d1, self.d2, self.d3 = nn.Dropout(p), nn.Dropout(p), nn.Dropout(p)

    def forward(self, x):
        batch, length, width = x.shape
        q, k, v = (t.view(batch, length, self.heads, -1).transpose(1, 2) for t in self.qkv(self.ln1(x)).split(width, 2))
        mixed = self.d1(torch.softmax(q @ k.transpose(-2, -1) / (width // self.heads) ** 0.5, -1)) @ v
        x = x + self.d2(self.proj(mixed.transpose(1, 2).reshape(batch, length, width)))
        return x + self.d3(self.down(nn.functional.gelu(self.up(self.ln2(x)))))


class Embed(nn.Module):
    """Embeddings of words and of positions."""

    def __init__(self, words, length, width):
        super().__init__()
        self.words, self.places = nn.Embedding(words, width), nn.Embedding(length, width)
        self.register_buffer("at", torch.arange(length))

    def forward(self, ids):
        return self.words(ids) + self.places(self.at)


def gpt():
    """A small GPT from words to logits."""
    width, length, words = 64, 64, 100
    stages = [Embed(words, length, width)] + [Block(width, 4) for _ in range(5)] + [nn.LayerNorm(width), nn.Linear(width, words)]
    return nn.Sequential(*stages), torch.zeros(4, length, dtype=torch.int64)


def blocks():
    """Four transformer blocks of width 256."""
    return nn.Sequential(*[Block(256, 8) for _ in range(4)]), torch.empty(4, 128, 256, device="meta")


class PreAct(nn.Module):
    """A bottleneck that normalises first (arXiv:1603.05027), as in ResNet-1001."""

    def __init__(self, inner, planes, stride=1):
        super().__init__()
        self.bn1, self.c1 = nn.BatchNorm2d(inner), nn.Conv2d(inner, planes, 1, bias=False)
        self.bn2, self.c2 = nn.BatchNorm2d(planes), nn.Conv2d(planes, planes, 3, stride, 1, bias=False)
        self.bn3, self.c3 = nn.BatchNorm2d(planes), nn.Conv2d(planes, 4 * planes, 1, bias=False)
        self.relu = nn.ReLU(inplace=True)
        self.down = None
        if stride != 1 or inner != 4 * planes:
            self.down = nn.Sequential(nn.BatchNorm2d(inner), nn.Conv2d(inner, 4 * planes, 1, stride, bias=False))

    def forward(self, x):
        y = self.c3(self.relu(self.bn3(self.c2(self.relu(self.bn2(self.c1(self.relu(self.bn1(x)))))))))
        y += x if self.down is None else self.down(x)
        return y


def resnet1001():
    """ResNet-1001 as a chain of 339 stages, the loss included."""
    stages, inner = [nn.Conv2d(3, 16, 3, 1, 1, bias=False), nn.BatchNorm2d(16), nn.ReLU(inplace=True)], 16
    for group, planes in enumerate((64, 128, 256)):
        for i in range(111):
            stages.append(PreAct(inner, planes, 2 if group and not i else 1))
            inner = 4 * planes
    stages += [nn.BatchNorm2d(inner), nn.ReLU(inplace=True), nn.AdaptiveAvgPool2d((1, 1)), nn.Flatten(), nn.Linear(inner, 10)]
    return nn.Sequential(*stages), torch.empty(2, 3, 224, 224, device="meta")


def resnet200():
    """ResNet-200 of torchvision's bottlenecks."""
    from torchvision.models.resnet import Bottleneck, ResNet

    return ResNet(Bottleneck, [3, 24, 36, 3]), torch.empty(2, 3, 224, 224, device="meta")
