"""The fragments of programs. Each area is a list of functions that add code to a program, and results for assertions."""

from . import control, floats, idioms, integers, loops, memory, text

AREAS = {
    "integers": integers.FRAGMENTS,
    "floats": floats.FRAGMENTS,
    "text": text.FRAGMENTS,
    "memory": memory.FRAGMENTS,
    "control": control.FRAGMENTS,
    "loops": loops.FRAGMENTS,
    "idioms": idioms.FRAGMENTS,
}
