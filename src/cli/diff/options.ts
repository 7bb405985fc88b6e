/** The words of `diff`: which devices, and how far apart their results may be. */

import { closest } from '../../base/closest.ts';
import type { EngineOptions } from '../../device/device.ts';
import type { Tolerance } from '../../runtime/index.ts';
import { has, lastValue, type Words } from '../command/command.ts';

/** A device as it was asked for. */
export interface AskedDevice {
  /** The word itself: `cpu:lane`. */
  readonly word: string;
  readonly kind: 'auto' | 'metal' | 'cpu' | 'cuda';
  readonly engine: EngineOptions;
}

const kinds = ['auto', 'metal', 'cpu', 'cuda'] as const;

/** What may follow `cpu:`, and what it chooses. */
const options: Readonly<Record<string, EngineOptions>> = {
  lane: { engine: 'lane' },
  simd: { engine: 'simd' },
  auto: { engine: 'auto' },
  exact: { fma: 'exact' },
  fast: { fma: 'fast' },
};

/** Reads `--devices`, or says what is wrong with it. */
export function readDevices(words: Words): AskedDevice[] | string {
  const text = lastValue(words, 'devices');
  if (text === undefined) return '`cumetal diff` needs devices to compare: `--devices cpu,cuda`';
  const read = text.split(',').map(readDevice);
  const wrong = read.find((each) => typeof each === 'string');
  if (wrong !== undefined) return `\`--devices ${text}\`: ${wrong}`;
  const list = read as AskedDevice[];
  if (list.length < 2) return `\`--devices ${text}\`: at least two devices are compared, such as \`cpu:lane,cpu:simd\``;
  const twice = list.find(({ word }, i) => list.findIndex((each) => each.word === word) < i);
  return twice ? `\`--devices ${text}\`: \`${twice.word}\` stands there twice` : list;
}

function readDevice(word: string): AskedDevice | string {
  const [kind = '', ...rest] = word.split(':');
  if (!isKind(kind)) {
    const near = closest(kind, kinds);
    return `\`${kind}\` is not one of ${kinds.join(', ')}${near ? `; did you mean \`${near}\`?` : ''}`;
  }
  if (rest.length > 0 && kind !== 'cpu') return `\`${word}\`: only the CPU device has options`;
  const chosen = rest.map(optionOf);
  if (chosen.includes(undefined)) return `\`${word}\`: the options of the CPU device are ${Object.keys(options).join(', ')} and threads=N`;
  return { word, kind, engine: Object.assign({}, ...chosen) as EngineOptions };
}

function optionOf(word: string): EngineOptions | undefined {
  const [, threads] = /^threads=([1-9]\d{0,2})$/.exec(word) ?? [];
  if (threads !== undefined) return { threads: Number(threads) };
  return Object.hasOwn(options, word) ? options[word] : undefined;
}

const isKind = (word: string): word is AskedDevice['kind'] => (kinds as readonly string[]).includes(word);

/** `--rtol`, `--atol` and `--ulp`; nothing where none of them was given, and in words what is wrong with one. */
export function readTolerance(words: Words): Tolerance | undefined | string {
  const names = ['rtol', 'atol', 'ulp'] as const;
  if (!names.some((name) => has(words, name))) return undefined;
  const found = { rtol: 0, atol: 0, ulp: 0 };
  for (const name of names) {
    const word = lastValue(words, name);
    if (word === undefined) continue;
    const isNumber = name === 'ulp' ? /^\d{1,15}$/.test(word) : /^(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i.test(word);
    if (!isNumber) return `\`--${name} ${word}\`: ${name === 'ulp' ? 'a whole number' : 'a number'} of at least 0 is wanted`;
    found[name] = Number(word);
  }
  return found;
}
