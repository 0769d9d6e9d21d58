package serve

import (
	"context"
	"os"
	"strings"
	"testing"

	"memtide/engine"
	"memtide/engine/export"
	"memtide/engine/play"
	"memtide/profiles"
	"memtide/profiles/preset"
	"memtide/wasm/proto"
	"memtide/web/choice"
)

// exported makes a server solve req and export the schedule. change may change the export request.
func exported(t *testing.T, req *proto.Solve, change func(*proto.Export)) (*proto.Solved, []byte, error) {
	t.Helper()
	var pool Local
	solved, err := proto.Do(context.Background(), pool.Do, req, nil)
	if err != nil {
		t.Fatal(err)
	}
	q := &proto.Export{Setting: req.Setting, Method: req.Method, Budget: solved.Budget, Form: proto.FormJSON,
		Schedule: solved.Schedule}
	change(q)
	e, err := proto.Do(context.Background(), pool.Do, q, nil)
	if err != nil {
		return solved, nil, err
	}
	return solved, e.Text, nil
}

// TestExport checks that a page gets what package export writes for the same schedule.
func TestExport(t *testing.T) {
	solve := solveWith("pofo", choice.Budget{Share: 60 * choice.Percent})
	solved, text, err := exported(t, solve, func(*proto.Export) {})
	if err != nil {
		t.Fatal(err)
	}
	p, batch, err := preset.Parse("resnet50-b8")
	if err != nil {
		t.Fatal(err)
	}
	profile, err := p.Profile(batch)
	if err != nil {
		t.Fatal(err)
	}
	plan := &export.File{Name: "ResNet-50, batch 8", Strategy: "pofo",
		Problem:  engine.NewChainProblem(profile.Chain, solve.Device, solve.Transfers, solved.Budget),
		Schedule: solved.Schedule}
	want, err := plan.JSON()
	if err != nil || string(text) != string(want) {
		t.Errorf("%d bytes that begin with %.300q; want %d bytes, %.300q (%v)", len(text), text, len(want), want, err)
	}
}

// TestExportRefuses checks that a request that cannot be exported fails with the reason.
func TestExportRefuses(t *testing.T) {
	rotor := solveWith("rotor", choice.Budget{Share: 60 * choice.Percent})
	for _, c := range []struct {
		name   string
		req    *proto.Solve
		change func(*proto.Export)
		want   string
	}{
		{"form", rotor, func(q *proto.Export) { q.Form = "yaml" }, "expected json or plan"},
		{"network", rotor, func(q *proto.Export) { q.Network.Preset = "" }, "names no network"},
		{"budget", rotor, func(q *proto.Export) { q.Budget /= 8 }, "not verified"},
		{"schedule", rotor, func(q *proto.Export) { q.Schedule = q.Schedule[1:] }, "not verified"},
	} {
		_, text, err := exported(t, c.req, c.change)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %d bytes, error %v; want an error with %q", c.name, len(text), err, c.want)
		}
	}
}

// TestExportPlan checks that a plan is computed from a file of operators, packed or not, within what the budget
// leaves for the step. If there is no plan, the error says so.
func TestExportPlan(t *testing.T) {
	if testing.Short() {
		t.Skip("-short is for WebAssembly, after this ran natively")
	}
	packed, err := os.ReadFile("../../profiles/formats/operators/testdata/traces/gpt.json.gz")
	if err != nil {
		t.Fatal(err)
	}
	plain, err := profiles.Unpack(packed, nil)
	if err != nil {
		t.Fatal(err)
	}
	p, err := profiles.Decode("gpt.json", profiles.Bytes(plain), nil)
	if err != nil {
		t.Fatal(err)
	}
	there := p.Chain.Resident.Total() + p.Chain.Input
	ask := func(file []byte, budget engine.Bytes, class string) ([]byte, error) {
		q := &proto.Export{Setting: proto.Setting{Network: proto.Network{Profile: file}}, Budget: budget,
			Form: proto.FormPlan, Class: class}
		r, err := proto.Do(context.Background(), new(Local).Do, q, nil)
		if err != nil {
			return nil, err
		}
		return r.Text, nil
	}
	const step = 4 << 20
	first, err := ask(packed, there+step, "wrappable")
	if err != nil {
		t.Fatal(err)
	}
	if second, err := ask(plain, there+step, "wrappable"); string(second) != string(first) {
		t.Errorf("unpacked: %v\n%s\npacked:\n%s", err, second, first)
	}
	plan, err := play.ReadPlan(first)
	if err != nil || plan.Class != "wrappable" || plan.Budget != step || plan.Predicted.Peak > step ||
		len(plan.Segments) == 0 {
		t.Errorf("%v, %s; want a plan within %d bytes", err, first, int64(step))
	}
	for want, q := range map[string]struct {
		file   []byte
		budget engine.Bytes
		class  string
	}{
		"no plan of class unit was found for a step in 1 KiB": {plain, there + engine.KiB, "unit"},
		"no plan of class unit was found for a step in 0 B":   {plain, engine.KiB, "unit"},
		`there is no class "any"`:                             {plain, there + step, "any"},
		"nothing":                                             {[]byte("nothing"), there + step, "unit"},
	} {
		if text, err := ask(q.file, q.budget, q.class); err == nil || want != "nothing" &&
			!strings.Contains(err.Error(), want) {
			t.Errorf("%d bytes, %v; want %q", len(text), err, want)
		}
	}
}
