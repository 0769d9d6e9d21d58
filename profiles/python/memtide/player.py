"""The player: the peak and the time of a step under a plan, before anything runs."""
from .errors import size_text
from .showing import table


class Played:
    """The result of playing a plan, in bytes and seconds. sent is the bytes that go to the
    host and back; the seconds do not contain their time. left is the bytes that remain after
    the step, in attributes of modules: a step that starts with as many bytes of the step
    before takes up to that much less above its start. warnings are reasons why the result may
    not hold."""

    def __init__(self, peak, time, again, left, sent, warnings=()):
        self.peak, self.time, self.again, self.left, self.sent, self.warnings = peak, time, again, left, sent, list(warnings)

    def __repr__(self):
        away = ", %s to the host and back" % size_text(self.sent) if self.sent else ""
        return "<memtide played: peak %s, %.4g s, %.4g s of it again%s>" % (size_text(self.peak), self.time, self.again, away)

    def _repr_html_(self):
        return table("memtide played", [("peak", size_text(self.peak)), ("time", "%.4g s" % self.time), ("of it again", "%.4g s" % self.again),
                                        ("to the host and back", size_text(self.sent)), *(("warning", w) for w in self.warnings)])


class Player:
    """Plays the trace of a step under a plan. An instance of a storage is (number, run),
    where run 0 is the forward. It exists while it has a holder."""

    def __init__(self, graph, segments):
        self.g, self.d, self.segments = graph, graph.data, segments
        self.now = self.peak = self.runs = self.again = self.sent = 0
        self.held, self.filler, self.holds, self.owner = {}, {}, {}, {}
        self.line = []  # frames with data on the host, in order
        self.deaths = sorted([d, n] for n, d in self.d["python_frees"])
        gone = {n for _, n in self.deaths}
        self.late = {n for n, i in graph.first.items() if i < graph.end and n not in gone}
        self.place = {(e[0], e[1]): k for k, e in enumerate(self.d["events"])}

    def hold(self, key, holder):
        if key[0] in self.g.base:
            return
        holders = self.held.setdefault(key, set())
        if not holders:
            self.now += self.d["storages"][key[0]]
            self.peak = max(self.peak, self.now)
        holders.add(holder)

    def drop(self, key, holder):
        holders = self.held.get(key)
        if holders and holder in holders:
            holders.discard(holder)
            if not holders:
                self.now -= self.d["storages"][key[0]]
                del self.held[key]

    def run(self):
        self.forward(0, self.g.split, self.calls_of(self.segments), 0, None)
        for kind, i in self.d["events"][self.g.split:]:
            if kind == "op":
                o = self.d["ops"][i]
                for n in o["new"]:
                    self.hold((n, 0), "python")
                self.peak = max(self.peak, self.now + o["temp_bytes"])
            elif kind == "free" and (self.g.first.get(i, 0) >= self.g.end or i in self.late):
                self.drop((i, 0), "python")
            elif kind == "unpack":
                self.need(i)
            elif kind == "release":
                f = self.filler.pop(i, None)
                if i in self.holds:
                    self.drop(self.holds.pop(i), ("kept", i))
                if f is not None:
                    f["alive"].discard(i)
                    if not f["alive"]:
                        self.close(f)
        time = sum(o["time_ns"] for o in self.d["ops"]) + self.again
        return Played(self.peak, time / 1e9, self.again / 1e9, self.now, self.sent, self.d.get("warnings", ()))

    def calls_of(self, segments):
        """Returns the segment of each call."""
        return {self.g.at[u]: s for s in segments for u in s["units"]}

    def frame(self, seg, run):
        self.runs += 1
        f = {"seg": seg, "run": run, "id": self.runs, "alive": set(), "inputs": [], "away": [], "back": False, "calls": [], "kept": [], "first": {}, "second": {}, "place": len(self.line)}
        if "offload" in (seg["do"], seg.get("input")):
            self.line.append(f)
        return f

    def close(self, f):
        f["back"] = True
        for key in f["inputs"]:
            self.drop(key, ("input", f["id"]))
        f["inputs"] = []

    def forward(self, begin, end, level, run, fill):
        """Plays events of the forward. fill is the frame that runs again, or None."""
        d, frames, mine, held = self.d, {}, set(), []
        cur = opened = inside = None
        want = set(fill["alive"]) if fill else None
        deaths, reads = self.deaths, self.reads(fill["calls"]) if fill else {}
        if fill:
            first, last = d["calls"][fill["calls"][0]]["op"], d["calls"][fill["calls"][-1]]["end"]
            deaths = [x for x in deaths if first < x[0] <= last and x[1] not in reads]
        dead = 0
        for kind, i in d["events"][begin:end]:
            if kind == "enter":
                if fill and i in fill["calls"]:
                    inside = i
                s = level.get(i)
                if cur is None and s and s["do"] != "keep" and (not fill or inside is not None):
                    cur, opened = i, frames.get(id(s))
                    if opened is None:
                        opened = frames[id(s)] = self.frame(s, run)
                    self.enter(opened, i, run, mine)
            elif kind == "leave":
                if cur == i:
                    cur = opened = None
                if inside == i:
                    inside = None
                    self.ended(i, run, mine, reads)
            elif fill and inside is None:
                continue
            elif kind == "op":
                while dead < len(deaths) and deaths[dead][0] <= i:
                    n = deaths[dead][1]
                    dead += 1
                    if n in mine or run == 0:
                        self.drop((n, run), "python")
                self.operator(d["ops"][i], opened or fill, fill, run, mine, held)
            elif kind == "pack":
                if fill and i not in fill["alive"]:
                    continue
                if opened:
                    if opened["seg"]["do"] == "offload":
                        self.send(opened, d["keeps"][i][0])
                    opened["alive"].add(i)
                    self.filler[i] = opened
                else:
                    key = self.key(d["keeps"][i][0], run, mine)
                    self.hold(key, ("kept", i))
                    self.holds[i] = key
                    self.filler.pop(i, None)
                if fill:
                    want.discard(i)
                    if not want:
                        break
        self.settle(deaths[dead:], run, fill, mine, held)
        for f in frames.values():
            if not f["alive"]:  # it keeps nothing, so the backward will not need it
                self.close(f)

    def reads(self, calls):
        """Returns the last reader of each storage that one of the calls passes to a later
        one."""
        return {n: c for c in calls for n, made in self.d["calls"][c]["args"] if any(k in calls for k, _ in made)}

    def ended(self, call, run, mine, reads):
        """Ends a repeated call: frees what it made, except for what a later call reads."""
        for n in [n for n in mine if reads.get(n, -1) <= call]:
            self.drop((n, run), "python")
            if n in self.owner:  # later calls read the instance of the frame
                mine.discard(n)

    def enter(self, f, call, run, mine):
        for n, made in self.d["calls"][call]["args"]:
            if f["seg"]["do"] == "offload" or any(c in f["calls"] for c, _ in made):
                continue
            if f["seg"].get("input") == "offload" and n not in self.g.base:
                self.send(f, n)
                continue
            key = self.key(n, run, mine)
            self.hold(key, ("input", f["id"]))
            f["inputs"].append(key)
        f["calls"].append(call)

    def send(self, f, n):
        if n not in f["away"]:
            f["away"].append(n)
            self.sent += self.d["storages"][n]

    def operator(self, o, f, fill, run, mine, held):
        saved = False
        if f and f["seg"].get("save"):
            counts = f["second" if f is fill else "first"]
            k = counts[o["name"]] = counts.get(o["name"], -1) + 1
            saved = [o["name"], k] in f["seg"]["save"]
        if saved and f is fill:  # its result was kept, so it does not run
            for n in o["new"]:
                self.hold((n, f["run"]), "python")
                held.append((n, f["run"]))
                self.owner[n] = f["run"]
            return
        for n in o["new"]:
            mine.add(n)
            self.hold((n, run), "python")
            if saved:
                self.hold((n, run), ("operator", f["id"]))
                f["kept"].append((n, run))
        self.peak = max(self.peak, self.now + o["temp_bytes"])
        if run:
            self.again += o["time_ns"]

    def settle(self, deaths, run, fill, mine, held):
        """Ends a forward: frees what Python still held."""
        if not fill:
            for _, n in deaths:
                self.drop((n, run), "python")
            return
        for n in mine:
            self.drop((n, run), "python")
        for key in held:
            self.drop(key, "python")
        for key in fill["kept"]:
            self.drop(key, ("operator", fill["id"]))
        fill["kept"] = []

    def key(self, n, run, mine):
        return (n, run) if n in mine or run == 0 else (n, self.owner.get(n, 0))

    def need(self, p):
        """Provides what the backward needs: p is an index of keeps."""
        if p in self.filler and self.filler[p]["seg"]["do"] == "offload":
            self.near(self.filler[p])
        while p in self.filler and p not in self.holds:
            f = self.filler[p]
            if f["seg"]["do"] == "offload":
                return
            self.runs += 1
            if f["away"]:
                self.near(f)
            self.owner = dict(f["inputs"])
            begin, end = self.place["enter", f["calls"][0]], self.place["leave", f["calls"][-1]] + 1
            self.forward(begin, end, self.calls_of(f["seg"].get("inner") or []), self.runs, f)
            self.close(f)

    def near(self, f):
        """Brings back a frame that the backward has reached from the host, and those before
        it within the prefetch distance."""
        for k in self.line[max(0, f["place"] - (f["seg"].get("prefetch") or 0)):f["place"] + 1]:
            if k["seg"]["do"] == "offload":
                for q in sorted(k["alive"] - self.holds.keys()):
                    self.holds[q] = (self.d["keeps"][q][0], k["id"])
                    self.hold(self.holds[q], ("kept", q))
            elif not k["back"]:
                k["back"] = True
                for n in k["away"]:
                    self.hold((n, k["id"]), ("input", k["id"]))
                    k["inputs"].append((n, k["id"]))
