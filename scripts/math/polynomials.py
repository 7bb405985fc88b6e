#!/usr/bin/env python3
"""Writes cuda/include/cumetal/math/polynomials.h: minimax polynomials of the device's mathematics by Remez' exchange algorithm.

Needs mpmath. Each entry of `entries` says what is approximated, on which interval, in which error, and how many coefficients the two precisions have.
A coefficient is the nearest value of its precision; the error that is printed is that of the exact coefficients, in units of 2^-53 or 2^-24.
"""
import os
import mpmath as mp

mp.mp.prec = 200


def rounded(x, bits):
    with mp.workprec(bits):
        return +x


def remez(f, weight, count, low, high):
    """The coefficients of the polynomial of `count` terms with the least maximum of |(p - f) * weight|, and that maximum."""
    low, high = mp.mpf(low), mp.mpf(high)
    middle, half = (low + high) / 2, (high - low) / 2
    xs = [middle - half * mp.cos(mp.pi * (i + mp.mpf(1) / 2) / (count + 1)) for i in range(count + 1)]
    grid = [middle - half * mp.cos(mp.pi * i / (16 * count)) for i in range(16 * count + 1)]
    values = [(f(x), weight(x)) for x in grid]
    for _ in range(6):
        a, b = mp.matrix(count + 1, count + 1), mp.matrix(count + 1, 1)
        for i, x in enumerate(xs):
            for j in range(count):
                a[i, j] = x**j
            a[i, count] = (-1) ** i / weight(x)
            b[i] = f(x)
        solution = mp.lu_solve(a, b)
        coefficients = [solution[i] for i in range(count)]
        errors = [(mp.polyval(coefficients[::-1], x) - v) * w for x, (v, w) in zip(grid, values)]
        extremes = []
        for i, e in enumerate(errors):
            if extremes and errors[extremes[-1]] * e > 0:
                if abs(e) > abs(errors[extremes[-1]]):
                    extremes[-1] = i
            else:
                extremes.append(i)
        while len(extremes) > count + 1:
            extremes.pop(0 if abs(errors[extremes[0]]) < abs(errors[extremes[-1]]) else -1)
        if len(extremes) < count + 1:
            break
        xs = [grid[i] for i in extremes]
    return coefficients, max(abs(e) for e in errors)


def series(f, terms):
    """A function near its removable singularity at 0: the Taylor series where the argument is small."""
    coefficients = terms[::-1]
    return lambda z: mp.polyval(coefficients, z) if abs(z) < mp.mpf('1e-4') else f(z)


def taylor(g, skip, step, count=12):
    c = mp.taylor(g, 0, skip + step * count)
    return [c[skip + step * i] for i in range(count)]


quarter = mp.pi / 4
k0 = mp.mpf(4)  # the centre of the variable of erfcx: t = (x - 4) / (x + 4)


def erfcx(x):
    return mp.exp(x * x) * mp.erfc(x) if x < 60 else sum((-1) ** k * mp.fac2(2 * k - 1) / (2 * x * x) ** k for k in range(1, 20)) / (x * mp.sqrt(mp.pi)) + 1 / (x * mp.sqrt(mp.pi))


def erfcx_t(t):
    if t >= 1:
        return 2 / mp.sqrt(mp.pi)
    x = k0 * (1 + t) / (1 - t)
    return (1 + 2 * x) * erfcx(x)


def erf_t(z):
    x = mp.sqrt(z)
    return mp.erf(x) / x - 2 / mp.sqrt(mp.pi) if z else mp.mpf(0)


def modulus(order, which):
    """P and Q of Hankel's asymptotic expansion as functions of z = (8/x)^2."""

    def f(z):
        if z == 0:
            return mp.mpf(1) if which == 'p' else mp.mpf(4 * order * order - 1) / 8
        x = 8 / mp.sqrt(z)
        chi = x - (2 * order + 1) * quarter
        j, y, r = mp.besselj(order, x), mp.bessely(order, x), mp.sqrt(mp.pi * x / 2)
        c, s = mp.cos(chi), mp.sin(chi)
        return r * (j * c + y * s) if which == 'p' else r * (y * c - j * s) * x

    return f


def gamma_q(t):
    if abs(t) < mp.mpf('1e-20'):
        return 1 - mp.euler
    if abs(t + 1) < mp.mpf('1e-20'):
        return mp.euler
    return mp.loggamma(2 + t) / (t * (1 + t))


one = lambda x: mp.mpf(1)
# name: (function of the polynomial's variable, weight, low, high, terms for double, terms for float)
entries = {
    'sin': (series(lambda z: (mp.sin(mp.sqrt(z)) / mp.sqrt(z) - 1) / z, taylor(mp.sin, 3, 2)), lambda z: z, 0, quarter**2 * 1.02, 6, 3,
            'sin(x) = x + x z p(z), z = x^2, |x| <= pi/4'),
    'cos': (series(lambda z: (mp.cos(mp.sqrt(z)) - 1 + z / 2) / z**2, taylor(mp.cos, 4, 2)), lambda z: z * z, 0, quarter**2 * 1.02, 6, 3,
            'cos(x) = 1 - z/2 + z^2 p(z)'),
    'sinpi': (series(lambda z: (mp.sin(mp.pi * mp.sqrt(z)) / mp.sqrt(z) - mp.pi) / z, taylor(lambda x: mp.sin(mp.pi * x), 3, 2)), lambda z: z, 0,
              mp.mpf(1) / 16, 7, 4, 'sin(pi x) = pi x + x z p(z), |x| <= 1/4'),
    'cospi': (series(lambda z: (mp.cos(mp.pi * mp.sqrt(z)) - 1) / z, taylor(lambda x: mp.cos(mp.pi * x), 2, 2)), lambda z: z, 0, mp.mpf(1) / 16, 7, 4,
              'cos(pi x) = 1 + z p(z), |x| <= 1/4'),
    'exp': (series(lambda r: (mp.exp(r) - 1 - r) / r**2, taylor(mp.exp, 2, 1)), lambda r: r * r, -0.35, 0.35, 11, 5,
            'exp(r) = 1 + r + r^2 p(r), |r| <= ln(2)/2'),
    'log': (series(lambda z: (2 * mp.atanh(mp.sqrt(z)) / mp.sqrt(z) - 2 - 2 * z / 3) / z**2 , [mp.mpf(2) / (2 * k + 5) for k in range(12)]), lambda z: z * z, 0,
            mp.mpf('0.0295'), 8, 3, 'log((1+s)/(1-s)) = 2 s + 2/3 s^3 + s^5 p(s^2)'),
    'atan': (series(lambda z: (mp.atan(mp.sqrt(z)) / mp.sqrt(z) - 1) / z, taylor(mp.atan, 3, 2)), lambda z: z, 0, mp.mpf('0.1915'), 12, 5,
             'atan(x) = x + x z p(z), |x| <= 7/16'),
    'asin': (series(lambda z: (mp.asin(mp.sqrt(z)) / mp.sqrt(z) - 1) / z, taylor(mp.asin, 3, 2)), lambda z: z, 0, mp.mpf('0.2501'), 13, 5,
             'asin(x) = x + x z p(z), |x| <= 1/2'),
    'erf': (erf_t, one, 0, 1, 14, 7, 'erf(x) = (2/sqrt(pi) + p(z)) x, |x| <= 1'),
    'erfcx': (erfcx_t, one, -1, 1, 25, 13, '(1 + 2x) exp(x^2) erfc(x) = p(t), t = (x-4)/(x+4), x >= 0'),
    'lgamma': (gamma_q, one, -0.5, 0.5, 20, 9, 'lgamma(2+t) = t (1+t) p(t), |t| <= 1/2'),
    'stirling': (lambda z: (mp.loggamma(1 / mp.sqrt(z)) - (1 / mp.sqrt(z) - mp.mpf(1) / 2) * mp.log(1 / mp.sqrt(z)) + 1 / mp.sqrt(z) - mp.log(2 * mp.pi) / 2) / mp.sqrt(z)
                 if z > mp.mpf('1e-10') else mp.mpf(1) / 12 - z / 360, one, 0, mp.mpf('0.0101'), 6, 3, 'lgamma(x) = (x-1/2) log(x) - x + log(2 pi)/2 + p(z)/x, z = x^-2, x >= 10'),
    'j0': (lambda z: mp.besselj(0, mp.sqrt(z)), one, 0, 64, 20, 0, 'J0(x) = p(x^2), |x| <= 8'),
    'j1': (lambda z: mp.besselj(1, mp.sqrt(z)) / mp.sqrt(z) if z else mp.mpf(1) / 2, one, 0, 64, 20, 0, 'J1(x) = x p(x^2), |x| <= 8'),
    'y0': (lambda z: mp.bessely(0, mp.sqrt(z)) - 2 / mp.pi * mp.log(mp.sqrt(z) / 2) * mp.besselj(0, mp.sqrt(z)) if z else 2 * mp.euler / mp.pi, one, 0, 64, 20, 0,
           'Y0(x) = 2/pi log(x/2) J0(x) + p(x^2), x <= 8'),
    'y1': (lambda z: (mp.bessely(1, mp.sqrt(z)) - 2 / mp.pi * (mp.log(mp.sqrt(z) / 2) * mp.besselj(1, mp.sqrt(z)) - 1 / mp.sqrt(z))) / mp.sqrt(z)
           if z else (2 * mp.euler - 1) / (2 * mp.pi), one, 0, 64, 20, 0, 'Y1(x) = 2/pi (log(x/2) J1(x) - 1/x) + x p(x^2), x <= 8'),
    'p0': (modulus(0, 'p'), one, 0, 1, 15, 0, "Hankel's P0 in z = (8/x)^2, x >= 8"),
    'q0': (modulus(0, 'q'), one, 0, 1, 15, 0, "x times Hankel's Q0 in z = (8/x)^2"),
    'p1': (modulus(1, 'p'), one, 0, 1, 15, 0, "Hankel's P1 in z = (8/x)^2"),
    'q1': (modulus(1, 'q'), one, 0, 1, 15, 0, "x times Hankel's Q1 in z = (8/x)^2"),
    'i0': (lambda z: mp.besseli(0, mp.sqrt(z)), lambda z: 1 / mp.besseli(0, mp.sqrt(z)), 0, 64, 17, 0, 'I0(x) = p(x^2), |x| <= 8'),
    'i1': (lambda z: mp.besseli(1, mp.sqrt(z)) / mp.sqrt(z) if z else mp.mpf(1) / 2, lambda z: mp.sqrt(z) / mp.besseli(1, mp.sqrt(z)) if z else mp.mpf(2), 0, 64, 17, 0,
           'I1(x) = x p(x^2), |x| <= 8'),
    'i0large': (lambda t: mp.besseli(0, 1 / t) * mp.exp(-1 / t) / mp.sqrt(t) if t > mp.mpf('1e-6') else 1 / mp.sqrt(2 * mp.pi) * (1 + t / 8), one, 0, 0.125, 23, 0,
                'I0(x) = exp(x) p(1/x) / sqrt(x), x >= 8'),
    'i1large': (lambda t: mp.besseli(1, 1 / t) * mp.exp(-1 / t) / mp.sqrt(t) if t > mp.mpf('1e-6') else 1 / mp.sqrt(2 * mp.pi) * (1 - 3 * t / 8), one, 0, 0.125, 23, 0,
                'I1(x) = exp(x) p(1/x) / sqrt(x), x >= 8'),
}


def text(name, type_, coefficients, bits):
    suffix = 'f' if bits == 24 else ''
    fma = f'__builtin_fma{suffix}'
    lines = [f'__cumetal_both {type_} __cumetal_poly_{name}({type_} x) {{']
    numbers = [float(rounded(c, bits)).hex() + suffix for c in coefficients]
    lines.append(f'  {type_} p = {numbers[-1]};')
    lines += [f'  p = {fma}(p, x, {n});' for n in numbers[-2::-1]]
    return '\n'.join([*lines, '  return p;', '}'])


def main():
    parts = {'elementary': [], 'special': []}
    special = {'erf', 'erfcx', 'lgamma', 'stirling', 'j0', 'j1', 'y0', 'y1', 'p0', 'q0', 'p1', 'q1', 'i0', 'i1', 'i0large', 'i1large'}
    for name, (f, weight, low, high, double_count, float_count, what) in entries.items():
        kind = 'special' if name in special else 'elementary'
        parts[kind].append(f'// {what}.')
        for type_, bits, count in (('double', 53, double_count), ('float', 24, float_count)):
            if not count:
                continue
            coefficients, error = remez(f, weight, count, low, high)
            print(f'{name:10} {type_:6} {count:3} terms, error {mp.nstr(error * 2**bits, 4)} units', flush=True)
            parts[kind].append(text(name, type_, coefficients, bits))
    folder = os.path.join(os.path.dirname(os.path.abspath(__file__)), '../../cuda/include/cumetal/math')
    for kind, blocks in parts.items():
        guard = f'__CUMETAL_MATH_POLYNOMIALS_{kind.upper()}_H__'
        with open(os.path.join(folder, f'polynomials_{kind}.h'), 'w') as out:
            out.write(f'// Minimax polynomials, written by scripts/math/polynomials.py.\n#ifndef {guard}\n#define {guard}\n\n')
            out.write('\n\n'.join(blocks).replace('.\n\n__', '.\n__'))
            out.write('\n\n#endif\n')


main()
