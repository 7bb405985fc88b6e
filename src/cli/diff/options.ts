/** The options of `diff`: the devices, and the tolerances of their results. */

import { closest } from '../../base/closest.ts';
import type { EngineOptions } from '../../device/device.ts';
import type { Tolerance } from '../../runtime/index.ts';
import { has, lastValue, type ParsedArguments } from '../command/command.ts';

/** A device of `--devices`. */
export interface AskedDevice {
  /** Its text on the command line: `cpu:lane`. */
  readonly spec: string;
  readonly kind: 'auto' | 'metal' | 'cpu' | 'cuda' | 'opencl' | 'webgpu';
  readonly engine: EngineOptions;
}

const kinds = ['auto', 'metal', 'cpu', 'cuda', 'opencl', 'webgpu'] as const;

/** The options after `cpu:`. */
const options: Readonly<Record<string, EngineOptions>> = {
  lane: { engine: 'lane' },
  simd: { engine: 'simd' },
  auto: { engine: 'auto' },
  exact: { fma: 'exact' },
  fast: { fma: 'fast' },
};

/** Reads `--devices`; a usage error as a sentence. */
export function readDevices(parsed: ParsedArguments): AskedDevice[] | string {
  const text = lastValue(parsed, 'devices');
  if (text === undefined) return '`cumetal diff` requires devices: `--devices cpu,cuda`';
  const read = text.split(',').map(readDevice);
  const wrong = read.find((each) => typeof each === 'string');
  if (wrong !== undefined) return `invalid value \`${text}\` for \`--devices\`: ${wrong}`;
  const list = read as AskedDevice[];
  if (list.length < 2) return `invalid value \`${text}\` for \`--devices\`: expected at least two devices, such as \`cpu:lane,cpu:simd\``;
  const repeated = list.find(({ spec }, i) => list.findIndex((each) => each.spec === spec) < i);
  return repeated ? `invalid value \`${text}\` for \`--devices\`: \`${repeated.spec}\` is repeated` : list;
}

function readDevice(spec: string): AskedDevice | string {
  const [kind = '', ...rest] = spec.split(':');
  if (!isKind(kind)) {
    const near = closest(kind, kinds);
    return `unknown device \`${kind}\`, expected one of ${kinds.join(', ')}${near ? `; did you mean \`${near}\`?` : ''}`;
  }
  if (rest.length > 0 && kind !== 'cpu') return `\`${spec}\`: only the CPU device has options`;
  const chosen = rest.map(optionOf);
  if (chosen.includes(undefined)) return `\`${spec}\`: the options of the CPU device are ${Object.keys(options).join(', ')} and threads=N`;
  return { spec, kind, engine: Object.assign({}, ...chosen) as EngineOptions };
}

function optionOf(word: string): EngineOptions | undefined {
  const [, threads] = /^threads=([1-9]\d{0,2})$/.exec(word) ?? [];
  if (threads !== undefined) return { threads: Number(threads) };
  return Object.hasOwn(options, word) ? options[word] : undefined;
}

const isKind = (word: string): word is AskedDevice['kind'] => (kinds as readonly string[]).includes(word);

/** `--rtol`, `--atol` and `--ulp`; undefined if none is given; a usage error as a sentence. */
export function readTolerance(parsed: ParsedArguments): Tolerance | undefined | string {
  const names = ['rtol', 'atol', 'ulp'] as const;
  if (!names.some((name) => has(parsed, name))) return undefined;
  const found = { rtol: 0, atol: 0, ulp: 0 };
  for (const name of names) {
    const word = lastValue(parsed, name);
    if (word === undefined) continue;
    const isNumber = name === 'ulp' ? /^\d{1,15}$/.test(word) : /^(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i.test(word);
    if (!isNumber)
      return `invalid value \`${word}\` for \`--${name}\`: expected ${name === 'ulp' ? 'an integer' : 'a number'} of at least 0`;
    found[name] = Number(word);
  }
  return found;
}
