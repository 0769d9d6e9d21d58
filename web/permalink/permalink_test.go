package permalink

import (
	"maps"
	"strings"
	"testing"

	_ "memtide/engine/all" // registers the strategies that links name
	"memtide/profiles"
	_ "memtide/profiles/formats/csv"
	"memtide/profiles/llm/ask"
	"memtide/web/choice"
	"memtide/web/link"
	"memtide/web/state"
)

// TestBackToAFile checks that BackToB restores a comparison with a file that no link can hold.
func TestBackToAFile(t *testing.T) {
	a := choice.Default()
	file := state.Source{File: "long.csv", Profile: []byte(`{}`)}
	b := BackToB(&choice.Said{From: choice.FromFile, Strategy: "greedy"}, a, file)
	if b == nil || b.Source.File != "long.csv" || b.Strategy != "greedy" || b.Budget != a.Budget {
		t.Errorf("back to %+v; want the file with greedy and A's budget", b)
	}
	if b, _ := choiceB(&choice.Said{From: choice.FromFile}, a); b != nil {
		t.Errorf("opened elsewhere: %+v; want no B", b)
	}
}

// TestUnknownNetworkOfB checks that an unknown network of B is left out, and that the rest of B stays.
func TestUnknownNetworkOfB(t *testing.T) {
	a := state.Choice{Source: state.Source{Preset: "vgg16-b32"}, Strategy: "greedy"}
	b, notes := choiceB(&choice.Said{Preset: "nope-b1", Strategy: "rotor", Device: "foo"}, a)
	if b == nil || b.Source.Preset != "vgg16-b32" || b.Strategy != "rotor" {
		t.Errorf("B is %+v; want rotor for A's network", b)
	}
	if got := strings.Join(notes, "\n"); len(notes) != 2 || !strings.Contains(got, "nope") ||
		!strings.Contains(got, "foo") {
		t.Errorf("notes %q; want one about the network and one about the device", notes)
	}
}

func TestInserted(t *testing.T) {
	const now = "v=1&p=vgg16-b64&m=80%25&s=sequential&s.segments=4&t=1-2&sel=B1&title=x"
	for _, c := range []struct {
		params map[string]string
		want   string
	}{
		{nil, now},
		{map[string]string{"m": "8GiB"}, "v=1&p=vgg16-b64&s=sequential&s.segments=4&t=1-2&sel=B1&title=x&m=8GiB"},
		{map[string]string{"s": "greedy"}, "v=1&p=vgg16-b64&m=80%25&t=1-2&sel=B1&title=x&s=greedy"},
		{map[string]string{"p": "resnet50-b8"}, "v=1&m=80%25&s=sequential&s.segments=4&p=resnet50-b8"},
		{map[string]string{"d": "1.BB"}, "v=1&m=80%25&s=sequential&s.segments=4&d=1.BB"},
		{map[string]string{"sel": ""}, "v=1&p=vgg16-b64&m=80%25&s=sequential&s.segments=4&t=1-2&title=x"},
		{map[string]string{"title": "a&b=c d#e%"},
			"v=1&p=vgg16-b64&m=80%25&s=sequential&s.segments=4&t=1-2&sel=B1&title=a%26b%3Dc%20d%23e%25"},
	} {
		now := now
		if _, other := c.params["d"]; other { // the operators belong to the chain
			now = strings.Replace(now, "p=vgg16-b64", "d=1.AA&ops=1.AA", 1)
		}
		if got := inserted(now, c.params); got != c.want {
			t.Errorf("%v:\ngot  %s\nwant %s", c.params, got, c.want)
		}
	}
}

// TestNoViewByFile checks that a link in a file opens the page itself, even if the link has the keys of a view.
func TestNoViewByFile(t *testing.T) {
	for link, want := range map[string]string{
		"v=1&p=vgg16-b32&m=60%25":                           "v=1&p=vgg16-b32&m=60%25",
		"embed=1&controls=budget&v=1&p=vgg16-b32":           "v=1&p=vgg16-b32",
		"#Embed=1&v=1&p=vgg16-b32&EMBED&title=embed%3D1":    "v=1&p=vgg16-b32&title=embed%3D1",
		"v=1&p=vgg16-b32&zz?embed=1&embedded=1&b.s=rotor&x": "v=1&p=vgg16-b32&zz?embed=1&embedded=1&b.s=rotor&x",
	} {
		if got := WithoutEmbed(link); got != want {
			t.Errorf("the link %s opens %s, want %s", link, got, want)
		}
	}
}

// TestBareAddress checks that addresses that name nothing, or nothing that is known, open the example.
func TestBareAddress(t *testing.T) {
	for fragment, want := range map[string]state.Choice{
		"": choice.Example(), "#": choice.Example(),
		"#v=1": choice.Example(), "#v=1&step=nosuch": choice.Example(), "#v=1&step=nosuch&step.gpus=8": choice.Example(),
		"#v=1&p=resnet101-b32": choice.Default(),
	} {
		if _, m, _ := Follow(fragment); !m.Choice.Equal(want) {
			t.Errorf("%q opens %+v; want %+v", fragment, m.Choice, want)
		}
	}
}

// TestStepByHand checks that a link to a step that is written by hand may name its card as that of any network, and that
// a note names all of its options that make no sense, while the others are used.
func TestStepByHand(t *testing.T) {
	for _, card := range []string{"rtx-4090", "24gib-link25gbps-rate165tflops"} {
		want, _ := ChoiceOf(parsed(t, "v=1&step=llama3-8b&step.lora=16&step.device="+card))
		got, notes := ChoiceOf(parsed(t, "v=1&step=llama3-8b&step.lora=16&dev="+card))
		if got.Step != want.Step || !maps.Equal(got.StepArgs, want.StepArgs) || len(notes) > 0 {
			t.Errorf("dev=%s: %s %v, %q; want %v, as step.device", card, got.Step, got.StepArgs, notes, want.StepArgs)
		}
	}
	c, notes := ChoiceOf(parsed(t, "v=1&step=llama3-8b&step.seq=-1&step.gpus=0&step.lora=16"))
	if got := strings.Join(notes, "; "); !strings.Contains(got, "seq") || !strings.Contains(got, "gpus") ||
		ask.Value(c.StepArgs, "lora") != "16" {
		t.Errorf("two options that make no sense: %q, %v; want both named, and the third used", got, c.StepArgs)
	}
}

func parsed(t *testing.T, fragment string) link.Link {
	t.Helper()
	l, notes := link.Parse(fragment)
	if len(notes) > 0 {
		t.Fatalf("%s: %q", fragment, notes)
	}
	return l
}

// TestUnknownKeys checks that the unknown keys of a link are kept with its network and with presets, but not with
// a file that is opened later.
func TestUnknownKeys(t *testing.T) {
	keep, start, _ := Read("v=1&p=vgg16-b32&KEY=1")
	withProfile, ofLink, _ := Read(blobbed(t) + "&KEY=1")
	for _, c := range []struct {
		name   string
		source state.Source
		keeps  bool
	}{{"its preset", start.Choice.Source, true}, {"another preset", state.Source{Preset: "resnet50-b8"}, true},
		{"the profile of a link", ofLink.Choice.Source, true},
		{"a file", state.Source{File: "net.csv", Profile: []byte(`{}`)}, false}} {
		s := state.New()
		s.Choice = start.Choice
		s.Choice.Source = c.source
		from := keep
		if c.source.Decoded != nil {
			from = withProfile
		}
		if got := Of(s, from).Unknown; (len(got) == 1 && got[0] == "KEY=1") != c.keeps || !c.keeps && got != nil {
			t.Errorf("%s: unknown keys %q; kept: want %t", c.name, got, c.keeps)
		}
	}
}

// blobbed returns a link that contains a profile.
func blobbed(t *testing.T) string {
	p, err := profiles.Decode("net.csv",
		profiles.Bytes("name,forward_s,backward_s,output_bytes,saved_bytes\na,0.001,0.002,1000000,1000000\nb,0.001,0.002,1000000,1000000\n"), nil)
	if err != nil {
		t.Fatal(err)
	}
	var l link.Link
	l.Profile = p
	return l.String()
}
