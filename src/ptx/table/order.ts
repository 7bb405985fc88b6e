/** Memory orders and scopes, implemented by fences around relaxed accesses. Source: PTX ISA 9.0, 8.9. */
import type { FenceScope } from '../../ir/index.ts';
import type { RowBuilder } from '../model/row.ts';

/** Scopes by name in instructions; the host and other devices do not access memory while a kernel runs. */
const scopes = { cta: 'block', cluster: 'device', gl: 'device', gpu: 'device', sys: 'device' } as const satisfies Record<
  string,
  FenceScope
>;

export type FenceWord = keyof typeof scopes;

export const fenceScopes = ['cta', 'gpu', 'sys'] as const;

/** The documentation of `.sys`. */
export const systemScopeNote = 'The system scope is the device: the host sees memory when the kernel has ended.';

/** A fence of a scope; the default is the device. */
export const fence = (ir: RowBuilder, scope: FenceWord = 'gpu'): void => void ir.fence({ scope: scopes[scope] });

/** A relaxed access with the fences of its order. */
export function fenceAround<T>(ir: RowBuilder, scope: FenceWord | undefined, order: string | undefined, access: () => T): T {
  if (order === 'release' || order === 'acq_rel') fence(ir, scope);
  const result = access();
  if (order === 'acquire' || order === 'acq_rel') fence(ir, scope);
  return result;
}
