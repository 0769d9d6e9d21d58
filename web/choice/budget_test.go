package choice

import (
	"strings"
	"testing"

	"memtide/engine"
)

// TestBudget checks that a budget is parsed and formatted exactly. A share is rounded down only when it is
// converted to bytes.
func TestBudget(t *testing.T) {
	const all = 1_000_000_007
	for _, c := range []struct {
		in   string
		out  string // empty means the same as in
		want engine.Bytes
	}{
		{"60%", "", 600_000_004},
		{"33.335%", "", 333_350_002}, // the page once rounded it up to 33.34%
		{"0.004%", "", 40_000},       // once read as 0 bytes
		{"0.00001%", "", 100},
		{"0.000001%", "", 10},
		{"45.50%", "45.5%", 455_000_003},
		{"33.3333339%", "33.333333%", 333_333_332},
		{"0.99999999999999999999%", "0.999999%", 9_999_990},
		{"1e-05%", "0.00001%", 100}, // a form that the command line once wrote
		{"1E1%", "10%", 100_000_000},
		{"+5.%", "5%", 50_000_000},
		{" .5 %", "0.5%", 5_000_000},
		{"1000%", "", 10_000_000_070},
		{"12GiB", "", 12 * engine.GiB},
		{"900 mib", "900MiB", 900 * engine.MiB},
		{"1.5KiB", "1536B", 1536},
	} {
		b, err := ParseBudget(c.in)
		if c.out == "" {
			c.out = c.in
		}
		if got := b.Of(all); err != nil || got != c.want || b.String() != c.out {
			t.Errorf("%s: %d bytes, written %s, %v; want %d, written %s", c.in, got, b, err, c.want, c.out)
		}
		if again, err := ParseBudget(b.String()); again != b || err != nil {
			t.Errorf("%s: written %s, which is read as %+v, %v; want %+v", c.in, b, again, err, b)
		}
	}
}

// TestBudgetRefused checks that ParseBudget returns an error for budgets that round to 0, as for other texts that
// are not budgets.
func TestBudgetRefused(t *testing.T) {
	for in, want := range map[string]string{
		"0.0000009%": "at least 0.000001%", "1e-400%": "at least 0.000001%", "1e-9000%": "not a share",
		"0%": "not a share", "0.000%": "not a share", "-1%": "not a share",
		"1000.000001%": "up to 1000", "1e99%": "up to 1000", "Inf%": "not a share", "NaN%": "not a share",
		"%": "not a share", ".%": "not a share", "6 0%": "not a share", "1e%": "not a share",
		"12": "the unit is missing", "0B": "at least 1 byte", "0": "at least 1 byte", "0.5B": "at least 1 byte",
		"1e3B": "unit",
	} {
		if b, err := ParseBudget(in); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %+v, %v; want an error with %q", in, b, err, want)
		}
	}
}

func TestBudgetOf(t *testing.T) {
	for _, c := range []struct {
		b         Budget
		all, want engine.Bytes
	}{
		{Budget{Bytes: 5}, 100, 5},
		{Budget{Share: 60 * Percent}, 99, 59}, // 59.4 rounds down
		{Budget{Share: 100 * Percent}, engine.NoLimit, engine.NoLimit},
		{Budget{Share: 101 * Percent}, engine.NoLimit, engine.NoLimit}, // saturates
		{Budget{Share: Percent / 100}, 1 << 62, 1 << 62 / 10000},
		{Budget{Share: 1}, 1000, 1}, // a share is at least 1 byte
	} {
		if got := c.b.Of(c.all); got != c.want {
			t.Errorf("%+v of %d: got %d, want %d", c.b, c.all, got, c.want)
		}
	}
}
