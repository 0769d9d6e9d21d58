package operators_test

import (
	"bytes"
	"compress/flate"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"io"
	"math/rand/v2"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"memtide/profiles"
	"memtide/profiles/formats/operators"
)

// TestPacked checks that the packed form of a file holds the same trace and profile, is the same when it is
// packed again, and spends few bytes on repeated blocks.
func TestPacked(t *testing.T) {
	files, err := filepath.Glob("testdata/traces/*.json.gz")
	if err != nil || len(files) != 6 {
		t.Fatalf("%d stored traces (%v), want 6", len(files), err)
	}
	for _, file := range files {
		plain := unpacked(t, file)
		packed, err := operators.Pack(plain)
		if err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		wantProfile, want, err := operators.Read("x", plain, nil)
		if err != nil {
			t.Fatal(err)
		}
		gotProfile, got, err := operators.Read("x", []byte(packed), nil)
		if err != nil {
			t.Fatalf("%s, packed: %v", file, err)
		}
		if !reflect.DeepEqual(got, want) {
			t.Errorf("%s: the trace of the packed file is another one", file)
		}
		if !reflect.DeepEqual(gotProfile, wantProfile) {
			t.Errorf("%s: the profile of the packed file is %+v, want %+v", file, gotProfile, wantProfile)
		}
		if again, err := operators.Pack([]byte(packed)); err != nil || again != packed {
			t.Errorf("%s: packed again it has %d bytes, want the same %d (%v)", file, len(again), len(packed), err)
		}
		if blocks := 8; strings.Contains(file, "gpt") && len(packed) > len(plain)/5/blocks {
			t.Errorf("%s: %d characters packed, and %d as JSON for %d blocks that are equal", file, len(packed),
				len(plain), blocks)
		}
		t.Logf("%s: %d operators, %d characters packed, %d as JSON", file, len(want.Ops), len(packed), len(plain))
	}
}

// TestDamagedPacked checks that packed files that were cut or changed are refused. Invented content must have no
// worse effects than a file of that content.
func TestDamagedPacked(t *testing.T) {
	text, err := operators.Pack(unpacked(t, "testdata/traces/bn.json.gz"))
	if err != nil {
		t.Fatal(err)
	}
	version := profiles.PackedMagic + "1."
	for _, bad := range []string{text[:len(text)-9], strings.Replace(text, text[60:64], "AAAA", 1), version,
		version + "AAAAAA", profiles.PackedMagic} {
		var e *profiles.FormatError
		if _, _, err := operators.Read("x", []byte(bad), nil); !errors.As(err, &e) || e.Remedy == "" {
			t.Errorf("%.40s, %d characters: %v; want what is wrong and what to do", bad, len(bad), err)
		}
	}
	data, err := base64.RawURLEncoding.DecodeString(strings.TrimPrefix(text, version))
	if err != nil {
		t.Fatal(err)
	}
	body, err := io.ReadAll(flate.NewReader(bytes.NewReader(data[4:])))
	if err != nil {
		t.Fatal(err)
	}
	r := rand.New(rand.NewPCG(1, 2))
	for range 300 {
		made := bytes.Clone(body)
		for range 1 + r.IntN(3) {
			made[r.IntN(len(made))] = byte(r.Uint32())
		}
		var out bytes.Buffer
		w, _ := flate.NewWriter(&out, flate.BestSpeed) // this level is valid
		w.Write(made)
		w.Close()
		sum := binary.LittleEndian.AppendUint32(nil, crc32.ChecksumIEEE(out.Bytes()))
		file := version + base64.RawURLEncoding.EncodeToString(append(sum, out.Bytes()...))
		if p, trace, err := operators.Read("x", []byte(file), nil); err == nil &&
			(p.Chain.Validate() != nil || len(trace.Ops) == 0) {
			t.Errorf("a file that was made up is read, and makes no sense: %s", file)
		}
	}
}
