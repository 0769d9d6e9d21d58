"""Errors, whose text is safe on any terminal. This module imports no other module of the
package."""
import re

STEERING = re.compile("[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")


def shown(text):
    """Returns foreign text without characters that could have an effect where it is shown:
    control characters, which can steer a terminal, marks that change the direction of text,
    and halves of surrogate pairs. White space becomes a space, the others U+FFFD, as in
    CleanText of profiles/budget.go."""
    return STEERING.sub(lambda m: " " if m[0] in "\t\n\r\u2028\u2029" else "\ufffd", text)


class Refusal(RuntimeError):
    """An error that says what was found and what to do, in a sentence that is safe on any
    terminal."""

    def __init__(self, text):
        super().__init__(shown(text))


class CollectError(Refusal):
    """The network cannot be profiled."""


class OtherOperators(CollectError):
    """A step on the device runs other operators than the step on shapes alone."""


class ValuesNeeded(CollectError):
    """The model looks at values, which shapes alone do not have. what is the operator that
    needs them, and the line of the model."""

    def __init__(self, what):
        super().__init__(what + ": collect with real=True.")
        self.what = what


class PlanError(Refusal):
    """The plan does not fit the model, or this PyTorch."""


def size_text(n):
    """Returns a number of bytes for people."""
    return "%.1f GiB" % (n / 2**30) if n >= 2**30 else "%.1f MiB" % (n / 2**20)
