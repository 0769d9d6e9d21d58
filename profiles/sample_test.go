package profiles

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"memtide/engine"
)

var update = flag.Bool("update", false, "write the golden dumps of the samples anew")

// sampleFiles are the files of testdata that are inputs: all but golden dumps.
func sampleFiles(t testing.TB) []string {
	t.Helper()
	all, err := filepath.Glob("testdata/*.*")
	if err != nil {
		t.Fatal(err)
	}
	var files []string
	for _, f := range all {
		if !strings.HasSuffix(f, ".golden") {
			files = append(files, f)
		}
	}
	if len(files) == 0 {
		t.Fatal("no samples in testdata")
	}
	return files
}

// TestSamples holds every sample to what every format has to do.
func TestSamples(t *testing.T) {
	for _, file := range sampleFiles(t) {
		t.Run(filepath.Base(file), func(t *testing.T) {
			data, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			p := checkSample(t, filepath.Base(file), data)
			golden := file + ".golden"
			got := dump(p)
			if *update {
				if err := os.WriteFile(golden, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(golden)
			if err != nil {
				t.Fatalf("%v; run go test ./profiles -update and read the result", err)
			}
			if got != string(want) {
				t.Errorf("%s reads differently\ngot:\n%s\nwant:\n%s", file, got, want)
			}
		})
	}
}

// TestFormats: every format has a description and at least one sample.
func TestFormats(t *testing.T) {
	samples := map[string]int{}
	for _, file := range sampleFiles(t) {
		for _, f := range claimants(readSample(t, file)) {
			samples[f.Name]++
		}
	}
	for _, f := range Formats() {
		summary, _, _ := strings.Cut(f.Doc, "\n\n")
		if f.Title == "" || !strings.HasSuffix(summary, ".") || len(f.Extensions) == 0 {
			t.Errorf("format %s: title %q, summary %q, extensions %q; want all of them", f.Name, f.Title, summary, f.Extensions)
		}
		if samples[f.Name] == 0 {
			t.Errorf("format %s has no sample in testdata", f.Name)
		}
	}
}

// checkSample holds for the content of any file that is read: exactly one
// format claims it, its name does not matter, it survives a round trip through
// the native format, and its beginnings are read or refused without a panic.
func checkSample(t *testing.T, name string, data []byte) *Profile {
	t.Helper()
	plain, err := unpack(data, nil)
	if err != nil {
		t.Fatalf("unpack(%s) = %v", name, err)
	}
	if claims := claimants(plain); len(claims) != 1 {
		t.Errorf("%s is claimed by %d formats %v, want 1", name, len(claims), claims)
	}
	p, err := Decode(name, data, nil)
	if err != nil {
		t.Fatalf("Decode(%s) = %v", name, err)
	}
	blind, err := Decode("unknown", data, nil)
	if err != nil || blind.Format != p.Format || blind.Totals() != p.Totals() {
		t.Errorf("%s under the name unknown: format %v, error %v; want %s", name, blind, err, p.Format)
	}
	checkRoundTrip(t, p)
	for eighth := range 8 {
		cut := data[:len(data)*eighth/8]
		q, err := Decode(name, cut, nil)
		if (q == nil) == (err == nil) {
			t.Errorf("%d/8 of %s: profile %v and error %v, want exactly one", eighth, name, q, err)
		}
		checkProblems(t, err)
	}
	return p
}

// checkRoundTrip writes a profile and reads it back.
func checkRoundTrip(t *testing.T, p *Profile) {
	t.Helper()
	var first, second bytes.Buffer
	if err := p.EncodeNative(&first); err != nil {
		t.Fatalf("EncodeNative(%s) = %v", p.Name, err)
	}
	q, err := Decode("unknown", first.Bytes(), nil)
	if err != nil {
		t.Fatalf("reading back %s: %v\n%s", p.Name, err, first.Bytes())
	}
	if !reflect.DeepEqual(p.Chain, q.Chain) || !reflect.DeepEqual(p.Graph, q.Graph) || !reflect.DeepEqual(p.Memory, q.Memory) {
		t.Errorf("%s comes back different\ngot:\n%s\nwant:\n%s", p.Name, dump(q), dump(p))
	}
	if err := q.EncodeNative(&second); err != nil || p.Format != "memtide" {
		return // warnings may speak of the first format's units
	}
	if first.String() != second.String() {
		t.Errorf("%s is written differently the second time\ngot:\n%s\nwant:\n%s", p.Name, second.String(), first.String())
	}
}

// checkProblems holds for every error of Decode without a poll.
func checkProblems(t *testing.T, err error) {
	t.Helper()
	if err == nil {
		return
	}
	list := Problems(err)
	if len(list) == 0 {
		t.Errorf("error %v has no problems, want a *FormatError", err)
	}
	for _, e := range list {
		if e.Found == "" || e.Remedy == "" || !strings.HasSuffix(e.Expected, ".") || !strings.HasSuffix(e.Remedy, ".") {
			t.Errorf("problem %+v lacks a part", e)
		}
	}
}

// dump is a profile in lines, every number of it.
func dump(p *Profile) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%q format %s, batch %d, dtype %q\nsource %q, times %q, sizes %q, device %q, url %q\n", p.Name, p.Format, p.Batch, p.DType,
		p.Source.Tool, p.Source.Times, p.Source.Sizes, p.Source.Device, p.Source.URL)
	for _, n := range p.Source.Notes {
		fmt.Fprintf(&b, "note: %s\n", n)
	}
	for _, w := range p.Warnings {
		fmt.Fprintf(&b, "warning: %s\n", w)
	}
	if p.Device != nil {
		fmt.Fprintf(&b, "device %+v\n", *p.Device)
	}
	fmt.Fprintf(&b, "totals %+v\n", p.Totals())
	if c := p.Chain; c != nil {
		fmt.Fprintf(&b, "chain %q, batch %d, input %d, input gradient %d, resident %+v, seed born %v\n", c.Name, c.Batch, c.Input, c.InputGrad, c.Resident, c.LossGradAllocated)
		for i, s := range c.Stages {
			fmt.Fprintf(&b, "%3d %-30s %-5s F %d B %d ns, a %d abar %d delta %d oF %d oB %d\n", i+1, fmt.Sprintf("%q", s.Name), s.Kind,
				s.Forward, s.Back, s.Out, s.Saved, s.Grad, s.FwdTemp, s.BwdTemp)
			if f := s.Fast; f != nil {
				fmt.Fprintf(&b, "    or F %d B %d ns, oF %d oB %d\n", f.Forward, f.Back, f.FwdTemp, f.BwdTemp)
			}
		}
	}
	if p.Graph != nil {
		dumpGraph(&b, p.Graph)
	}
	if p.Memory != nil {
		dumpMemory(&b, p.Memory)
	}
	return b.String()
}

func dumpMemory(b *strings.Builder, m *Memory) {
	fmt.Fprintf(b, "capacity %d, before %d\n", m.Capacity, m.Before)
	for i, v := range m.Requests.Buffers {
		fmt.Fprintf(b, "buffer %d %+v\n", i, v)
	}
	fmt.Fprintf(b, "events %v\nsegments %v\n", m.Requests.Events, m.Segments)
	if l := m.Recorded; l != nil {
		fmt.Fprintf(b, "addresses %v\ntaken %v\npool %d, reserved %v, bound %d, failed %+v\n", l.Addr, l.Took, l.Pool, l.Reserved, l.Bound, l.Failed)
	}
}

// dumpGraph writes the words of the goldens, whatever the fields are called.
func dumpGraph(b *strings.Builder, g *engine.Graph) {
	fmt.Fprintf(b, "graph fixed %d, done %d, stages %d\n", g.Fixed, g.Done, g.Stages)
	for i, v := range g.Values {
		fmt.Fprintf(b, "value %d {Name:%s Kind:%v Size:%v Stage:%v Initial:%v Within:%v}\n", i, v.Name, v.Kind, v.Size, v.Stage, v.Initial, v.PartOf)
	}
	for i, op := range g.Ops {
		fmt.Fprintf(b, "op %d {Name:%s Pass:%v Stage:%v Time:%v Temp:%v In:%v Out:%v Lean:%v Alt:%v}\n",
			i, op.Name, op.Pass, op.Stage, op.Time, op.Temp, op.In, op.Out, op.OutputOnly, op.Alt)
	}
}

// FuzzDecode: any content is refused with a place and a remedy, or is a profile
// that can be used and written.
func FuzzDecode(f *testing.F) {
	for _, file := range sampleFiles(f) {
		data, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	for _, r := range rejections {
		f.Add([]byte(r.input))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		if plain, err := unpack(data, nil); err == nil {
			if claims := claimants(plain); len(claims) > 1 {
				t.Errorf("claimed by %s and %s", claims[0].Name, claims[1].Name)
			}
		}
		p, err := Decode("fuzz", data, nil)
		if err != nil {
			checkProblems(t, err)
			return
		}
		if p.Chain == nil && p.Graph == nil && p.Memory == nil {
			t.Fatal("a profile without chain, graph and memory")
		}
		if p.Chain != nil {
			if err := p.Chain.Validate(); err != nil {
				t.Errorf("the chain is not valid: %v", err)
			}
		}
		p.Totals()
		checkRoundTrip(t, p)
	})
}

// readSample is the unpacked content of a sample.
func readSample(t testing.TB, file string) []byte {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if data, err = unpack(data, nil); err != nil {
		t.Fatal(err)
	}
	return data
}
