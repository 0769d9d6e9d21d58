"""Measurement of the allocator's peaks, and of times."""
import gc
import time

from .tensors import torch


def allocated(fn, device):
    """Returns the result of fn, and the most bytes that PyTorch's allocator held above the
    start while fn ran."""
    gc.collect()  # else garbage of earlier code could be freed meanwhile
    return allocated_both(fn, device)[:2]


def allocated_both(fn, device):
    """As allocated, with the bytes above the start at the end as well."""
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
    """Returns the result of fn, and its time in nanoseconds."""
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
    """Returns the bytes that a device has free for a plan; None if unknown."""
    if device.type != "cuda":
        return None
    return torch.cuda.mem_get_info(device)[0] + torch.cuda.memory_reserved(device) - torch.cuda.memory_allocated(device)
