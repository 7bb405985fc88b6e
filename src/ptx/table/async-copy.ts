/**
 * Asynchronous copies into shared memory. Source: PTX ISA 9.0, 9.7.9.25.3. They are performed immediately: until a thread has waited for a
 * copy, no thread may read its destination or write its source, so the difference is not observable.
 */
import type { Type, Value } from '../../ir/index.ts';
import { type AddressOperand, type Row, type RowBuilder, row } from '../model/row.ts';
import { not } from './compose.ts';
import { spaceOf } from './spaces.ts';

const ampere = { ptx: 7, sm: 80 } as const;
/** Nothing but a place that the sanitizer sees. */
const ignore = (_: unknown, __: unknown, ir: RowBuilder): void => ir.orderPoint();

const values = { space: ['shared', 'shared::cta'], prefetch: ['L2::64B', 'L2::128B', 'L2::256B'] } as const;
const types = { to: 'b8', a: 'b8', size: 'u32', taken: 'u32', policy: 'b64' } as const;
const doc = (what: string): string =>
  `Asynchronously copies ${what}. Reads \`taken\` bytes and fills the rest with 0. The copy is performed immediately, and hints are ignored.`;

interface Copy {
  readonly to: AddressOperand;
  readonly a: AddressOperand;
  readonly size: Value;
  readonly taken?: Value;
}

function copy(ir: RowBuilder, { to, a, size, taken }: Copy, space: string): void {
  const bytes = Number(ir.constantOf(size) ?? 0n);
  if (bytes !== 4 && bytes !== 8 && bytes !== 16) return ir.refuse(`a copy of ${bytes} bytes, but only 4, 8 and 16 are possible`);
  const [place, from] = [ir.pointer(to, spaceOf(space)), ir.pointer(a, 'global')];
  const known = taken === undefined ? bytes : ir.constantOf(taken);
  if (known !== undefined && known >= bytes) return whole(ir, place, from, bytes);
  const count = taken!;
  const isWhole = ir.icmp(count, ir.const('i32', bytes), { pred: 'uge' });
  ir.when(isWhole, () => whole(ir, place, from, bytes));
  ir.when(not(ir, isWhole), () => {
    const isNone = ir.icmp(count, ir.const('i32', 0), { pred: 'eq' });
    ir.when(isNone, () => zero(ir, place, bytes));
    ir.when(not(ir, isNone), () => part(ir, place, from, bytes, count));
  });
}

const wordsOf = (bytes: number): Type => (bytes === 4 ? 'i32' : bytes === 8 ? 'v2.i32' : 'v4.i32');

function whole(ir: RowBuilder, to: Value, from: Value, bytes: number): void {
  const access = { align: bytes, volatile: false };
  ir.store(to, ir.load(wordsOf(bytes), from, access), access);
}

function zero(ir: RowBuilder, to: Value, bytes: number): void {
  const word = ir.const('i32', 0);
  const value = bytes === 4 ? word : bytes === 8 ? ir.vec2('v2.i32', word, word) : ir.vec4('v4.i32', word, word, word, word);
  ir.store(to, value, { align: bytes, volatile: false });
}

/** Copies byte by byte. Past the last byte to read, the last one is read again and 0 is written. */
function part(ir: RowBuilder, to: Value, from: Value, bytes: number, taken: Value): void {
  const access = { align: 1, volatile: false };
  const last = ir.sub(taken, ir.const('i32', 1));
  for (let at = 0; at < bytes; at++) {
    const place = ir.const('i32', at);
    const byte = ir.load('i8', ir.ptradd(from, ir.zext('i64', ir.umin(place, last))), access);
    const isRead = ir.icmp(place, taken, { pred: 'ult' });
    ir.store(ir.ptradd(to, ir.const('i64', at)), ir.select(isRead, byte, ir.const('i8', 0)), access);
  }
}

export const asyncCopyRows = (): readonly Row[] => [
  row({
    syntax: 'cp.async.ca.space.global{.L2::cache_hint}{.prefetch} [to], [a], size{, taken}{, policy}',
    values,
    types,
    constants: { size: [4, 16] },
    onlyWith: { policy: 'L2::cache_hint' },
    spaces: { a: 'global' },
    since: ampere,
    doc: doc('4, 8 or 16 bytes'),
    source: '9.7.9.25.3.1',
    status: 'exact',
    lower: (operands, { space }, ir) => copy(ir, operands, space),
    cases: () => [],
  }),
  row({
    syntax: 'cp.async.cg.space.global{.L2::cache_hint}{.prefetch} [to], [a], size{, taken}{, policy}',
    values,
    types,
    constants: { size: [16, 16] },
    onlyWith: { policy: 'L2::cache_hint' },
    spaces: { a: 'global' },
    since: ampere,
    doc: doc('16 bytes'),
    source: '9.7.9.25.3.1',
    status: 'exact',
    lower: (operands, { space }, ir) => copy(ir, operands, space),
    cases: () => [],
  }),
  row({
    syntax: 'cp.async.commit_group',
    since: ampere,
    doc: 'Closes the group of the copies so far, which are already complete.',
    source: '9.7.9.25.3.2',
    status: 'exact',
    lower: ignore,
    cases: () => [],
  }),
  row({
    syntax: 'cp.async.wait_group n',
    types: { n: 'u32' },
    constants: { n: [0, 0x7fffffff] },
    since: ampere,
    doc: 'Waits until all groups but the latest n are complete, which they already are.',
    source: '9.7.9.25.3.3',
    status: 'exact',
    lower: ignore,
    cases: () => [],
  }),
  row({
    syntax: 'cp.async.wait_all',
    since: ampere,
    doc: 'Waits until all copies are complete, which they already are.',
    source: '9.7.9.25.3.3',
    status: 'exact',
    lower: ignore,
    cases: () => [],
  }),
];
