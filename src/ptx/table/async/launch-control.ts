/** Requests of blocks that are not launched yet, of which none is ever taken here. Source: PTX ISA 9.0, 9.7.13.19. */
import type { Value } from '../../../ir/index.ts';
import { clusterSize, eachRank, pointerInRank } from '../../model/clusters.ts';
import { type Row, type RowBuilder, row } from '../../model/row.ts';
import { halvesOf, store } from '../whole.ts';
import { barrierAt, step } from './barrier-word.ts';

const blackwell = { ptx: 8.6, sm: 100 } as const;
const signal = 'mbarrier::complete_tx::bytes' as const;
const notTaken = 'No block is taken here: each is launched as usual.';

/** The bit of an answer that says whether it has a block: never. */
const isTaken = (ir: RowBuilder, a: Value | readonly Value[]): Value =>
  ir.icmp(ir.and(halvesOf(a)[0], ir.const('i64', 1)), ir.const('i64', 0), { pred: 'ne' });

/** Requests of blocks that are not launched yet; that none can be had is an answer that a program has to expect. */
export const launchControlRows = (): readonly Row[] => [
  row({
    syntax: `clusterlaunchcontrol.try_cancel.async{.shared::cta}.${signal}{.multicast::cluster::all}.b128 [a], [mbar]`,
    types: { a: 'b128', mbar: 'b64' },
    spaces: { a: 'shared', mbar: 'shared' },
    since: blackwell,
    doc: `Requests the work of a block that is not launched yet. ${notTaken}`,
    source: '9.7.13.19.1',
    status: 'exact',
    lower({ a, mbar }, m, ir) {
      const zero = ir.const('i64', 0);
      const [barrier, place] = [barrierAt(ir, mbar, 'shared'), ir.pointer(a, 'shared')];
      const answer = (to: Value, at: Value): void => {
        store(ir, to, [zero, zero], false);
        step(ir, at, { completes: ir.const('i32', 16) });
      };
      if (!m['multicast::cluster::all']) return answer(place, barrier);
      const all = ir.sub(ir.shl(ir.const('i32', 1), clusterSize(ir)), ir.const('i32', 1));
      eachRank(ir, ir.trunc('i16', all), (rank) => answer(pointerInRank(ir, place, rank), pointerInRank(ir, barrier, rank)));
    },
    cases: () => [],
  }),
  row({
    syntax: 'clusterlaunchcontrol.query_cancel.is_canceled.pred.b128 d, a',
    types: { d: 'pred', a: 'b128' },
    since: blackwell,
    doc: `Whether a request got a block. ${notTaken}`,
    source: '9.7.13.19.2',
    status: 'exact',
    lower: ({ a }, _, ir) => isTaken(ir, a),
    cases: () => [],
  }),
  row({
    syntax: 'clusterlaunchcontrol.query_cancel.get_first_ctaid.v4.b32.b128 d, a',
    types: { d: 'b32', a: 'b128' },
    vectors: { d: 'elements' },
    lanes: { d: 4 },
    since: blackwell,
    doc: `The index in the grid of the block that a request got; not specified if it got none. ${notTaken}`,
    source: '9.7.13.19.2',
    status: 'exact',
    lower: (_, __, ir) => Array.from({ length: 4 }, () => ir.const('i32', 0)),
    cases: () => [],
  }),
  row({
    syntax: 'clusterlaunchcontrol.query_cancel.axis.b32.b128 d, a',
    values: { axis: ['get_first_ctaid::x', 'get_first_ctaid::y', 'get_first_ctaid::z'] },
    types: { d: 'b32', a: 'b128' },
    since: blackwell,
    doc: `The index along an axis of the block that a request got; not specified if it got none. ${notTaken}`,
    source: '9.7.13.19.2',
    status: 'exact',
    lower: (_, __, ir) => ir.const('i32', 0),
    cases: () => [],
  }),
];
