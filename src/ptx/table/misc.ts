/** What is left. Source: PTX ISA 9.0, 9.7.19. */
import { row } from '../model/row.ts';

export const miscRows = [
  row({
    syntax: 'nanosleep.u32 a',
    types: { a: 'u32' },
    since: { ptx: 6.3, sm: 70 },
    doc: 'Waits from none to twice so many nanoseconds: none.',
    source: '9.7.19.2',
    status: 'exact',
    lower: () => {},
    cases: () => [],
  }),
  row({
    syntax: 'griddepcontrol.action',
    values: { action: ['launch_dependents', 'wait'] },
    since: { ptx: 7.8, sm: 90 },
    doc: 'Lets the launch that depends on this one begin early, or waits for the one that this depends on. Ignored: each launch begins when those before it have ended and what they wrote is seen.',
    source: '9.7.13.13',
    status: 'exact',
    lower: () => {},
    cases: () => [],
  }),
  row({
    syntax: 'trap',
    since: { ptx: 1, sm: 10 },
    doc: 'Ends the thread, and the launch with an error once the other threads have ended.',
    source: '9.7.19.4',
    status: 'exact',
    control: 'stop',
    lower: (_, __, ir) => ir.stop('`trap` was executed'),
    cases: () => [],
  }),
];
