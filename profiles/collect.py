#!/usr/bin/env python3
"""Measures a PyTorch network stage by stage and writes a memtide/1 profile.

    python collect.py resnet50 --input 32x3x224x224 --device cuda
    python collect.py --link net.json

It is memtide_torch.py --chain: save that file beside this one. Needs PyTorch 1.10 or
later; --link needs none.
"""
import sys

import memtide_torch

if __name__ == "__main__":
    sys.exit(memtide_torch.main(["--chain"] + sys.argv[1:]))
