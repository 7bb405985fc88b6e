/** State spaces by the words of instructions. Source: PTX ISA 9.0, 5.1. */
import type { AccessSpace } from '../model/row.ts';

/** State spaces as instructions name them; without a name the address is generic. */
const spaces: Readonly<Record<string, AccessSpace>> = {
  const: 'constant',
  global: 'global',
  local: 'local',
  param: 'param',
  'param::entry': 'param::entry',
  'param::func': 'param::func',
  shared: 'shared',
  'shared::cta': 'shared',
};
/** The space of a word. */
export const spaceOf = (word: string | undefined): AccessSpace => (word === undefined ? 'generic' : spaces[word]!);
