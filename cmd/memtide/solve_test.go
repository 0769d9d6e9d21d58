package main

import (
	"bytes"
	"context"
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"memtide/cmd/cli"
	"memtide/engine"
	"memtide/web/link"
)

// solved runs solve -json with args and returns its report.
func solved(t *testing.T, args ...string) solveReport {
	t.Helper()
	o := memtide(t, t.Context(), append([]string{"solve", "-json"}, args...)...)
	var r solveReport
	if err := json.Unmarshal([]byte(o.stdout), &r); err != nil || o.code != cli.OK {
		t.Fatalf("memtide solve -json %q: exit status %d, %v\n%s%s", args, o.code, err, o.stdout, o.stderr)
	}
	return r
}

// TestSolveAddsUp checks that the output of solve is consistent: the times add up, and the verified schedule has
// the claimed cost and stays within the budget.
func TestSolveAddsUp(t *testing.T) {
	for _, line := range []string{
		"-preset resnet50-b32 -strategy rotor",
		"-preset resnet50-b32 -strategy sequential -budget 70%",
		"-preset resnet50-b32 -strategy greedy -budget 70%",
		"-preset gpt2-medium-b4 -strategy greedy -budget 90% -duplex full -transfers streamed",
		"testdata/net.csv -strategy keepall -budget 1GiB",
	} {
		r := solved(t, words(line)...)
		sum := r.Measured.ComputeNS + r.Measured.RecomputeNS
		for _, d := range r.Measured.WaitingNS {
			sum += d
		}
		if sum != r.Measured.StepTime {
			t.Errorf("%s: compute, recompute and waiting add up to %d ns; the step takes %d", line, sum,
				r.Measured.StepTime)
		}
		if !r.Verified || !r.Complete || r.Claimed != r.Measured.Reference || r.Measured.Peak > r.BudgetBytes {
			t.Errorf("%s: verified %v, complete %v, claimed %+v, measured %+v in %d bytes; want equal, verified and within the budget",
				line, r.Verified, r.Complete, r.Claimed, r.Measured.Reference, r.BudgetBytes)
		}
		for _, b := range r.Bounds {
			if b.StepTime > r.Measured.StepTime {
				t.Errorf("%s: the lower bound %d ns (%s) is above the step time %d ns", line, b.StepTime, b.Name,
					r.Measured.StepTime)
			}
		}
		if len(r.Measured.Decisions) < r.Question.Network.Stages {
			t.Errorf("%s: %d decisions about %d stages", line, len(r.Measured.Decisions), r.Question.Network.Stages)
		}
	}
}

// TestStoppedByItself checks a search that is stopped by its own limits. JSON and the table say that it is not
// complete and not optimal, and its notes say that it was stopped. Its schedule still counts as an answer.
func TestStoppedByItself(t *testing.T) {
	args := words("-preset resnet1001-b16 -strategy dynprog -budget 50%")
	r := solved(t, args...)
	if notes := strings.Join(r.Notes, " "); r.Complete || r.Optimal || !r.Verified ||
		!strings.Contains(notes, "stopped") {
		t.Errorf("got complete %v, optimal %v, verified %v, %q; want the best so far", r.Complete, r.Optimal,
			r.Verified, notes)
	}
	if o := memtide(t, t.Context(), append([]string{"solve"}, args...)...); o.code != cli.OK ||
		!strings.Contains(o.stdout, "the best so far, since the search was stopped") {
		t.Errorf("exit status %d\n%s\nwant 0 and the best so far", o.code, o.stdout)
	}
}

// TestSmallestBudgetWorks checks that the smallest budget that a refusal names works, and that a byte less does
// not.
func TestSmallestBudgetWorks(t *testing.T) {
	named := regexp.MustCompile(`-budget (\d+)B\n`)
	for _, strategy := range []string{"rotor", "sequential", "greedy"} {
		o := memtide(t, t.Context(), "solve", "-budget", "100MiB", "-strategy", strategy, "testdata/net.csv")
		m := named.FindStringSubmatch(o.stderr)
		if o.code != cli.No || m == nil {
			t.Errorf("%s in 100 MiB: exit status %d, %q; want 1 and a budget that would do", strategy, o.code, o.stderr)
			continue
		}
		r := solved(t, "-budget", m[1]+"B", "-strategy", strategy, "testdata/net.csv")
		if fmt.Sprint(r.BudgetBytes) != m[1] || !r.Verified {
			t.Errorf("%s in %s bytes: budget %d, verified %v", strategy, m[1], r.BudgetBytes, r.Verified)
		}
		less := memtide(t, t.Context(), "solve", "-budget", fmt.Sprint(r.BudgetBytes-1)+"B", "-strategy", strategy,
			"testdata/net.csv")
		if less.code != cli.No {
			t.Errorf("%s in %d bytes: exit status %d; want 1, since %s is the smallest", strategy, r.BudgetBytes-1,
				less.code, m[1])
		}
	}
}

// TestLinkRoundTrip checks that a link gives exactly the answer that it was made from.
func TestLinkRoundTrip(t *testing.T) {
	for _, line := range []string{
		"-preset resnet50-b48 -budget 70% -strategy greedy",
		"-preset vgg16-b16 -device a100-sxm-40gb -bw 3GB/s -bwd 2.5GB/s -duplex full -transfers streamed -budget 3GiB",
		"testdata/net.csv -budget 55.5% -strategy sequential -arg segments=4",
		"testdata/net.csv -budget 77.7777% -strategy sequential -device gh200-96gb",
		"testdata/owndevice.json",
		"testdata/owndevice.json -bw 5GB/s",
		"testdata/owndevice.json -device a100-sxm-40gb",
	} {
		direct := solved(t, words(line)...)
		o := memtide(t, t.Context(), append([]string{"link"}, words(line)...)...)
		address := strings.TrimSpace(o.stdout)
		if o.code != cli.OK || !strings.HasSuffix(address, "#"+direct.Link) {
			t.Errorf("link %s: exit status %d, %q; want it to end in #%s", line, o.code, address, direct.Link)
		}
		if want := fmt.Sprintf("%d characters: fits everywhere\n", len(address)); o.stderr != want {
			t.Errorf("link %s: said %q, want %q", line, o.stderr, want)
		}
		back := solved(t, "-from", address)
		a, _ := json.Marshal(direct)
		b, _ := json.Marshal(back)
		if !bytes.Equal(a, b) {
			t.Errorf("link %s:\ndirectly   %s\nby the link %s", line, a, b)
		}
	}
}

// TestLinkRefusesWhatItWouldChange checks that link refuses a profile that a link cannot carry exactly, instead
// of changing it.
func TestLinkRefusesWhatItWouldChange(t *testing.T) {
	direct := memtide(t, t.Context(), "link", "testdata/seeded.json")
	if direct.code == cli.OK {
		a, b := solved(t, "testdata/seeded.json"), solved(t, "-from", strings.TrimSpace(direct.stdout))
		if a.Question.Network.Stages != b.Question.Network.Stages ||
			len(a.Measured.Decisions) != len(b.Measured.Decisions) {
			t.Errorf("a chain without a loss has %d stages; after the link it has %d", a.Question.Network.Stages,
				b.Question.Network.Stages)
		}
	} else if !strings.Contains(direct.stderr, "send the file itself") {
		t.Errorf("link of a chain without a loss: %q; want the way on", direct.stderr)
	}
	file := longNet(t, 5000)
	if o := memtide(t, t.Context(), "link", file); o.code != cli.No ||
		!strings.Contains(o.stderr, "end the file itself") {
		t.Errorf("link of 5000 stages: exit status %d, %q; want 1 and the way on", o.code, o.stderr)
	}
}

// wellFormed reads a whole XML document and returns the attributes of its root and all its text. The root's name
// is under the key "".
func wellFormed(t *testing.T, doc string) (root map[string]string, text string) {
	t.Helper()
	d := xml.NewDecoder(strings.NewReader(doc))
	var all strings.Builder
	for {
		token, err := d.Token()
		switch x := token.(type) {
		case xml.StartElement:
			if root == nil {
				root = map[string]string{"": x.Name.Local}
				for _, a := range x.Attr {
					root[a.Name.Local] = a.Value
				}
			}
		case xml.CharData:
			all.Write(x)
		}
		if errors.Is(err, io.EOF) {
			return root, all.String()
		}
		if err != nil {
			t.Fatalf("not well-formed XML: %v\n%.500s", err, doc)
		}
	}
}

func TestSVG(t *testing.T) {
	plain := memtide(t, t.Context(), "svg", "-budget", "60%", "testdata/net.csv")
	root, text := wellFormed(t, plain.stdout)
	if plain.code != cli.OK || root[""] != "svg" || root["width"] != "960" {
		t.Errorf("exit status %d, root %v; want an svg of width 960", plain.code, root)
	}
	r := solved(t, "-budget", "60%", "testdata/net.csv")
	want := fmt.Sprintf("Peak %d MiB", r.Measured.Peak>>20)
	for _, part := range []string{"Timeline", "Device memory", want} {
		if !strings.Contains(text, part) {
			t.Errorf("the text of the picture lacks %q: %.300s", part, text)
		}
	}
	if !strings.Contains(plain.stdout, "prefers-color-scheme") {
		t.Error("without -theme the picture does not follow the reader's setting")
	}

	file := filepath.Join(t.TempDir(), "out.svg")
	dark := memtide(t, t.Context(), "svg", "-theme", "dark", "-width", "500", "-o", file, "testdata/net.csv")
	data, err := os.ReadFile(file)
	if err != nil || dark.code != cli.OK || dark.stdout != "" {
		t.Fatalf("svg -o: exit status %d, %v, %q on the standard output", dark.code, err, dark.stdout)
	}
	if root, _ := wellFormed(t, string(data)); root["width"] != "500" ||
		bytes.Contains(data, []byte("prefers-color-scheme")) {
		t.Errorf("svg -theme dark -width 500: width %s; want 500 and fixed colours", root["width"])
	}
	// A theme in a link has the same effect, and a flag overrides it.
	address := strings.TrimSpace(memtide(t, t.Context(), "link", "testdata/net.csv").stdout)
	fragment := strings.Replace(address, "#v=1", "#v=1&theme=dark", 1)
	if o := memtide(t, t.Context(), "svg", "-width", "500", "-from", fragment); o.stdout != string(data) {
		t.Error("theme=dark in a link: the picture differs from that of -theme dark")
	}
	if o := memtide(t, t.Context(), "svg", "-width", "500", "-from", fragment, "-theme",
		"light"); o.stdout == string(data) || o.code != cli.OK {
		t.Errorf("-theme light over theme=dark in a link: exit status %d, or still dark", o.code)
	}
	if o := memtide(t, t.Context(), "svg", "-budget", "100MiB", "-o", file, "testdata/net.csv"); o.code != cli.No ||
		!strings.Contains(o.stderr, "smallest budget") {
		t.Errorf("svg in too small a budget: exit status %d, %q", o.code, o.stderr)
	}
	if again, _ := os.ReadFile(file); !bytes.Equal(again, data) {
		t.Error("svg in too small a budget has changed the file")
	}
}

// TestSVGLink checks that a picture carries the link to what it shows, as the pictures of the page do, and that
// with -base the picture itself is a link. A network that no link can hold is drawn without one.
func TestSVGLink(t *testing.T) {
	for _, line := range []string{"-preset vgg16-b64 -budget 80% -strategy greedy",
		"-budget 900MiB -strategy rotor testdata/net.csv", "-theme dark -preset resnet50-b32"} {
		plain := memtide(t, t.Context(), append([]string{"svg"}, words(line)...)...)
		wellFormed(t, plain.stdout)
		want := memtide(t, t.Context(), append([]string{"link"},
			words(strings.TrimPrefix(line, "-theme dark "))...)...).stdout
		_, want, _ = strings.Cut(strings.TrimSpace(want), "#")
		if strings.HasPrefix(line, "-theme") {
			want += "&theme=dark"
		}
		if got, ok := link.In([]byte(plain.stdout)); !ok || got != want || strings.Contains(plain.stdout, "<a ") {
			t.Errorf("svg %s (%s): the file carries %q, and perhaps an <a>; want %q and none", line, plain.stderr,
				got, want)
		}
		based := memtide(t, t.Context(),
			append([]string{"svg", "-base", "https://example.org/memtide/"}, words(line)...)...)
		wellFormed(t, based.stdout)
		if got, _ := link.In([]byte(based.stdout)); got != want {
			t.Errorf("svg -base %s: the file carries %q, want %q", line, got, want)
		}
		anchor := `<a href="https://example.org/memtide/#` + strings.ReplaceAll(want, "&", "&amp;") + `">`
		if strings.Count(based.stdout, anchor) != 1 || !strings.HasSuffix(based.stdout, "</a>\n</svg>\n") {
			t.Errorf("svg -base %s: the picture is no link; want %s around it", line, anchor)
		}
	}
	if o := memtide(t, t.Context(), "svg", "-budget", "100%", "testdata/graph.json"); o.code != cli.OK ||
		!strings.Contains(o.stdout, "<metadata") {
		t.Errorf("svg of a graph: exit status %d, %q; want a picture with the link to it", o.code, o.stderr)
	}
	long := longNet(t, 5000)
	if o := memtide(t, t.Context(), "svg", "-budget", "100%", "-strategy", "keepall", long); o.code != cli.OK ||
		!strings.Contains(o.stderr, "carries no link") || strings.Contains(o.stdout, "<metadata") {
		t.Errorf("svg of 5000 stages: exit status %d, %q; want a picture without a link, and a line about it", o.code,
			o.stderr)
	}
	for _, base := range []string{"https://example.org/#x", "https://example.org/"} {
		if o := memtide(t, t.Context(), "svg", "-base", base, "-strategy", "keepall", long); o.code == cli.OK ||
			o.stdout != "" {
			t.Errorf("svg -base %s of 5000 stages: exit status %d, wrote %d bytes; want an error", base, o.code,
				len(o.stdout))
		}
	}
}

// longNet writes a file of n stages, no two of them alike, so that solving takes a while, and returns its name.
func longNet(t *testing.T, n int) string {
	t.Helper()
	r := rand.New(rand.NewPCG(1, 2))
	var b strings.Builder
	b.WriteString("name,forward_s,backward_s,output_bytes,saved_bytes\n")
	for i := range n {
		fmt.Fprintf(&b, "s%d,%.6f,%.6f,%d,%d\n", i, 1e-3+r.Float64()*1e-3, 2e-3+2e-3*r.Float64(), 1<<20+r.IntN(1<<20),
			1<<22+r.IntN(1<<22))
	}
	file := filepath.Join(t.TempDir(), "long.csv")
	if err := os.WriteFile(file, []byte(b.String()), 0o644); err != nil {
		t.Fatal(err)
	}
	return file
}

// stopped returns a context that is cancelled in the middle of the work, as by Ctrl-C: when strategies have taken
// the given number of breaths. They take one for every 256 polls.
func stopped(t *testing.T, breaths int) context.Context {
	ctx, cancel := context.WithCancel(t.Context())
	t.Cleanup(cancel)
	return context.WithValue(ctx, engine.Yield{}, func() {
		if breaths--; breaths <= 0 {
			cancel()
		}
	})
}

// TestStop checks that commands write what they have so far when Ctrl-C ends their context.
func TestStop(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1)) // so that points are solved in one order
	file := longNet(t, 300)                         // rotor takes more than 1,000 breaths for a budget
	for breaths, want := range map[int]int{1: 0, 3: 1, 50: 1} {
		o := memtide(t, stopped(t, breaths), "sweep", "-strategy", "sequential,rotor", "-budget", "50%,60%,70%", file)
		said := fmt.Sprintf("stopped after %d of 6 points", want)
		if o.code != cli.No || !strings.Contains(o.stderr, said) || strings.Count(o.stdout, "checked") != want {
			t.Errorf("sweep stopped after %d breaths: exit status %d, %q; want 1, %q, and as many points in\n%s",
				breaths, o.code, o.stderr, said, o.stdout)
		}
	}
	o := memtide(t, stopped(t, 50), "solve", "-budget", "50%", file)
	if o.code != cli.No || !strings.Contains(o.stderr, "was stopped before it was done") {
		t.Errorf("stopped solve: exit status %d, %q", o.code, o.stderr)
	}
	o = memtide(t, stopped(t, 50), "solve", "-json", "-preset", "resnet101-b32", "-budget", "70%", "-strategy",
		"offloadsearch", "-arg", "evaluations=100000000")
	var best solveReport
	if err := json.Unmarshal([]byte(o.stdout), &best); err != nil || o.code != cli.No || best.Complete ||
		!best.Verified || best.Measured.StepTime <= 0 {
		t.Errorf("stopped search: exit status %d, %v, complete %v, verified %v; want 1 and a verified schedule, the best so far", o.code, err, best.Complete, best.Verified)
	}
	atOnce, cancel := context.WithCancel(t.Context())
	cancel()
	o = memtide(t, atOnce, "sweep", "-json", "testdata/net.csv")
	var r sweepReport
	if err := json.Unmarshal([]byte(o.stdout), &r); err != nil || o.code != cli.No || r.Complete {
		t.Errorf("sweep stopped at once: exit status %d, %v, complete %v; want 1 and valid JSON that says it is not complete", o.code, err, r.Complete)
	}
}

// TestSolveLimit checks that a time limit stops solve, and that -json reports it.
func TestSolveLimit(t *testing.T) {
	file := longNet(t, 300)
	synctest.Test(t, func(t *testing.T) {
		// The clock of the bubble advances only when strategies poll.
		ticking := context.WithValue(t.Context(), engine.Yield{}, func() { time.Sleep(time.Millisecond) })
		var out bytes.Buffer
		code := run(ticking, []string{"solve", "-limit", "1ns", "-json", "-budget", "50%", file}, nil, &out, io.Discard)
		var f failureReport
		if err := json.Unmarshal(out.Bytes(), &f); err != nil || code != cli.No || f.Error == nil ||
			f.Error.Kind != "deadline" {
			t.Errorf("solve -limit 1ns -json: exit status %d, %v, %.500s; want 1 and an error of kind deadline", code,
				err, &out)
		}
	})
}

// TestSweepAgreesWithSolve checks that solve gives the same result as sweep at each of its points.
func TestSweepAgreesWithSolve(t *testing.T) {
	o := memtide(t, t.Context(), "sweep", "-json", "-strategy", "rotor,sequential,greedy", "-budget",
		"500MiB..900MiB", "-points", "3", "testdata/net.csv")
	var r sweepReport
	if err := json.Unmarshal([]byte(o.stdout), &r); err != nil || o.code != cli.OK {
		t.Fatalf("sweep: exit status %d, %v\n%s", o.code, err, o.stderr)
	}
	if len(r.Points) != 3*3 || !r.Complete {
		t.Fatalf("%d points, complete %v; want three budgets for three strategies", len(r.Points), r.Complete)
	}
	for _, p := range r.Points {
		one := solved(t, "-strategy", p.Strategy, "-budget", fmt.Sprintf("%dB", p.Budget), "testdata/net.csv")
		if p.Reference != one.Measured.Reference || p.Verified != one.Verified || r.KeepAll != one.KeepAll {
			t.Errorf("%s in %d bytes: sweep says %+v, solve %+v", p.Strategy, p.Budget, p.Reference,
				one.Measured.Reference)
		}
	}
}

func TestServe(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "site")
	buildSite(t, dir)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	r, w := io.Pipe()
	code := make(chan int)
	go func() { code <- run(ctx, []string{"serve", "-dir", dir, "-addr", "127.0.0.1:0"}, nil, w, io.Discard) }()
	line := make([]byte, 500)
	n, err := r.Read(line)
	if err != nil {
		t.Fatal(err)
	}
	address := regexp.MustCompile(`http://127\.0\.0\.1:\d+/`).FindString(string(line[:n]))
	resp, err := http.Get(address)
	if err != nil {
		t.Fatalf("it said %q: %v", line[:n], err)
	}
	body, err := io.ReadAll(resp.Body)
	resp.Body.Close()
	if err != nil || resp.StatusCode != http.StatusOK || !strings.Contains(string(body), "<title>page</title>") {
		t.Errorf("GET %s: %s, %v, %q; want the page", address, resp.Status, err, body)
	}
	// The address is taken now.
	var complaints bytes.Buffer
	taken := strings.TrimSuffix(strings.TrimPrefix(address, "http://"), "/")
	if got := run(t.Context(), []string{"serve", "-dir", dir, "-addr", taken}, nil, io.Discard,
		&complaints); got != cli.No || !strings.Contains(complaints.String(), "-addr") {
		t.Errorf("serve on a taken address: exit status %d, %q; want 1 and the flag to change", got,
			complaints.String())
	}
	cancel()
	if got := <-code; got != cli.OK {
		t.Errorf("after Ctrl-C: exit status %d, want 0", got)
	}
}
