// Package format writes numbers for people and reads what people write: sizes
// in MiB and GiB, times in ms and s, bandwidths in GB/s. Everything on the page,
// in the pictures and on the command line goes through it, so that a number
// looks the same wherever it appears.
//
// Numbers have three significant digits, without trailing zeros: 11.9 GiB,
// 310 MiB, 8.4 ms; relative changes have two. Sizes are binary (1 GiB = 2^30 B),
// bandwidths decimal (1 GB/s = 10^9 B/s), as memory and links are sold. What is
// read is exact: digits are never passed through floating point.
package format
