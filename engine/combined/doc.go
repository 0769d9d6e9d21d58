// Package combined holds the strategy pofo, which recomputes and offloads in one schedule.
//
// The model is that of paper 001: Beaumont, Eyraud-Dubois and Shilova, "Efficient Combination of Rematerialization and
// Offloading for Training DNNs" (NeurIPS 2021). The first forward sweep is cut into segments. A segment is either one
// stage that keeps its saved activations (F_all^i), or stages i..j that keep nothing (F_ck^i, F_none^{i+1}..F_none^j)
// and are computed again, as in paper 002, when the backward pass reaches them. The input of a segment, Z_i, is a^{i-1}
// after a segment that keeps nothing and abar^{i-1} after one that keeps its saved set. The input stays on the device
// or is offloaded. All offloads end before the forward sweep ends, and fetches begin after it: in the paper, transfers
// of one pass do not run into the other.
//
// The recursions of the paper are hard to read in the copy that was available. The recursions
// solved here were derived anew, and agree with exhaustive search over the schedules of the model;
// docs/paper-001.md lists where they differ from the paper.
//
// # How it is solved
//
// The paper fills tables over memory and over two debts, dF and dB: the link time that offloads
// and fetches still need. This package rounds nothing and has no such tables:
//
// Fronts. The cost of the backward part of a segment, C(i,j,A,D), is the least max(time, due+D+A-M) over some triples
// (time, due, peak) with A+peak <= M. The triples depend on neither A nor D. The front of a segment holds its triples
// that no other triple dominates (fronts).
//
// Labels. The first sweep is a search over the states (stage, kind of input, A, dF, dB) with their
// costs. One label dominates another if it holds no more bytes and, after waiting until its debts
// are no larger, costs no more. Dominated labels are dropped (filter).
//
// Limit. Recomputation alone is a plan, and narrow searches find much better ones. Segments whose
// extra forward pass costs more than the best plan so far allows are left out.
//
// Bounds. A plan must avoid the bytes that exceed the room, which costs recomputation, or copy them, which takes link
// time in both directions. The least recomputation is the optimum of recomputation alone with the offloaded bytes as
// additional memory (rematOnly). It is computed first and is not rounded; costs beyond the range of its table count as
// the end of that range. Labels that cannot beat the limit are dropped.
//
// Rounding. A transfer takes whole nanoseconds, so schedules take a little longer than the model
// says. Their claim is then a distance from the best plan.
//
// Budgets. A sweep over budgets shares what does not depend on the room (shared). Sharing changes no result.
//
// The tests compare all of this with the plain recursion. Where sizes and times all differ, long
// chains need more labels than the limits on memory and time allow (effort). The result is then
// the best plan found, with the least bound of the labels that were left unexpanded.
package combined
