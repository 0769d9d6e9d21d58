package serve

import (
	"embed"

	"memtide/profiles"
	"memtide/profiles/preset"
	"memtide/wasm/proto"
)

// records are steps of language models as package llm plays them, by reference: those that a
// program without it has to open at once. TestRecorded writes and compares them.
//
//go:embed recorded
var records embed.FS

// recorded returns the profile of a step that this program cannot play itself.
func recorded(ref string) (*profiles.Profile, *proto.Failure) {
	text, err := records.ReadFile("recorded/" + ref + ".json")
	if err != nil {
		return nil, proto.Fail(proto.Elsewhere, "%v", preset.ErrElsewhere)
	}
	p, err := profiles.Decode(ref, profiles.Bytes(text), nil)
	if err != nil {
		return nil, proto.Fail(proto.BadRequest, "%s", rejected(err))
	}
	p.Format = "preset"
	return p, nil
}
