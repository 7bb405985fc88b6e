/** Miscellaneous instructions. Source: PTX ISA 9.0, 9.7.19. */
import { row } from '../model/row.ts';

export const miscRows = [
  row({
    syntax: 'nanosleep.u32 a',
    types: { a: 'u32' },
    since: { ptx: 6.3, sm: 70 },
    doc: 'Waits for a time between zero and twice the given nanoseconds; here zero.',
    source: '9.7.19.2',
    status: 'exact',
    lower: () => {},
    cases: () => [],
  }),
  row({
    syntax: 'griddepcontrol.action',
    values: { action: ['launch_dependents', 'wait'] },
    since: { ptx: 7.8, sm: 90 },
    doc: 'Lets the dependent launch begin early, or waits for the launch that this one depends on. Ignored, because each launch begins after the previous ones have ended and their writes are visible.',
    source: '9.7.13.13',
    status: 'exact',
    lower: () => {},
    cases: () => [],
  }),
  row({
    syntax: 'trap',
    since: { ptx: 1, sm: 10 },
    doc: 'Ends the thread, and fails the launch after the other threads have ended.',
    source: '9.7.19.4',
    status: 'exact',
    control: 'stop',
    lower: (_, __, ir) => ir.stop('`trap` was executed'),
    cases: () => [],
  }),
];
