"""The heap as the image finds it: without holes.

An instance copies every page of the image that it writes to, and only those that it leaves alone are one for all
instances, in the processor's caches too. What a program makes would lie in the holes that start-up has left all over
the heap. So these are filled, and what is made from then on lies side by side behind them.
"""

import functools
import itertools
import operator

RESERVE = 1 << 20
"""Bytes that stay free behind the last thing in the heap."""
MOST = 100_000
"""So many things fill it at most."""
LARGE = [int(RESERVE * 0.8**n) for n in range(25)]
SMALL = range(4096, 1, -8)
"""Bytes of the texts that fill the holes: the largest first, so that no hole is cut into small ones."""


def filled():
    """Things in all the holes of the heap, to be kept for good."""
    sizes = itertools.chain(LARGE, SMALL)
    makers = [functools.partial(bytes, size) for size in sizes]
    makers += [functools.partial(operator.mul, [None], size) for size in range(20, -1, -1)]
    makers += [functools.partial(operator.mul, (None,), size) for size in range(20, 1, -1)]
    makers += [functools.partial(dict, a=1), dict, functools.partial(operator.mul, 1.5, 2), object]
    filling = [None] * MOST
    end = id(bytes(RESERVE))
    count = 0
    for make in makers:
        while count < MOST and id(thing := make()) < end:
            filling[count] = thing
            count += 1
    # What made them too, or else it would leave holes of its own.
    return filling, makers
