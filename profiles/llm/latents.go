package llm

import (
	"cmp"
	"fmt"
	"math"

	"memtide/engine"
)

// Latents says what a token of a diffusion transformer is: the stride of the autoencoder times the patch.
type Latents struct {
	Frames int64 // frames per latent frame after the first; 0: the network makes only pictures
	Deep   int64 // latent frames in a token, a multiple of which programs make of them; 0 means 1
	Side   int64 // pixels on each side of a token
	Step   int64 // tokens on a side per token of a UNet's coarsest level; 0 means 1
	Edits  bool  // tokens of reference pictures can follow those of the picture that is made
}

// Said returns a formula for the number of tokens.
func (l Latents) Said() string {
	text := fmt.Sprintf("height / %d x width / %d", l.Side, l.Side)
	if l.Frames > 0 {
		frames := fmt.Sprintf("((frames - 1) / %d + 1)", l.Frames)
		if l.Deep > 1 {
			frames += fmt.Sprintf(" / %d, rounded up,", l.Deep)
		}
		text = frames + " x " + text
	}
	if l.Edits {
		text += ", and as many for each of -references"
	}
	return text
}

// deep returns how many tokens the given frames of a video have one behind another.
func (l Latents) deep(frames int64) int64 { return ceil((frames-1)/l.Frames+1, orOne(l.Deep)) }

// pictured sets Seq from the frames and sides of videos or pictures, unless counted says that Seq was chosen. It
// returns an error if the model cannot make that size.
func (s *Setup) pictured(counted bool) error {
	l, chosen := s.Model.Latents, s.Height > 0
	switch {
	case !chosen && s.Width == 0 && s.Frames <= 1:
		return nil
	case l == nil:
		return fmt.Errorf("%s makes no pictures, so frames, height and width mean nothing to it; want seq, the tokens of a sequence", s.Model.Name)
	case !chosen:
		return fmt.Errorf("frames and width are of no height; want all sides, for example -side 480x832")
	case counted:
		return fmt.Errorf("seq and a side both say how many tokens there are; want one of them")
	case s.References > 0 && !l.Edits:
		return fmt.Errorf("references is %d; %s reads no reference pictures, want 0", s.References, s.Model.Name)
	}
	s.Width = cmp.Or(s.Width, s.Height)
	for _, side := range []int64{s.Height, s.Width} {
		step := l.Side * orOne(l.Step)
		if low := side - side%step; low != side || low == 0 {
			return fmt.Errorf("a side is %d pixels; %s makes tokens of %d, so want %d or %d", side, s.Model.Name, step,
				max(low, step), max(low, step)+step)
		}
	}
	s.Seq = s.Height / l.Side * (s.Width / l.Side) * (1 + s.References)
	switch {
	case s.Frames == 1:
	case l.Frames == 0:
		return fmt.Errorf("frames is %d; %s makes pictures, want 1", s.Frames, s.Model.Name)
	case (s.Frames-1)%l.Frames != 0:
		low := s.Frames - (s.Frames-1)%l.Frames
		return fmt.Errorf("frames is %d; %s makes one and then multiples of %d, so want %d or %d", s.Frames,
			s.Model.Name, l.Frames, low, low+l.Frames)
	default:
		s.Seq *= l.deep(s.Frames)
	}
	return nil
}

// Pictured returns in words what a sequence is made of: frames and their sides. It returns "" if Seq was chosen.
func (s *Setup) Pictured() string { return s.sized(s.Frames, s.Height, s.Width) }

func (s *Setup) sized(frames, height, width int64) string {
	switch {
	case s.Height == 0:
		return ""
	case s.Frames > 1:
		return fmt.Sprintf("%d frames of %d x %d", frames, height, width)
	case s.References > 0:
		return fmt.Sprintf("%d x %d pixels and %d as reference", height, width, s.References)
	}
	return fmt.Sprintf("%d x %d pixels", height, width)
}

// Within returns in words the size of a video or picture with the given number of tokens: frames with the chosen
// sides, or the sides of a square picture. It returns "" if Seq was chosen, or if there are too few tokens.
func (s *Setup) Within(tokens int64) string {
	l := s.Model.Latents
	if s.Frames <= 1 {
		side := engine.Int64(math.Sqrt(float64(tokens / (1 + s.References))))
		if s.Height == 0 || side == 0 {
			return ""
		}
		return s.sized(1, side*l.Side, side*l.Side)
	}
	frames := tokens / (s.Seq / l.deep(s.Frames)) * orOne(l.Deep)
	if frames == 0 {
		return ""
	}
	return s.sized((frames-1)*l.Frames+1, s.Height, s.Width)
}
