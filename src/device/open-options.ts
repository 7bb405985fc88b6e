/** The values of options, checked when a device is opened: JavaScript programs have no types. */
import type { Diagnostics } from '../base/diagnostic.ts';
import { type DeviceKind, fps, nativeModes, type OpenOptions, vias } from './device.ts';

/** What an option may be, as a noun phrase, and the test of a value. */
interface Rule {
  readonly wanted: string;
  test(value: unknown): boolean;
}

const oneOf = (...values: readonly (string | number)[]): Rule => ({
  wanted: `one of ${values.join(', ')}`,
  test: (value) => values.some((each) => each === value),
});

const rules: Readonly<Record<keyof OpenOptions, Rule>> = {
  engine: oneOf('auto', 'lane', 'simd'),
  fma: oneOf('exact', 'fast'),
  denormals: oneOf('keep', 'flush'),
  lanes: oneOf(4, 8, 16, 32),
  threads: { wanted: 'a positive integer', test: (value) => Number.isSafeInteger(value) && (value as number) > 0 },
  native: oneOf(...nativeModes),
  inBackground: { wanted: 'true or false', test: (value) => typeof value === 'boolean' },
  via: oneOf(...vias),
  fp: oneOf(...fps),
};

/** Whether all given options are valid; reports CM5078 for each that is not. */
export function areOpenOptions(options: OpenOptions, diagnostics: Diagnostics): boolean {
  const wrong = (Object.keys(rules) as (keyof OpenOptions)[]).filter((name) => {
    const given = options[name];
    return given !== undefined && !rules[name].test(given);
  });
  for (const option of wrong) diagnostics.report('CM5078', { option, given: textOf(options[option]), wanted: rules[option].wanted });
  return wrong.length === 0;
}

/** Whether the kind of a device is a text, of a device that exists or not; reports CM5078 otherwise. */
export function isKind(kind: unknown, diagnostics: Diagnostics): kind is DeviceKind {
  if (typeof kind === 'string') return true;
  diagnostics.report('CM5078', { option: 'kind', given: textOf(kind), wanted: 'a text such as `cpu`' });
  return false;
}

const textOf = (value: unknown): string => (typeof value === 'object' && value !== null ? 'an object' : `\`${String(value)}\``);
