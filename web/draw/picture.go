package draw

import "memtide/web/lookup"

// Picture names one of the pictures.
type Picture uint8

// The pictures that share a time axis, from top to bottom: their places on the page
// and in files.
const (
	Strip    Picture = iota // one bar per stage: size and decision
	Timeline                // what runs when, three lanes
	Life                    // of a graph: when the selected value is on the device
	Memory                  // what the device memory holds
	NumPictures
)

// The pictures of where the bytes lie. Places draws them; Page leaves them out.
// All but the map share the time axis of the others.
const (
	AddressTime Picture = NumPictures + iota // addresses over time
	AddressMap                               // the addresses at one moment
	Holes                                    // fragmentation over time
	Host                                     // pinned host memory over time
	Flames                                   // what is held, by call stack: a Flame draws it
	PassLanes                                // ranks of a pipeline: Passes draw them
	AllPictures                              // how many pictures there are in all
)

// picture is what a picture is. Its file fills it in.
type picture struct {
	name     string  // of its element on the page
	title    string  // the heading that is drawn in it
	height   float64 // the standard one, in CSS pixels
	compared float64 // the height beside that of another side, of those on the time axis
	slim     float64 // the height where there is little width; 0: the standard one
	embedded float64 // the height in another page; 0: the standard one
	still    bool    // its horizontal axis is not time
}

// modelLayout is how a picture of a Model is laid out. A nil overlay or hit does nothing.
type modelLayout struct {
	draw, overlay func(*Model, *Scene, *frame)
	hit           func(*Model, *frame, float64, float64) lookup.Target
	height        func(m *Model, width float64) float64 // where it depends on the model; nil: the standard one
}

// What the files of the pictures fill in, in their init functions.
var (
	pictures [AllPictures]picture
	timed    [NumPictures]modelLayout
)

// Name returns the name of the picture's element on the page.
func (p Picture) Name() string { return pictures[p].name }

// Title returns the heading that is drawn in the picture.
func (p Picture) Title() string { return pictures[p].title }

// Height returns the standard height of a picture in CSS pixels.
func (p Picture) Height() float64 { return pictures[p].height }

// HeightAt returns the standard height of a picture that is so wide.
func (p Picture) HeightAt(width float64) float64 {
	if width <= slimWidth && pictures[p].slim > 0 {
		return pictures[p].slim
	}
	return pictures[p].height
}

// EmbeddedHeight is its height in another page, which keeps little room for it.
func (p Picture) EmbeddedHeight() float64 {
	if pictures[p].embedded > 0 {
		return pictures[p].embedded
	}
	return pictures[p].height
}

// ComparedHeight is its height while two sides are compared: two stand where one stood.
func (p Picture) ComparedHeight() float64 { return pictures[p].compared }

// Still reports whether the horizontal axis is not time.
func (p Picture) Still() bool { return pictures[p].still }

// heightAt returns the height of a picture of the model that stands alone and is so wide,
// in CSS pixels; 0: the model has nothing for it.
func (m *Model) heightAt(pic Picture, width float64) float64 {
	if height := timed[pic].height; height != nil {
		return height(m, width)
	}
	return pic.HeightAt(width)
}
