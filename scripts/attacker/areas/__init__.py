"""What programs are made of: each area is a list of functions that add to a program, with results to assert about."""

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
