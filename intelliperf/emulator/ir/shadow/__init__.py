"""The third version of each function: it carries an algebraic shadow beside every floating-point number.

A shadow is an image of the exact real number in a finite field, one in the field of exponents, and the number itself as
far as one or two doubles hold it. Sums that were reassociated, distributed, contracted or added by atomics come out
equal in the field, without a tolerance; whatever else was computed does not. `runtime/shadow.h` has the other half.
"""

from intelliperf.emulator.ir.shadow.module import Shader, formats

__all__ = ["Shader", "formats"]
