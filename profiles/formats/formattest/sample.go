// Package formattest has what the tests of formats share. Tests that try all formats
// are in formats/all; those of one format are beside it, and link formats/all too.
package formattest

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"os"
	"reflect"
	"strings"
	"testing"

	"memtide/engine"
	"memtide/profiles"
)

// CheckSample holds for the content of any file that is read: exactly one
// format claims it, its name does not matter, it survives a round trip through
// the native format, and its beginnings are read or refused without a panic.
func CheckSample(t *testing.T, name string, data []byte) *profiles.Profile {
	t.Helper()
	if claims := profiles.Claimants(unpacked(t, data)); len(claims) != 1 {
		var names []string
		for _, f := range claims {
			names = append(names, f.Name)
		}
		t.Errorf("%s is claimed by %q, want one format", name, names)
	}
	p, err := profiles.Decode(name, profiles.Bytes(data), nil)
	if err != nil {
		t.Fatalf("Decode(%s) = %v", name, err)
	}
	blind, err := profiles.Decode("unknown", profiles.Bytes(data), nil)
	if err != nil || blind.Format != p.Format || blind.Totals() != p.Totals() {
		t.Errorf("%s under the name unknown: format %v, error %v; want %s", name, blind, err, p.Format)
	}
	CheckRoundTrip(t, p)
	for eighth := range 8 {
		cut := data[:len(data)*eighth/8]
		q, err := profiles.Decode(name, profiles.Bytes(cut), nil)
		if (q == nil) == (err == nil) {
			t.Errorf("%d/8 of %s: profile %v and error %v, want exactly one", eighth, name, q, err)
		}
		CheckProblems(t, err)
	}
	return p
}

// CheckRoundTrip writes a profile and reads it back.
func CheckRoundTrip(t *testing.T, p *profiles.Profile) {
	t.Helper()
	var first, second bytes.Buffer
	if err := encode(t, &first, p); err != nil {
		t.Fatalf("writing %s: %v", p.Name, err)
	}
	q, err := profiles.Decode("unknown", profiles.Bytes(first.Bytes()), nil)
	if err != nil {
		t.Fatalf("reading back %s: %v\n%s", p.Name, err, first.Bytes())
	}
	if !reflect.DeepEqual(p.Chain, q.Chain) || !reflect.DeepEqual(p.Graph, q.Graph) ||
		!reflect.DeepEqual(p.Memory, q.Memory) {
		t.Errorf("%s comes back different\ngot:\n%s\nwant:\n%s", p.Name, Dump(q), Dump(p))
	}
	if err := encode(t, &second, q); err != nil || p.Format != "memtide" {
		return // warnings may speak of the first format's units
	}
	if first.String() != second.String() {
		t.Errorf("%s is written differently the second time\ngot:\n%s\nwant:\n%s", p.Name, second.String(),
			first.String())
	}
}

// CheckProblems holds for every error of Decode without a poll.
func CheckProblems(t *testing.T, err error) {
	t.Helper()
	if err == nil {
		return
	}
	list := profiles.Problems(err)
	if len(list) == 0 {
		t.Errorf("error %v has no problems, want a *FormatError", err)
	}
	for _, e := range list {
		if e.Found == "" || e.Remedy == "" || !strings.HasSuffix(e.Expected, ".") || !strings.HasSuffix(e.Remedy, ".") {
			t.Errorf("problem %+v lacks a part", e)
		}
	}
}

// Read returns the unpacked content of a sample.
func Read(t testing.TB, file string) []byte {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return unpacked(t, data)
}

// unpacked is content that may be gzipped.
func unpacked(t testing.TB, data []byte) []byte {
	t.Helper()
	if !bytes.HasPrefix(data, []byte{0x1f, 0x8b}) {
		return data
	}
	zr, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	if data, err = io.ReadAll(zr); err != nil {
		t.Fatal(err)
	}
	return data
}

// Pack is content, gzipped.
func Pack(t *testing.T, content []byte) []byte {
	t.Helper()
	var b bytes.Buffer
	zw := gzip.NewWriter(&b)
	if _, err := zw.Write(content); err != nil {
		t.Fatal(err)
	}
	if err := zw.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// encode writes a profile in the native format, which has to be linked.
func encode(t *testing.T, w io.Writer, p *profiles.Profile) error {
	t.Helper()
	for _, f := range profiles.Formats() {
		if f.Name == "memtide" {
			return f.Encode(w, p)
		}
	}
	t.Fatal("the native format is not linked: import memtide/profiles/formats/native")
	return nil
}

// Dump returns a profile in lines, every number of it.
func Dump(p *profiles.Profile) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%q format %s, batch %d, dtype %q\nsource %q, times %q, sizes %q, device %q, url %q\n", p.Name,
		p.Format, p.Batch, p.DType,
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
		fmt.Fprintf(&b, "chain %q, batch %d, input %d, input gradient %d, resident %+v, seed born %v\n", c.Name,
			c.Batch,
			c.Input, c.InputGrad, c.Resident, c.LossGradAllocated)
		for i, s := range c.Stages {
			fmt.Fprintf(&b, "%3d %-30s %-5s F %d B %d ns, a %d abar %d delta %d oF %d oB %d\n", i+1,
				fmt.Sprintf("%q", s.Name), s.Kind,
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

func dumpMemory(b *strings.Builder, m *profiles.Memory) {
	fmt.Fprintf(b, "capacity %d, before %d\n", m.Capacity, m.Before)
	for i, v := range m.Requests.Buffers {
		fmt.Fprintf(b, "buffer %d %+v\n", i, v)
	}
	fmt.Fprintf(b, "events %v\nsegments %v\n", m.Requests.Events, m.Segments)
	if l := m.Recorded; l != nil {
		fmt.Fprintf(b, "addresses %v\ntaken %v\npool %d, reserved %v, bound %d, failed %+v\n", l.Addr, l.Took, l.Pool,
			l.Reserved, l.Bound, l.Failed)
	}
}

// dumpGraph writes the words of the goldens, whatever the fields are called.
func dumpGraph(b *strings.Builder, g *engine.Graph) {
	fmt.Fprintf(b, "graph fixed %d, done %d, stages %d\n", g.Fixed, g.Done, g.Stages)
	for i, v := range g.Values {
		fmt.Fprintf(b, "value %d {Name:%s Kind:%v Size:%v Stage:%v Initial:%v Within:%v}\n", i, v.Name, v.Kind, v.Size,
			v.Stage, v.Initial, v.PartOf)
	}
	for i, op := range g.Ops {
		fmt.Fprintf(b, "op %d {Name:%s Pass:%v Stage:%v Time:%v Temp:%v In:%v Out:%v Lean:%v Alt:%v}\n",
			i, op.Name, op.Pass, op.Stage, op.Time, op.Temp, op.In, op.Out, op.OutputOnly, op.Alt)
	}
}

// lying is content in memory that pretends to lie elsewhere.
type lying struct{ *bytes.Reader }

// ContentOf is content that is not in memory, as far as Decode can tell.
func ContentOf(data []byte) profiles.Content { return lying{bytes.NewReader(data)} }
