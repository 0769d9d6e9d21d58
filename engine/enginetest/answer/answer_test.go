package answer

import (
	"bufio"
	"bytes"
	"encoding/json"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"memtide/engine/enginetest"
)

// answered holds, for each algorithm, the fields that an answer must have if a vector expects them.
var answered = map[string][]string{
	"simulate":    {"valid", "makespan", "peak", "fail_op"},
	"rotor":       {"feasible", "makespan", "makespan_printed_formula"},
	"revolve":     {"feasible", "makespan"},
	"sequential":  {"makespan", "peak"},
	"offload-set": {"feasible", "int_scaled", "frac_scaled", "int_peak"},
	"offload-all": {"feasible", "mpeak", "min_budget", "lb_scaled", "relax_scaled",
		"greedy", "tflms", "int_true_opt_scaled"},
	"pofo": {"feasible", "makespan_scaled", "rotor_makespan_scaled"},
}

// TestAnswers runs the command over all vector files and compares every field
// of an answer with the expected value of that name.
func TestAnswers(t *testing.T) {
	compared := map[string]int{}
	files, _ := filepath.Glob("../testdata/vectors/*.json")
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".json")
		var out bytes.Buffer
		if err := answer(name, &out); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		lines := bufio.NewScanner(&out)
		for _, v := range enginetest.Load(name) {
			if !lines.Scan() {
				t.Fatalf("%s: no line for %s", name, v.ID)
			}
			var line struct {
				ID     string
				Answer map[string]json.RawMessage
			}
			if err := json.Unmarshal(lines.Bytes(), &line); err != nil || line.ID != v.ID {
				t.Fatalf("%s: line %s, want the answer of %s (%v)", name, lines.Bytes(), v.ID, err)
			}
			compared[v.Algorithm] += compare(t, &v, line.Answer)
		}
		if lines.Scan() {
			t.Errorf("%s: a line too many: %s", name, lines.Bytes())
		}
	}
	for algorithm := range algorithms {
		if compared[algorithm] == 0 {
			t.Errorf("no vector has anything to compare with for %s", algorithm)
		}
	}
	t.Logf("values compared: %v", compared)
}

// compare returns the number of fields of an answer that were expected. It reports fields that differ or are missing.
func compare(t *testing.T, v *enginetest.Vector, got map[string]json.RawMessage) (count int) {
	t.Helper()
	for field, value := range got {
		want, ok := v.Expect[field]
		if !ok || string(want) == "null" && field == "int_true_opt_scaled" {
			continue // null in the vector: the value was not computed
		}
		count++
		if !covers(decode(t, want), decode(t, value)) {
			t.Errorf("%s (%s): %s: got %s, want %s", v.ID, v.Algorithm, field, value, want)
		}
	}
	for _, field := range answered[v.Algorithm] {
		if _, ok := v.Expect[field]; ok && got[field] == nil {
			t.Errorf("%s (%s): %s is not answered", v.ID, v.Algorithm, field)
		}
	}
	return count
}

func decode(t *testing.T, raw json.RawMessage) (x any) {
	t.Helper()
	if err := json.Unmarshal(raw, &x); err != nil {
		t.Fatal(err)
	}
	return x
}

// covers reports whether two values are equal, except that objects in want may have fields that got lacks.
func covers(want, got any) bool {
	w, ok := want.(map[string]any)
	g, isObject := got.(map[string]any)
	if !ok || !isObject {
		return reflect.DeepEqual(want, got)
	}
	for field, value := range g {
		if expected, ok := w[field]; !ok || !covers(expected, value) {
			return false
		}
	}
	return true
}
