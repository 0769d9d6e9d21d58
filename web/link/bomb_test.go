package link

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"os"
	"reflect"
	"runtime"
	"strings"
	"testing"

	"memtide/engine"
	"memtide/profiles"
)

// packBody returns the value of the key d for the given body, with the right length and checksum.
func packBody(body []byte, version byte) string {
	codec, sent := "1.", newPacker().deflate(body)
	head := binary.AppendUvarint([]byte{blobMagic, version}, uint64(4+len(sent)))
	head = binary.LittleEndian.AppendUint32(head, checksum(codec, sent))
	return codec + base64url.EncodeToString(append(head, sent...))
}

// bodyStart returns a writer with the beginning of a body, up to the number of stages. The profile is called name
// and has the given number of notes, which all equal note.
func bodyStart(name string, notes int, note string) *writer {
	w := &writer{pack: newPacker()}
	w.text(name)
	for range 7 {
		w.text("")
	}
	w.uint(uint64(notes))
	for range notes {
		w.text(note)
	}
	w.texts(nil)
	w.device(nil)
	for range 7 {
		w.uint(0)
	}
	w.uint(0) // flags
	return w
}

// zeroColumns writes seven columns of zeros.
func (w *writer) zeroColumns() {
	for range 7 {
		w.b = append(w.b, 0, 0, 0, 0) // predictor, least, divisor, width
	}
}

// chained returns a body of n stages. The first one is called first, and the numbers in the names of the others
// count up from there.
func chained(first string, n int) []byte {
	w := bodyStart("net", 0, "")
	w.uint(uint64(n))
	w.uint(nameLiteral)
	w.text(first)
	for range n - 1 {
		w.uint(nameNext)
	}
	for range n {
		w.uint(nameSame)
	}
	w.zeroColumns()
	return w.b
}

// allocated returns the number of bytes that f allocates.
func allocated(f func()) (bytes uint64) {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}

// TestBombs checks that unpacking a link is bounded: each link that would become very large is refused with the
// reason, and little memory is allocated.
func TestBombs(t *testing.T) {
	long, full := strings.Repeat("x", 1<<20), packBody(make([]byte, 4<<20-1), 1)
	many := bodyStart("net", 0, "")
	many.uint(20_001)
	many.b = append(many.b, make([]byte, 1<<20)...)
	same := bodyStart("net", 0, "")
	same.uint(20_000)
	same.uint(nameLiteral)
	same.text(strings.Repeat("y", profiles.MaxName))
	for range 19_999 {
		same.uint(nameSame)
	}
	same.b = append(same.b, make([]byte, 60_000)...)
	for _, c := range []struct{ name, value, want string }{
		{"20,000 stages, a name of 20,000 characters", packBody(chained(strings.Repeat("n", 19_999)+"0", 20_000), 1),
			"the name of stage 1 is 20000 bytes long. At most 1000 bytes are read."},
		{"20,000 stages, a name of 1 MiB", packBody(chained(long+"0", 20_000), 1),
			"the name of stage 1 is 1048577 bytes long"},
		{"20,000 names of 1,000 characters", packBody(chained(strings.Repeat("n", 999)+"0", 20_000), 1),
			"the name of stage 11 is 1001 bytes long"},
		{"one name of 1,000 characters, 20,000 times", packBody(same.b, 1),
			"The names and texts up to the name of stage 4195 are more than 4 MiB"},
		{"the name of the profile", packBody(bodyStart(long, 0, "").b, 1), "a name is 1048576 bytes long"},
		{"a note", packBody(bodyStart("net", 1, long).b, 1),
			"one of the notes is 1048576 bytes long. At most 10000 bytes are read."},
		{"2 million notes", packBody(bodyStart("net", 2_000_000, "").b, 1), "2000000 notes. At most 1000 are read."},
		{"too many stages", packBody(many.b, 1), "has 20001 stages; at most 20000 are read"},
		{"more than is unpacked", packBody(make([]byte, 5<<20), 1), "unpacks to more than 4 MiB"},
		{"many profiles", strings.Repeat(full+"&d=", 8) + full, "more profiles than are read"},
		{"notes of a link", "x" + strings.Repeat("&m=1", 16_000), "And 15981 more."},
	} {
		var notes []string
		fragment := "v=1&d=" + c.value
		if len(fragment) > maxFragment {
			t.Errorf("%s: %d characters, which no link has", c.name, len(fragment))
		}
		spent := allocated(func() { _, notes = Parse(fragment) })
		all := strings.Join(notes, "\n")
		if !strings.Contains(all, c.want) {
			t.Errorf("%s (%d characters): notes %.300q, want %q", c.name, len(fragment), all, c.want)
		}
		if spent > 120<<20 {
			t.Errorf("%s (%d characters): %d MiB allocated in all, want at most 120", c.name, len(fragment), spent>>20)
		}
		t.Logf("%-45s %6d characters  %4d MiB in all", c.name, len(fragment), spent>>20)
	}
}

// TestSharedBomb checks a link that once took 3.9 GB to unpack.
func TestSharedBomb(t *testing.T) {
	text, err := os.ReadFile("../../../shared/data/defects/link_names_20k_20000.txt")
	if err != nil {
		t.Skipf("the shared data is not here: %v", err)
	}
	var notes []string
	spent := allocated(func() { _, notes = Parse(strings.TrimSpace(string(text))) })
	if all := strings.Join(notes, "\n"); !strings.Contains(all, "the name of stage 1 is 20481 bytes long") ||
		spent > 16<<20 {
		t.Errorf("%d bytes allocated, notes %q; want at most 16 MiB, and which name is too long", spent, all)
	}
	t.Logf("%d characters: %d KiB in all", len(text), spent>>10)
}

// leftOut lists the fields of each type that a blob leaves out, with the reason. A new field has to be encoded by
// body.go or be listed here.
var leftOut = map[string]string{
	"Profile.Graph":    "a graph stands in a layout of its own, see TestGraphRoundTrip",
	"Profile.Memory":   "the page and the commands say that no link holds files about addresses",
	"Profile.History":  "it belongs to Memory",
	"Profile.Packed":   "the key ops holds it, which no blob needs",
	"Profile.Step":     "links to the step of a config.json have the key step instead of a blob",
	"Profile.Model":    "as Profile.Step",
	"Stage.Again":      "no profile that is opened has it: it is a policy's, which has the key policy",
	"Profile.Reserved": "as Stage.Again",
	"Profile.Host":     "as Stage.Again",
	"Stage.Away":       "as Stage.Again",
	"Stage.Asides":     "as Stage.Again",
	"Chain.Batch":      "it is that of the profile",
	"Chain.Name":       "compared below",
}

// fill sets every field of v to a value that is not zero. n counts the values, which therefore differ.
func fill(v reflect.Value, n *int64) {
	*n++
	switch v.Kind() {
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fill(v.Elem(), n)
	case reflect.Struct:
		for i := range v.NumField() {
			if leftOut[v.Type().Name()+"."+v.Type().Field(i).Name] == "" {
				fill(v.Field(i), n)
			}
		}
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 3, 3))
		for i := range v.Len() {
			fill(v.Index(i), n)
		}
	case reflect.String:
		v.SetString(fmt.Sprintf("text %d", *n))
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Uint8: // an enumeration of two values
		v.SetUint(1)
	case reflect.Float64:
		v.SetFloat(float64(*n))
	case reflect.Int, reflect.Int64:
		v.SetInt(*n)
	default:
		panic("a field of kind " + v.Kind().String() + ": say here how to fill it")
	}
}

// TestEveryFieldInBlob checks that a link contains every field of a profile, its chain and its stages that is not
// listed in leftOut. Each added stage lacks one field, so that every optional part is also tested alone.
func TestEveryFieldInBlob(t *testing.T) {
	want := &profiles.Profile{}
	n := int64(0)
	fill(reflect.ValueOf(want).Elem(), &n)
	c := want.Chain
	c.Batch, c.Name = want.Batch, "another name"
	for i := range c.Stages {
		c.Stages[i].Saved = c.Stages[i].Out + engine.Bytes(i)
	}
	stage := reflect.TypeFor[engine.Stage]()
	for i := range stage.NumField() { // add stages that each lack one field
		bare := c.Stages[0]
		reflect.ValueOf(&bare).Elem().Field(i).SetZero()
		bare.Saved = max(bare.Saved, bare.Out)
		c.Stages = append(c.Stages, bare)
	}
	c.Stages[len(c.Stages)-1].Unsaved = false // the last stage must not be Unsaved
	got, err := decodeBlob(encodeBlob(want), newBudget())
	if err != nil {
		t.Fatal(err)
	}
	compareFields(t, "Profile", reflect.ValueOf(*got), reflect.ValueOf(*want))
	for i := range c.Stages {
		compareFields(t, fmt.Sprintf("Stage %d", i+1), reflect.ValueOf(got.Chain.Stages[i]),
			reflect.ValueOf(c.Stages[i]))
	}
}

func compareFields(t *testing.T, what string, got, want reflect.Value) {
	for i := range want.NumField() {
		f := want.Type().Field(i)
		if why := leftOut[want.Type().Name()+"."+f.Name]; why != "" && f.Name != "Batch" && f.Name != "Name" {
			continue
		}
		if f.Name == "Stages" {
			continue // compared one by one
		}
		if a, b := got.Field(i), want.Field(i); f.Name == "Chain" {
			compareFields(t, "Chain", a.Elem(), b.Elem())
		} else if !reflect.DeepEqual(a.Interface(), b.Interface()) {
			t.Errorf("%s.%s is %+v behind a link, and was %+v: write it (stages.go, body.go), or declare it in leftOut and say it on the page", what, f.Name, a.Interface(), b.Interface())
		}
	}
}

// TestFastInLink checks that a profile whose stages have a second algorithm has a newer layout, which older pages
// refuse, and that the layout of all other profiles does not change.
func TestFastInLink(t *testing.T) {
	p := sample(40)
	if _, version := encodeBody(p); version != plainVersion {
		t.Errorf("without a second algorithm the layout is %d, want %d", version, plainVersion)
	}
	for i := range p.Chain.Stages {
		if i%3 == 0 {
			s := &p.Chain.Stages[i]
			s.Fast = &engine.Algorithm{Forward: s.Forward / 2, Back: s.Back / 2, FwdTemp: 1 << 20, BwdTemp: 1 << 21}
		}
	}
	if _, version := encodeBody(p); version != blobVersion {
		t.Errorf("with one the layout is %d, want %d", version, blobVersion)
	}
	got, err := decodeBlob(encodeBlob(p), newBudget())
	if err != nil || !reflect.DeepEqual(got, p) {
		t.Errorf("got %+v, %v\nwant %+v", got, err, p)
	}
	body, _ := encodeBody(sample(3))
	for version, want := range map[byte]string{blobVersion: "needs a newer version", plainVersion: "damaged"} {
		if _, err := decodeBlob(packBody(append(body, 99), version), newBudget()); err == nil ||
			!strings.Contains(err.Error(), want) {
			t.Errorf("something behind a body of layout %d: %v, want that it %s", version, err, want)
		}
	}
}

// TestCleanNames checks that the names and texts of a link are clean: no character controls a terminal or
// reverses the direction of text.
func TestCleanNames(t *testing.T) {
	p := sample(2)
	p.Name, p.Chain.Stages[0].Name, p.Source.Notes[0] = "a\x1b[2Jb", "\u202egnp.exe\u009b1m", "one\ntwo\x00"
	got, err := decodeBlob(encodeBlob(p), newBudget())
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range [][2]string{{got.Name, "a\ufffd[2Jb"}, {got.Chain.Stages[0].Name, "\ufffdgnp.exe\ufffd1m"},
		{got.Source.Notes[0], "one two\ufffd"}} {
		if c[0] != c[1] {
			t.Errorf("%q, want %q", c[0], c[1])
		}
	}
	l, notes := Parse("p=a%1bb&s=%c2%9bx&title=a%0ab&s.a%1b=%1b&unknown\x1b=\x1b&kind=%1b[2J")
	if all := l.String() + strings.Join(notes, ""); strings.ContainsAny(all, "\x1b\n\u009b") {
		t.Errorf("%q has control characters", all)
	}
}

// FuzzBody decodes mutated bodies. It checks that a body that is accepted survives encoding and decoding.
func FuzzBody(f *testing.F) {
	fast := sample(9)
	fast.Chain.Stages[3].Fast = &engine.Algorithm{Forward: 1, Back: 2, FwdTemp: 3, BwdTemp: 4}
	for _, p := range []*profiles.Profile{sample(1), sample(20), fast} {
		body, version := encodeBody(p)
		f.Add(body, version)
	}
	f.Add(chained("h.0", 50), byte(1))
	f.Fuzz(func(t *testing.T, body []byte, version byte) {
		if len(body) > 20_000 {
			return
		}
		budget := newBudget()
		p, err := decodeBody(body, version, budget)
		if err != nil {
			return
		}
		once, layout := encodeBody(p)
		again, err := decodeBody(once, layout, newBudget())
		if err != nil {
			t.Fatalf("what was read cannot be read again: %v", err)
		}
		twice, _ := encodeBody(again)
		if !bytes.Equal(once, twice) {
			t.Errorf("written\n%x\nand, read back,\n%x", once, twice)
		}
	})
}
