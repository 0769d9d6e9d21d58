package llm

import "testing"

// Every known model passes the checks of models from files.
func TestKnownModelsPass(t *testing.T) {
	for _, m := range models {
		if err := m.Check(); err != nil {
			t.Errorf("%s: %v; want it accepted", m.Name, err)
		}
	}
}
