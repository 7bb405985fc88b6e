/**
 * The catalogue of diagnostics: every message of the compiler and the runtime. Ranges: CM10 syntax, CM11 names and types of PTX,
 * CM20 legal PTX without an exact translation, CM21 versions and targets, CM22 lints, CM23 advice, CM30 the IR verifier (an internal error),
 * CM40 bitcode, metallib and AIR, CM50 launches and the API, CM60 devices, CM61 the sanitizer.
 */
import { advice } from './advice.ts';
import { api } from './api.ts';
import { device } from './device.ts';
import { formats } from './formats.ts';
import { launch } from './launch.ts';
import { refusals } from './refusals.ts';
import { sanitizer } from './sanitizer.ts';
import { syntax } from './syntax.ts';
import { types } from './types.ts';
import { verifier } from './verifier.ts';

export const catalogue = {
  ...syntax,
  ...types,
  ...advice,
  ...refusals,
  ...verifier,
  ...formats,
  ...launch,
  ...api,
  ...device,
  ...sanitizer,
};

export type Code = keyof typeof catalogue;

type HoleNames<S extends string> = S extends `${string}{${infer N}}${infer R}` ? N | HoleNames<R> : never;
type Help<C extends Code> = (typeof catalogue)[C] extends { help: infer H extends string } ? HoleNames<H> : never;

/** The values a message needs: one for each `{hole}` of its sentence and help. */
export type Holes<C extends Code> = { [N in HoleNames<(typeof catalogue)[C]['message']> | Help<C>]: string | number };

/** Whether a string is a code of the catalogue. */
export const isCode = (word: string): word is Code => Object.hasOwn(catalogue, word);
