/**
 * C's `printf`. Expected texts were recorded from the GNU C library 2.36: a C program with one `printf` per row of the table, compiled by
 * gcc. If gcc is present, random formats are compared as well.
 */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { f64Bits } from '../../src/base/float.ts';
import { argumentsOf, parseFormat } from '../../src/base/printf/conversion.ts';
import { type Argument, formatText } from '../../src/base/printf/format.ts';
import { splitMix64 } from '../../src/runtime/rand.ts';
import { need } from '../support/need.ts';

const test = suite('base/printf');

/** Arguments of a row: words, longs, doubles, strings. */
type Kind = 'i' | 'l' | 'd' | 's';
type Row = readonly [kind: Kind, format: string, args: readonly (number | bigint | string)[], printed: string];

const rows: readonly Row[] = [
  ['i', '%d|%i|%u', [-5, 7, -1], '-5|7|4294967295'],
  ['i', '%5d|%-5d|%05d|%+d|% d', [42, 42, 42, 42, 42], '   42|42   |00042|+42| 42'],
  ['i', '%+05d|%-+5d|% 05d', [42, -42, 42], '+0042|-42  | 0042'],
  ['i', '%.3d|%8.3d|%08.3d|%.0d|%+.0d', [5, 5, 5, 0, 0], '005|     005|     005||+'],
  ['i', '%x|%X|%#x|%#X|%#x|%08x|%#010x', [255, 255, 255, 255, 0, 255, 255], 'ff|FF|0xff|0XFF|0|000000ff|0x000000ff'],
  ['i', '%o|%#o|%#o|%#.3o|%#.0o', [8, 8, 0, 8, 0], '10|010|0|010|0'],
  ['i', '%hhd|%hhu|%hd|%hu|%hhx', [512, -1, 98304, -1, 511], '0|255|-32768|65535|ff'],
  ['i', '%c%c|%3c|%-3c|', [72, 105, 65, 66], 'Hi|  A|B  |'],
  ['i', '%*d|%-*d|%*d|', [5, 1, 5, 2, -5, 3], '    1|2    |3    |'],
  ['i', '%.*d|%.*d|%*.*d', [3, 7, -1, 7, 6, 2, 9], '007|7|    09'],
  ['i', '%d%%|%%|%5d%%', [50, 7], '50%|%|    7%'],
  [
    'l',
    '%ld|%lld|%lu|%llx|%zu|%jd|%td',
    [-(2n ** 63n), 2n ** 63n - 1n, -1n, -1n, 1099511627776n, -3n, 4n],
    '-9223372036854775808|9223372036854775807|18446744073709551615|ffffffffffffffff|1099511627776|-3|4',
  ],
  ['l', '%p|%20p|%-12p|%p', [139641712656111n, 4660n, 16n, 0n], '0x7f00deadbeef|              0x1234|0x10        |(nil)'],
  ['l', '%8p|%-8p|', [0n, 0n], '   (nil)|(nil)   |'],
  ['d', '%f|%f|%f|%f', [0, -0, 1, -1.5], '0.000000|-0.000000|1.000000|-1.500000'],
  ['d', '%.0f|%.0f|%.0f|%.0f|%.1f', [0.5, 1.5, 2.5, 3.5, 0.25], '0|2|2|4|0.2'],
  ['d', '%5.2f|%-8.3f|%08.3f|%+.1f|% .1f', [6.28125, 6.28125, 6.28125, 6.28125, 6.28125], ' 6.28|6.281   |0006.281|+6.3| 6.3'],
  ['d', '%.2f|%.3f|%.20f', [2.675, 1.0005, 0.1], '2.67|1.000|0.10000000000000000555'],
  [
    'd',
    '%f',
    [1.7976931348623157e308],
    '179769313486231570814527423731704356798070567525844996598917476803157260780028538760589558632766878171540458953514382464234321326889464182768467546703537516986049910576551282076245490090389328944075868508455133942304583236903222948165808559332123348274797826204144723168738177180919299881250404026184124858368.000000',
  ],
  ['d', '%.30f|%.0f', [1e-10, 1e22], '0.000000000100000000000000003643|10000000000000000000000'],
  ['d', '%#.0f|%#.0e|%.0e', [3, 3, 2.5], '3.|3.e+00|2e+00'],
  ['d', '%e|%E|%.3e|%.0e|%e', [12345.6789, 1e-300, 9.9995, 95, 0], '1.234568e+04|1.000000E-300|9.999e+00|1e+02|0.000000e+00'],
  ['d', '%e|%.15e', [5e-324, 0.1], '4.940656e-324|1.000000000000000e-01'],
  ['d', '%g|%g|%g|%g|%g|%g', [0.0001, 1e-5, 100000, 1000000, 999999.5, 1e100], '0.0001|1e-05|100000|1e+06|1e+06|1e+100'],
  ['d', '%.3g|%.10g|%#g|%#.3g|%.0g|%G', [1234.5, 1 / 3, 1, 100, 1234.5, 1e-10], '1.23e+03|0.3333333333|1.00000|100.|1e+03|1E-10'],
  [
    'd',
    '%f|%F|%e|%G|%5f|%05f|%-5f|%+f',
    [
      Number.POSITIVE_INFINITY,
      -Number.POSITIVE_INFINITY,
      Number.NaN,
      Number.POSITIVE_INFINITY,
      Number.POSITIVE_INFINITY,
      Number.POSITIVE_INFINITY,
      Number.NaN,
      Number.POSITIVE_INFINITY,
    ],
    'inf|-INF|nan|INF|  inf|  inf|nan  |+inf',
  ],
  ['d', '%a|%a|%A|%a|%a', [1, 0.1, -255.5, 0, 5e-324], '0x1p+0|0x1.999999999999ap-4|-0X1.FFP+7|0x0p+0|0x0.0000000000001p-1022'],
  [
    'd',
    '%.2a|%.0a|%.0a|%.20a|%#.0a|%012a',
    [1.999, 1.5, 2.75, 1.5, 1, 1],
    '0x2.00p+0|0x2p+0|0x1p+1|0x1.80000000000000000000p+0|0x1.p+0|0x0000001p+0',
  ],
  [
    'd',
    '%lf|%20.10f|%-20.3e|%020g',
    [1.5, 1 / 3, 1 / 3, -0.3333333333333333],
    '1.500000|        0.3333333333|3.333e-01           |-000000000000.333333',
  ],
  ['s', '%s|%10s|%-10s|%.2s|%10.3s|', ['abc', 'abc', 'abc', 'abc', 'abc'], 'abc|       abc|abc       |ab|       abc|'],
];

function argument(kind: Kind, value: number | bigint | string): Argument {
  if (kind === 's') return value as string;
  return kind === 'd' ? f64Bits(value as number) : BigInt.asUintN(kind === 'l' ? 64 : 32, BigInt(value));
}

function print(format: string, args: readonly Argument[]): string {
  const pieces = parseFormat(format);
  if ('why' in pieces) throw new Error(pieces.why);
  assert.is(argumentsOf(pieces).length, args.length, format);
  return formatText(pieces, args);
}

for (const [kind, format, args, printed] of rows)
  test(format, () => {
    assert.is(
      print(
        format,
        args.map((value) => argument(kind, value)),
      ),
      printed,
    );
  });

test('every digit of the least double', () => {
  const digits = (5n ** 1074n).toString().padStart(1074, '0');
  assert.is(print('%.1075f', [1n]), `0.${digits}0`);
});

test('a NaN shows its sign, and a value that rounds up to a power of ten keeps the digits that `#` asks for', () => {
  assert.is(print('%f|%g|%F', [f64Bits(Number.NaN) | (1n << 63n), f64Bits(Number.NaN), f64Bits(Number.NaN)]), '-nan|nan|NAN');
  // The library forgets the zeros here: it prints 1.e+06.
  assert.is(print('%#g', [f64Bits(999999.5)]), '1.00000e+06');
});

test('null pointers to strings', () => {
  assert.is(print('%s|%8s|%.6s|%.5s|', [undefined, undefined, undefined, undefined]), '(null)|  (null)|(null)||');
});

test('bytes that are no characters of UTF-8 stay', () => {
  assert.is(print('\xff\xc3%s\x80', ['\xe9\xfe']), '\xff\xc3\xe9\xfe\x80');
  assert.is(print('%c', [0x1e9n]), '\xe9');
  assert.is(print('%c', [0n]), '\0');
});

test('what a format takes from the list of arguments', () => {
  const pieces = parseFormat('a%d%*lld%.*f%%%s%p%hhx%c');
  assert.ok(!('why' in pieces));
  assert.equal(argumentsOf(pieces), ['word', 'word', 'long', 'word', 'long', 'string', 'long', 'word', 'word']);
  assert.equal(parseFormat(''), []);
  assert.equal(parseFormat('100%% of %%d'), ['100% of %d']);
});

const refused: readonly (readonly [format: string, why: RegExp])[] = [
  ['%d %', /`%` at the end is incomplete/],
  ['%5.', /`%5.` at the end is incomplete/],
  ['%ll', /`%ll` at the end is incomplete/],
  ['a %n', /`%n` is not supported/],
  ['%q', /`%q` is not supported/],
  ['%5%', /`%5%` is not supported/],
  ['%1$d', /`%1\$` is not supported/],
  ["%'d", /`%'` is not supported/],
  ['%\n', /`%\?` is not supported/],
  ['%Lf', /`%L` is not supported/],
  ['%ls', /the length modifier of the conversion `%ls`/],
  ['%lc', /the length modifier of the conversion `%lc`/],
  ['%hf', /the length modifier of the conversion `%hf`/],
  ['%hp', /the length modifier of the conversion `%hp`/],
  ['%5000d', /`%5000d` is wider than 4095 characters/],
  ['%.99999f', /`%.99999f` is wider than 4095 characters/],
];
for (const [format, why] of refused)
  test(`refused: ${JSON.stringify(format)}`, () => {
    const fault = parseFormat(format);
    assert.ok('why' in fault, 'it is refused');
    assert.match(fault.why, why);
  });

/** Reads a format, the number of leading arguments, and the value, and prints it. */
const program = `#include <stdio.h>
#include <stdlib.h>
#include <string.h>
int main(void) {
  char line[256];
  while (fgets(line, sizeof line, stdin)) {
    line[strcspn(line, "\\n")] = 0;
    char *kind = strtok(line, "\\t"), *f = strtok(0, "\\t");
    int n = atoi(strtok(0, "\\t")), a = atoi(strtok(0, "\\t")), b = atoi(strtok(0, "\\t"));
    char *text = strtok(0, "\\t");
    unsigned long long u = strtoull(text, 0, 16);
    double d;
    memcpy(&d, &u, 8);
#define PRINT(x) (n == 0 ? printf(f, x) : n == 1 ? printf(f, a, x) : printf(f, a, b, x))
    if (*kind == 'i') PRINT((int)u);
    else if (*kind == 'l') PRINT(u);
    else if (*kind == 'd') PRINT(d);
    else PRINT(text);
    putchar('\\n');
  }
}
`;

interface Case {
  readonly format: string;
  readonly line: string;
  readonly args: readonly Argument[];
}

/** Random conversions, including flags that C leaves undefined for a conversion, but without `#` on `g`, where the library has a bug. */
function cases(count: number): Case[] {
  const draw = splitMix64(11n);
  const below = (n: number): number => Number(draw() % BigInt(n));
  const pick = <T>(list: ArrayLike<T>): T => list[below(list.length)]!;
  const make = (): Case => {
    const letter = pick('diuoxXcspeEfFgGaA');
    const isInteger = 'diuoxX'.includes(letter);
    const isFloat = 'eEfFgGaA'.includes(letter);
    const flags = [...(/g/i.test(letter) ? '-+ 0' : '-+ #0')].filter(() => below(4) === 0).join('');
    const width = pick(['', '', '7', '19', '*']);
    const precision = pick(['', '', '.', '.0', '.3', '.14', '.*']);
    const length = isInteger ? pick(['', '', 'hh', 'h', 'l', 'll', 'z', 't', 'j']) : '';
    const format = `[%${flags}${width}${precision}${length}${letter}]`;
    const stars = [below(30) - 15, below(30) - 10];
    const used = stars.slice(0, (width === '*' ? 1 : 0) + (precision === '.*' ? 1 : 0)).map((n) => BigInt.asUintN(32, BigInt(n)));
    const isLong = letter === 'p' || /^(l|ll|z|t|j)$/.test(length);
    const near = f64Bits(pick([0.5, 1, 9.5, 99.95, 1e22, 5e-324, 0.1, 2.5, 1e-5, 123456.5]));
    const bits = isFloat && below(2) === 0 ? near : draw() >> BigInt(below(64));
    const value = letter === 'c' ? 33n + (bits % 90n) : bits;
    const text = letter === 's' ? 'hello'.slice(0, 1 + below(5)) : value.toString(16);
    const kind = letter === 's' ? 's' : isFloat ? 'd' : isLong ? 'l' : 'i';
    const shown = letter === 's' ? text : kind === 'i' ? BigInt.asUintN(32, value) : value;
    return { format, line: [kind, format, used.length, ...stars, text].join('\t'), args: [...used, shown] };
  };
  return Array.from({ length: count }, make);
}

need(test, ['gcc'], 'random formats print what the C library prints', () => {
  const folder = mkdtempSync(join(tmpdir(), 'cumetal-spec-'));
  try {
    writeFileSync(join(folder, 'print.c'), program);
    assert.is(spawnSync('gcc', ['-w', join(folder, 'print.c'), '-o', join(folder, 'print')]).status, 0);
    const all = cases(4000);
    const { stdout } = spawnSync(join(folder, 'print'), { input: `${all.map(({ line }) => line).join('\n')}\n`, maxBuffer: 2 ** 24 });
    const wanted = stdout.toString('latin1').split('\n');
    const wrong = all.flatMap(({ format, line, args }, i) => {
      const got = print(format, args);
      return got === wanted[i] ? [] : [`${line}: ${got}, and not ${wanted[i]}`];
    });
    assert.equal(wrong.slice(0, 5), []);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});

test.run();
