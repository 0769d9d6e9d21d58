package serve

import (
	"context"
	"strings"
	"testing"

	"memtide/engine"
	"memtide/engine/export"
	"memtide/wasm/proto"
	"memtide/web/choice"
)

// exported has a server write down what it has solved.
func exported(t *testing.T, req *proto.Request, change func(*proto.Export)) (*proto.Solved, []byte, error) {
	t.Helper()
	var pool Local
	r, err := pool.Do(context.Background(), req, nil)
	if err != nil {
		t.Fatal(err)
	}
	q := &proto.Export{Setting: req.Solve.Setting, Method: req.Solve.Method, Budget: r.Solved.Budget, Form: proto.FormPython, Schedule: r.Solved.Schedule}
	change(q)
	e, err := pool.Do(context.Background(), &proto.Request{Op: proto.OpExport, Export: q}, nil)
	if err != nil {
		return r.Solved, nil, err
	}
	return r.Solved, e.Exported.Text, nil
}

// What a page gets is what package export writes: the JSON reads back as the
// schedule, and the program names its stages.
func TestExport(t *testing.T) {
	solved, text, err := exported(t, solveWith("pofo", choice.Budget{Share: 60 * choice.Percent}), func(q *proto.Export) { q.Form = proto.FormJSON })
	if err != nil {
		t.Fatal(err)
	}
	plan, err := export.ParseJSON(text)
	if err != nil {
		t.Fatal(err)
	}
	if plan.Name != "ResNet-50, batch 8" || plan.Strategy != "pofo" || plan.Problem.Budget != solved.Budget {
		t.Errorf("the file is of %q by %q in %d; want ResNet-50, batch 8, pofo, %d", plan.Name, plan.Strategy, plan.Problem.Budget, solved.Budget)
	}
	if len(plan.Schedule) != len(solved.Schedule) {
		t.Fatalf("%d steps, want %d", len(plan.Schedule), len(solved.Schedule))
	}
	for i := range plan.Schedule {
		if plan.Schedule[i] != solved.Schedule[i] {
			t.Fatalf("step %d is %+v, want %+v", i, plan.Schedule[i], solved.Schedule[i])
		}
	}
	_, text, err = exported(t, solveWith("rotor", choice.Budget{Share: 60 * choice.Percent}), func(*proto.Export) {})
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"class Executor:", `"strategy": "rotor"`, "(\"layer1.0\"", "\nPROGRAM = \"\"\"\n"} {
		if !strings.Contains(string(text), want) {
			t.Errorf("the Python file of %d bytes lacks %q", len(text), want)
		}
	}
}

// What cannot be written says why.
func TestExportRefuses(t *testing.T) {
	rotor := solveWith("rotor", choice.Budget{Share: 60 * choice.Percent})
	streamed := solveWith("keepall", choice.Budget{Share: 100 * choice.Percent})
	streamed.Solve.Transfers = engine.Streamed
	for _, c := range []struct {
		name   string
		req    *proto.Request
		change func(*proto.Export)
		want   string
	}{
		{"form", rotor, func(q *proto.Export) { q.Form = "yaml" }, "expected python or json"},
		{"network", rotor, func(q *proto.Export) { q.Network.Preset = "" }, "names no network"},
		{"budget", rotor, func(q *proto.Export) { q.Budget /= 8 }, "not verified"},
		{"schedule", rotor, func(q *proto.Export) { q.Schedule = q.Schedule[1:] }, "not verified"},
		{"streamed", streamed, func(*proto.Export) {}, "solve again with whole transfers"},
	} {
		_, text, err := exported(t, c.req, c.change)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %d bytes, error %v; want an error with %q", c.name, len(text), err, c.want)
		}
	}
}
