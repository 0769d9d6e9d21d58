// Package operators reads the operators of a training step, as memtide_torch.py
// collects them: memtide/1 of kind operators. A chain is derived from them; plans for
// the model itself are made from the trace (see package play).
package operators

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"strings"

	"memtide/engine"
	"memtide/engine/play"
	"memtide/profiles"
	"memtide/profiles/formats/native"
	"memtide/profiles/jsonfile"
	"memtide/profiles/parse"
)

// Most of anything that is read: above what a step of a hundred layers has.
const most = 1 << 20

func init() {
	profiles.Register(&profiles.Format{
		Name:  "operators",
		Title: "operators of a PyTorch step",
		Doc: `The operators of one training step, with the calls of modules: memtide/1 of kind operators.

memtide_torch.py writes it. Storages, operators, calls and keeps are numbered by their
places in their lists; sizes are bytes and times seconds:

	{"format":"memtide/1", "kind":"operators", "name":"gpt", "batch":4, "dtype":"bf16", "source":{...},
	 "inputs":[["input_ids",[4,64],"int64"]], "autocast":"bfloat16",
	 "modules_sha":"43723475e52ca04e", "warnings":["What the step does may depend on random numbers (net.py:30): ..."],
	 "storages":[1048576], "resident":[0], "roles":{"0":"weight"},
	 "ops":[{"name":"aten.addmm.default", "pass":"forward", "call":7, "in":[3,51], "new":[52], "view":[], "write":[],
	         "time_s":2.1e-5, "temp_bytes":0}], "forward_ops":412,
	 "calls":[{"path":"h.0", "class":"Block", "parent":0, "op":4, "end":57, "args":[[47,[[5,0]]]], "outs":[61]}],
	 "keeps":[[51,9]], "units":[3,9,31], "tied":[1],
	 "events":[["enter",0],["op",0],["pack",0],["free",12],["leave",3],["backward",0],["unpack",0],["release",0]],
	 "python_frees":[[52,61]]}

modules_sha is a hash of the modules and of the shapes of their parameters; a plan is refused by
a model of another. warnings, which may be missing, say why another step may take more. Of the
lists, args are storages with the calls and outputs that they are; keeps are what autograd
keeps, without weights and inputs: a storage and its call; units are the calls that a
plan chooses from, and tied their places that go with the one before because of work in
place; events are all that happened, in order, and python_frees the storages that Python
lets go of before an operator if nobody keeps them.

A chain is derived: it is cut where one storage alone crosses between two units. Plans
for the model itself are made from the trace: memtide torch.`,
		Extensions: []string{".json", ".json.gz"},
		Match: func(head []byte) bool {
			return isPacked(head) || bytes.Contains(head, []byte("operators")) &&
				native.FormatOf(head) == native.Version && native.KindOf(head) == "operators"
		},
		Decode: func(name string, data []byte, poll *engine.Poll) *profiles.Profile {
			r := read(name, data, poll)
			if text, err := r.pack(); err == nil { // otherwise it is too large
				r.p.Packed = strings.TrimPrefix(text, profiles.PackedMagic)
			}
			return r.p
		},
	})
}

// Read returns the profile in a file, and the trace that it is derived from. The content may
// be the packed form of a link, and is not compressed otherwise.
func Read(name string, data []byte, poll *engine.Poll) (*profiles.Profile, *play.Trace, error) {
	r, err := profiles.Try(func() *reader { return read(name, data, poll) })
	if err != nil {
		return nil, nil, err
	}
	return r.p, r.t, nil
}

// read reads all that there is in a file.
func read(name string, data []byte, poll *engine.Poll) *reader {
	data, err := plain(data)
	profiles.End(err)
	errs := parse.NewErrors("operators", len(data))
	top, p := jsonfile.Open(data, errs), &profiles.Profile{Name: name}
	native.ReadFrame(top, p)
	r := &reader{data: data, top: top, poll: poll, p: p, t: &play.Trace{}, roles: map[int]string{}}
	for _, part := range []func(){r.frame, r.storages, r.operators, r.calls, r.keeps, r.units, r.events, r.frees} {
		part()
		errs.End()
	}
	r.t.Name = p.Name
	r.t.SHA = sha(r.t)
	top.Knows("format")
	top.Knows("kind")
	top.NoteOthers()
	p.Warnings = append(p.Warnings, top.Known.Warning("in the outer object")...)
	p.Chain = r.chain(p)
	if err := p.Chain.Validate(); err != nil {
		errs.Fail(&profiles.FormatError{Found: "the chain that follows from the operators makes no sense: " +
			err.Error(), Expected: "Sizes and times add up.", Remedy: "Collect the model again."})
	}
	return r
}

// sha returns that of the names of the model's forward operators, as in memtide_torch.py.
func sha(t *play.Trace) string {
	if len(t.Calls) == 0 {
		return ""
	}
	var names []string
	for i := t.Calls[0].Op; i < t.Calls[0].End; i++ {
		names = append(names, t.Ops[i].Name)
	}
	sum := sha256.Sum256([]byte(strings.Join(names, "\n")))
	return hex.EncodeToString(sum[:])[:16]
}
