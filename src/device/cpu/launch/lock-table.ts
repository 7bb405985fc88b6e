/**
 * The lock table of a device (`src/ir/lock-table.ts`). All launches of the device share it, because launches in two streams may update the same
 * words.
 */
import { lockTableBytes } from '../../../ir/index.ts';
import type { DeviceMemory } from '../memory.ts';
import type { Scope } from './scope.ts';

interface LockTable {
  readonly address: number;
  /** Launches that use it now. */
  users: number;
}

const tables = new WeakMap<DeviceMemory, LockTable>();

/** The address of the lock table for a launch, until its scope is released; undefined if the device has no memory for it. */
export function useLocks(memory: DeviceMemory, scope: Scope): number | undefined {
  const table = tables.get(memory) ?? newTable(memory);
  if (!table) return undefined;
  // A launch that was stopped may have left a lock taken.
  if (table.users === 0) memory.view(table.address, lockTableBytes).fill(0);
  table.users++;
  scope.defer(() => {
    table.users--;
  });
  return table.address;
}

function newTable(memory: DeviceMemory): LockTable | undefined {
  const address = memory.take(lockTableBytes);
  if (address === undefined) return undefined;
  const table = { address, users: 0 };
  tables.set(memory, table);
  return table;
}
