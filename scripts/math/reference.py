#!/usr/bin/env python3
"""Writes fixtures/cuda/headers/math.json.gz: what each function of the CUDA Math API gives for chosen and random arguments, to 140 bits.

Needs mpmath. A row is [x, y, value, rest]: bits of doubles in hexadecimal, and how far the exact result is from `value`, in units of the result's
last place. `nan` and `inf` are what `value` says then. Arguments of `f_` functions are exact in single precision. `limit` is the error that the
CUDA C++ Programming Guide states, "Mathematical Functions Appendix".
"""
import gzip
import json
import os
import random
import struct
from fractions import Fraction

import mpmath as mp

mp.mp.prec = 140
root_pi = mp.sqrt(mp.pi)

# function: (stated error in single precision, in double precision)
limits = {
    'sin': (2, 2), 'cos': (2, 2), 'tan': (4, 2), 'asin': (2, 2), 'acos': (2, 2), 'atan': (2, 2), 'sinh': (3, 2), 'cosh': (2, 1), 'tanh': (2, 1),
    'asinh': (3, 3), 'acosh': (4, 3), 'atanh': (3, 2), 'exp': (1, 1), 'exp2': (2, 1), 'exp10': (2, 1), 'expm1': (1, 1), 'log': (1, 1), 'log2': (1, 1),
    'log10': (2, 1), 'log1p': (1, 1), 'cbrt': (1, 1), 'rcbrt': (1, 1), 'rsqrt': (2, 1), 'sinpi': (1, 2), 'cospi': (1, 2), 'erf': (2, 2),
    'erfc': (4, 5), 'erfcx': (4, 4), 'erfinv': (2, 5), 'erfcinv': (4, 6), 'normcdf': (5, 5), 'normcdfinv': (5, 8), 'lgamma': (6, 4), 'tgamma': (5, 10),
    'cyl_bessel_i0': (6, 6), 'cyl_bessel_i1': (6, 6), 'round': (0, 0), 'logb': (0, 0), 'pow': (4, 2), 'atan2': (3, 2), 'fmod': (0, 0), 'remainder': (0, 0),
    'hypot': (3, 2), 'rhypot': (2, 1),
}

def large(f):
    """With enough digits for the reduction of large arguments."""

    def g(x):
        with mp.workprec(1500 if abs(x) > 1e5 or abs(x) < 1e-5 else mp.mp.prec):
            return f(x)

    return g


def within(low, high, f):
    return lambda x: f(x) if low <= x <= high else mp.nan


def erfcinv(y):
    if abs(1 - y) < mp.mpf('0.9'):
        return mp.erfinv(1 - y)
    q = y if y < 1 else 2 - y
    t = mp.sqrt(-mp.log(q))
    with mp.workprec(200):
        for _ in range(60):
            step = (mp.erfc(t) - q) / (-2 / mp.sqrt(mp.pi) * mp.exp(-t * t))
            step /= 1 + t * step
            t -= step
            if abs(step) < mp.mpf(10) ** -45 * t:
                break
    return t if y < 1 else -t


def grown(f, at):
    """A growing function that is out of range beyond a point."""
    return lambda x: f(x) if abs(x) < at else mp.inf if x > 0 else mp.mpf(0)


def lgamma(x):
    if x <= 0 and x == mp.floor(x):
        return mp.inf
    return mp.re(mp.loggamma(x)) if x > 0 else mp.log(mp.pi / abs(mp.sinpi(x) * x)) - mp.re(mp.loggamma(-x))


def tgamma(x):
    if x == 0 or x > 2000:
        return mp.inf
    return mp.nan if x < 0 and x == mp.floor(x) else mp.mpf(0) if x < -2000 else mp.gamma(x)


def erfcx(x):
    if x < -40:
        return mp.inf
    return mp.erfc(x) * mp.exp(x * x) if x < 1000 else (1 - 1 / (2 * x * x) + 3 / (4 * x**4) - 15 / (8 * x**6)) / (x * root_pi)


def remainder_of(x, y, is_nearest):
    if y == 0:
        return mp.nan
    a, b = abs(Fraction(float(x))), abs(Fraction(float(y)))
    q = a // b
    r = a - q * b
    if is_nearest and (2 * r > b or (2 * r == b and q & 1)):
        r -= b
    return mp.mpf(-float(r) if x < 0 else float(r))


one_argument = {
    'sin': large(mp.sin), 'cos': large(mp.cos), 'tan': large(mp.tan), 'asin': within(-1, 1, mp.asin), 'acos': within(-1, 1, mp.acos), 'atan': mp.atan,
    'sinh': lambda x: mp.sinh(x) if abs(x) < 1000 else x * mp.inf, 'cosh': lambda x: mp.cosh(x) if abs(x) < 1000 else mp.inf,
    'tanh': lambda x: mp.tanh(x) if abs(x) < 1000 else mp.sign(x), 'asinh': large(mp.asinh), 'acosh': within(1, mp.inf, mp.acosh),
    'atanh': within(-1, 1, lambda x: mp.atanh(x) if abs(x) < 1 else x * mp.inf),
    'exp': grown(mp.exp, 2000), 'exp2': grown(lambda x: mp.mpf(2) ** x, 3000), 'exp10': grown(lambda x: mp.mpf(10) ** x, 1000),
    'expm1': lambda x: mp.expm1(x) if abs(x) < 2000 else mp.inf if x > 0 else mp.mpf(-1),
    'log': within(0, mp.inf, lambda x: mp.log(x) if x else -mp.inf), 'log2': within(0, mp.inf, lambda x: mp.log(x, 2) if x else -mp.inf),
    'log10': within(0, mp.inf, lambda x: mp.log10(x) if x else -mp.inf), 'log1p': within(-1, mp.inf, lambda x: mp.log1p(x) if x > -1 else -mp.inf),
    'cbrt': lambda x: mp.sign(x) * mp.cbrt(abs(x)), 'rcbrt': lambda x: mp.sign(x) / mp.cbrt(abs(x)) if x else mp.inf,
    'rsqrt': within(0, mp.inf, lambda x: 1 / mp.sqrt(x) if x else mp.inf), 'sinpi': mp.sinpi, 'cospi': mp.cospi,
    'erf': lambda x: mp.erf(x) if abs(x) < 100 else mp.sign(x), 'erfc': lambda x: mp.erfc(x) if abs(x) < 100 else mp.mpf(0 if x > 0 else 2), 'erfcx': erfcx,
    'erfinv': within(
        -1, 1, lambda x: (mp.erfinv(x) if abs(x) < 0.9 else mp.sign(x) * erfcinv(1 - abs(x))) if 0 < abs(x) < 1 else x * mp.inf if x else x),
    'erfcinv': within(0, 2, lambda x: mp.inf if x == 0 else -mp.inf if x == 2 else erfcinv(x)),
    'normcdf': lambda x: mp.erfc(-x / mp.sqrt(2)) / 2 if abs(x) < 100 else mp.mpf(1 if x > 0 else 0),
    'normcdfinv': within(0, 1, lambda x: -mp.inf if x == 0 else mp.inf if x == 1 else -mp.sqrt(2) * erfcinv(2 * x)),
    'lgamma': lgamma, 'tgamma': tgamma, 'cyl_bessel_i0': lambda x: mp.inf if abs(x) > 2000 else mp.besseli(0, x),
    'cyl_bessel_i1': lambda x: x * mp.inf if abs(x) > 2000 else mp.besseli(1, x), 'round': lambda x: mp.sign(x) * mp.floor(abs(x) + 0.5),
    'logb': lambda x: mp.mpf(mp.frexp(x)[1] - 1) if x else -mp.inf,
}
two_arguments = {
    'pow': lambda x, y: None if x <= 0 or abs(y * mp.log(x)) > 1e4 else x**y, 'atan2': lambda y, x: mp.atan2(y, x) if x or y else None,
    'fmod': lambda x, y: remainder_of(x, y, False), 'remainder': lambda x, y: remainder_of(x, y, True), 'hypot': mp.hypot,
    'rhypot': lambda x, y: 1 / mp.hypot(x, y) if x or y else mp.inf,
}
special = [0, 1, -1, 0.5, -0.5, 2, 3, 4, 10, 1e-310, 5e-324, 2.0**-149, 1e-20, 1e20, 1e300, 0.4375, 0.6875, 1.1875, 2.4375, 8, 1.5, 2.5, 88.7, -103, 709.7, -745, 100000.5, 105616, 1e15]


def single(x):
    try:
        return struct.unpack('<f', struct.pack('<f', x))[0]
    except OverflowError:
        return 2.0**127 if x > 0 else -(2.0**127)


def argument(k, source):
    if k < len(special):
        return float(special[k])
    kind, r = k % 4, source.random()
    if kind == 0:
        return r * 2.0 ** source.randint(-120, 120)
    if kind == 1:
        return (r - 0.5) * 2.0 ** source.randint(-2, 12)
    return 1 + (r - 0.5) * 2.0 ** -source.randint(0, 20) if kind == 2 else (r - 0.5) * 6


def hexadecimal(x):
    return struct.pack('>d', x).hex()


def row(name, is_single, x, y):
    f = one_argument.get(name)
    exact = f(mp.mpf(x)) if f else two_arguments[name](mp.mpf(x), mp.mpf(y))
    if exact is None:
        return None
    bits, least, largest = (24, -149, (2 - 2.0**-23) * 2.0**127) if is_single else (53, -1074, (2 - 2.0**-52) * 2.0**1023)
    if mp.isnan(exact):
        return [hexadecimal(x), hexadecimal(y), 'nan', 0]
    unit = mp.mpf(2) ** max((mp.frexp(exact)[1] if exact and not mp.isinf(exact) else -10000) - bits, least)
    if abs(exact) > largest + unit / 2:
        return [hexadecimal(x), hexadecimal(y), 'inf' if exact > 0 else '-inf', 0]
    value = mp.nint(exact / unit) * unit
    return [hexadecimal(x), hexadecimal(y), hexadecimal(float(value)), round(float((exact - value) / unit), 4)]


def main():
    source = random.Random(20251)
    functions = {}
    for name, (single_limit, double_limit) in limits.items():
        for prefix, limit in (('f', single_limit), ('d', double_limit)):
            arguments = [(argument(k, source), argument((k * 7 + 3) % 64, source)) for k in range(64)]
            if prefix == 'f':
                arguments = [(single(x), single(y)) for x, y in arguments]
            # Outside this interval no error is stated: the function has zeros there.
            if name == 'lgamma':
                arguments = [(x, y) for x, y in arguments if not -11.001 < x < -2.264]
            rows = [row(name, prefix == 'f', x, y) for x, y in arguments]
            functions[f'{prefix}_{name}'] = {'limit': limit, 'rows': [r for r in rows if r]}
    path = os.path.join(os.path.dirname(os.path.abspath(__file__)), '../../fixtures/cuda/headers/math.json.gz')
    with open(path, 'wb') as out:
        out.write(gzip.compress(json.dumps(functions, separators=(',', ':')).encode(), 9, mtime=0))


main()
