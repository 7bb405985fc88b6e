/** Lossless JSON: a number that JSON cannot represent is a string, and negative zero keeps its sign. */
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

/** One line of JSON; keys whose value is undefined are left out. Control characters, those beyond ASCII included, are escaped. */
export const jsonText = (value: unknown): string => printableJson(plainJson(value));

function plainJson(value: unknown): string {
  if (value instanceof Raw) return value.text;
  if (Array.isArray(value)) return `[${value.map(plainJson).join(',')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value ?? null);
  const pairs = Object.entries(value).filter(([, v]) => v !== undefined);
  return `{${pairs.map(([key, v]) => `${JSON.stringify(key)}:${plainJson(v)}`).join(',')}}`;
}
