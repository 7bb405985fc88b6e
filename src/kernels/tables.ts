/**
 * Tables of measured speeds: the one that is here was measured on an NVIDIA H200. `tune` measures another device, and `cumetal tune` writes what it
 * measured to a file from which every program has it.
 */
import type { Device } from '../api/index.ts';
import { readSettings, tuningFile } from '../files/index.ts';
import { refuse } from './refuse.ts';

/** Speeds of kernels for products in TFLOP/s, for sizes of which a device has many tiles; by type and by the name of the candidate. */
export type Speeds = Readonly<Record<string, Readonly<Record<string, number>>>>;

/** A table of measured speeds, as `tune` gives it: it is JSON. */
export interface TuningTable {
  readonly version: 1;
  /** The name of the device. */
  readonly device: string;
  /** The number of its architecture; 0 for a device that is not of NVIDIA. */
  readonly sm: number;
  readonly gemm: Speeds;
}

const halfSpeeds = {
  ...{ 'wgmma 128x256': 631, 'wgmma 256x128': 603, 'wgmma 128x128': 486, 'wgmma 128x64': 434 },
  ...{ 'mma 128x128': 433, 'mma 64x64': 260 },
} as const;
/** Measured on an NVIDIA H200. */
const measured: TuningTable = {
  version: 1,
  device: 'NVIDIA H200',
  sm: 90,
  gemm: {
    f16: halfSpeeds,
    bf16: halfSpeeds,
    f32: { 'single 128x256': 50.3, 'single 64x128': 49.6, 'single 64x128 of 4 warps': 46.4, 'single 64x64': 46.4 },
    tf32: {
      ...{ 'tf32 wgmma 128x256': 193, 'tf32 wgmma 256x128': 225, 'tf32 wgmma 128x128': 184 },
      ...{ 'tf32 mma 128x128': 114, 'tf32 mma 64x64': 101 },
    },
    f64: { 'f64x16 128x128': 47, 'f64x8 64x64': 51, 'f64 128x128': 28.1, 'f64 64x64': 30.1 },
  },
};

const isRecord = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null && !Array.isArray(value);
const areSpeeds = (value: unknown): value is Speeds =>
  isRecord(value) &&
  Object.values(value).every(
    (each) => isRecord(each) && Object.values(each).every((speed) => Number.isFinite(speed) && Number(speed) >= 0),
  );

/** Why a value is no table of this version; undefined for one. */
function whyNoTable(value: unknown): string | undefined {
  if (!isRecord(value)) return 'a table is an object';
  if (value.version !== 1) return `a table has the version ${JSON.stringify(value.version)}, and 1 is expected`;
  if (typeof value.device !== 'string' || typeof value.sm !== 'number') return 'a table has a `device` and an `sm`';
  return areSpeeds(value.gemm) ? undefined : '`gemm` has numbers from 0 on, by type and kernel';
}

/** The tables of the text of a file of them, or why it is none. */
export function parseTables(text: string): readonly TuningTable[] | { readonly why: string } {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return { why: 'it is not JSON' };
  }
  if (!Array.isArray(value)) return { why: 'it is no list of tables' };
  const why = value.map(whyNoTable).find((each) => each !== undefined);
  return why === undefined ? value : { why };
}

/** The text of a file of tables. */
export const tablesText = (tables: readonly TuningTable[]): string => `${JSON.stringify(tables, undefined, 2)}\n`;

const own = new Map<string, TuningTable>();
let stored: ReadonlyMap<string, TuningTable> | undefined;

/** Has launches on devices of the table's name use it, in place of one from the file. */
export const useTable = (table: TuningTable): void => void own.set(table.device, table);

/** The tables of the file of this user, read once. Throws CM5093 for a file that has none. */
function storedTables(): ReadonlyMap<string, TuningTable> {
  if (stored) return stored;
  const path = tuningFile();
  const text = path === undefined ? undefined : readText(path);
  const tables = text === undefined ? [] : parseTables(text);
  if ('why' in tables) return refuse('tune', `${path} cannot be used: ${tables.why}. Remove it, and \`cumetal tune\` writes it again`);
  stored = new Map(tables.map((table) => [table.device, table]));
  return stored;
}

/** The text of a file; undefined if there is none that this user can read. */
function readText(path: string): string | undefined {
  try {
    return readSettings(path);
  } catch {
    return undefined;
  }
}

/** The table that was measured for a device: by this program, or by `cumetal tune`. */
const tableFor = (name: string): TuningTable | undefined => own.get(name) ?? storedTables().get(name);

/** The table of a device: its own, or that of the H200 for one of NVIDIA. */
const ownTableOf = ({ info: { kind, name } }: Device): TuningTable | undefined =>
  tableFor(name) ?? (kind === 'cuda' ? measured : undefined);

/** The speeds of the kernels for products of a type on a device; those of the H200 for a type that its own table lacks, on one of NVIDIA. */
export const speedsOf = (device: Device, type: string): Speeds[string] | undefined =>
  ownTableOf(device)?.gemm[type] ?? (device.info.kind === 'cuda' ? measured.gemm[type] : undefined);
