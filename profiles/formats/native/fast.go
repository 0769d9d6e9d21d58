package native

import (
	"memtide/engine"
	"memtide/profiles"
	"memtide/profiles/jsonfile"
	"memtide/profiles/parse"
)

// readFast reads the second algorithm of a stage; nil if there is none. Keys
// that mean nothing in it are noted with those of the stages.
func readFast(r *parse.StageReader, at parse.StagePlace, stage *jsonfile.Object) *engine.Algorithm {
	if stage.Value("fast") == nil {
		return nil
	}
	o := stage.Object("fast")
	o.Path = at.Path + ".fast"
	o.Known = stage.Known
	for _, key := range []string{"forward_s", "backward_s"} {
		if _, ok := o.Number(key); !ok && o.Fields != nil {
			r.Errs.Add(&profiles.FormatError{Path: o.At(key), Found: key + " is missing",
				Expected: "A second algorithm has forward_s and backward_s.", Remedy: "Add the number, in seconds, or leave out fast."})
		}
	}
	f := &engine.Algorithm{Forward: parse.Nanoseconds(o.Count("forward_s", parse.Seconds)), Back: parse.Nanoseconds(o.Count("backward_s", parse.Seconds)),
		FwdTemp: o.Size("forward_temp_bytes"), BwdTemp: o.Size("backward_temp_bytes")}
	o.NoteOthers()
	return f
}
