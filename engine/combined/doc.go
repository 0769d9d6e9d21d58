// Package combined holds the strategy that recomputes and offloads in one
// schedule.
//
// The model is that of paper 001: Beaumont, Eyraud-Dubois and Shilova,
// "Efficient Combination of Rematerialization and Offloading for Training DNNs"
// (NeurIPS 2021). The first forward sweep is cut into segments. A segment is one
// stage that keeps its saved set (F_all^i), or stages i..j of which nothing is
// kept (F_ck^i, F_none^{i+1}..F_none^j) and which are computed again, as paper 002
// does it, when the backward comes to them. What a segment reads, Z_i, is a^{i-1}
// after a segment that keeps nothing and abar^{i-1} after one that keeps its saved
// set; it stays on the device or is offloaded. Offloads are over before the last
// forward is, fetches begin after it: the paper does not let transfers of one
// pass run into the other.
//
// The recursions of the paper are garbled in its published form. Those that are
// solved here were derived anew, and agree with exhaustive search over the
// schedules of the model.
package combined
