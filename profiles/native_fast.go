package profiles

import (
	"memtide/engine"
)

// readFast reads the second algorithm of a stage; nil if there is none. Keys
// that mean nothing in it are noted with those of the stages.
func readFast(r *stageReader, at stagePlace, stage *jsonObject) *engine.Algorithm {
	if stage.value("fast") == nil {
		return nil
	}
	o := stage.object("fast")
	o.path = at.path + ".fast"
	o.known = stage.known
	for _, key := range []string{"forward_s", "backward_s"} {
		if _, ok := o.number(key); !ok && o.fields != nil {
			r.errs.add(&FormatError{Path: o.at(key), Found: key + " is missing",
				Expected: "A second algorithm has forward_s and backward_s.", Remedy: "Add the number, in seconds, or leave out fast."})
		}
	}
	f := &engine.Algorithm{Forward: nanoseconds(o.count("forward_s", seconds)), Back: nanoseconds(o.count("backward_s", seconds)),
		FwdTemp: o.size("forward_temp_bytes"), BwdTemp: o.size("backward_temp_bytes")}
	o.noteOthers()
	return f
}
