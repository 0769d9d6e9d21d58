//go:build !js

package browsertest

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"memtide/engine"
	"memtide/wasm/proto"
	"memtide/web/choice"
)

// ready opens the page with ?selftest, which lets scripts send requests.
func ready(t *testing.T) *Page {
	t.Helper()
	p := Open(t, "?selftest")
	p.Wait(`window.memtide && memtide.request`)
	return p
}

func solveRequest(preset, strategy string, basisPoints int) *proto.Solve {
	return &proto.Solve{
		Setting: proto.Setting{
			Network: proto.Network{Preset: preset},
			Device:  engine.Device{ToHost: 12_500_000_000, ToDev: 12_500_000_000},
		},
		Method: proto.Method{Strategy: strategy},
		Budget: choice.Budget{Share: choice.Share(basisPoints) * choice.Percent / 100},
	}
}

// send starts a request. Its answers are collected in window.got[name] = {result, failure, progress}.
func send(p *Page, name string, req proto.Request) {
	p.t.Helper()
	message, err := proto.EncodeRequest(req)
	if err != nil {
		p.t.Fatal(err)
	}
	Eval[bool](p, fmt.Sprintf(`(() => {
		const mine = ((window.got ||= {})[%[1]q] = {progress: [], start: performance.now()});
		const end = (key) => (v) => { mine[key] = JSON.parse(v); mine.ms = performance.now() - mine.start; };
		mine.promise = memtide.request(%[2]q, (r) => mine.progress.push(JSON.parse(r)));
		mine.promise.then(end("result"), end("failure"));
		return true;
	})()`, name, base64.StdEncoding.EncodeToString(message)))
}

func settled(p *Page, name string, limit time.Duration) {
	p.t.Helper()
	p.Wait(fmt.Sprintf(`got[%[1]q].result || got[%[1]q].failure`, name), limit)
}

// countRequests counts the requests to workers from now on that never end. The page's own requests are not
// counted.
const countRequests = `(() => {
	const post = Worker.prototype.postMessage;
	globalThis.requests = 0;
	Worker.prototype.postMessage = function (...all) { requests += all[0].type === "request" && new TextDecoder().decode(all[0].body).includes('"how":"loop"'); post.apply(this, all); };
	return true;
})()`

type solved struct {
	Solved       proto.Solved
	Spans, Steps int
}

// solveNow checks that the page can still solve.
func solveNow(p *Page) {
	p.t.Helper()
	name := "now " + Eval[string](p, `String(Object.keys(window.got ?? {}).length)`)
	send(p, name, solveRequest("resnet50-b8", "rotor", 6000))
	settled(p, name, 20*time.Second)
	if got := Eval[string](p, fmt.Sprintf(`JSON.stringify(got[%q].failure || null)`, name)); got != "null" {
		p.t.Fatalf("a solve: got the failure %s, want an answer", got)
	}
	var s solved
	if err := json.Unmarshal([]byte(Eval[string](p, fmt.Sprintf(`JSON.stringify(got[%q].result)`, name))),
		&s); err != nil {
		p.t.Fatal(err)
	}
	if s.Spans == 0 || !s.Solved.Verdict.Verified {
		p.t.Fatalf("a solve: got %+v, want a verified schedule", s)
	}
}

func TestWorkersAnswer(t *testing.T) {
	t.Parallel()
	p := ready(t)
	solveNow(p)
	p.Quiet()
}

// TestSweep checks that a sweep reports every point once, and that a solve is answered while the sweep runs.
func TestSweep(t *testing.T) {
	t.Parallel()
	p := ready(t)
	q := &proto.Sweep{
		Setting: solveRequest("resnet50-b8", "", 1).Setting,
		Methods: []proto.Method{{Strategy: "keepall"}, {Strategy: "sequential"}, {Strategy: "rotor"}},
	}
	for b := 1000; b <= 10000; b += 1000 {
		q.Budgets = append(q.Budgets, choice.Budget{Share: choice.Share(b) * choice.Percent / 100})
	}
	send(p, "sweep", q)
	solveNow(p)
	settled(p, "sweep", 60*time.Second)
	var points []proto.Point
	if err := json.Unmarshal([]byte(Eval[string](p, `JSON.stringify(got.sweep.progress)`)), &points); err != nil {
		t.Fatal(err)
	}
	seen := map[[2]int]bool{}
	for i, x := range points {
		if x.Done != i+1 || x.Total != 30 {
			t.Fatalf("progress %d: got %+v, want point %d of 30", i, x, i+1)
		}
		seen[[2]int{x.Method, x.Index}] = true
		if f := x.Failure; f == nil && !x.Verdict.Verified || f != nil && f.Kind != proto.Infeasible {
			t.Errorf("%s at %d bytes: got %+v, want a verified schedule or infeasible", x.Strategy, x.Budget, x)
		}
	}
	if len(seen) != 30 {
		t.Errorf("got %d different points, want 30", len(seen))
	}
}

// TestCancel checks that cancelling ends a worker that is stuck and would never read a message, and that the next
// solve works.
func TestCancel(t *testing.T) {
	t.Parallel()
	p := ready(t)
	solveNow(p)
	Eval[bool](p, countRequests)
	send(p, "stuck", &proto.Break{How: "loop"})
	p.Wait(`requests === 1`)
	Eval[bool](p, `got.stuck.cancelled = performance.now(); got.stuck.promise.cancel(); true`)
	settled(p, "stuck", 5*time.Second)
	if text := Eval[string](p, `got.stuck.failure.text`); !strings.Contains(text, "cancel") {
		t.Errorf("cancelled request: got %q, want that it was cancelled", text)
	}
	t.Logf("cancel to answer: %.0f ms", Eval[float64](p, `got.stuck.start + got.stuck.ms - got.stuck.cancelled`))
	solveNow(p)
}

// TestCancelAll checks that all workers are replaced if all of them are stuck.
func TestCancelAll(t *testing.T) {
	t.Parallel()
	p := ready(t)
	Eval[bool](p, countRequests)
	for i := range 5 {
		send(p, fmt.Sprintf("stuck%d", i), &proto.Break{How: "loop"})
	}
	p.Wait(`requests === Math.min(Math.max(navigator.hardwareConcurrency - 1, 1), 4) + 1`) // see pool.New
	Eval[bool](p, `for (const name in got) if (name.startsWith("stuck")) got[name].promise.cancel(); true`)
	solveNow(p)
}

// TestCrashes checks that every kind of crash is reported as an error that says what happened, and that the next
// solve works.
func TestCrashes(t *testing.T) {
	t.Parallel()
	p := ready(t)
	for how, want := range map[string]string{
		"panic":    "panic: self-test",
		"overflow": "deeper than the browser's stack",
		"oom":      "more memory than the browser allows",
	} {
		t.Run(how, func(t *testing.T) {
			p.For(t)
			solveNow(p)
			for round := range 2 {
				name := fmt.Sprintf("%s%d", how, round)
				send(p, name, &proto.Break{How: how})
				settled(p, name, 30*time.Second)
				var f proto.Failure
				if err := json.Unmarshal([]byte(Eval[string](p,
					fmt.Sprintf(`JSON.stringify(got[%q].failure || {})`, name))), &f); err != nil {
					t.Fatal(err)
				}
				if f.Kind != proto.Crash || !strings.Contains(f.Text, want) {
					t.Errorf("round %d: got %q, %q (%.300s); want a crash that says %q", round, f.Kind, f.Text,
						f.Detail, want)
				}
				solveNow(p)
			}
		})
	}
}

// TestNoSelfTest checks that without ?selftest scripts cannot send requests, and so cannot break workers.
func TestNoSelfTest(t *testing.T) {
	t.Parallel()
	p := Open(t, "")
	p.Wait(started)
	if Eval[bool](p, `memtide.request !== undefined`) {
		t.Error("memtide.request exists without ?selftest")
	}
}

// TestWorkersBeat checks that a worker that solves for long sends beats and hears that its request is cancelled, both
// when the solver polls. The page cannot end workers here, so that a slow machine has time to hear of it.
func TestWorkersBeat(t *testing.T) {
	t.Parallel()
	p := New(t)
	p.Before(`globalThis.beats = 0; globalThis.said = ""; globalThis.Worker = class extends Worker {
		constructor(...all) {
			super(...all);
			this.addEventListener("message", ({data}) => {
				if (data.type === "beat") beats++;
				if (this.cancelled && data.type === "reply") said += new TextDecoder().decode(data.body);
			});
		}
		postMessage(message, ...more) {
			this.cancelled ||= message.type === "cancel";
			super.postMessage(message, ...more);
		}
		terminate() {}
	};`)
	p.Navigate("?selftest")
	p.Wait(`window.memtide && memtide.request`)
	long := solveRequest("resnet1001-b1", "pofo", 5000)
	send(p, "long", long)
	p.Wait(`beats > 1 || got.long.result || got.long.failure`, 90*time.Second)
	if n := Eval[int](p, `beats`); n < 2 {
		t.Errorf("a long solve: %d beats before its end, %s; want more", n,
			Eval[string](p, `JSON.stringify(got.long.failure || null)`))
	}
	Eval[bool](p, `got.long.promise.cancel(); true`)
	settled(p, "long", 10*time.Second)
	p.Wait(`said.includes("\"final\":true")`, 90*time.Second)
	if got, want := Eval[string](p, `said`), "was stopped before it was done"; !strings.Contains(got, want) {
		t.Errorf("a long solve is cancelled: its worker says %.900q; want that it %s", got, want)
	}
	solveNow(p)
}
