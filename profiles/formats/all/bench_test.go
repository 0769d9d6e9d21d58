package all

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"memtide/profiles"
	"memtide/profiles/formats/native"
)

// BenchmarkDecode reads files with many short rows.
func BenchmarkDecode(b *testing.B) {
	var rows strings.Builder
	rows.WriteString("id,lower,upper,size\n")
	for i := range 100_000 {
		at := i * 7919 % 1_000_003
		fmt.Fprintf(&rows, "b%d,%d,%d,%d\n", i, at, at+1+i%1000, 1+i%(1<<20))
	}
	p, err := profiles.Decode("", profiles.Bytes(rows.String()), nil)
	if err != nil {
		b.Fatal(err)
	}
	var saved bytes.Buffer
	if err := native.Encode(&saved, p); err != nil {
		b.Fatal(err)
	}
	blank := "name,forward_s,backward_s,output_bytes\n" + strings.Repeat("\n", 1_000_000) + "a,1,1,1\n"
	for _, c := range []struct {
		name string
		data []byte
	}{{"MiniMalloc", []byte(rows.String())}, {"buffers", saved.Bytes()}, {"blank", []byte(blank)}} {
		b.Run(c.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := profiles.Decode("", profiles.Bytes(c.data), nil); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
