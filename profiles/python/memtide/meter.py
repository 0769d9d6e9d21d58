"""Peaks of the allocator, and times."""
import gc
import time

from .tensors import torch


def allocated(fn, device):
    """What fn returns, and the most that PyTorch's allocator held above the
    start while it ran, in bytes."""
    gc.collect()  # what others have left would go meanwhile, and be taken off
    return allocated_both(fn, device)[:2]


def allocated_both(fn, device):
    """As allocated, and what it holds above the start in the end."""
    if device.type == "cuda":
        torch.cuda.synchronize(device)
        start = torch.cuda.memory_allocated(device)
        torch.cuda.reset_peak_memory_stats(device)
        result = fn()
        torch.cuda.synchronize(device)
        return result, torch.cuda.max_memory_allocated(device) - start, torch.cuda.memory_allocated(device) - start
    from torch.profiler import ProfilerActivity, profile

    with profile(activities=[ProfilerActivity.CPU], profile_memory=True) as p:
        result = fn()
    now = peak = 0
    for event in p.profiler.kineto_results.events():
        if event.name() == "[memory]":
            now += event.nbytes()
            peak = max(peak, now)
    return result, peak, now


clock = time.perf_counter_ns


def timed(fn, device):
    """What fn returns, and its time in nanoseconds."""
    if device.type == "cuda":
        begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        torch.cuda.synchronize(device)
        begin.record()
        result = fn()
        end.record()
        torch.cuda.synchronize(device)
        return result, round(begin.elapsed_time(end) * 1e6)
    start = clock()
    result = fn()
    return result, clock() - start


def free_memory(device):
    """What a device has for the plan; None if that is not known."""
    if device.type != "cuda":
        return None
    return torch.cuda.mem_get_info(device)[0] + torch.cuda.memory_reserved(device) - torch.cuda.memory_allocated(device)
