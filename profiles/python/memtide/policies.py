"""Plans that need no solver."""
from .errors import PlanError


def every_nth(graph, n):
    """Returns the plan that recomputes every n-th unit of the most frequent class; all of
    them for n = 1."""
    calls = [graph.data["calls"][i] for i in graph.data["units"]]
    kinds = [c["class"] for c in calls]
    common = max(sorted(set(kinds)), key=kinds.count)
    chosen = [c["path"] for c in calls if c["class"] == common][::n]
    return segments(graph, *[[u] for u in chosen], kind="unit")


def every(graph):
    """Returns the plan that recomputes every unit by itself."""
    return segments(graph, *[[u] for u in graph.units()], kind="unit")


def segments(graph, *runs, kind="wrappable"):
    """Returns the plan that recomputes each run of units as a whole."""
    where = {u: k for k, u in enumerate(graph.units())}
    tied, out = {graph.units()[k] for k in graph.data["tied"]}, []
    for run in runs:
        for u in run:
            if u not in where:
                raise PlanError("%s is no unit of the graph; the units are %s." % (u, ", ".join(graph.units())))
        ks = sorted(where[u] for u in run)
        while graph.units()[ks[0]] in tied:  # it works in place on the result of the unit before
            ks.insert(0, ks[0] - 1)
        while ks[-1] + 1 < len(where) and ks[-1] + 1 in graph.data["tied"]:
            ks.append(ks[-1] + 1)
        names = [graph.units()[k] for k in range(ks[0], ks[-1] + 1)]
        if not any(set(names) & set(s["units"]) for s in out):
            out.append({"units": names, "do": "recompute"})
    return graph.plan(out, kind)
