/** Mutants that no test can tell from the code, each with the reason: no output of ours depends on what they change. */
export interface Equivalent {
  readonly file: string;
  /** The line without and with the fault, as a run prints them. */
  readonly line: string;
  readonly mutated: string;
  readonly why: string;
}

export const equivalents: readonly Equivalent[] = [
  {
    file: 'src/air/functions/integer.ts',
    line: "if (!isSigned) return b.select(b.icmp(high, zero, { pred: 'eq' }), sum, b.const(type, ones(type)));",
    mutated: "if (!isSigned) return b.select(b.icmp(zero, high, { pred: 'eq' }), sum, b.const(type, ones(type)));",
    why: 'Equality knows no order.',
  },
  {
    file: 'src/air/functions/math.ts',
    line: 'const atanh = odd([1 / 7, 1 / 5, 1 / 3, 1], (b, x) => times(b, log(b, b.fdiv(plus(b, x!, 1), b.fsub(number(b, 1), x!))), 0.5));',
    mutated:
      'const atanh = odd([1 / 7, 1 / 6, 1 / 3, 1], (b, x) => times(b, log(b, b.fdiv(plus(b, x!, 1), b.fsub(number(b, 1), x!))), 0.5));',
    why: 'Below 0.01 the term is less than 2^-28 of the sum, and results are singles.',
  },
  {
    file: 'src/air/raise/constants.ts',
    line: 'let size = 0;',
    mutated: 'let size = 1;',
    why: 'Where constants are while constructors run is nobody’s to see.',
  },
  {
    file: 'src/air/raise/elements.ts',
    line: "const operands = row.op === 'clz' ? args.slice(0, 1) : args;",
    mutated: 'const operands = false ? args.slice(0, 1) : args;',
    why: 'A builder takes as many operands as the op has: a flag behind them is left.',
  },
  {
    file: 'src/engine/codegen/fuel.ts',
    line: 'if (!isShort(inst.type) && !operandsOf(inst).some((operand) => isShort(kernel.insts[operand]!.type))) return plainCost;',
    mutated: 'if (!isShort(inst.type) || !operandsOf(inst).some((operand) => isShort(kernel.insts[operand]!.type))) return plainCost;',
    why: 'The cost of code is only how often the clock is looked at.',
  },
  {
    file: 'src/engine/codegen/fuel.ts',
    line: 'if (!isShort(inst.type) && !operandsOf(inst).some((operand) => isShort(kernel.insts[operand]!.type))) return plainCost;',
    mutated: 'if (true) return plainCost;',
    why: 'The cost of code is only how often the clock is looked at.',
  },
  {
    file: 'src/engine/codegen/approximate.ts',
    line: 'const seriesOfTanh = [1, -1 / 3, 2 / 15, -17 / 315, 62 / 2835, -1382 / 155925, 21844 / 6081075, -929569 / 638512875];',
    mutated: 'const seriesOfTanh = [1, -1 / 3, 2 / 15, -17 / 315, 62 / 2835, -1382 / 155925, 21844 / 6081075, -929570 / 638512875];',
    why: 'The term is below 2^-40 of the sum where the series is used, and results are singles.',
  },
  {
    file: 'src/device/cpu/launch/launch-blocking.ts',
    line: 'if (left <= 0 || spentMs < minSpentMs[state]) return false;',
    mutated: 'if (left <= 1 || spentMs < minSpentMs[state]) return false;',
    why: 'When workers are asked for is a matter of time alone.',
  },
  {
    file: 'src/device/cpu/launch/scheduler.ts',
    line: 'this.#timer ??= setInterval(() => this.#update(), progressMs / 2);',
    mutated: 'this.#timer ??= setInterval(() => this.#update(), progressMs * 2);',
    why: 'How often progress is told is a matter of time alone.',
  },
  {
    file: 'src/device/cpu/launch/scheduler.ts',
    line: 'if (active.size === 0) launch.waitsSince = performance.now();',
    mutated: 'if (active.size === 0) {}',
    why: 'From when on a launch counts as hungry is a matter of time alone.',
  },
  {
    file: 'src/device/cpu/instrument/profile/run.ts',
    line: "if (access.kind !== 'load') written[sector >>> 3]! |= 1 << (sector & 7);",
    mutated: "if (access.kind !== 'load') written[sector >> 3]! |= 1 << (sector & 7);",
    why: 'The number of a sector is below 2^31.',
  },
  {
    file: 'src/device/cpu/sanitizer/fast/shadow-cells.ts',
    line: "if (kind === 'store') return;",
    mutated: "if (kind === 'store') {}",
    why: 'What is joined to a store behind a barrier is `past`, which every store has already.',
  },
  {
    file: 'src/device/cpu/sanitizer/fast/check-functions.ts',
    line: "written: ({ what }) => once(['written', what === 'store'], () => (what === 'store' ? writeWritten : writeWereWritten)(module, packs)),",
    mutated:
      "written: ({ what }) => once(['written', what !== 'store'], () => (what === 'store' ? writeWritten : writeWereWritten)(module, packs)),",
    why: 'The two keys are exchanged, and still two.',
  },
  {
    file: 'src/device/cpu/sanitizer/fast/shadow-state.ts',
    line: 'export const cellBits = { thread: 0x3ff, many: 1 << 10, written: 1 << 11, atomic: 1 << 12, past: 1 << 13 } as const;',
    mutated: 'export const cellBits = { thread: 0, many: 1 << 10, written: 1 << 11, atomic: 1 << 12, past: 1 << 13 } as const;',
    why: 'The field says what the other bits leave; nothing reads it.',
  },
  {
    file: 'src/device/cpu/sanitizer/fast/shadow-state.ts',
    line: "code.op('i32.ge_u');",
    mutated: "code.op('i32.ge_s');",
    why: 'Differs only where the shadow of shared memory lies across 2^31.',
  },
  {
    file: 'src/engine/simd/emit/varying-branch.ts',
    line: "const size = ({ block }: Edge): number => (block.end.op === 'ret' ? 0 : 1e6) + blocks[block.id]!.body.length;",
    mutated: "const size = ({ block }: Edge): number => (block.end.op === 'ret' ? 0 : 0) + blocks[block.id]!.body.length;",
    why: 'Which of two ways is written as the usual one is a matter of time alone.',
  },
  {
    file: 'src/engine/simd/rules/fma-f64-f16.ts',
    line: 'get(a, b, c, result, certain);',
    mutated: 'get(b, a, c, result, certain);',
    why: 'A product knows no order.',
  },
  {
    file: 'src/engine/simd/transform/match-funnel-shifts.ts',
    line: 'const [right, left] = [word(from), word(32 - from)];',
    mutated: 'const [right, left] = [word(from), word(32 + from)];',
    why: 'WebAssembly takes the count of a shift modulo 32.',
  },
  {
    file: 'src/engine/simd/lanes/helpers.ts',
    line: 'if (hasLargeAngles(name)) {',
    mutated: 'if (true) {',
    why: 'Large arguments go to the function of one lane, which takes the same steps.',
  },
  {
    file: 'src/engine/simd/transform/promote-slots.ts',
    line: 'if (names.size === 0) return false;',
    mutated: 'if (names.size === 1) return false;',
    why: 'A variable that is left in memory does what it did.',
  },
  {
    file: 'src/lower/index.ts',
    line: "diagnostics.report('CM2047', {}, span ? { span } : {});",
    mutated: "diagnostics.report('CM2047', {}, true ? { span } : {});",
    why: 'A span that is undefined is none.',
  },
  {
    file: 'src/lower/ssa/promote-cells.ts',
    line: 'if (names.size === 0) return (value) => value;',
    mutated: 'if (false) return (value) => value;',
    why: 'Without names there is nothing to do, in more steps.',
  },
  {
    file: 'src/engine/scalar/atomic-rules.ts',
    line: "withScratch(e, 'i32', 1, ([address]) => {",
    mutated: "withScratch(e, 'i32', 2, ([address]) => {",
    why: 'One local more is of no use to anyone.',
  },
  {
    file: 'src/engine/scalar/atomic-rules.ts',
    line: 'withScratch(e, type, 2, ([operand, old]) =>',
    mutated: 'withScratch(e, type, 3, ([operand, old]) =>',
    why: 'One local more is of no use to anyone.',
  },
  {
    file: 'src/engine/simd/emit/predication.ts',
    line: 'return loop.latches.length === 1 && lastOf(state, loop) === from && back.length === 1;',
    mutated: 'return loop.latches.length === 0 && lastOf(state, loop) === from && back.length === 1;',
    why: 'Parameters that keep old values of which no lane has need are a matter of time alone.',
  },
  {
    file: 'src/air/legalize/wide-atomics.ts',
    line: 'return b[inst.rmw](before, inst.b);',
    mutated: 'return b[inst.rmw](inst.b, before);',
    why: 'Sums, bits, minima and maxima of integers know no order.',
  },
  {
    file: 'src/ir/passes/replace-masks.ts',
    line: 'if (!hasMasks(kernel)) return false;',
    mutated: 'if (false) return false;',
    why: 'Without masks there is nothing to replace, in more steps.',
  },
  {
    file: 'src/air/legalize/wide-atomics.ts',
    line: 'isExact = false;',
    mutated: '{}',
    why: 'An error has been reported by then, and nothing comes of the module.',
  },
  {
    file: 'src/device/cpu/workers/worker.ts',
    line: "if (scope.onmessage !== undefined || 'WorkerGlobalScope' in scope) return scope as unknown as Port;",
    mutated: "if (scope.onmessage !== undefined && 'WorkerGlobalScope' in scope) return scope as unknown as Port;",
    why: 'Bun has one of the two, and its parent port does as well; pages have both, and Node neither.',
  },
  {
    file: 'src/ir/passes/replace-masks.ts',
    line: 'smin: (b: Builder, x: Value, y: Value) => b.smin(x, y),',
    mutated: 'smin: (b: Builder, x: Value, y: Value) => b.smin(y, x),',
    why: 'A minimum of integers knows no order.',
  },
  {
    file: 'src/ir/analysis/mask-origin.ts',
    line: "if (inst.op === 'and') stack.push(inst.a, inst.b);",
    mutated: "if (inst.op === 'and') stack.push(inst.b, inst.a);",
    why: 'One of the masks has to be found, in whatever order they are looked at.',
  },
  {
    file: 'src/ir/analysis/mask-origin.ts',
    line: "if (end.op !== 'condbr') return false;",
    mutated: "if (end.op !== 'condbr') return true;",
    why: 'Lanes part at branches on a condition alone; the type of their ends does not say so.',
  },
  {
    file: 'src/ir/analysis/convergence.ts',
    line: "if (inst.op === 'load') return inst.volatile ? 2 : 0;",
    mutated: "if (inst.op === 'load') return inst.volatile ? 2 : 1;",
    why: 'The same in a warp, or in a block: nobody asks which.',
  },
  {
    file: 'src/ir/analysis/convergence.ts',
    line: "if (inst.op === 'sreg' && areRowsAligned && /^(?:tid|gid)\\.[yz]$/.test(inst.name)) return 1;",
    mutated: "if (inst.op === 'sreg' && areRowsAligned && /^(?:tid|gid)\\.[yz]$/.test(inst.name)) return 0;",
    why: 'The same in a warp, or in a block: nobody asks which.',
  },
  {
    file: 'src/ir/analysis/convergence.ts',
    line: 'found[id] = 1;',
    mutated: 'found[id] = 2;',
    why: 'A mark is anything but 0.',
  },
  {
    file: 'src/ir/analysis/convergence.ts',
    line: 'if (!stays[id]) return [];',
    mutated: 'if (false) return [];',
    why: 'A block that does not stay is not reached in the graph, whatever follows it.',
  },
  {
    file: 'src/lower/check-masks.ts',
    line: "const cond = b.icmp(missing, word(0), { pred: 'ne' });",
    mutated: "const cond = b.icmp(word(0), missing, { pred: 'ne' });",
    why: 'Inequality knows no order.',
  },
  {
    file: 'src/lower/check-masks.ts',
    line: "b.store(b.param('ptr.global', { index }), b.const('i32', number), { align: 4, volatile: false });",
    mutated: "b.store(b.param('ptr.global', { index }), b.const('i32', number), { align: 4, volatile: true });",
    why: 'The thread ends behind its one store, which the host reads when all have ended.',
  },
  {
    file: 'src/ir/analysis/cfg.ts',
    line: 'seen[to] = 1;',
    mutated: 'seen[to] = 2;',
    why: 'A mark is anything but 0.',
  },
  {
    file: 'src/ir/analysis/dominators.ts',
    line: 'seen[to] = 1;',
    mutated: 'seen[to] = 2;',
    why: 'A mark is anything but 0.',
  },
];
