"""Plans as files: reading them, and the bounds of each field, beyond which PlanError is raised.

The bounds are those of package profiles: a plan may come from an unknown author.
"""
import json
import os

from .errors import PlanError, shown, size_text
from .randomness import CASTS
from .showing import table


def walk(segments):
    """Yields all segments, each before the segments within it."""
    for s in segments or []:
        yield s
        yield from walk(s.get("inner"))


def name_of(seg):
    units = seg["units"]
    return units[0] + (" to " + units[-1] if len(units) > 1 else "")


def shapes_of(plan):
    """Returns the plans in a plan: the plan itself, and those for other inputs."""
    return [plan] + (plan.get("shapes") or [])


def several(plan, *others):
    """Returns one plan from plans for several batches or lengths of one model. Inputs without
    a plan run without one."""
    plan, others = load_plan(plan), [load_plan(p) for p in others]
    alike = lambda p: [(p.get("model") or {}).get(key) for key in ("units", "classes", "modules_sha")] + [p.get("autocast")]
    if any(alike(p) != alike(plan) for p in others):
        raise PlanError("These plans are of different models: collect one model with each of its inputs.")
    rows = [{k: p[k] for k in ("budget_bytes", "inputs", "predicted", "segments") if k in p} for o in others for p in shapes_of(o)]
    doubts = list(dict.fromkeys(w for p in [plan] + others for w in p.get("warnings") or []))
    return Plan(plan, shapes=(plan.get("shapes") or []) + rows, **({"warnings": doubts} if doubts else {}))


class Plan(dict):
    """A plan: a dictionary with the fields of its file."""

    def __repr__(self):
        rows = [r for s in shapes_of(self) for r in summary(s)]
        return "<memtide plan of %s, class %s: %s>" % (shown(str(self.get("name", ""))), self.get("class", ""), "; ".join(rows))

    def _repr_html_(self):
        rows = [(s["do"], " ".join(s["units"]), "%d segments" % len(s["inner"]) if s.get("inner") else "") for s in self["segments"]]
        return table(repr(self)[1:-1], rows, ("", "units", "within"))

    def save(self, path):
        """Writes the file that apply and the command read."""
        with open(path, "w", encoding="utf-8") as f:
            json.dump(self, f, indent=1)


def summary(plan):
    """Yields what a plan for one shape does and takes, in a few words."""
    said, again = plan.get("predicted") or {}, sum(len(s["units"]) for s in plan["segments"] if s.get("do") == "recompute")
    yield "%d of %d units run again" % (again, len((plan.get("model") or {}).get("units") or [])) if plan.get("model") else "%d units run again" % again
    if said.get("peak_bytes"):
        yield "peak %s instead of %s" % (size_text(said["peak_bytes"]), size_text(said.get("keepall_peak_bytes", 0)))
    if said.get("step_s") and said.get("again_s") is not None:
        yield "%+.0f %% time" % (100 * said["again_s"] / max(said["step_s"] - said["again_s"], 1e-9))


def load_plan(plan):
    """Returns the plan in a file or a dictionary. Raises PlanError with the field that is
    invalid."""
    if isinstance(plan, (str, os.PathLike)):
        plan = read_json(plan)
    if not isinstance(plan, dict) or plan.get("format") != "memtide-plan/1":
        raise PlanError("This is no plan of memtide (format memtide-plan/1).")
    Fields(plan).plan()
    return plan if isinstance(plan, Plan) else Plan(plan)


MOST_BYTES, MOST_NUMBER, MOST_NAME, MOST_TEXT, MOST_NOTES, MOST_ITEMS = 512 << 20, 1 << 53, 1000, 10000, 1000, 1 << 20

MOST_DEPTH = 100  # of nested segments


def read_json(path):
    """Returns the content of a JSON file, which may come from an unknown author."""
    with open(path, "rb") as f:
        data = f.read(MOST_BYTES + 1)
    if len(data) > MOST_BYTES:
        raise PlanError("%s is larger than %s, which is the most that is read." % (path, size_text(MOST_BYTES)))
    try:
        return json.loads(data)
    except RecursionError:
        raise PlanError("%s is nested deeper than any plan." % path) from None
    except ValueError as e:
        raise PlanError("%s is no JSON: %s." % (path, str(e)[:200])) from None


def brief(value):
    """Returns a JSON value for a message: the start of a text, or the type of another value."""
    if type(value) is int and value.bit_length() > 64:
        return "a number of %d bits" % value.bit_length()
    if isinstance(value, str):
        return repr(value if len(value) <= 60 else value[:60] + "...")
    return repr(value) if isinstance(value, (bool, int, float, type(None))) else "a " + type(value).__name__


class Fields:
    """Checks the fields of a plan. Fields that are missing or null have a default, except for
    segments, units and do."""

    def __init__(self, plan):
        self.top = plan

    def wrong(self, path, value, expected):
        raise PlanError("%s is %s: %s is expected. Solve again, or ask for the file again." % (path, brief(value), expected))

    def text(self, path, value, most=MOST_NAME):
        if type(value) is not str or len(value) > most:
            self.wrong(path, value, "a text of at most %d characters" % most)

    def whole(self, path, value, most=MOST_NUMBER):
        if type(value) is not int or not 0 <= value <= most:
            self.wrong(path, value, "a whole number from 0 to %d" % most)

    def number(self, path, value):
        if type(value) not in (int, float) or not 0 <= value <= MOST_NUMBER:  # false for a NaN
            self.wrong(path, value, "a number from 0 on")

    def each(self, path, value, check, most=MOST_ITEMS):
        if not isinstance(value, (list, tuple)) or len(value) > most:
            self.wrong(path, value, "a list of at most %d" % most)
        for i, v in enumerate(value):
            check("%s[%d]" % (path, i), v)

    def parts(self, path, value, checks):
        """Checks that value is an object, and each of its fields with its check."""
        if not isinstance(value, dict):
            self.wrong(path, value, "an object")
        for key, check in checks.items():
            if value.get(key) is not None:
                check("%s.%s" % (path, key) if path else key, value[key])

    def plan(self):
        long = lambda path, v: self.text(path, v, MOST_TEXT)
        names = lambda path, v: self.each(path, v, self.text)
        model = {"units": names, "classes": names, "ops_sha": self.text, "modules_sha": self.text}
        self.parts("", self.top, {
            "class": self.text, "name": self.text, "made_by": self.text, "autocast": self.cast, "model": lambda path, v: self.parts(path, v, model),
            "warnings": lambda path, v: self.each(path, v, long, MOST_NOTES), "shapes": lambda path, v: self.each(path, v, self.shape)})
        if "segments" not in self.top:
            raise PlanError("The plan has no segments: a list of what runs again or goes to the host is expected. Solve again, or ask for the file again.")
        self.shape("", self.top)

    def shape(self, path, value):
        """Checks the fields that a plan and each of its shapes have."""
        predicted = {key: self.whole for key in ("peak_bytes", "keepall_peak_bytes", "sent_bytes")}
        predicted.update((key, self.number) for key in ("step_s", "again_s", "copies_s"))
        self.parts(path, value, {
            "budget_bytes": self.whole, "inputs": lambda at, v: self.each(at, v, self.input), "predicted": lambda at, v: self.parts(at, v, predicted),
            "segments": lambda at, v: self.segments(at, v)})

    def cast(self, path, value):
        if value != "" and not (type(value) is str and value in CASTS):
            self.wrong(path, value, "the name of a type for autocast (%s), or nothing" % ", ".join(CASTS))

    def input(self, path, value):
        if not isinstance(value, (list, tuple)) or len(value) != 3:
            self.wrong(path, value, "a list of name, shape and type")
        self.text(path + "[0]", value[0])
        self.each(path + "[1]", value[1], self.whole)
        self.text(path + "[2]", value[2])

    def segments(self, path, value, deep=1):
        if deep > MOST_DEPTH:
            raise PlanError("%s...: segments are nested deeper than %d, which is the most that is read." % (path[:60], MOST_DEPTH))
        self.each(path, value, lambda at, s: self.segment(at, s, deep))

    def segment(self, path, s, deep):
        self.parts(path, s, {})
        self.each(path + ".units", s.get("units"), self.text)
        if not s["units"]:
            self.wrong(path + ".units", None, "a list of at least one module call")
        name = name_of(s)
        if s.get("do") not in ("keep", "recompute", "offload"):
            raise PlanError("%s.do: the plan wants to %s %s, which this version does not know." % (path, self.word(s.get("do")), name))
        if s.get("input") not in (None, "", "keep", "offload"):
            raise PlanError("%s.input: the plan wants to %s the input of %s, which this version does not know." % (path, self.word(s["input"]), name))
        if s.get("input") == "offload" and s["do"] != "recompute":
            raise PlanError("%s.input: the plan wants to offload the input of %s, which does not run again." % (path, name))
        n = s.get("prefetch")
        if n is not None and (type(n) is not int or not 0 <= n <= MOST_ITEMS):
            raise PlanError("%s.prefetch: the plan has the prefetch %s for %s: a number of segments, at most %d." % (path, brief(n), name, MOST_ITEMS))
        if s.get("save") and s.get("inner"):
            raise PlanError("%s.save: the plan keeps single operators of %s, which has segments within." % (path, name))
        self.parts(path, s, {"save": lambda at, v: self.each(at, v, self.saved), "inner": lambda at, v: self.segments(at, v, deep + 1)})

    def word(self, value):
        return value[:60] if isinstance(value, str) else brief(value)

    def saved(self, path, value):
        if not isinstance(value, (list, tuple)) or len(value) != 2:
            self.wrong(path, value, "a list of the name of an operator and a number")
        self.text(path + "[0]", value[0])
        self.whole(path + "[1]", value[1])
