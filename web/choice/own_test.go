package choice

import (
	"strings"
	"testing"
)

// TestOwnCard checks that OwnCard parses the figures of a card as people write them, and also parses the result
// of OwnText.
func TestOwnCard(t *testing.T) {
	for in, want := range map[string]string{
		"24 GiB": "24gib", "24 GB": "24gib", "24GiB, 25GB/s, 165TFLOP/s": OwnExample,
		"24564 MiB, 12.5 GB/s, 1008 GB/s, 165.2 TFLOPS": "24564mib-link12500mbps-rate165200gflops-own1008gbps",
		"165 TFLOP/s, 24 GiB":                           "24gib-rate165tflops",
	} {
		id, err := OwnCard(in)
		if again, _ := OwnCard(OwnText(id)); err != nil || id != want || again != want {
			t.Errorf("%s: %s, written %s, which is %s (%v); want %s", in, id, OwnText(id), again, err, want)
		}
	}
	for in, want := range map[string]string{"": "nothing is written", "25 GB/s": "64 MiB to 16 TiB",
		"24 GiB, 1 KB/s": "1 MB/s", "24 GiB, 5 MFLOP/s": "unit", "30 TiB": "16 TiB"} {
		if id, err := OwnCard(in); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %s, %v; want an error with %q", in, id, err, want)
		}
	}
	if got, want := OwnText("24564mib-link12500mbps-rate165200gflops-own1008gbps"),
		"24564 MiB, 12.5 GB/s, 1008 GB/s, 165.2 TFLOP/s"; got != want {
		t.Errorf("a card is written as %s; want %s, with spaces as elsewhere on the page", got, want)
	}
	if text := OwnText("h100"); text != "" {
		t.Errorf("an H100 is no card of one's own; got %q", text)
	}
}
