//go:build !js

package browsertest

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"runtime"
	"testing"
	"time"

	"memtide/engine"
	"memtide/engine/sim"
	"memtide/profiles/card"
	"memtide/profiles/preset"
	"memtide/wasm/proto"
	"memtide/wasm/serve"
	"memtide/web/choice"
	"memtide/web/draw"
	"memtide/web/fileserver"
)

// manySteps solves a preset and repeats the schedule until its trace has at least the given number of slices. The
// page accepts no file that gives as many.
func manySteps(t *testing.T, network, strategy string, slices int) (*proto.Solved, *engine.Problem) {
	t.Helper()
	p, batch, err := preset.Parse(network)
	if err != nil {
		t.Fatal(err)
	}
	profile, err := p.Profile(batch)
	if err != nil {
		t.Fatal(err)
	}
	device := card.Default()
	out, err := proto.Do(context.Background(), new(serve.Server).Handle, &proto.Solve{
		Setting: proto.Setting{Network: proto.Network{Preset: network}, Device: device.Device},
		Method:  proto.Method{Strategy: strategy}, Budget: choice.Budget{Share: 70 * choice.Percent},
	}, nil)
	if err != nil {
		t.Fatal(err)
	}
	one := out.Trace
	all := *one
	all.Spans, all.Gaps, all.Memory, all.Lives = nil, nil, nil, nil
	all.Makespan = 0
	for len(all.Spans)+len(all.Gaps) < slices {
		appendStep(&all, one)
	}
	out.Trace = &all
	return out, engine.NewChainProblem(profile.Chain, device.Device, engine.Whole, out.Budget)
}

// appendStep appends the trace step to the trace to, and shifts its times and span numbers.
func appendStep(to, step *sim.Trace) {
	at, first := to.Makespan, sim.SpanID(len(to.Spans))
	moved := func(id sim.SpanID) sim.SpanID {
		if id == sim.NoSpan {
			return id
		}
		return id + first
	}
	for _, s := range step.Spans {
		s.Start, s.End, s.Cause = s.Start+at, s.End+at, moved(s.Cause)
		to.Spans = append(to.Spans, s)
	}
	for _, g := range step.Gaps {
		g.Start, g.End, g.Cause = g.Start+at, g.End+at, moved(g.Cause)
		to.Gaps = append(to.Gaps, g)
	}
	for _, m := range step.Memory {
		m.At += at
		to.Memory = append(to.Memory, m)
	}
	for _, l := range step.Lives {
		l.Start, l.End, l.From = l.Start+at, l.End+at, moved(l.From)
		to.Lives = append(to.Lives, l)
	}
	to.Makespan += step.Makespan
}

// swapped replaces the schedules that workers return by the bytes at /million, once the page has fetched those,
// and marks the time at which a schedule arrived.
const swapped = `globalThis.Worker = class extends Worker {
	set onmessage(f) {
		super.onmessage = (e) => {
			const body = e.data.body;
			if (e.data.type === "reply" && globalThis.million && body.length > 20000) {
				performance.mark("arrived");
				return f({data: {type: "reply", body: globalThis.million}});
			}
			f(e);
		};
	}
};`

// TestMeasureMillion measures how long a schedule of a million slices takes from the worker's answer to the
// screen, natively and in the browser.
func TestMeasureMillion(t *testing.T) {
	measuring(t)
	const network = "resnet101-b32"
	for _, n := range []int{100_000, 1_000_000} {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			solved, problem := manySteps(t, network, "greedy", n)
			start := time.Now()
			message, err := proto.EncodeReply(proto.Ended(solved, nil))
			if err != nil {
				t.Fatal(err)
			}
			tr := solved.Trace
			t.Logf("%d spans, %d gaps, %d samples, %d lives: a message of %d MB, written natively in %v",
				len(tr.Spans), len(tr.Gaps), len(tr.Memory), len(tr.Lives),
				len(message)>>20, time.Since(start).Round(time.Millisecond))
			runtime.GC()
			loadNatively(t, message, problem)
			loadInBrowser(t, message, network)
		})
	}
}

func loadNatively(t *testing.T, message []byte, problem *engine.Problem) {
	start := time.Now()
	reply, err := proto.DecodeReply(new(proto.Solve), message)
	if err != nil {
		t.Fatal(err)
	}
	read := time.Now()
	m := draw.NewIndex(problem, reply.Value.(*proto.Solved).Trace)
	arranged := time.Now()
	var scene draw.Scene
	for _, pic := range []draw.Picture{draw.Strip, draw.Timeline, draw.Memory} {
		m.Draw(&scene, pic, draw.View{Width: 1000, Cursor: draw.NoCursor})
	}
	t.Logf("natively: read in %v, arranged in %v, three pictures in %v; together %v",
		read.Sub(start).Round(time.Millisecond),
		arranged.Sub(read).Round(time.Millisecond), time.Since(arranged).Round(time.Millisecond),
		time.Since(start).Round(time.Millisecond))
}

func loadInBrowser(t *testing.T, message []byte, network string) {
	p := New(t)
	site := fileserver.Handler(shared.dist)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/million" {
			_, _ = w.Write(message)
			return
		}
		site.ServeHTTP(w, r)
	}))
	t.Cleanup(server.Close)
	p.URL = server.URL + "/"
	p.Before(swapped)
	p.Navigate("#v=1&p=" + network + "&s=sequential&m=70%25&c=none")
	p.Wait(untilReady)
	Eval[bool](p, hands)
	Eval[bool](p, `(async () => { globalThis.million = new Uint8Array(await (await fetch("million")).arrayBuffer()); return true; })()`)
	took := Eval[float64](p, `(async () => {
		const old = byID("step-time").textContent;
		performance.clearMarks("arrived");
		control("strategy", "greedy");
		const until = performance.now() + 60000;
		while (byID("step-time").textContent === old && performance.now() < until) await new Promise((done) => setTimeout(done, 5));
		globalThis.million = undefined;
		await new Promise(requestAnimationFrame);
		await new Promise((done) => setTimeout(done));
		return performance.now() - performance.getEntriesByName("arrived")[0].startTime;
	})()`)
	t.Logf("in the browser: on screen %.0f ms after it arrived: step %s", took, result(p, "step-time"))
	frames := Eval[[]float64](p, `(async () => {
		const e = byID("timeline").querySelector(".paint"), b = e.getBoundingClientRect();
		const wheel = (dy) => e.dispatchEvent(new WheelEvent("wheel", {bubbles: true, cancelable: true, ctrlKey: true, deltaY: dy, clientX: b.left + b.width * 0.4, clientY: b.top + b.height / 2}));
		const out = [];
		let last = await new Promise(requestAnimationFrame);
		for (let i = 0; i < 120; i++) { wheel(i % 40 < 20 ? -120 : 120); const n = await new Promise(requestAnimationFrame); out.push(n - last); last = n; }
		return out;
	})()`)
	t.Logf("zoom in and out: frames %s", quantiles(frames))
	p.Quiet()
}
