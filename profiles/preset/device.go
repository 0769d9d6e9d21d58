package preset

import (
	"strings"

	"memtide/engine"
	"memtide/profiles"
)

// TheoreticalPeak marks a link rate for which no measurement is known: what the
// link could carry at best, 15-25 % more than copies usually reach.
const TheoreticalPeak profiles.Origin = "theoretical peak"

// Device is a GPU that can be chosen, with where its numbers come from.
type Device struct {
	ID string // stable, link-safe: "v100-pcie-16gb"
	engine.Device

	Link         string          // "PCIe 3 x16"
	LinkPeak     engine.Rate     // of the link in each direction, by its standard
	LinkOrigin   profiles.Origin // of ToHost and ToDev: Measured, Estimated or TheoreticalPeak
	MemoryOrigin profiles.Origin // of Memory: Measured, or Estimated from the nominal size
	FP32         Flops           // peak of 32-bit arithmetic without tensor cores
	FP16         Flops           // peak of 16-bit arithmetic on dense tensor cores; 0 if it has none
	MemoryRate   engine.Rate     // of the device's own memory
	Source       string          // of all of these, for people
	Instead      string          // the device that replaces it in lists; links of the time before still mean this one
}

// Short is how the device is called in a sentence: without its socket and size.
func (d *Device) Short() string {
	name, _, _ := strings.Cut(d.Name, "-")
	return name
}

// Flops is a rate of arithmetic in floating-point operations per second.
type Flops int64

const teraflops = 1e12

// DefaultDeviceID is the device that presets are shown with: Beaumont et al.
// (2019 and 2020) measured their networks on it.
const DefaultDeviceID = "v100-pcie-16gb"

// DefaultDevice is the device named by DefaultDeviceID.
func DefaultDevice() *Device { return LookupDevice(DefaultDeviceID) }

// Devices lists the devices in the order they are shown, oldest first, the replaced
// ones among them. The slice is the caller's.
func Devices() []Device { return append([]Device(nil), devices...) }

// LookupDevice finds a device by its id; nil if there is none. What it points
// to is the caller's.
func LookupDevice(id string) *Device {
	for _, d := range devices {
		if d.ID == id {
			return &d
		}
	}
	return nil
}
