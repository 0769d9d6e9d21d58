// Package caching is PyTorch's caching allocator for CUDA memory as a machine: requests
// and releases in, addresses out, with the settings of PYTORCH_CUDA_ALLOC_CONF. The
// allocator "pytorch" of engine/allocators, the doctor's replays and the reserved memory
// of training steps run on it.
//
// Source: PyTorch, c10/cuda/CUDACachingAllocator.cpp.
package caching
