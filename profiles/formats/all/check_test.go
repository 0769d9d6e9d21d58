package all

import (
	"bytes"
	"reflect"
	"runtime/metrics"
	"testing"

	"memtide/engine"
	"memtide/profiles"
	"memtide/profiles/formats/formattest"
	"memtide/profiles/formats/native"
)

// checkSample checks what holds for every file that can be read. Exactly one format claims it, its name does not
// matter, and it survives a round trip through the native format. Its prefixes are read or refused without a panic.
func checkSample(t *testing.T, name string, data []byte) *profiles.Profile {
	t.Helper()
	plain, err := profiles.Unpack(data, nil)
	if err != nil {
		t.Fatal(err)
	}
	if claims := profiles.Claimants(plain); len(claims) != 1 {
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
	checkRoundTrip(t, p)
	for eighth := range 8 {
		cut := data[:len(data)*eighth/8]
		q, err := profiles.Decode(name, profiles.Bytes(cut), nil)
		if (q == nil) == (err == nil) {
			t.Errorf("%d/8 of %s: profile %v and error %v, want exactly one", eighth, name, q, err)
		}
		formattest.CheckProblems(t, err)
	}
	return p
}

// checkRoundTrip writes p in the native format and reads it back.
func checkRoundTrip(t *testing.T, p *profiles.Profile) {
	t.Helper()
	var first, second bytes.Buffer
	if err := native.Encode(&first, p); err != nil {
		t.Fatalf("writing %s: %v", p.Name, err)
	}
	q, err := profiles.Decode("unknown", profiles.Bytes(first.Bytes()), nil)
	if err != nil {
		t.Fatalf("reading back %s: %v\n%s", p.Name, err, first.Bytes())
	}
	if p.Chain != nil {
		for i := range p.Chain.Stages { // what runs beside a stage stands in no file
			p.Chain.Stages[i].Asides = [2]engine.Aside{}
		}
	}
	if !reflect.DeepEqual(p.Chain, q.Chain) || !reflect.DeepEqual(p.Graph, q.Graph) ||
		!reflect.DeepEqual(p.Memory, q.Memory) {
		t.Errorf("%s comes back different\ngot:\n%s\nwant:\n%s", p.Name, dump(q), dump(p))
	}
	if err := native.Encode(&second, q); err != nil || p.Format != "memtide" {
		return // warnings may name the units of the first format
	}
	if first.String() != second.String() {
		t.Errorf("%s is written differently the second time\ngot:\n%s\nwant:\n%s", p.Name, second.String(),
			first.String())
	}
}

// checkDecoded checks what holds for any content. It is refused with a place and a remedy, or is a valid profile
// within its bounds that survives a round trip. Reading it allocates at most mostTimes its size and fixedRoom.
func checkDecoded(t *testing.T, data []byte) {
	t.Helper()
	before := allocated()
	p, err := profiles.Decode("fuzz", profiles.Bytes(data), nil)
	if spent := allocated() - before; spent > fixedRoom+mostTimes*uint64(len(data)) {
		t.Errorf("reading %d bytes allocates %d KiB in all, garbage included; want at most %d KiB and %d times the input", len(data), spent>>10, fixedRoom>>10, mostTimes)
	}
	checkRead(t, p, err)
	if p == nil {
		return
	}
	if e := profiles.Admit(p); e != nil {
		t.Errorf("accepted beyond its bounds: %v", e)
	}
	checkRoundTrip(t, p)
}

// checkRead checks the result of reading any content: an error with its problems, or a valid profile.
func checkRead(t *testing.T, p *profiles.Profile, err error) {
	t.Helper()
	if (p == nil) == (err == nil) {
		t.Errorf("profile %v and error %v, want exactly one", p, err)
	}
	formattest.CheckProblems(t, err)
	if p == nil {
		return
	}
	if p.Chain == nil && p.Graph == nil && p.Memory == nil {
		t.Error("a profile without chain, graph and memory")
	}
	if p.Chain != nil {
		if err := p.Chain.Validate(); err != nil {
			t.Errorf("the chain is not valid: %v", err)
		}
	}
	if p.Graph != nil {
		if err := p.Graph.Validate(); err != nil {
			t.Errorf("the graph is not valid: %v", err)
		}
	}
	p.Totals()
}

// mostTimes and fixedRoom limit what reading a mutated sample allocates in all, garbage included: mostTimes the
// bytes of the sample, plus fixedRoom bytes.
const (
	mostTimes = 20
	fixedRoom = 24 << 20
)

// allocated returns the number of bytes that the program has allocated so far. Other goroutines must not allocate
// meanwhile.
func allocated() uint64 {
	sample := []metrics.Sample{{Name: "/gc/heap/allocs:bytes"}}
	metrics.Read(sample)
	return sample[0].Value.Uint64()
}
