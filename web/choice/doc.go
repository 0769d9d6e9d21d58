// Package choice is what a person decides about a schedule: the network, the
// strategy, the budget, the device and its interconnect, and the allocator. The
// page, links, the protocol of the workers and the command line take it from here.
package choice
