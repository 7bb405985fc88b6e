/** `cumetal tune`: measures the kernels of the library on a device, and keeps the speeds where launches of `cumetal/kernels` find them. */
import { type CumetalError, Device } from '../api/index.ts';
import type { DeviceKind } from '../device/index.ts';
import { makeFolderOf, tuningFile, tuningVariable } from '../files/index.ts';
import {
  type Measured,
  parseTables,
  type TunedType,
  type TuneOptions,
  type TuningTable,
  tablesText,
  tune as tuneDevice,
} from '../kernels/index.ts';
import { allValues, type Context, has, lastValue, type ParsedArguments } from './command/command.ts';
import { usageError } from './command/usage-error.ts';
import { type ExitCode, exit } from './terminal/exit.ts';
import type { Terminal } from './terminal/index.ts';
import { jsonDocument } from './terminal/json.ts';
import { writeDiagnostics } from './terminal/render.ts';

/** Runs the command. */
export async function tune(context: Context): Promise<ExitCode> {
  const { parsed, terminal } = context;
  const numbers = { ...numberOf(parsed, 'size'), ...numberOf(parsed, 'runs') };
  const wrong = Object.entries(numbers).find(([, value]) => !Number.isInteger(value) || value < 1);
  if (wrong) return usageError(`invalid value for \`--${wrong[0]}\`: expected a whole number from 1 on`, help, terminal);
  const named = lastValue(parsed, 'output');
  const path = named ?? tuningFile({ platform: process.platform, env: terminal.env });
  if (path === undefined) return usageError(`there is no file for the table: set ${tuningVariable}, or give --output`, help, terminal);
  const old = path === '-' ? [] : oldTables(path, terminal);
  if (typeof old === 'string') return failed(old, terminal);
  const types = allValues(parsed, 'type') as TunedType[];
  const table = await measure(context, { ...numbers, ...(types.length > 0 ? { types } : {}) });
  if (typeof table === 'number') return table;
  if (named === undefined) makeFolder(path);
  const why = keep(path, merged(old, table), terminal);
  if (why !== undefined) return failed(`cannot write \`${path}\`: ${why}`, terminal);
  if (path !== '-') terminal.out(has(parsed, 'json') ? jsonOf(table, path) : textOf(table, path));
  return exit.ok;
}

const help = 'cumetal tune --help';

/** The tables with a new one, which replaces the types that it has of one of the same device. */
const merged = (old: readonly TuningTable[], table: TuningTable): readonly TuningTable[] => [
  ...old.filter(({ device }) => device !== table.device),
  { ...table, gemm: { ...old.find(({ device }) => device === table.device)?.gemm, ...table.gemm } },
];

/** The number that an option gives, if it is given. */
function numberOf(parsed: ParsedArguments, name: string): Readonly<Record<string, number>> {
  const text = lastValue(parsed, name);
  return text === undefined ? {} : { [name]: Number(text) };
}

/** The table of the device that is asked for, or the exit code after reporting an error. */
async function measure({ parsed, terminal }: Context, options: TuneOptions): Promise<TuningTable | ExitCode> {
  const onMeasured = ({ type, kernel }: Measured): void => terminal.status?.(`measured ${kernel} of ${type}`);
  try {
    using device = Device.open((lastValue(parsed, 'device') ?? 'auto') as DeviceKind);
    return await tuneDevice(device, { ...options, onMeasured });
  } catch (error) {
    if (!isOfDiagnostics(error)) throw error;
    writeDiagnostics(error.diagnostics, terminal);
    return error.name === 'DeviceNotFoundError' ? exit.noDevice : exit.failed;
  } finally {
    terminal.status?.('');
  }
}

/** Whether an error is one of the API. */
const isOfDiagnostics = (error: unknown): error is CumetalError => error instanceof Error && 'diagnostics' in error;

const rowsOf = ({ gemm }: TuningTable): readonly Row[] =>
  Object.entries(gemm).flatMap(([type, speeds]) =>
    Object.entries(speeds).map(([kernel, tflops]) => ({ routine: 'gemm', type, kernel, tflops })),
  );

interface Row {
  readonly routine: string;
  readonly type: string;
  readonly kernel: string;
  readonly tflops: number;
}

const rowText = ({ routine, type, kernel, tflops }: Row): string =>
  `  ${`${routine} ${type}`.padEnd(10)} ${kernel.padEnd(16)} ${tflops.toPrecision(3).padStart(8)} TFLOP/s\n`;
const textOf = (table: TuningTable, file: string): string => `${table.device}\n${rowsOf(table).map(rowText).join('')}written to ${file}\n`;
const jsonOf = (table: TuningTable, file: string): string =>
  jsonDocument({ device: table.device, sm: table.sm, file, kernels: rowsOf(table) });

function failed(why: string, terminal: Terminal): ExitCode {
  terminal.err(`error: ${why}\n`);
  return exit.failed;
}

/** The tables that a file has, of other devices too; or why it is not overwritten. */
function oldTables(path: string, terminal: Terminal): readonly TuningTable[] | string {
  const bytes = terminal.readFile(path);
  // There is no file yet, or none that can be read: writing says what is wrong with it.
  if (!(bytes instanceof Uint8Array)) return [];
  const tables = parseTables(new TextDecoder().decode(bytes));
  return 'why' in tables ? `\`${path}\` is no file of tables: ${tables.why}` : tables;
}

/** Makes the folder of settings for the first table. */
function makeFolder(path: string): void {
  try {
    makeFolderOf(path);
  } catch {
    // Writing the file fails as well, and says why.
  }
}

/** Writes a file of tables. Gives why that failed. */
function keep(path: string, tables: readonly TuningTable[], terminal: Terminal): string | undefined {
  const text = tablesText(tables);
  if (path !== '-') return terminal.writeFile(path, new TextEncoder().encode(text))?.why;
  terminal.out(text);
  return undefined;
}
