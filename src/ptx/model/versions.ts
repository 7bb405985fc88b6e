/**
 * The versions of the language and the architectures, with the version that introduced each. Source: PTX ISA 9.0, chapter 13 (release
 * notes) and 11.1.2 (`.target`), compared with ptxas 13.0.
 */

/** All versions up to the newest known one. */
export const ptxVersions: readonly string[] = (
  '1.0 1.1 1.2 1.3 1.4 1.5 2.0 2.1 2.2 2.3 3.0 3.1 3.2 4.0 4.1 4.2 4.3 5.0 5.1 6.0 6.1 6.2 6.3 6.4 6.5 ' +
  '7.0 7.1 7.2 7.3 7.4 7.5 7.6 7.7 7.8 8.0 8.1 8.2 8.3 8.4 8.5 8.6 8.7 8.8 9.0'
).split(' ');

/** The version that introduced each architecture: plain, with `a` (one chip) and with `f` (a family of chips). */
const architectures: Readonly<Record<number, { readonly plain: number; readonly a?: number; readonly f?: number }>> = {
  10: { plain: 1.0 },
  11: { plain: 1.0 },
  12: { plain: 1.2 },
  13: { plain: 1.2 },
  20: { plain: 2.0 },
  21: { plain: 2.0 },
  30: { plain: 3.0 },
  32: { plain: 4.0 },
  35: { plain: 3.1 },
  37: { plain: 4.1 },
  50: { plain: 4.0 },
  52: { plain: 4.1 },
  53: { plain: 4.2 },
  60: { plain: 5.0 },
  61: { plain: 5.0 },
  62: { plain: 5.0 },
  // The manual has 6.0; ptxas accepts it from 5.1 on.
  70: { plain: 5.1 },
  72: { plain: 6.1 },
  75: { plain: 6.3 },
  80: { plain: 7.0 },
  82: { plain: 6.2 },
  86: { plain: 7.1 },
  87: { plain: 7.4 },
  88: { plain: 7.3 },
  89: { plain: 7.8 },
  90: { plain: 7.8, a: 8.0 },
  100: { plain: 8.6, a: 8.6, f: 8.8 },
  101: { plain: 8.6, a: 8.6, f: 8.8 },
  103: { plain: 8.8, a: 8.8, f: 8.8 },
  110: { plain: 9.0, a: 9.0, f: 9.0 },
  120: { plain: 8.7, a: 8.7, f: 8.8 },
  121: { plain: 8.8, a: 8.8, f: 8.8 },
};

/** The newest known architecture. */
export const newestArchitecture = 121;

/** Options of `.target` that are not an architecture. */
export const targetOptions = ['texmode_unified', 'texmode_independent', 'debug', 'map_f64_to_f32'] as const;

/** An architecture as written in `.target`. */
export interface Architecture {
  readonly sm: number;
  /** The version that introduced it; absent if unknown. */
  readonly since: number | undefined;
}

/** Parses `sm_90a`, or `compute_90`, which assemblers treat alike; undefined for other words. */
export function architectureOf(word: string): Architecture | undefined {
  const [, digits, suffix] = /^(?:sm|compute)_(\d{1,4})([af])?$/.exec(word) ?? [];
  if (digits === undefined) return undefined;
  const known = architectures[Number(digits)];
  return { sm: Number(digits), since: suffix === undefined ? known?.plain : known?.[suffix as 'a' | 'f'] };
}

/** Names of all architectures, for suggestions. */
export const architectureNames = (): string[] =>
  Object.entries(architectures).flatMap(([sm, { a, f }]) => [`sm_${sm}`, ...(a ? [`sm_${sm}a`] : []), ...(f ? [`sm_${sm}f`] : [])]);

/** Pragmas that assemblers know, by first word. Source: PTX ISA 9.0, 11.5 (pragma strings). */
export const pragmas = ['nounroll', 'used_bytes_mask', 'enable_smem_spilling', 'frequency'] as const;

/** Whether a version exists as far as is known; newer versions are accepted. */
export const mayExist = (version: { readonly major: number; readonly minor: number }): boolean =>
  ptxVersions.includes(`${version.major}.${version.minor}`) || versionNumber(version) > Number(ptxVersions.at(-1));

/** A version as a number. No minor number has two digits, so that numbers compare correctly. */
export const versionNumber = ({ major, minor }: { readonly major: number; readonly minor: number }): number => (10 * major + minor) / 10;

/** For example `9.0` for 9. */
export const versionText = (version: number): string => version.toFixed(1);
