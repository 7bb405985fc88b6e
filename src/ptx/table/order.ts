/** Orders and scopes of memory, as fences around relaxed accesses. Source: PTX ISA 9.0, 8.9. */
import type { FenceScope } from '../../ir/index.ts';
import type { RowBuilder } from '../model/row.ts';

/** Scopes as instructions name them; the host and other devices take no part while a kernel runs. */
const scopes = { cta: 'block', gl: 'device', gpu: 'device', sys: 'device' } as const satisfies Record<string, FenceScope>;

export type FenceWord = keyof typeof scopes;

export const fenceScopes = ['cta', 'gpu', 'sys'] as const;

/** What documents say of `.sys`. */
export const ofTheSystem = 'Of the system the device alone takes part: the host sees memory when the kernel has ended.';

/** A fence of a scope; of the device where none is named. */
export const fence = (ir: RowBuilder, scope: FenceWord = 'gpu'): void => void ir.fence({ scope: scopes[scope] });

/** A relaxed access with the fences that its order asks for. */
export function fenceAround<T>(ir: RowBuilder, scope: FenceWord | undefined, order: string | undefined, access: () => T): T {
  if (order === 'release' || order === 'acq_rel') fence(ir, scope);
  const result = access();
  if (order === 'acquire' || order === 'acq_rel') fence(ir, scope);
  return result;
}
