// Package offload holds the strategies that move saved activations to the host during
// the forward pass and bring them back before they are needed.
//
// The model is that of paper 000: Beaumont, Eyraud-Dubois and Shilova, "Optimal
// GPU-CPU Offloading Strategies for Deep Neural Network Training" (Euro-Par
// 2020, doi 10.1007/978-3-030-57675-2_10). The unit that moves is x_0 = a^0 and
// x_i = abar^i, for i = 0..n-1; abar^n is needed at once and stays. The paper's
// F_i and B_i, i = 0..n-1, are the operations of stage i+1. Outputs that no backward
// reads, which the paper does not know, are there from the forward that makes them to
// the end of the one that reads them. The saved activations of such a stage are held as long as
// those of others, although the stage after it does not need them (step.among);
// offloadexact alone knows better. A strategy chooses a set of the x_i; NewOrdered finds
// the best ordered schedule of a set (offloads in the order of i, then fetches in
// reverse) and what it costs, Plan.Schedule writes it down.
//
// Strategies: greedy, dynprog (Algorithm 1), vdnnthreshold and autoswap choose a
// set; offloadsearch looks for the best one; tflms has schedules of its own, and
// offloadexact tries everything on small chains. vdnn and vdnnpp
// are the systems of papers by Rhu et al. and Shriram et al.: sets that follow
// from what the stages compute, and one value fetched per layer.
//
// What they share: model evaluates sets without building plans, under three
// rules for when bytes are gone; search is a local search over sets; labels is
// Algorithm 1 by label setting; frontier proves which set is the best one for
// the transfers that the problem has; remainder bounds what is undecided.
package offload
