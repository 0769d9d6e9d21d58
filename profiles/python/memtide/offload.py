"""Activations on the host until the backward comes near."""
import weakref

from .tensors import StorageWeakRef, _key, _storage, plain, torch


class Offloaded:
    """The activations that an offloaded segment keeps, or the arguments of one that runs
    again. They are on the host until the backward comes near."""

    def __init__(self, rt, seg):
        self.rt, self.seg = rt, seg
        self.blocks = weakref.WeakValueDictionary()  # the handles hold the blocks, so a block is freed when the backward is done with it
        self.line, self.n = rt.offloaded, len(rt.offloaded)  # all of the same step
        self.line.append(weakref.ref(self))

    def pack(self, t):
        if plain(t) or t.layout is not torch.strided or t.numel() == 0 or _key(t) in self.rt.given:
            return t
        b = self.blocks.get(_key(t))
        if b is None:
            with self.rt.quiet():
                b = self.blocks[_key(t)] = Block(t, self.rt)
            b.alive = StorageWeakRef(_storage(t))  # a storage that is freed could share its address with a new one
            b.seen = {place(t)}
        elif place(t) not in b.seen:  # this part may have been written since, as the gates of an LSTM are
            with self.rt.quiet():
                b.send(t)
            b.seen.add(place(t))
        return self, b, t.dtype, t.size(), t.stride(), t.storage_offset()


def place(t):
    """Returns which elements of its storage a tensor is, and how often they were changed."""
    return t.dtype, t.size(), t.stride(), t.storage_offset(), t._version


class Block:
    """A storage on the host. On a GPU, copies use a side stream and pinned memory."""

    def __init__(self, t, rt):
        self.rt, self.device, self.flat, self.event = rt, t.device, None, None
        count = _storage(t).nbytes()
        flat = torch.empty(0, dtype=torch.uint8, device=t.device)
        flat.set_(_storage(t) if hasattr(t, "untyped_storage") else t.storage().untyped())
        if t.device.type != "cuda":
            self.host = torch.frombuffer(bytearray(max(1, count)), dtype=torch.uint8)[:count]
            self.host.copy_(flat)
            return
        self.host = torch.empty(count, dtype=torch.uint8, pin_memory=True)
        self.across(flat, self.host)

    def across(self, t, host):
        s = self.rt.stream(t.device)
        s.wait_stream(torch.cuda.current_stream(t.device))
        with torch.cuda.stream(s):
            host.copy_(t, non_blocking=True)
        t.record_stream(s)

    def send(self, t):
        """Copies the elements of t to the host again."""
        each = t.element_size()
        host = self.host[:self.host.numel() // each * each].view(t.dtype).as_strided(t.size(), t.stride(), t.storage_offset())
        if t.device.type == "cuda":
            self.across(t.detach(), host)
        else:
            host.copy_(t.detach())

    def fetch(self):
        if self.flat is not None:
            return
        self.flat = torch.empty(self.host.shape, dtype=torch.uint8, device=self.device)
        if self.device.type != "cuda":
            self.flat.copy_(self.host)
            return
        s = self.rt.stream(self.device)
        s.wait_stream(torch.cuda.current_stream(self.device))
        with torch.cuda.stream(s):
            self.flat.copy_(self.host, non_blocking=True)
        self.flat.record_stream(s)
        self.event = s.record_event()

    def tensor(self, dtype, size, stride, offset):
        self.fetch()
        if self.event is not None:
            torch.cuda.current_stream(self.device).wait_event(self.event)
        each = torch.empty(0, dtype=dtype).element_size()
        return self.flat[:self.flat.numel() // each * each].view(dtype).as_strided(size, stride, offset)


def unpack(h):
    if isinstance(h, torch.Tensor):
        return h
    if isinstance(h, tuple):
        h[0].rt.near(h[0])
        return h[1].tensor(*h[2:])
    while h.value is None:
        h.frame.fill()
    return h.value
