"""What is refused, in sentences that any terminal can show. It uses no other module."""
import re

STEERING = re.compile("[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")


def shown(text):
    """Foreign text without what could do something where it is shown: control
    characters, with which a terminal can be steered, marks that turn the direction of
    what follows, and halves of characters. White space becomes a space, the others
    U+FFFD, as CleanText in profiles/budget.go has it."""
    return STEERING.sub(lambda m: " " if m[0] in "\t\n\r\u2028\u2029" else "\ufffd", text)


class Refusal(RuntimeError):
    """What was found and what to do, in a sentence that any terminal can show."""

    def __init__(self, text):
        super().__init__(shown(text))


class CollectError(Refusal):
    """What keeps a network from being profiled, in a sentence."""


class OtherOperators(CollectError):
    """What shapes alone do is not what the device does."""


class ValuesNeeded(CollectError):
    """A model looks at values, and shapes alone have none. what says which operator
    needs them, and in which line of the model."""

    def __init__(self, what):
        super().__init__(what + ": collect with real=True.")
        self.what = what


class PlanError(Refusal):
    """The plan does not fit the model, or this PyTorch."""


def size_text(n):
    """Bytes for people."""
    return "%.1f GiB" % (n / 2**30) if n >= 2**30 else "%.1f MiB" % (n / 2**20)
