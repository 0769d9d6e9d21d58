// Package remat holds the strategies that drop activations and compute them again, and the one that keeps everything.
// All of them choose sequences of the operations of Table 1 of Beaumont et al., "Optimal Re-Materialization Strategies
// for Heterogeneous Chains" (arXiv:1911.13214), which is paper 002 in comments. None of them moves data.
package remat
