package llm

import "testing"

// Every model that is known by name passes what those of files have to pass.
func TestKnownModelsPass(t *testing.T) {
	for _, m := range models {
		if err := m.Check(); err != nil {
			t.Errorf("%s: %v; want it accepted", m.Name, err)
		}
	}
}
