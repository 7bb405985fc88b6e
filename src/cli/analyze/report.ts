/** The tables of `cumetal analyze`: accesses, branches and occupancy, as text and as JSON. */
import { efficiencyOf, type KernelAdvice, spreadText, stepsText } from '../../advise/index.ts';
import { readableName } from '../../base/demangle/index.ts';
import type { Diagnostic } from '../../base/diagnostic.ts';
import { columnLines } from '../terminal/columns.ts';
import { diagnosticJson } from '../terminal/formats.ts';
import { jsonDocument } from '../terminal/json.ts';

/** The advice on one file. */
export interface FileAdvice {
  readonly path: string;
  /** Where the launch is from. */
  readonly notes: readonly string[];
  readonly kernels: readonly KernelAdvice[];
}

type Access = KernelAdvice['accesses'][number];

/** The advice on a file as tables. */
export function adviceText({ path, notes, kernels }: FileAdvice): string {
  const head = notes.map((note) => `${path}: ${note}\n`).join('');
  return head + kernels.map(kernelText).join('\n');
}

function kernelText(advice: KernelAdvice): string {
  const { kernel, grid, block, accesses, branches, occupancy } = advice;
  const shape = block
    ? `${grid ? `grid ${grid.join(' x ')}, ` : ''}block ${block.join(' x ')}`
    : 'no launch: for 32 threads that follow one another along x';
  const rows = accesses.map(rowOf);
  const head = ['line', 'access', 'a request', 'used', 'addresses'];
  const lines = rows.length > 0 ? columnLines([head, ...rows], (column) => (column === 0 ? 'end' : 'start')) : [];
  const table = lines.map((line) => `  ${line}\n`).join('');
  const split = branches.filter(({ diverges }) => diverges === true);
  const open = branches.filter(({ diverges }) => diverges === undefined);
  const divergence =
    branches.length > 0
      ? `  ${branches.length} lane-dependent branches: ${split.length} diverge, ${open.length} depend on values that are not known\n`
      : '';
  const resident = occupancy
    ? `  occupancy: ${occupancy.warps} of ${occupancy.maxWarps} warps of a multiprocessor of ${occupancy.arch}, limited by ${occupancy.by}; registers are not counted\n`
    : '';
  return `${readableName(kernel)} (${shape})\n${table}${divergence}${resident}`;
}

/** What a number stands for: `at most`, or `about` for one that rests on assumptions. */
const prefixes = { exact: '', most: 'at most ', assumed: 'about ' } as const;

function rowOf(access: Access): string[] {
  const { line, space, kind, type, steps } = access;
  const unit = `${space === 'global' ? 'sector' : 'wavefront'}${steps?.steps === 1 ? '' : 's'}`;
  const request = steps ? `${prefixes[steps.certainty]}${stepsText(steps.steps)} ${unit}` : '?';
  const used =
    steps && space === 'global' ? `${efficiencyOf(steps)} %` : steps ? `${Math.round((100 * steps.least) / steps.steps)} %` : '?';
  return [String(line), `${kind} ${space} ${type}`, request, used, spreadText(access)];
}

/** Everything as one JSON object. */
export function adviceJson(files: readonly FileAdvice[], list: readonly Diagnostic[]): string {
  return jsonDocument({
    files: files.map(({ path, kernels }) => ({ path, kernels: kernels.map(kernelJson) })),
    diagnostics: list.map(diagnosticJson),
  });
}

function kernelJson({ kernel, grid, block, accesses, branches, occupancy }: KernelAdvice): object {
  return {
    name: kernel,
    grid: grid ?? null,
    block: block ?? null,
    accesses: accesses.map(accessJson),
    branches: branches.map(({ line, diverges, idle, warps }) => ({
      line,
      diverges: diverges ?? null,
      diverging_warps: warps.diverging,
      known_warps: warps.of,
      idle: idle === undefined ? null : Math.round(idle * 1000) / 1000,
    })),
    occupancy: occupancy
      ? { arch: occupancy.arch, blocks: occupancy.blocks, warps: occupancy.warps, max_warps: occupancy.maxWarps, limited_by: occupancy.by }
      : null,
  };
}

function accessJson({ line, space, kind, type, size, spread, stride, steps }: Access): object {
  return {
    line,
    space,
    kind,
    type,
    bytes: size,
    spread,
    stride: stride ?? null,
    request: steps
      ? {
          certainty: steps.certainty,
          [space === 'global' ? 'sectors' : 'wavefronts']: steps.steps,
          least: steps.least,
          ...(space === 'global' ? { efficiency: efficiencyOf(steps) / 100 } : {}),
        }
      : null,
  };
}
