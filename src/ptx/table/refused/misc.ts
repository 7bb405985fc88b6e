/** Refused: breakpoints, performance events and register reallocation (9.7.19). Source: PTX ISA 9.0. */
import type { Refusal, Row } from '../../model/row.ts';
import { refusedGroup } from './refuse.ts';

const noDebugger: Refusal = { refused: 'Metal has no breakpoints in a kernel', instead: 'leave the instruction out' };
const noEvents: Refusal = {
  refused: 'Metal has no performance events that a kernel can send',
  instead: 'leave the instruction out',
};
const noRegisters: Refusal = {
  refused: 'Metal fixes the number of registers when the kernel starts',
  instead: 'leave the instruction out: results do not change',
};

const always = { ptx: 1, sm: 10 } as const;

export const miscRows = (): readonly Row[] => [
  refusedGroup({ since: always, source: '9.7.19.1', status: noDebugger })({ syntax: 'brkpt', doc: 'Stops in a debugger.' }),
  refusedGroup({ since: { ptx: 1.4, sm: 10 }, source: '9.7.19.3', status: noEvents })({
    syntax: 'pmevent{.mask} a',
    types: { a: 'u32' },
    doc: 'Triggers performance-monitor events, one or a mask of them.',
  }),
  refusedGroup({ since: { ptx: 8, sm: 90 }, source: '9.7.19.5', status: noRegisters })({
    syntax: 'setmaxnreg.action.sync.aligned.u32 a',
    values: { action: ['inc', 'dec'] },
    types: { a: 'u32' },
    doc: 'Requests more registers for the warp group, or releases some.',
  }),
];
