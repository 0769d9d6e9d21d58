package input

import "memtide/web/state"

// share are the commands of the dialog.
func (c Command) share(s *state.State) state.Message {
	switch c.Do {
	case "share":
		return state.ToggleShare{Dark: s.View.Theme == "dark"}
	case "share-title":
		return state.Retitle{Text: c.Value}
	case "share-exact":
		if s.Sharing == nil || !c.Settled {
			return nil
		}
		return state.SetExact{On: !s.Sharing.Exact}
	case "share-theme":
		return state.SetShareTheme{Theme: c.Value}
	case "share-copy":
		return state.CopyText{Field: c.Arg}
	case "share-send":
		return state.SendLink{}
	case "share-save":
		return state.SaveFile{Kind: c.Arg}
	}
	return nil
}
