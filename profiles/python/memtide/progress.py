"""What collect is doing, while it does: by tqdm where that is installed, otherwise in a line."""
import contextlib
import sys

PARTS = ("what Python keeps", "what autograd keeps", "what kernels take", "the peak of a plain step")


class Silent:
    """Says nothing."""

    def part(self, k):
        """The k-th of PARTS begins."""

    def operators(self, n):
        """So many operators of the part have run."""

    def close(self):
        """Nothing is done any more."""


class Line(Silent):
    """Says it on the standard error: in one line that is written again, or by tqdm. It may
    be used by a copy of this process, which is why each call says all."""

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


teller = [Silent()]  # the last one is told


@contextlib.contextmanager
def telling(wanted):
    """While it is entered, collect says what it does if that is wanted; None: where a
    person sees it, in a terminal or a notebook."""
    if wanted is None:
        wanted = sys.stderr.isatty() or "ipykernel" in sys.modules
    teller.append(Line() if wanted else Silent())
    try:
        yield
    finally:
        teller.pop().close()
