"""The progress of collect, shown with tqdm if it is installed, otherwise in a line."""
import contextlib
import sys

PARTS = ("what Python keeps", "what autograd keeps", "what kernels take", "the peak of a plain step")


class Silent:
    """Shows no progress."""

    def part(self, k):
        """Part k of PARTS begins."""

    def operators(self, n):
        """n operators of the part have run."""

    def close(self):
        """The work is finished."""


class Line(Silent):
    """Shows progress on the standard error: in one line that is rewritten, or with tqdm. A
    copy of this process may use it, so each call has all the state."""

    def __init__(self):
        self.k, self.bar = 0, None
        with contextlib.suppress(ImportError):
            from tqdm.auto import tqdm

            self.bar = tqdm(total=len(PARTS), desc="memtide", leave=False, file=sys.stderr)

    def part(self, k):
        self.k = k
        self.say("")

    def operators(self, n):
        if n % 100 == 0:
            self.say(", %d operators" % n)

    def say(self, more):
        text = PARTS[self.k] + more
        if self.bar is not None:
            self.bar.n = self.k
            self.bar.set_description_str("memtide: " + text, refresh=True)
        else:
            sys.stderr.write("\r\033[Kmemtide: %s (%d of %d)" % (text, self.k + 1, len(PARTS)))
            sys.stderr.flush()

    def close(self):
        if self.bar is not None:
            self.bar.close()
        else:
            sys.stderr.write("\r\033[K")
            sys.stderr.flush()


teller = [Silent()]  # the last one is used


@contextlib.contextmanager
def telling(wanted):
    """While it is entered, collect shows its progress if wanted; None means in a terminal or
    a notebook."""
    if wanted is None:
        wanted = sys.stderr.isatty() or "ipykernel" in sys.modules
    teller.append(Line() if wanted else Silent())
    try:
        yield
    finally:
        teller.pop().close()
