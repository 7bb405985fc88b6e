/** Layouts of shared memory that free an access of bank conflicts: padded rows, and rows whose columns are exchanged. Both are verified by the model of requests. */
import { addressOf } from '../ir/index.ts';
import type { AdvisedAccess } from './accesses.ts';
import { residueOf, type Unknown } from './forms.ts';
import { activeOf, stepsOf } from './requests.ts';
import type { Prepared, WarpForms } from './state.ts';

/** A layout: what it does to a row, and the wavefronts of the access with it. */
export interface Mended {
  readonly rowBytes: number;
  /** Bytes that follow each row. */
  readonly padding: number | undefined;
  /** Bytes of the units of a row whose numbers are combined with that of the row by XOR, and how many of them. */
  readonly swizzle: { readonly unit: number; readonly count: number } | undefined;
  readonly wavefronts: number;
}

/** The offsets of the lanes of a warp in a variable, and their wavefronts now. */
interface Row {
  readonly access: AdvisedAccess;
  readonly offsets: readonly number[];
  readonly lanes: readonly number[];
  /** The terms besides the address of the variable. */
  readonly residue: (by: number) => number | undefined;
  readonly now: number;
}

const rowSizes = [32, 64, 128, 256, 512, 1024, 2048, 4096];

/** The variable of an access: the one address that its form has once. */
function variableOf(access: AdvisedAccess, { kernel }: Prepared, warps: readonly WarpForms[]): Unknown | undefined {
  const form = warps[0]?.at(addressOf(kernel.insts[access.value]!)!, access.block);
  if (form?.kind !== 'linear') return undefined;
  const found = [...form.terms].filter(([{ name }, coefficient]) => coefficient === 1 && /^(variable|param) /.test(name));
  return found.length === 1 ? found[0]![0] : undefined;
}

/** The layouts that free an access of conflicts without a conflict more anywhere else; none where an access of the variable is not known. */
export function mend(access: AdvisedAccess, all: Prepared, warps: readonly WarpForms[], accesses: readonly AdvisedAccess[]): Mended[] {
  const rows = rowsBeside(access, all, warps, accesses);
  if (!rows) return [];
  // Most layouts fail at the access itself.
  const known = [...rows.filter((row) => row.access === access), ...rows.filter((row) => row.access !== access)];
  const unit = Math.max(4, ...rows.map((row) => row.access.size));
  const stride = Math.abs(access.stride ?? 0);
  const sizes = stride >= 32 ? [stride, ...rowSizes.filter((size) => size !== stride)] : rowSizes;
  const padded = firstOf(
    sizes,
    [1, 2, 4, 8].map((count) => count * unit),
    (rowBytes, padding) => tryLayout(access, known, { rowBytes, padding, swizzle: undefined }),
  );
  const counts = [32, 16, 8, 4, 2].filter((count) => count * unit <= 128);
  const swizzled = firstOf(
    sizes.filter((size) => Number.isInteger(Math.log2(size))),
    counts,
    (rowBytes, count) =>
      count * unit > rowBytes ? undefined : tryLayout(access, known, { rowBytes, padding: undefined, swizzle: { unit, count } }),
  );
  return [...(padded ? [padded] : []), ...(swizzled ? [swizzled] : [])];
}

/** By the accesses of a kernel: the rows of each variable; undefined where one of its accesses is not known. */
const rowsByName = new WeakMap<readonly AdvisedAccess[], Map<string, readonly Row[] | undefined>>();

/** The rows of the variable of an access. */
function rowsBeside(
  access: AdvisedAccess,
  all: Prepared,
  warps: readonly WarpForms[],
  accesses: readonly AdvisedAccess[],
): readonly Row[] | undefined {
  let byName = rowsByName.get(accesses);
  if (!byName) {
    byName = new Map();
    rowsByName.set(accesses, byName);
    const shared = accesses.filter(({ space }) => space === 'shared');
    const names = shared.map((each) => variableOf(each, all, warps)?.name);
    // An access of an unknown variable may be one of any.
    if (!names.includes(undefined))
      for (const name of new Set(names)) {
        const rows = shared.filter((_, i) => names[i] === name).flatMap((each) => rowsOf(each, all, warps) ?? [undefined]);
        byName.set(name!, rows.includes(undefined) ? undefined : (rows as Row[]));
      }
  }
  const name = variableOf(access, all, warps)?.name;
  return name === undefined ? undefined : byName.get(name);
}

function firstOf(
  sizes: readonly number[],
  seconds: readonly number[],
  attempt: (size: number, second: number) => Mended | undefined,
): Mended | undefined {
  for (const size of sizes)
    for (const second of seconds) {
      const found = attempt(size, second);
      if (found) return found;
    }
  return undefined;
}

function rowsOf(access: AdvisedAccess, { kernel }: Prepared, warps: readonly WarpForms[]): Row[] | undefined {
  const found: Row[] = [];
  for (const warp of warps) {
    const lanesOf = warp.lanesOf(access.block);
    if (lanesOf === 'none') continue;
    const form = warp.at(addressOf(kernel.insts[access.value]!)!, access.block);
    if (form.kind !== 'linear') return undefined;
    const lanes = activeOf(lanesOf === 'some' ? -1 : lanesOf, warp.warp.width);
    const offsets = lanes.map((lane) => form.lanes[lane]!);
    const others = new Map([...form.terms].filter(([{ name }]) => !/^(variable|param) /.test(name)));
    const now = stepsOf(access, offsets, lanes, 0);
    if (!now) return undefined;
    found.push({ access, offsets, lanes, residue: (by) => residueOf(others, by), now: now.steps });
  }
  return found;
}

/** A layout, if with it the access has no conflicts and no other one has more than now. */
function tryLayout(access: AdvisedAccess, rows: readonly Row[], layout: Omit<Mended, 'wavefronts'>): Mended | undefined {
  let most = 0;
  for (const row of rows) {
    const residue = row.residue(layout.rowBytes);
    if (residue === undefined) return undefined;
    const offsets = row.offsets.map((offset) => placed(offset + residue, layout));
    const steps = stepsOf(row.access, offsets, row.lanes, 0);
    if (!steps || steps.steps > row.now) return undefined;
    if (row.access !== access) continue;
    if (steps.steps > steps.least) return undefined;
    most = Math.max(most, steps.steps);
  }
  return { ...layout, wavefronts: most };
}

/** Where a layout places a byte. */
export function placed(offset: number, { rowBytes, padding, swizzle }: Omit<Mended, 'wavefronts'>): number {
  const row = Math.floor(offset / rowBytes);
  if (padding !== undefined) return offset + row * padding;
  const { unit, count } = swizzle!;
  return (
    offset -
    (offset % (unit * count)) +
    ((Math.floor((offset % (unit * count)) / unit) ^ (((row % count) + count) % count)) * unit + (offset % unit))
  );
}

/** A layout in words. */
export function mendedText({ rowBytes, padding, swizzle, wavefronts }: Mended): string {
  const what =
    padding !== undefined
      ? `pad each row of ${rowBytes} bytes by ${padding} bytes`
      : `XOR the number of each ${swizzle!.unit}-byte unit in its row of ${rowBytes} bytes with the row's number modulo ${swizzle!.count}`;
  return `${what}: ${wavefronts} wavefront${wavefronts === 1 ? '' : 's'}`;
}
