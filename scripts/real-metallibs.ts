/**
 * `bun scripts/real-metallibs.ts [FOLDER]`: reads every `.metallib` in a folder, or in the one that CUMETAL_REAL_METALLIBS names,
 * and prints what becomes of it: read and described, held against the rules, written back byte for byte, and each function
 * disassembled, assembled by LLVM 14, and written again, LLVM holding both equal to the original. Ends with 1 where one fails.
 * Such files are other people's: none is part of the project.
 */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { raiseModule, reflectModule } from '../src/air/index.ts';
import { Diagnostics } from '../src/base/diagnostic.ts';
import { disassemble, type Module, readModule, writeModule } from '../src/bitcode/index.ts';
import { validateBytes } from '../src/cli/validate.ts';
import { type LibraryFunction, readMetallib, writeMetallib } from '../src/metallib/index.ts';

const folder = process.argv[2] ?? process.env.CUMETAL_REAL_METALLIBS;
if (!folder) {
  console.error('no folder: name one, or set CUMETAL_REAL_METALLIBS');
  process.exit(2);
}

const scratch = mkdtempSync(join(tmpdir(), 'cumetal-real-'));
process.on('exit', () => rmSync(scratch, { recursive: true, force: true }));
const at = (name: string): string => join(scratch, name);

/** What a tool prints; nothing where it fails. */
function tool(name: string, ...args: string[]): string | undefined {
  const { status, stdout } = spawnSync(name, args, { encoding: 'utf8', maxBuffer: 2 ** 26 });
  return status === 0 ? stdout : undefined;
}

/** LLVM's text without the line that names the file. */
const textOf = (path: string): string | undefined => tool('llvm-dis-14', path, '-o', '-')?.replace(/^.*\n/, '');
const isSame = (path: string, wanted: string | undefined): boolean => wanted !== undefined && textOf(path) === wanted;

interface Judged {
  readonly assembled: boolean;
  /** Nothing where `llvm-diff` does not even hold the original equal to itself, as with sums over loops. */
  readonly diffed: boolean | undefined;
  readonly rewritten: boolean;
  /** `runs`, at times with values that a caller gives, or what the CPU device says. */
  readonly raised: string;
}

function judgeModule(fn: LibraryFunction, module: Module): Judged {
  const [original, ours, built, again] = ['original.bc', 'ours.ll', 'built.bc', 'again.bc'].map(at) as [string, string, string, string];
  writeFileSync(original, fn.bitcode);
  writeFileSync(ours, disassemble(module));
  const wanted = textOf(original);
  const assembled = tool('llvm-as-14', ours, '-o', built) !== undefined && isSame(built, wanted);
  const diffed = tool('llvm-diff-14', original, original) === undefined ? undefined : tool('llvm-diff-14', original, built) !== undefined;
  const bytes = writeModule(module);
  writeFileSync(again, bytes);
  const reread = readModule(bytes, new Diagnostics());
  const isFixed = reread !== undefined && Buffer.compare(writeModule(reread), bytes) === 0;
  return { assembled, diffed, rewritten: isFixed && isSame(again, wanted), raised: fn.type === 'kernel' ? raisedAs(module) : fn.type };
}

function raisedAs(module: Module): string {
  const diagnostics = new Diagnostics();
  if (raiseModule(module, diagnostics).length > 0) return 'runs';
  if (reflectModule(module, new Diagnostics()).length > 0) return 'runs, given its function constants';
  return diagnostics.list[0]?.message.replace(/^.*cannot be run here: /, '').replace(/ is not supported$/, '') ?? 'no kernel';
}

function yes(all: readonly (boolean | undefined)[]): string {
  const known = all.filter((one) => one !== undefined);
  const unknown = all.length - known.length;
  const word = known.every(Boolean) ? (known.length > 0 || unknown === 0 ? 'yes' : '') : known.some(Boolean) ? 'in part' : 'NO';
  return [word, unknown > 0 ? `${unknown} not equal to itself` : ''].filter(Boolean).join(', ');
}

/** A row of the table, and whether all went well. */
function judgeFile(path: string): { cells: string[]; isGood: boolean } {
  const bytes = new Uint8Array(readFileSync(path));
  const reading = new Diagnostics();
  const library = readMetallib(bytes, reading);
  const name = basename(path).replace(/\.metallib$/, '');
  if (!library) return { cells: [name, '', '', `NO: ${reading.list[0]?.message}`], isGood: false };
  const modules = library.functions.map((fn) => readModule(fn.bitcode, reading));
  const isValid = validateBytes(bytes, new Diagnostics());
  const isRepacked = Buffer.compare(writeMetallib(library), bytes) === 0;
  const judged = library.functions.flatMap((fn, i) => (modules[i] ? [judgeModule(fn, modules[i])] : []));
  const isRead = !reading.hasErrors;
  const { major, minor, patch } = library.version;
  const columns = [judged.map((j) => j.assembled), judged.map((j) => j.diffed), judged.map((j) => j.rewritten)];
  const raised = [...new Set(judged.map((j) => j.raised))].join(', ');
  return {
    cells: [
      name,
      `${major}.${minor}.${patch}`,
      String(library.functions.length),
      yes([isRead]),
      yes([isValid]),
      yes([isRepacked]),
      ...columns.map(yes),
      raised,
    ],
    isGood: isRead && isValid && isRepacked && columns.every((column) => column.every((one) => one !== false)),
  };
}

const heads = ['file', 'version', 'functions', 'inspect', 'validate', 'repack', 'llvm-as', 'llvm-diff', 'rewrite', 'on the CPU'];
const paths = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.metallib'));
const rows = paths.sort().map((name) => judgeFile(join(folder, name)));
const widths = heads.map((head, i) => Math.max(head.length, ...rows.map(({ cells }) => cells[i]?.length ?? 0)));
const line = (cells: readonly string[]): string => `| ${widths.map((width, i) => (cells[i] ?? '').padEnd(width)).join(' | ')} |`;
console.log([line(heads), line(widths.map((width) => '-'.repeat(width))), ...rows.map(({ cells }) => line(cells))].join('\n'));
const good = rows.filter(({ isGood }) => isGood).length;
console.log(`\n${rows.length} files, ${good} without a complaint`);
process.exit(good === rows.length ? 0 : 1);
