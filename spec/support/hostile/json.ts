/** Damage to JSON: values of another kind, keys that do not belong, names that lead elsewhere, and characters out of place. */
import { below, pick, type Random } from './ptx.ts';

type Json = null | boolean | number | string | Json[] | { [key: string]: Json };

const deep = (levels: number): Json => (levels === 0 ? 0 : [deep(levels - 1)]);
const values: readonly Json[] = [
  null,
  true,
  0,
  -1,
  1.5,
  1e308,
  2 ** 53,
  2 ** 31,
  -0,
  '',
  '..',
  '../x',
  '/etc/passwd',
  'C:\\x',
  '-',
  '\u0000',
  '\u001b[2J',
  'nan',
  '0x',
  'x'.repeat(5000),
  [],
  {},
  [1, 2, 3],
  deep(70),
  { file: '../x' },
  { fill: 'x' },
  { rand: 1e99 },
  ['__proto__'],
  [4, 4, 4, 4, 1e15],
];
const keys = [
  '__proto__',
  'constructor',
  'toString',
  'out',
  'device',
  'expect',
  'file',
  'init',
  'buffer',
  'shape',
  'bytes',
  'pointers',
  'args',
  'grid',
  '',
  '\u202e',
];
const marks = [...'{}[]:,"\\\n\u0000\ufeff', '1e999', '"a":', 'tru', '//', "'", '\ud800'];

/** Changes one value somewhere inside. */
function changed(json: Json, next: Random): Json {
  if (typeof json !== 'object' || json === null || next() < 0.1) return pick(next, values);
  if (Array.isArray(json)) {
    if (json.length === 0) return [pick(next, values)];
    const at = below(next, json.length);
    const kind = next();
    if (kind < 0.1) return json.filter((_, i) => i !== at);
    return kind < 0.2 ? [...json, json[at]!] : json.map((each, i) => (i === at ? changed(each, next) : each));
  }
  const entries = Object.entries(json);
  if (entries.length === 0 || next() < 0.15) return Object.fromEntries([...entries, [pick(next, keys), pick(next, values)]]);
  const at = below(next, entries.length);
  if (next() < 0.1) return Object.fromEntries(entries.filter((_, i) => i !== at));
  return Object.fromEntries(
    entries.map(([key, value], i) => [i === at && next() < 0.1 ? pick(next, keys) : key, i === at ? changed(value, next) : value]),
  );
}

/** A damaged text: of its values, or of its characters. */
export function damagedJson(text: string, next: Random): string {
  let made = text;
  for (let times = 1 + below(next, 3); times > 0; times--) made = next() < 0.75 ? ofValues(made, next) : ofCharacters(made, next);
  return made;
}

function ofValues(text: string, next: Random): string {
  try {
    return JSON.stringify(changed(JSON.parse(text) as Json, next), undefined, next() < 0.5 ? 2 : undefined);
  } catch {
    return ofCharacters(text, next);
  }
}

function ofCharacters(text: string, next: Random): string {
  const at = below(next, text.length + 1);
  return text.slice(0, at) + pick(next, marks) + text.slice(at + below(next, 4));
}
