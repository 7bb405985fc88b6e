/**
 * Copies of units of 256 quantized weights of 16 rows to shared memory, by windows of 16 bytes. Places are kept and moved, because a unit has few instructions
 * besides.
 */
import { copyAsync, laneIndex, local, type Pointer, pointerAt, u8, u32, u64, type Value, when } from '../build/index.ts';
import { type Form, type Inside, rowBytes, rowStart, tileRows, unitWeights } from './quantized-multiply.ts';

type Word = Value<'u32'>;
type Long = Value<'u64'>;

/** Copies of units of 16 rows by a warp. */
export interface Copier {
  /** Sets the places in memory to those of a unit of a group of rows. */
  aim(group: Word, unit: Word): void;
  /** Moves them by as many units as warps share the rows. */
  step(): void;
  /** Copies a unit, whose index is given. */
  copy(to: Pointer<'u8', 'shared'>, unit: Word): void;
}

/**
 * Copies two units of 16 rows, which are aligned. Sixteen lanes have 256 bytes of a row, and two lanes what is left, so that sectors of 32 bytes are read
 * once.
 */
export function pairCopier(p: Inside, form: Form): Copier {
  const { codes, pitch, together } = form;
  const bytes = together * codes.bytes;
  const windows = bytes / 16;
  const lane = laneIndex();
  // Copies of some lanes for each row: the lanes, and the first window.
  const shapes: { lanes: number; first: number }[] = [];
  for (let first = 0; first < windows; ) {
    const lanes = 2 ** Math.floor(Math.log2(Math.min(16, windows - first)));
    shapes.push({ lanes, first });
    first += lanes;
  }
  const pitchBytes = rowBytes(p, form);
  const parts = shapes.map(({ lanes, first }) => {
    const window = lane.and(lanes - 1).add(first);
    const rows = 32 / lanes;
    return {
      window,
      row: lane.shr(Math.log2(lanes)),
      source: local(u64, 0),
      rows: Array.from({ length: tileRows / rows }, (_, i) => ({ more: i * rows, place: local(u32, 0) })),
    };
  });
  return {
    aim: (group, unit) => {
      for (const { window, row, source, rows } of parts) {
        source.set((p.weights.address() as Long).add(unit.mulWide(bytes)).add(window.mulWide(16)));
        for (const { more, place } of rows) place.set(group.mul(tileRows).add(row).add(more).min(p.rows.sub(1)));
      }
    },
    step: () => {
      for (const { source } of parts) source.set(source.add(p.split.mulWide(bytes)));
    },
    copy: (to, unit) => {
      const isWhole = unit.mul(together).add(together).mul(unitWeights).le(p.columns);
      for (const { window, row, source, rows } of parts) {
        // The last unit of a row may be alone.
        const guard = isWhole.or(window.lt(codes.bytes / 16));
        const into = to.add(row.mul(pitch)).add(window.mul(16));
        for (const { more, place } of rows)
          copyAsync(into.at(more * pitch), pointerAt(u8, 'global', place.madWide(pitchBytes, source.get())).at(0), 16, { guard });
      }
    },
  };
}

/** Copies the windows of 16 bytes in which units are: places are kept and moved, because a unit has few instructions besides. */
export function copier(p: Inside, form: Form): Copier {
  const { codes, pitch } = form;
  const windows = pitch / 16;
  const count = tileRows * windows;
  const lane = laneIndex();
  const items = Array.from({ length: Math.ceil(count / 32) }, (_, i) => lane.add(32 * i));
  const starts = items.map(() => local(u64, 0));
  const end = rowStart(p, form, p.rows.sub(1)).add(rowBytes(p, form).to(u64));
  const windowOf = (index: Word): Long => index.rem(windows).mulWide(16);
  const each = (i: number, run: () => void): void => (32 * i + 32 > count ? when(items[i]!.lt(count), run) : run());
  return {
    aim: (group, unit) => {
      for (const [i, index] of items.entries()) {
        const start = rowStart(p, form, group.mul(tileRows).add(index.div(windows))).add(unit.mulWide(codes.bytes));
        starts[i]!.set(start);
      }
    },
    step: () => {
      const more = p.split.mulWide(codes.bytes);
      for (const start of starts) start.set(start.add(more));
    },
    copy: (to) => {
      for (const [i, index] of items.entries()) {
        const into = to.add(index.div(windows).mul(pitch)).add(index.rem(windows).mul(16)).at(0);
        const start = starts[i]!.get();
        const from = start.and(~15n & 0xffff_ffff_ffff_ffffn).add(windowOf(index));
        // Nothing behind the last byte of the matrix is read, and of other rows as little as there is in the window.
        const stop = start.add(codes.bytes);
        const last = stop.lt(end).select(stop, end);
        const left = last.sub(from).to(u32).min(16);
        each(i, () => when(from.lt(last), () => copyAsync(into, pointerAt(u8, 'global', from).at(0), 16, { read: left })));
      }
    },
  };
}
