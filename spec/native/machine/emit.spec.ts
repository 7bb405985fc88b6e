/** The code of allocated functions: the frame, the order of blocks, what jumps where, and which instructions move what. */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { allocate, emitFunction } from '../../../src/native/machine/index.ts';
import type { MachineBlock, MachineEnd, MachineInst, RegisterFile, RegisterInfo } from '../../../src/native/machine/types.ts';
import { type Assembler, type Label, newAssembler, type Operand } from '../../../src/native/x64/index.ts';

const test = suite('native/machine/emit');

const file: RegisterFile = { general: [0, 1, 2, 3], vector: [0, 1, 2, 3] };

const textOf = (operand: Operand): string => {
  switch (operand.kind) {
    case 'general':
      return `g${operand.number}.${operand.bytes}`;
    case 'vector':
      return `v${operand.number}.${operand.bytes}`;
    case 'memory':
      return `[g${operand.base}+${operand.displacement}]`;
    case 'mask':
      return `k${operand.number}`;
    default:
      return `${operand.value}`;
  }
};

/** An assembler that writes lines instead of bytes. */
function recorder(): { readonly out: Assembler; readonly lines: string[] } {
  const lines: string[] = [];
  const real = newAssembler({ avx512: true });
  const name = ({ id }: Label): string => `L${id}`;
  const out: Assembler = {
    ...real,
    features: real.features,
    size: 0,
    newLabel: () => real.newLabel(),
    emit: (mnemonic, ...operands) => void lines.push(`${mnemonic} ${operands.map(textOf).join(', ')}`.trim()),
    bind: (label) => void lines.push(`${name(label)}:`),
    jump: (label) => void lines.push(`jump ${name(label)}`),
    jumpIf: (condition, label) => void lines.push(`jump ${condition} ${name(label)}`),
    align: (bytes) => void lines.push(`align ${bytes}`),
  };
  return { out, lines };
}

const say = (what: string): Pick<MachineInst, 'emit'> => ({
  emit(out, { def, uses, slot }) {
    const shown = uses.map((place, i) => (slot && i === uses.length - 1 ? textOf(slot) : place));
    out.emit([what, ...(def >= 0 ? [`d${def}`] : []), ...shown].join(' '));
  },
});

/** Jumps on 'e' to the first edge, else to the second. */
const branch: MachineEnd = {
  uses: [],
  emit(out, _places, labels, next) {
    out.jumpIf('e', labels[0]!);
    if (next !== 1) out.jump(labels[1]!);
  },
};
const jump: MachineEnd = {
  uses: [],
  emit(out, _places, labels, next) {
    if (next === undefined) out.jump(labels[0]!);
  },
};
const leave: MachineEnd = { uses: [], ...say('leave') };

const block = (insts: readonly MachineInst[], end: MachineEnd, to: readonly number[], more: Partial<MachineBlock> = {}): MachineBlock => ({
  params: [],
  insts,
  end,
  edges: to.map((number) => ({ block: number, args: [] })),
  loopDepth: 0,
  isRare: false,
  ...more,
});

function linesOf(registers: readonly RegisterInfo[], blocks: readonly MachineBlock[], outgoingBytes = 0): string[] {
  const { out, lines } = recorder();
  emitFunction(out, allocate({ registers, blocks, outgoingBytes }, file));
  return lines;
}

test('a frame keeps the stack at a multiple of 64, and has the arguments of calls', () => {
  assert.equal(linesOf([], [block([], leave, [])]).slice(0, 1), ['sub g4.8, 56']);
  assert.equal(linesOf([], [block([], leave, [])], 48).slice(0, 1), ['sub g4.8, 56']);
  assert.equal(linesOf([], [block([], leave, [])], 64).slice(0, 1), ['sub g4.8, 120']);
});

test('rare blocks are behind all others, and empty ones vanish', () => {
  const blocks = [
    block([{ uses: [], ...say('a') }], branch, [1, 2]),
    block([{ uses: [], ...say('rare') }], jump, [3], { isRare: true }),
    block([], jump, [3]),
    block([{ uses: [], ...say('b') }], leave, []),
  ];
  assert.equal(linesOf([], blocks), ['sub g4.8, 56', 'L0:', 'a', 'jump e L1', 'L3:', 'b', 'leave', 'L1:', 'rare', 'jump L3']);
});

test('a loop of empty blocks stays a loop', () => {
  assert.equal(linesOf([], [block([], jump, [1]), block([], jump, [2]), block([], jump, [1])]), [
    'sub g4.8, 56',
    'L0:',
    'align 32',
    'L1:',
    'jump L1',
  ]);
});

test('headers of loops are aligned, and a critical edge without moves costs no jump', () => {
  const blocks = [block([], jump, [1]), block([{ uses: [], ...say('body') }], branch, [1, 2], { loopDepth: 1 }), block([], leave, [])];
  assert.equal(linesOf([], blocks), ['sub g4.8, 56', 'L0:', 'align 32', 'L1:', 'body', 'jump e L1', 'L3:', 'leave']);
});

/** Registers of one width that need more places than there are. */
function spilling(info: RegisterInfo): string[] {
  const registers = Array.from({ length: 6 }, () => info);
  const insts = [
    ...registers.map((_, def): MachineInst => ({ def, uses: [], ...say('make') })),
    ...registers.map((_, register): MachineInst => ({ uses: [5 - register], ...say('read') })),
  ];
  return linesOf(registers, [block(insts, leave, [])]).filter((line) => /mov/.test(line));
}

test('spills and loads are as wide as the register, integers 8 bytes', () => {
  const stores = (info: RegisterInfo): string => spilling(info)[0]!.replace(/\d+(?=[\].])/g, '_');
  assert.is(stores({ class: 'general', bytes: 4 }), 'mov [g4+_], g_.8');
  assert.is(stores({ class: 'vector', bytes: 4 }), 'vmovss [g4+_], v_.16');
  assert.is(stores({ class: 'vector', bytes: 8 }), 'vmovsd [g4+_], v_.16');
  assert.is(stores({ class: 'vector', bytes: 16 }), 'vmovups [g4+_], v_.16');
  assert.is(stores({ class: 'vector', bytes: 32 }), 'vmovups [g4+_], v_.32');
  assert.is(stores({ class: 'vector', bytes: 64 }), 'vmovups [g4+_], v_.64');
  const loads = spilling({ class: 'general', bytes: 4 }).filter((line) => /, \[/.test(line));
  assert.ok(loads.length > 0 && loads.every((line) => /^mov g\d\.4, /.test(line)), loads.join('; '));
});

/** Two parameters that a loop exchanges in each round. */
const exchange = (info: RegisterInfo): string[] => {
  const blocks = [
    block(
      [0, 1].map((def): MachineInst => ({ def, uses: [], ...say('make') })),
      jump,
      [],
      { edges: [{ block: 1, args: [0, 1] }] },
    ),
    block([{ uses: [2], ...say('read') }], branch, [], {
      params: [2, 3],
      loopDepth: 1,
      edges: [
        { block: 2, args: [] },
        { block: 3, args: [] },
      ],
    }),
    block([], jump, [], { loopDepth: 1, edges: [{ block: 1, args: [3, 2] }] }),
    block([{ uses: [3], ...say('read') }], leave, []),
  ];
  return linesOf([info, info, info, info], blocks).filter((line) => /mov|xchg/.test(line));
};

test('registers that a loop exchanges are exchanged at once', () => {
  assert.equal(exchange({ class: 'general', bytes: 8 }), ['xchg g0.8, g1.8']);
  assert.equal(exchange({ class: 'vector', bytes: 32 }), ['vmovaps v3.32, v0.32', 'vmovaps v0.32, v1.32', 'vmovaps v1.32, v3.32']);
});

test('a copy to its own place is left out, unless it cuts a register', () => {
  const copies = (from: RegisterInfo, to: RegisterInfo): number => {
    const insts: MachineInst[] = [
      { def: 0, uses: [], ...say('make') },
      { def: 1, uses: [0], isMove: true, ...say('copy') },
      { uses: [1], ...say('read') },
    ];
    return linesOf([from, to], [block(insts, leave, [])]).filter((line) => /copy/.test(line)).length;
  };
  assert.is(copies({ class: 'general', bytes: 8 }, { class: 'general', bytes: 8 }), 0);
  assert.is(copies({ class: 'general', bytes: 8 }, { class: 'general', bytes: 4 }), 1);
  assert.is(copies({ class: 'vector', bytes: 16 }, { class: 'vector', bytes: 16 }), 0);
});

test.run();
