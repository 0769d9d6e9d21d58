//go:build !js

package known

import (
	"fmt"

	"memtide/engine"
	"memtide/profiles/llm/ask"
	"memtide/wasm/proto"
	"memtide/web/display"
	"memtide/web/draw"
	"memtide/web/format"
)

// Measures of the picture of a training step, in CSS pixels.
const (
	stepHead = 58 // height of the title, the verdict and the label of the card's line
	stepRow  = 26
	stepBar  = 18
	stepSide = 64 // width of the sizes at the right end
)

// partStyles are the fills of the parts of a phase, as on the page.
var partStyles = map[proto.PartKind]display.Style{
	proto.PartStates:  display.FillOf(display.Fixed),
	proto.PartKept:    display.FillOf(display.Forward),
	proto.PartWorking: display.PatternOf(display.Recompute, display.Hatch, display.LineRecompute),
	proto.PartBack:    display.FillOf(display.Backward),
	proto.PartMoved:   display.FillOf(display.Transfer),
	proto.PartScratch: display.PatternOf(display.Surface, display.ThinHatch, display.Muted),
}

// verdicts are the words of the picture's second line.
var verdicts = map[proto.Fit]string{proto.Fits: "It fits", proto.FitsNot: "It does not fit", proto.Unsure: "It may fit"}

// StepPoster draws the picture of a training step that a document shows until the live view is opened: the memory of a
// card in each phase against the card's memory, or the ranks of a pipeline. model is the name of the model.
func StepPoster(scene *draw.Scene, s *proto.Stepped, model string, width float64) {
	title := ask.Title(model) + " on " + s.Card
	if s.GPUs > 1 {
		title = fmt.Sprintf("%s on %d × %s", ask.Title(model), s.GPUs, s.Card)
	}
	if x := PassesOf(s); x != nil {
		x.Title = title
		x.Draw(scene, draw.PassLanes, draw.View{Width: width, To: x.End(), Cursor: draw.NoCursor})
		return
	}
	room, l := s.Memory-s.Context, &scene.List
	l.Reset(width, 0)
	l.Title, l.Desc = title,
		fmt.Sprintf("%s: %s of %s", verdicts[s.Fit], format.Range(s.Low, s.High), format.Bytes(room))
	l.AddText(display.Ink, 0, 14, display.Text{S: l.Title, Large: true, Bold: true})
	ink := display.Ink
	if s.Fit != proto.Fits {
		ink = display.Over
	}
	l.AddText(ink, 0, 32, display.Text{S: l.Desc, Bold: true})
	drawPhases(l, s, width, room)
	drawKey(l, s, width)
}

// drawPhases draws a bar for each phase, one for the reserved memory, and the line of the card.
func drawPhases(l *display.List, s *proto.Stepped, width float64, room engine.Bytes) {
	names := 118.0
	if width < 500 {
		names = 100
	}
	at := func(b engine.Bytes) float64 {
		return names + (width-names-stepSide)*float64(b)/float64(max(room, s.High, 1))
	}
	row := func(i int, name string, size engine.Bytes) float64 {
		y := stepHead + stepRow*float64(i)
		l.Text(display.Ink, 0, y+13, display.Start, display.Fit(name, names-6))
		l.Text(display.Muted, width, y+13, display.End, format.Bytes(size))
		return y
	}
	for i, p := range s.Phases {
		y, from := row(i, p.Name, p.Bytes), engine.Bytes(0)
		for _, part := range p.Parts {
			l.Rect(partStyles[part.Kind], at(from), y, max(at(from+part.Bytes)-at(from)-1, 0.5), stepBar)
			from += part.Bytes
		}
	}
	y := row(len(s.Phases), "reserved", s.High)
	l.Outline(display.StrokeOf(display.Muted, 1), names, y, at(s.Low)-names, stepBar)
	l.Rect(partStyles[proto.PartScratch], at(s.Low), y, max(at(s.High)-at(s.Low), 1), stepBar)
	for _, line := range []display.Style{display.StrokeOf(display.Surface, 5), display.StrokeOf(display.Ink, 2)} {
		l.Line(line, at(room), stepHead-8, at(room), y+stepRow-4)
	}
	anchor, edge := display.End, at(room)+4
	if at(room) < width/2 {
		anchor, edge = display.Start, at(room)-4
	}
	l.Text(display.Ink, edge, stepHead-12, anchor, format.Bytes(room)+" of a card, without CUDA")
}

// drawKey draws the key, with the sizes of the parts at the peak, and sets the picture's height.
func drawKey(l *display.List, s *proto.Stepped, width float64) {
	x, y := 0.0, stepHead+stepRow*float64(len(s.Phases)+1)+22
	l.Text(display.Muted, 0, y-10, display.Start, "at the peak, in "+s.Phases[s.Phase].Name+":")
	for _, p := range s.Phases[s.Phase].Parts {
		label := p.Name + " " + format.Bytes(p.Bytes)
		if long := 18 + display.TextWidth(label); x > 0 && x+long > width {
			x, y = 0, y+18
		}
		l.Rect(partStyles[p.Kind], x, y, 11, 11)
		l.Outline(display.StrokeOf(display.Muted, 1), x, y, 11, 11)
		l.Text(display.Ink, x+16, y+10, display.Start, label)
		x += 30 + display.TextWidth(label)
	}
	l.Height = y + 22
}
