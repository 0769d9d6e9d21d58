// Package combined holds the strategy that recomputes and offloads in one
// schedule.
//
// The model is that of paper 001: Beaumont, Eyraud-Dubois and Shilova,
// "Efficient Combination of Rematerialization and Offloading for Training DNNs"
// (NeurIPS 2021). The first forward sweep is cut into segments. A segment is one
// stage that keeps its saved activations (F_all^i), or stages i..j of which nothing is
// kept (F_ck^i, F_none^{i+1}..F_none^j) and which are computed again, as paper 002
// does it, when the backward comes to them. What a segment reads, Z_i, is a^{i-1}
// after a segment that keeps nothing and abar^{i-1} after one that keeps its saved
// set; it stays on the device or is offloaded. Offloads are over before the last
// forward is, fetches begin after it: the paper does not let transfers of one
// pass run into the other.
//
// The recursions of the paper are hard to read in the copy that was at hand. Those
// that are solved here were derived anew, and agree with exhaustive search over the
// schedules of the model. What a reader of the paper may get wrong: Delta_1 lacks the
// bandwidth (it is max{Delta - beta(u_B+eps), 0}); D_B of a segment that keeps nothing
// reads C with A_i+Z_i; and eps of C^ck is that after both parts, with Delta_3.
//
// # How it is solved
//
// The paper fills tables over memory and the two debts, dF and dB. Here nothing is
// rounded and there are no tables:
//
// Fronts. The cost of the backward part of a segment, C(i,j,A,D), is the least of
// max(time, due+D+A-M) over some triples (time, due, peak) with A+peak <= M, which
// depend on neither A nor D. A front per segment holds those triples that no other
// one is at least as good as (fronts).
//
// Labels. The first sweep is a search over the states (stage, kind of input, A, dF,
// dB) with their costs. A label that holds no more than another, and has cost no
// more after waiting until its debts are no larger, makes the other superfluous
// (filter).
//
// Limit. Recomputation alone is a plan, and narrow searches find much better ones.
// Segments whose extra forward pass costs more than that leaves are left out.
//
// Bounds. Bytes that are too many have to be avoided, which costs recomputation, or
// copied, which takes the time of the link twice. What recomputation costs is
// the optimum of recomputation alone with the offloaded bytes as additional memory
// (rematOnly), which is not rounded and comes first; what takes longer than its table has
// room for is not told apart. Labels that cannot beat the limit are dropped.
//
// Rounding. A transfer takes whole nanoseconds, so schedules take a little longer than
// the model, and are then said to be within so much of the best.
//
// Budgets. A sweep shares what does not depend on the room (shared): it changes no answer.
//
// The tests compare all of it with the plain recursion. Where sizes and times are all different, long chains keep more
// labels than memory can hold, or take longer than anyone waits (effort): the result is
// then the best plan found, with the least bound of what was left undone.
package combined
