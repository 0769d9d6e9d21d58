package jsonfile_test

import (
	"fmt"
	"strings"

	"memtide/profiles/jsonfile"
	"memtide/profiles/parse"
)

// An Object collects the errors in its fields and knows which keys were not asked for.
func ExampleOpen() {
	data := []byte(`{"name": "net", "batch": "many", "bytch": 3}`)
	errs := parse.NewErrors(len(data))
	o := jsonfile.Open(data, errs)
	name, batch := o.Text("name"), o.Count("batch", parse.ByteCount)
	o.NoteOthers()
	fmt.Println(name, batch, o.Known.Warning("of the file"))
	fmt.Println(errs.Err())
	// Output:
	// net 0 [Unknown keys of the file were skipped: "bytch".]
	// batch is "\"many\"". A number of bytes is expected.
}

// A Stream splits JSON that is too large to hold in memory into values, one at a time.
func ExampleStream() {
	s := jsonfile.NewStream(strings.NewReader(`{"path": "C:\temp", "ts": 12.5}`))
	object, err := s.Value()
	s.EachField(object, func(key, value []byte) {
		ns, isTime := jsonfile.Microseconds(value)
		fmt.Println(string(key), string(jsonfile.PlainText(value)), ns, isTime)
	})
	fmt.Println(err)
	// Output:
	// path C:\temp 0 false
	// ts 12.5 12500 true
	// <nil>
}
