/** State spaces by name. Source: PTX ISA 9.0, 5.1. */
import type { AccessSpace } from '../model/row.ts';

/** State spaces by their name in instructions; without a name the address is generic. */
const spaces: Readonly<Record<string, AccessSpace>> = {
  const: 'constant',
  global: 'global',
  local: 'local',
  param: 'param',
  'param::entry': 'param::entry',
  'param::func': 'param::func',
  shared: 'shared',
  'shared::cta': 'shared',
  'shared::cluster': 'shared::cluster',
};
/** The space with a name. */
export const spaceOf = (word: string | undefined): AccessSpace => (word === undefined ? 'generic' : spaces[word]!);

/** The space of an access whose word `.global` may be left out: without it the address is generic. */
export const globalOrGeneric = ({ global }: { readonly global?: true }): { readonly space?: 'global' } =>
  global ? { space: 'global' } : {};
