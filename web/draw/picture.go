package draw

import "time"

// Picture names one of the pictures.
type Picture uint8

// The pictures that share a time axis, from top to bottom: their places on the page
// and in files.
const (
	Strip    Picture = iota // one bar per stage: size and decision
	Timeline                // what runs when, three lanes
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
	AllPictures                              // how many pictures there are in all
)

// picture is what a picture is. Its file fills it in.
type picture struct {
	name     string  // of its element on the page
	title    string  // the heading that is drawn in it
	height   float64 // the standard one, in CSS pixels
	compared float64 // the height beside that of another side, of those on the time axis
	still    bool    // its horizontal axis is not time
}

// layout is how a picture of a Model or of Places is laid out. A nil function does
// nothing.
type layout[M any] struct {
	draw, overlay func(*M, *Scene, *frame)
	hit           func(*M, *frame, float64, float64) Target
}

// What the files of the pictures fill in, in their init functions.
var (
	pictures [AllPictures]picture
	timed    [NumPictures]layout[Model]
	placed   [AllPictures - NumPictures]layout[Places]
)

// Name is the name of the picture's element on the page.
func (p Picture) Name() string { return pictures[p].name }

// Title is the heading that is drawn in the picture.
func (p Picture) Title() string { return pictures[p].title }

// Height is the standard height of a picture in CSS pixels.
func (p Picture) Height() float64 { return pictures[p].height }

// ComparedHeight is its height while two sides are compared: two stand where one stood.
func (p Picture) ComparedHeight() float64 { return pictures[p].compared }

// Still says that the horizontal axis is not time.
func (p Picture) Still() bool { return pictures[p].still }

// on paints a picture, or what moves with the pointer over it, if there is a layout.
func on[M any](paint func(*M, *Scene, *frame), m *M, s *Scene, f *frame) {
	if paint != nil {
		paint(m, s, f)
	}
}

// at is what is at a point, and the moment there; of still pictures that is none.
func (l *layout[M]) at(m *M, pic Picture, f *frame, x, y float64, none time.Duration) (t Target, moment time.Duration) {
	if l.hit != nil {
		t = l.hit(m, f, x, y)
	}
	if pic.Still() {
		return t, none
	}
	return t, f.time(x)
}
