// Package caching simulates PyTorch's caching allocator for CUDA memory, with the settings of
// PYTORCH_CUDA_ALLOC_CONF. It serves requests and releases, and returns addresses. The allocator "pytorch" of
// engine/allocators, the doctor's replays and the reserved memory of training steps use it.
//
// Source: PyTorch, c10/cuda/CUDACachingAllocator.cpp.
package caching
