"""The operators of a training step (memtide/1, kind operators): units, sizes, files."""
import contextlib
import difflib
import fnmatch
import json

from .errors import CollectError, OtherOperators, PlanError, size_text
from .tensors import sha_of
from .randomness import random_state, set_random_state
from .meter import allocated
from .plans import Fields, Plan, walk
from .progress import teller
from .showing import show_page, table
from .kernels import Stood, Temps
from .player import Player


class Graph:
    """The operators of a training step, with the fields of their file (memtide/1, kind
    operators; docs/formats.md)."""

    def __init__(self, data):
        self.data = data
        self.end = data["forward_ops"]
        self.base = set(data["resident"])
        self.split = data["events"].index(["backward", 0])
        self.first = {n: i for i, o in enumerate(data["ops"]) for n in o["new"]}
        self.at = {c["path"]: i for i, c in enumerate(data["calls"])}

    # units

    def choose(self, patterns=None):
        """Sets the units, the module calls from which a plan chooses, in order, and those
        that have to stay with the unit before them because of work in place."""
        if patterns:
            found = [i for i, c in enumerate(self.data["calls"]) if any(fnmatch.fnmatchcase(c["path"], p) for p in patterns)]
            inside = lambda i: i is not None and (i in found or inside(self.data["calls"][i]["parent"]))
            units = [i for i in found if not inside(self.data["calls"][i]["parent"])]
            if not units:
                raise CollectError("No module is called %s." % ", ".join(patterns))
        else:
            units = self.opened()
        self.data["units"], self.data["tied"] = self.together(units)

    def opened(self, share=0.125):
        """Returns the units: a call is replaced by its children if they are containers, or if
        it keeps much memory and has no siblings of its own class."""
        d, kept, children = self.data, {}, {}
        for n, c in d["keeps"]:
            while c is not None:
                kept.setdefault(c, set()).add(n)
                c = d["calls"][c]["parent"]
        size = {c: sum(d["storages"][n] for n in ns) for c, ns in kept.items()}
        for i, c in enumerate(d["calls"]):
            children.setdefault(c["parent"], []).append(i)
        total, out = max(1, size.get(0, 0)), []

        def visit(i):
            below = children.get(i, [])
            inner = [k for k in below if children.get(k)]
            kind = d["calls"][i]["class"]
            twin = kind != "Sequential" and sum(d["calls"][k]["class"] == kind for k in children.get(d["calls"][i]["parent"], [])) > 1
            if kind == "OptimizedModule" and i:  # a module of torch.compile runs as a whole
                out.append(i)
            elif i == 0 or (inner and len(inner) == len(below)) or (inner and not twin and size.get(i, 0) > share * total):
                for k in below:
                    visit(k)
            elif d["calls"][i]["end"] > d["calls"][i]["op"]:
                out.append(i)

        visit(0)
        return out

    def together(self, units):
        """Returns the units that can be recomputed, and those that are tied to the unit
        before them. A unit that works in place, or that reads a storage which is changed
        later, is tied to the unit that made the storage. It cannot be recomputed if no unit
        made the storage."""
        d = self.data
        of = {op: k for k, u in enumerate(units) for op in range(d["calls"][u]["op"], d["calls"][u]["end"])}
        written = {}
        for i, o in enumerate(d["ops"][:self.end]):
            for n in o["write"]:
                written.setdefault(n, []).append(i)
        tied, out = set(), set()

        def tie(maker, k):
            if maker is None:
                out.add(k)
            elif maker != k:
                tied.update(range(maker + 1, k + 1))

        for n, at in written.items():
            if d["roles"].get(str(n)) in ("weight", "buffer", "grad"):
                continue  # they belong to the unit itself
            maker = of.get(self.first.get(n))
            for i in at:
                if of.get(i) is not None:
                    tie(maker, of[i])
            for k, u in enumerate(units):
                c = d["calls"][u]
                if any(s == n for s, _ in c["args"]) and at[-1] >= c["end"]:
                    tie(maker, k)
        keep = [k for k in range(len(units)) if k not in out]
        return [units[k] for k in keep], [j for j, k in enumerate(keep) if k in tied]

    def units(self):
        """Returns the names of the units."""
        return [self.data["calls"][i]["path"] for i in self.data["units"]]

    # sizes and times that only a real step knows

    def measure(self, step, reps=0, kernels=None):
        """Measures the temporary memory of kernels, their times if reps is not 0, and the
        peak of a plain step, with steps of a copy. kernels substitutes kernels that have run."""
        own, rng = step.copy(), random_state()
        teller[-1].part(2)
        with Temps(reps, kernels) as seen:
            own.run()
        set_random_state(rng)
        for o, k in self.paired(seen.names):
            temp, ns = seen.temps[k], seen.times[k]
            o["temp_bytes"] = temp
            o["time_ns"] = ns if ns else o["time_ns"]
        teller[-1].part(3)
        with Stood(kernels) if kernels else contextlib.nullcontext():
            _, self.data["source"]["plain_bytes"] = allocated(own.run, step.device)
        set_random_state(rng)
        self.data["source"].update(temps="measured", **({"times": "measured", "notes": []} if reps else {}))

    def off(self):
        """Returns the relative error of the predicted peak of a plain step."""
        plain = self.data["source"]["plain_bytes"]
        return abs(self.play().peak - plain) / max(plain, 1)

    def paired(self, names):
        """Returns pairs of an operator and the index of the same operator in a step on the
        device. Hooks turn numbers of PyTorch into tensors, so there may be additional
        operators on single numbers, which take no temporary memory."""
        ops = self.data["ops"]
        own = [o["name"] for o in ops]
        if own == names:
            return list(zip(ops, range(len(ops))))
        pairs, more = [], len(names)
        for a, b, n in difflib.SequenceMatcher(None, own, names, False).get_matching_blocks():
            pairs += [(ops[a + k], b + k) for k in range(n)]
            more -= n
        paired = {id(o) for o, _ in pairs}
        if more or any(self.data["storages"][n] > 16 for o in ops if id(o) not in paired for n in o["new"]):
            raise OtherOperators("The step on the device does %d operators and its shapes %d: collect with real=True." % (len(names), len(own)))
        return pairs

    # plans

    def play(self, plan=None):
        """Returns what a plan takes: .peak above the memory before the step, and in seconds
        .again, the time of what runs twice, and .time of the whole step."""
        segments = plan.get("segments") or [] if plan else []
        Fields(plan).segments("segments", segments)
        for s in walk(segments):
            for u in s["units"]:
                if u not in self.at:
                    raise PlanError("The plan names %s, and the graph has no call of that name: collect the model again, or solve again." % u)
        return Player(self, segments).run()

    def plan(self, segments, kind, maker="memtide_torch.py"):
        """Returns a plan of these segments, with its predicted peak and times."""
        d, whole = self.data, self.play()
        played = self.play({"segments": segments})
        sha = sha_of([o["name"] for o in d["ops"][d["calls"][0]["op"]:d["calls"][0]["end"]]])
        doubts = {"warnings": d["warnings"]} if d.get("warnings") else {}
        return Plan({"format": "memtide-plan/1", "class": kind, "name": d["name"], "made_by": maker, "budget_bytes": 0,
                "model": {"units": self.units(), "classes": [d["calls"][i]["class"] for i in d["units"]], "ops_sha": sha, "modules_sha": d.get("modules_sha", "")}, **doubts,
                "inputs": d["inputs"], "autocast": d["autocast"],
                "predicted": {"peak_bytes": played.peak, "step_s": played.time, "keepall_peak_bytes": whole.peak, "again_s": played.again},
                "segments": segments})

    # how it shows itself

    def __repr__(self):
        return "<memtide graph %s: %d operators, %d units, keeping everything takes %s>" % (
            self.data["name"], len(self.data["ops"]), len(self.data["units"]), size_text(self.play().peak))

    def _repr_html_(self):
        kept = {}
        for n, c in self.data["keeps"]:
            kept.setdefault(c, {})[n] = self.data["storages"][n]
        rows = [(c["path"], c["class"], size_text(sum({n: s for i, ns in kept.items() if i is not None and self.within(i, u) for n, s in ns.items()}.values())))
                for u in self.data["units"] for c in [self.data["calls"][u]]]
        return table(repr(self)[1:-1], rows, ("unit", "class", "autograd keeps"))

    def within(self, call, unit):
        """Whether a call is a unit or within it."""
        while call is not None and call != unit:
            call = self.data["calls"][call]["parent"]
        return call == unit

    def show(self, budget=None, browser=True):
        """Opens the page with this network: in the cell of a notebook, otherwise in a
        browser, unless browser is False. Returns the opened file. Fetches nothing, and sends
        nothing."""
        return show_page(self.save, self.data["name"], budget, browser=browser)

    # files

    def save(self, path):
        data = dict(self.data, ops=[dict({k: v for k, v in o.items() if k != "time_ns"}, time_s=o["time_ns"] / 1e9) for o in self.data["ops"]])
        with open(path, "w", encoding="utf-8") as f:
            json.dump(data, f, separators=(",", ":"))


def load(path):
    """Returns the graph in a file."""
    with open(path, encoding="utf-8") as f:
        data = json.load(f)
    if data.get("format") != "memtide/1" or data.get("kind") != "operators":
        raise CollectError("%s is no memtide/1 file of kind operators." % path)
    for o in data["ops"]:
        o["time_ns"] = round(o.pop("time_s") * 1e9)
    return Graph(data)
