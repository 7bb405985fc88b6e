/** Lossless JSON: a number that JSON cannot represent is a string, and negative zero keeps its sign. */

import { hexOf } from '../../base/bytes.ts';
import { printableJson } from '../../base/printable.ts';
import type { ElementValue } from '../../runtime/index.ts';

/** A number literal that `jsonText` writes verbatim. */
class Raw {
  readonly text: string;
  constructor(text: string) {
    this.text = text;
  }
}

/** An element for JSON: `"nan"`, `"inf"`, `"-inf"`, and as a string a 64-bit integer that a double cannot hold. */
export function numberJson(value: ElementValue): unknown {
  if (typeof value === 'bigint') return value >= -(2n ** 53n) && value <= 2n ** 53n ? new Raw(value.toString()) : value.toString();
  if (Number.isNaN(value)) return 'nan';
  if (!Number.isFinite(value)) return value > 0 ? 'inf' : '-inf';
  return Object.is(value, -0) ? new Raw('-0.0') : value;
}

/** A map whose keys are names of somebody else, which stay as they are. */
class Verbatim {
  readonly map: Readonly<Record<string, unknown>>;
  constructor(map: Readonly<Record<string, unknown>>) {
    this.map = map;
  }
}

export const verbatim = (map: Readonly<Record<string, unknown>>): unknown => new Verbatim(map);

/** The version of the outputs of `--json`, which `schemas/` describes. It grows with every incompatible change. */
export const schemaVersion = 1;

/** The text of a whole output: one line of JSON that starts with the version of its schema. */
export const jsonDocument = (value: object): string => `${jsonText({ schemaVersion, ...value })}\n`;

const snakeCase = (key: string): string => (key === 'schemaVersion' ? key : key.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`));

/**
 * One line of JSON. Keys are written in snake case, keys whose value is undefined are left out, and bytes are hexadecimal digits. Control
 * characters, those beyond ASCII included, are escaped.
 */
export const jsonText = (value: unknown): string => printableJson(plainJson(value));

function plainJson(value: unknown): string {
  if (value instanceof Raw) return value.text;
  if (value instanceof Uint8Array) return JSON.stringify(hexOf(value));
  if (value instanceof Verbatim) return objectText(value.map, (key) => key);
  if (Array.isArray(value)) return `[${value.map(plainJson).join(',')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value ?? null);
  return objectText(value, snakeCase);
}

function objectText(value: object, spell: (key: string) => string): string {
  const pairs = Object.entries(value).filter(([, v]) => v !== undefined);
  return `{${pairs.map(([key, v]) => `${JSON.stringify(spell(key))}:${plainJson(v)}`).join(',')}}`;
}
