//go:build !js

package browsertest

import (
	"testing"
)

// keepRequests keeps what the first worker has expected and what the page has asked
// first.
const keepRequests = `
globalThis.seen = {};
const Original = Worker;
globalThis.Worker = class extends Original {
	constructor(...a) {
		super(...a);
		this.addEventListener("message", ({data}) => { if (data.type === "speculative") seen.speculative ||= data.body.slice(); });
	}
	postMessage(message, ...rest) {
		if (message.type === "request") seen.asked ||= message.body.slice();
		super.postMessage(message, ...rest);
	}
};`

// startLate starts the page's own program when the first worker has found its answer.
const startLate = `
const instantiate = WebAssembly.instantiate;
WebAssembly.instantiate = async (...a) => {
	while (!seen.speculative) await new Promise((done) => setTimeout(done, 20));
	return instantiate(...a);
};`

// The first worker solves ahead what the page is going to ask: if the two asked
// for different things the page would wait for what nobody wants. The worker tells
// what it has expected also when the time for an answer was too short.
func TestSolvesAhead(t *testing.T) {
	t.Parallel()
	p := New(t)
	p.Before(keepRequests)
	late := New(t)
	late.Before(keepRequests + startLate)
	for _, address := range []string{
		"",
		"#p=vgg19-b64&s=revolve&m=90%25",
		"#p=resnet50-b32&s=greedy&m=2GiB&duplex=half&t=10-80",
		"#p=resnet50-b16&m=60%25&b.s=revolve",
		"?p=gpt2-b4&m=50%25&embed=1",
	} {
		t.Run(address, func(t *testing.T) {
			asksAsExpected(t, p, address)
			asksAsExpected(t, late, address)
		})
	}
}

// asksAsExpected opens an address and compares what was expected with what is asked.
func asksAsExpected(t *testing.T, p *Page, address string) {
	t.Helper()
	p.For(t)
	p.Fresh(address)
	p.Wait(untilReady)
	p.Wait(`window.seen.speculative`)
	// A page that is slow to ask has taken the answer; what it asks first is
	// something else then, in a comparison for the schedule of B. A quick one has
	// asked for the same.
	got := Eval[string](p, `(() => {
		const text = (bytes) => new TextDecoder().decode(bytes);
		const n = new DataView(seen.speculative.buffer, seen.speculative.byteOffset).getUint32(0);
		const expected = text(seen.speculative.subarray(4, 4 + n)), asked = seen.asked ? text(seen.asked) : "";
		const ofB = /b\.s=(\w+)/.exec(location.href);
		if (ofB && asked.includes('"strategy":"' + ofB[1] + '"')) return "";
		return !expected.includes('"op":"solve"') ? "no schedule was expected: " + expected
			: asked.includes('"op":"solve"') && asked !== expected ? "expected: " + expected + "\nasked: " + asked : "";
	})()`)
	if got != "" {
		t.Errorf("%s: %s", address, got)
	}
}
