/** What is left (9.7.19). Source: PTX ISA 9.0. */
import type { Refusal, Row } from '../../row.ts';
import { refusing } from './refuse.ts';

const noTrap: Refusal = {
  refused: 'stopping a launch: no Apple GPU can, and what comes after would run',
  instead: 'write an error code into a buffer and `ret`; `assert` and `__trap()` are left out with `-DNDEBUG`',
};
const noDebugger: Refusal = { refused: 'a breakpoint: Metal has none in a kernel', instead: 'leave the instruction out' };
const noEvents: Refusal = {
  refused: 'an event of a performance counter: Metal has none that a kernel can send',
  instead: 'leave the instruction out',
};
const noSleep: Refusal = {
  refused: 'waiting for a time is not there yet',
  instead: 'leave the instruction out: a sleep may last no time at all',
};
const noRegisters: Refusal = {
  refused: 'a share of the registers that changes while the kernel runs: Metal sets it once',
  instead: 'leave the instruction out: it changes no result',
};

const always = { ptx: 1, sm: 10 } as const;

export const miscRows = (): readonly Row[] => [
  refusing({ since: always, source: '9.7.19.1', status: noDebugger })({ syntax: 'brkpt', doc: 'Stops for a debugger.' }),
  refusing({ since: { ptx: 6.3, sm: 70 }, source: '9.7.19.2', status: noSleep })({
    syntax: 'nanosleep.u32 a',
    types: { a: 'u32' },
    doc: 'Waits from none to twice so many nanoseconds.',
  }),
  refusing({ since: { ptx: 1.4, sm: 10 }, source: '9.7.19.3', status: noEvents })({
    syntax: 'pmevent{.mask} a',
    types: { a: 'u32' },
    doc: 'Sends an event to performance counters, or those of a mask.',
  }),
  refusing({ since: always, source: '9.7.19.4', status: noTrap })({ syntax: 'trap', doc: 'Stops the launch with an error.' }),
  refusing({ since: { ptx: 8, sm: 90 }, source: '9.7.19.5', status: noRegisters })({
    syntax: 'setmaxnreg.action.sync.aligned.u32 a',
    values: { action: ['inc', 'dec'] },
    types: { a: 'u32' },
    doc: 'Takes more registers for the warp group, or gives some back.',
  }),
];
