// Package offload holds the strategies that move saved activations to the host during the forward
// pass and bring them back before they are needed.
//
// The model is that of paper 000: Beaumont, Eyraud-Dubois and Shilova, "Optimal GPU-CPU Offloading Strategies for Deep
// Neural Network Training" (Euro-Par 2020, doi 10.1007/978-3-030-57675-2_10). The values that move are x_0 = a^0 and
// x_i = abar^i, for i = 1..n-1; abar^n is needed at once and stays. The paper's F_i and B_i, i = 0..n-1, are the
// operations of stage i+1. The paper has no outputs that no backward reads. Here such an output is on the device from
// the forward that makes it to the end of the forward that reads it. The saved activations of its stage are held as
// long as those of other stages, although the next stage does not need them (step.among); only offloadexact makes use
// of that.
//
// A strategy chooses a set of the x_i. NewOrdered finds the best ordered schedule of a set (offloads in the order of i,
// then fetches in reverse) and its step time; Ordered.Schedule returns the schedule.
//
// Strategies: greedy, dynprog (Algorithm 1), vdnnthreshold and autoswap choose a set, and
// offloadsearch looks for the best one. tflms has schedules of its own, and offloadexact tries
// everything on small chains. vdnn and vdnnpp are the systems of the papers by Rhu et al. and
// Shriram et al.: their sets follow from the kinds of the stages, and they fetch one value per layer.
//
// Shared parts: model evaluates sets without building plans, under three rules for when bytes are gone. search is a
// local search over sets. labels is Algorithm 1 by label setting. frontier proves which set is the best one for the
// transfers of the problem. remainder bounds the cost of decisions that are still open.
package offload
