package state

import (
	"memtide/engine"
	"memtide/web/choice"
	"memtide/web/known"
	"memtide/web/view"
)

// TellStory shows a step of the story.
type TellStory struct{ Step int }

func (m TellStory) apply(s *State) []Effect {
	if m.Step > view.StoryPlan {
		return nil
	}
	s.View.Story, s.hover = m.Step, ""
	s.Preview = s.told()
	s.touch()
	return append(s.followStory(), WriteURL{Replace})
}

// HasStory says whether there is one: keeping everything takes more than there is.
func (s *State) HasStory() bool {
	p := s.Shown
	return p != nil && s.Memory == nil && s.Compare == nil && !s.View.Frame.Embed && p.Network == s.Network && s.Network.Chain != nil &&
		s.StoryLimit() > 0 && s.Network.Totals.KeepAllPeak > s.StoryLimit()
}

// StoryLimit is what the device has; 0 if nobody knows.
func (s *State) StoryLimit() engine.Bytes {
	if d := DeviceOf(s.Choice); d != nil {
		return d.Memory
	}
	return 0
}

// StoryOwn says that what is shown is no longer what the story was told about first.
func (s *State) StoryOwn() bool { return s.story.of == s.Network && !s.Choice.Equal(s.story.first) }

// storyChoice is the choice of the picture of a step; ok is false of those that show
// what was chosen.
func (s *State) storyChoice(step int) (c Choice, ok bool) {
	c = s.Choice
	switch step {
	case view.StoryKeepAll, view.StoryOverLine:
		c.Strategy, c.Args, c.Budget = engine.KeepAll, nil, choice.Budget{Bytes: s.Network.Totals.KeepAllPeak}
	case view.StoryRecompute:
		c.Strategy, c.Args = choice.DefaultStrategy, nil
	default:
		return c, false
	}
	return c, true
}

// StoryPicture is the picture of a step, nil if there is none yet, and whether there
// will be none.
func (s *State) StoryPicture(step int) (p *known.Picture, none bool) {
	c, ok := s.storyChoice(step)
	if !ok {
		return s.Shown, false
	}
	key := s.Network.PictureKey(c)
	p, _ = s.pictures.get(key)
	return p, s.story.failed == key
}

// told is what the story shows instead of what was chosen.
func (s *State) told() *known.Picture {
	if !s.HasStory() || s.View.Story == view.NoStory || s.View.Story == view.StoryPlan {
		return nil
	}
	p, _ := s.StoryPicture(s.View.Story)
	return p
}

// endStory shows what was chosen: the reader has changed something.
func (s *State) endStory() {
	if s.View.Story != view.NoStory {
		s.View.Story, s.Preview = view.NoStory, nil
	}
}

// followStory asks for the next picture that the story lacks, once what was chosen is
// shown: first that of the step that is shown.
func (s *State) followStory() []Effect {
	if !s.HasStory() || s.busy() || s.Shown.Partial || s.dragging {
		return nil
	}
	if s.story.of != s.Network {
		s.story.of, s.story.first = s.Network, s.Choice
	}
	for _, step := range [...]int{s.View.Story, view.StoryRecompute} {
		c, ok := s.storyChoice(step)
		if !ok {
			continue
		}
		key := s.Network.PictureKey(c)
		if _, known := s.pictures.get(key); known || key == s.story.failed {
			continue
		}
		if key == s.story.asked {
			return nil
		}
		s.story.asked, s.story.id = key, s.newID()
		return []Effect{Solve{ID: s.story.id, Choice: c, Request: within(s.Network.Request(c), pageLimit), Slot: ForStory}}
	}
	return nil
}

// storySolved goes on after an answer to the request of that ID, if the story asked
// for it.
func (s *State) storySolved(id int, failed bool) []Effect {
	if id != s.story.id {
		return nil
	}
	if failed {
		s.story.failed = s.story.asked
	}
	s.story.asked, s.story.id = "", 0
	if s.hover == "" {
		s.Preview = s.told()
	}
	s.touch()
	return s.followStory()
}
