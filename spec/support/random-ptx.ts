/**
 * Random PTX programs, whose results a GPU determines: the scalar forms of the H200 recordings, composed with guards, divergent branches
 * and loops, functions, local and shared memory, and warp and block collectives. A program is determined by its number. Two devices may
 * produce different NaNs, so each NaN is made canonical at once. The GPU's compiler must not optimize: it contracts products and sums, and
 * miscompiles about one program in a hundred.
 */
import { splitMix64 } from '../../src/runtime/rand.ts';

/** A scalar form of `fixtures/h200/scalar.json`: `add.s16 d, a, b`, with its source and destination registers. */
export interface ScalarForm {
  readonly ptx: string;
  readonly form: string;
  readonly operands: readonly string[];
  readonly result: string;
}

/** Threads of the one block that runs: two warps. */
export const threads = 64;
/** Words of the input, which all programs share. */
export const inputWords = 1024;

/** How many registers of each kind a program has. */
export type Counts = Readonly<Record<Kind, number>>;
export type Kind = 'b16' | 'b32' | 'b64' | 'pred';
export type DataKind = Exclude<Kind, 'pred'>;
export const letters: Readonly<Record<Kind, string>> = { b16: 'h', b32: 'r', b64: 'w', pred: 'p' };
export const bytesOf = (kind: DataKind): number => Number(kind.slice(1)) / 8;
/** Bytes that a thread leaves: its registers, of predicates as words. */
export const bytesLeft = ({ b16, b32, b64, pred }: Counts): number => 2 * b16 + 4 * b32 + 8 * b64 + 4 * pred;

const counts: Counts = { b16: 8, b32: 10, b64: 6, pred: 4 };
export const bytesOfThread = bytesLeft(counts);

/** The declarations of the registers of a program. */
export const declared = (of: Counts): string =>
  (Object.keys(of) as Kind[]).map((kind) => `.reg .${kind} %${letters[kind]}<${of[kind]}>;`).join(' ');

/** The end of a program: each thread leaves its registers. */
export function tailOf(of: Counts): string[] {
  const lines = [`mul.lo.u32 %m, %me, ${bytesLeft(of)}; cvt.u64.u32 %at, %m; add.u64 %at, %at, %out;`];
  let at = 0;
  const store = (kind: DataKind, register: string): void => {
    lines.push(`st.global.${kind} [%at+${at}], ${register};`);
    at += bytesOf(kind);
  };
  for (const kind of ['b64', 'b32'] as const) for (let i = 0; i < of[kind]; i++) store(kind, `%${letters[kind]}${i}`);
  for (let i = 0; i < of.pred; i++) {
    lines.push(`selp.u32 %m, 1, 0, %p${i};`);
    store('b32', '%m');
  }
  for (let i = 0; i < of.b16; i++) store('b16', `%h${i}`);
  return [...lines, 'ret;'];
}

/** The statements of a form with registers in the place of its letters. */
export const statementsOf = ({ form }: ScalarForm, names: Readonly<Record<string, string>>): string[] =>
  form.split(';').map((statement) => {
    const [, opcode, operands] = /^\s*(\S+)\s+(.*)$/.exec(statement)!;
    return `${opcode} ${operands!.replace(/(?<![.\w%])(done|[a-g])(?!\w)/g, (name) => names[name] ?? name)};`;
  });

/** Whether devices agree on all bits of a form's result, NaNs aside. */
export function isExactForm({ ptx, form }: ScalarForm): boolean {
  if (/approx|div\.full|tanh|[ex]2\./.test(ptx)) return false;
  // Came after the programs were recorded, which choose among all forms.
  if (/tf32/.test(ptx)) return false;
  // Packed pairs would need a NaN test for each half.
  if (/f16x2/.test(ptx) && !/^set/.test(ptx)) return false;
  // Some have more registers than operands.
  return form.includes(' ') && !/(?<![.\w])[h-z](?!\w)/.test(form);
}

/**
 * Whether the GPU leaves the register unchanged if the guard of an instruction is false, as the manual says (9.3). The driver's compiler,
 * version 13.0, splits other instructions into several and omits the guard of the last one.
 */
export const isGuardable = ({ ptx }: ScalarForm): boolean => !/^(set\.|testp|v(add|sub)4)/.test(ptx);

/** The float type of a result that may be a NaN. */
export function floatOf({ ptx, result }: ScalarForm): 'f16' | 'bf16' | 'f32' | 'f64' | undefined {
  if (result === 'pred' || /^(setp|set|testp|slct|sad|selp)\b/.test(ptx)) return undefined;
  const words = ptx.split('.').slice(1);
  const type = ptx.startsWith('cvt') ? words.at(-2) : words.at(-1);
  if (type === 'tf32') return 'f32';
  return type === 'f16' || type === 'bf16' || type === 'f32' || type === 'f64' ? type : undefined;
}

export const nans = { f16: '0x7fff', bf16: '0x7fff', f32: '0x7fffffff', f64: '0x7fffffffffffffff' } as const;
export const registerOf = { f16: 'b16', bf16: 'b16', f32: 'b32', f64: 'b64' } as const;

/** The input of all programs: small numbers, powers of two and their neighbors, floats at borders, and random bits. */
export function randomInput(): Uint32Array {
  const draw = splitMix64(2026n);
  const floats = [
    0, 0x80000000, 1, 0x007fffff, 0x00800000, 0x3f800000, 0xbf800000, 0x3fc00000, 0x4b000000, 0x4f000000, 0x7f7fffff, 0x7f800000,
  ];
  const special = [...floats, 0xff800000, 0x7fc00000, 0x3c003c00, 0x7c007bff, 0x3ff00000, 0xbff80000, 0x7ff00000, 0x00010000, 0x80008000];
  return Uint32Array.from({ length: inputWords }, () => {
    const [how, bits] = [Number(draw() % 4n), draw()];
    if (how === 0) return Number(bits % 67n) - 3;
    if (how === 1) return 2 ** Number(bits & 31n) + Number((bits >> 8n) % 3n) - 1;
    return how === 2 ? special[Number(bits % BigInt(special.length))]! : Number(bits & 0xffff_ffffn);
  });
}

/** The program of a number, or its first steps, to find the one that two devices differ in. */
export function randomProgram(seed: number, forms: readonly ScalarForm[], steps = Number.POSITIVE_INFINITY): string {
  return new Maker(seed, forms).program(steps);
}

class Maker {
  readonly #draw: () => bigint;
  readonly #forms: readonly ScalarForm[];
  readonly #lines: string[] = [];
  readonly #functions: string[] = [];
  #labels = 0;
  /** Inside a function the threads of a block may diverge, so that there are no barriers. */
  #depth = 0;

  constructor(seed: number, forms: readonly ScalarForm[]) {
    this.#draw = splitMix64(BigInt(seed) * 0x1_0000_0001n + 77n);
    this.#forms = forms;
  }

  program(most: number): string {
    this.#head();
    const steps = Math.min(most, 8 + this.#pick(16));
    for (let i = 0; i < steps; i++) this.#step();
    this.#emit(...tailOf(counts));
    return [
      '.version 9.0\n.target sm_90\n.address_size 64',
      ...this.#functions,
      '.visible .entry fuzz(.param .u64 pin, .param .u64 pout)\n{',
      this.#registers(),
      '.shared .align 8 .b8 sh[512];\n.local .align 8 .b8 lo[64];',
      ...this.#lines,
      '}\n',
    ].join('\n');
  }

  #registers(): string {
    return `${declared(counts)}\n.reg .pred %done; .reg .b32 %n, %m, %me, %s; .reg .b64 %in, %out, %at, %ad, %gl; .reg .b32 %c<8>;`;
  }

  #pick(count: number): number {
    return Number(this.#draw() % BigInt(count));
  }

  #any(kind: Kind): string {
    return `%${letters[kind]}${this.#pick(counts[kind])}`;
  }

  #emit(...lines: string[]): void {
    this.#lines.push(...lines);
  }

  /** Every register starts as a word of the input. */
  #head(): void {
    this.#emit('ld.param.u64 %in, [pin]; ld.param.u64 %out, [pout];', 'mov.u32 %me, %tid.x;');
    this.#emit(`mad.lo.u32 %n, %me, ${2 * this.#pick(16) + 4}, ${4 * this.#pick(200)};`);
    let at = 0;
    const load = (kind: DataKind, i: number): void => {
      this.#emit(`add.u32 %m, %n, ${at}; and.b32 %m, %m, ${4 * inputWords - 8}; cvt.u64.u32 %at, %m; add.u64 %at, %at, %in;`);
      this.#emit(`ld.global.${kind} %${letters[kind]}${i}, [%at];`);
      at += Math.max(4, bytesOf(kind));
    };
    for (const kind of ['b16', 'b32', 'b64'] as const) for (let i = 0; i < counts[kind]; i++) load(kind, i);
    for (let i = 0; i < counts.pred; i++) this.#emit(`setp.lt.s32 %p${i}, %r${i}, %r${i + 4};`);
  }

  #step(): void {
    const kind = this.#pick(25);
    if (kind < 11) this.#scalar();
    else if (kind >= 23) this.#genericMemory();
    else if (kind >= 21) this.#ownCell();
    else if (kind < 13) this.#branch();
    else if (kind < 14) this.#loop();
    else if (kind < 15) this.#localMemory();
    else if (kind < 16) this.#call();
    else if (this.#depth > 0) this.#scalar();
    else if (kind < 18) this.#warp();
    else if (kind < 20) this.#sharedMemory();
    else this.#blockVote();
  }

  #scalar(): void {
    const form = this.#forms[this.#pick(this.#forms.length)]!;
    const d = this.#any(form.result as Kind);
    const names: Record<string, string> = { d, done: '%done' };
    form.operands.forEach((kind, i) => {
      names['abcefg'[i]!] = this.#any(kind as Kind);
    });
    const statements = statementsOf(form, names);
    const float = floatOf(form);
    if (float) statements.push(...this.#withoutNan(d, float));
    // Of several statements those behind the first may count on it.
    const guard =
      this.#pick(4) === 0 && statements.length === 1 && isGuardable(form) ? `@${this.#pick(2) ? '!' : ''}${this.#any('pred')} ` : '';
    this.#emit(guard + statements.join(' '));
  }

  #withoutNan(d: string, type: 'f16' | 'bf16' | 'f32' | 'f64'): string[] {
    return [`setp.nan.${type} %done, ${d}, ${d};`, `selp.${registerOf[type]} ${d}, ${nans[type]}, ${d}, %done;`];
  }

  #label(): string {
    return `L${this.#labels++}`;
  }

  #inside(count: number): void {
    this.#depth++;
    for (let i = 0; i < count; i++) this.#depth > 3 ? this.#scalar() : this.#step();
    this.#depth--;
  }

  #branch(): void {
    const [otherwise, end] = [this.#label(), this.#label()];
    this.#emit(`@${this.#pick(2) ? '!' : ''}${this.#any('pred')} bra ${otherwise};`);
    this.#inside(1 + this.#pick(3));
    const hasElse = this.#pick(2) === 0;
    if (hasElse) this.#emit(`bra ${end};`);
    this.#emit(`${otherwise}:`);
    if (hasElse) {
      this.#inside(1 + this.#pick(3));
      this.#emit(`${end}:`);
    }
  }

  /** Each thread iterates as often as a register says, four times at most; there is one counter per depth. */
  #loop(): void {
    const [top, end] = [this.#label(), this.#label()];
    const counter = `%c${this.#depth}`;
    this.#emit(`and.b32 ${counter}, ${this.#any('b32')}, 3;`, `${top}:`);
    this.#inside(1 + this.#pick(3));
    if (this.#pick(3) === 0) this.#emit(`@${this.#any('pred')} bra ${end};`);
    this.#emit(`sub.u32 ${counter}, ${counter}, 1; setp.ge.s32 %done, ${counter}, 0; @%done bra ${top};`, `${end}:`);
  }

  #localMemory(): void {
    const kind = (['b16', 'b32', 'b64'] as const)[this.#pick(3)]!;
    const size = Number(kind.slice(1)) / 8;
    for (let i = 0; i < 8; i++) this.#emit(`st.local.b64 [lo+${8 * i}], ${this.#any('b64')};`);
    const place = (): string =>
      `and.b32 %m, ${this.#any('b32')}, ${64 - size}; cvt.u64.u32 %at, %m; mov.u64 %ad, lo; add.u64 %at, %at, %ad;`;
    this.#emit(`${place()} st.local.${kind} [%at], ${this.#any(kind)};`);
    this.#emit(`${place()} ld.local.${kind} ${this.#any(kind)}, [%at];`);
  }

  /** The address of the thread's own cell of shared memory, and a word in it. */
  #cell(): void {
    this.#emit('shl.b32 %m, %me, 2; mov.u32 %s, sh; add.u32 %m, %m, %s;', `st.shared.b32 [%m], ${this.#any('b32')};`);
  }

  /** An address in shared, local or global memory, selected by predicates; stores go to the thread's own shared or local memory. */
  #genericMemory(): void {
    this.#cell();
    this.#emit(`st.local.b32 [lo+${4 * this.#pick(16)}], ${this.#any('b32')};`);
    for (let i = 0; i < 8; i++) this.#emit(`st.local.b64 [lo+${8 * i}], ${this.#any('b64')};`);
    const places = [
      'cvt.u64.u32 %at, %m; cvta.shared.u64 %at, %at;',
      `and.b32 %n, ${this.#any('b32')}, 60; cvt.u64.u32 %ad, %n; mov.u64 %gl, lo; add.u64 %ad, %ad, %gl; cvta.local.u64 %ad, %ad;`,
      `and.b32 %n, ${this.#any('b32')}, ${4 * inputWords - 4}; cvt.u64.u32 %gl, %n; add.u64 %gl, %gl, %in;`,
    ];
    const [p, q] = [this.#any('pred'), this.#any('pred')];
    this.#emit(...places, `selp.b64 %at, %at, %ad, ${p}; st.b32 [%at], ${this.#any('b32')};`);
    this.#emit(`selp.b64 %at, %at, %gl, ${q}; ld.b32 ${this.#any('b32')}, [%at];`);
    if (this.#pick(2)) this.#emit(`isspacep.${['shared', 'local', 'global'][this.#pick(3)]} ${this.#any('pred')}, %at;`);
  }

  /** An atomic, or accesses with an order, on the thread's own cell. */
  #ownCell(): void {
    this.#cell();
    const [d, a, b] = [this.#any('b32'), this.#any('b32'), this.#any('b32')];
    const order = ['', '.relaxed.gpu', '.acquire.cta', '.release.gpu', '.acq_rel.cta'][this.#pick(5)];
    const op = ['add.u32', 'and.b32', 'or.b32', 'xor.b32', 'exch.b32', 'min.s32', 'max.s32', 'min.u32', 'max.u32', 'inc.u32', 'dec.u32'];
    const ways = [
      `atom${order}.shared.${op[this.#pick(op.length)]} ${d}, [%m], ${a};`,
      `atom${order}.shared.cas.b32 ${d}, [%m], ${a}, ${b};`,
      `st.release.cta.shared.b32 [%m], ${a};`,
      `st.relaxed.cta.shared.u8 [%m+${this.#pick(4)}], ${a};`,
    ];
    this.#emit(ways[this.#pick(ways.length)]!, `ld.acquire.cta.shared.b32 ${this.#any('b32')}, [%m];`);
  }

  /** A reduction of a predicate over all threads of the block. */
  #blockVote(): void {
    const c = `${this.#pick(2) ? '!' : ''}${this.#any('pred')}`;
    const op = ['and', 'or'][this.#pick(2)];
    this.#emit(this.#pick(2) ? `bar.red.popc.u32 ${this.#any('b32')}, 0, ${c};` : `bar.red.${op}.pred ${this.#any('pred')}, 0, ${c};`);
  }

  /** A function of two words with a branch inside of it. */
  #call(): void {
    const name = `f${this.#functions.length}`;
    const body = ['add', 'sub', 'mul.lo', 'min', 'max', 'div', 'rem'].map((op) => `${op}.${this.#pick(2) ? 's' : 'u'}32`);
    const op = (): string => body[this.#pick(body.length)]!;
    this.#functions.push(
      `.func (.param .b32 r) ${name}(.param .b32 x, .param .b64 y)\n{\n.reg .b32 %a<3>; .reg .b64 %b; .reg .pred %q;\nld.param.b32 %a0, [x]; ld.param.b64 %b, [y]; cvt.u32.u64 %a1, %b;\n` +
        `setp.lt.s32 %q, %a0, %a1; @%q bra LESS;\n${op()} %a2, %a0, %a1; st.param.b32 [r], %a2; ret;\nLESS: ${op()} %a2, %a1, %a0; ${op()} %a2, %a2, %a0; st.param.b32 [r], %a2; ret;\n}`,
    );
    this.#emit(
      `{ .param .b32 x; .param .b64 y; .param .b32 z; st.param.b32 [x], ${this.#any('b32')}; st.param.b64 [y], ${this.#any('b64')};`,
    );
    this.#emit(`call (z), ${name}, (x, y); ld.param.b32 ${this.#any('b32')}, [z]; }`);
  }

  /** All threads of the warp are there. */
  #warp(): void {
    const [d, a, b, p, q] = [this.#any('b32'), this.#any('b32'), this.#any('b32'), this.#any('pred'), this.#any('pred')];
    const mode = ['idx', 'up', 'down', 'bfly'][this.#pick(4)]!;
    const segment = [0x1f, 0x181f, 0x1c1f, 0x101f][this.#pick(4)]!;
    const clamp = mode === 'up' ? segment & 0x1f00 : segment;
    const ways = [
      `and.b32 %m, ${b}, 31; shfl.sync.${mode}.b32 ${d}|${p}, ${a}, %m, ${clamp}, -1;`,
      `vote.sync.ballot.b32 ${d}, ${p}, -1;`,
      `vote.sync.${['any', 'all', 'uni'][this.#pick(3)]}.pred ${q}, ${p}, -1;`,
      `and.b32 %m, ${a}, 7; match.any.sync.b32 ${d}, %m, -1;`,
      `redux.sync.${['add', 'min', 'max'][this.#pick(3)]}.${this.#pick(2) ? 's' : 'u'}32 ${d}, ${a}, -1;`,
      `redux.sync.${['and', 'or', 'xor'][this.#pick(3)]}.b32 ${d}, ${a}, -1;`,
    ];
    this.#emit(ways[this.#pick(ways.length)]!);
  }

  /** Exchange with another thread of the block, or sums that the order does not change. */
  #sharedMemory(): void {
    const [d, a] = [this.#any('b32'), this.#any('b32')];
    if (this.#pick(2) === 0) {
      const other = this.#pick(threads);
      this.#emit(`shl.b32 %m, %me, 2; mov.u32 %s, sh; add.u32 %m, %m, %s; st.shared.b32 [%m], ${a}; bar.sync 0;`);
      this.#emit(`xor.b32 %m, %me, ${other}; shl.b32 %m, %m, 2; add.u32 %m, %m, %s; ld.shared.b32 ${d}, [%m]; bar.sync 0;`);
      return;
    }
    const op = ['add.u32', 'and.b32', 'or.b32', 'xor.b32', 'min.s32', 'max.u32'][this.#pick(6)]!;
    this.#emit(`shl.b32 %m, %me, 2; mov.u32 %s, sh; add.u32 %m, %m, %s; st.shared.b32 [%m], %me; bar.sync 0;`);
    this.#emit(`and.b32 %m, ${this.#any('b32')}, 60; add.u32 %m, %m, %s; red.shared.${op} [%m], ${a}; bar.sync 0;`);
    this.#emit(`and.b32 %m, %me, 60; add.u32 %m, %m, %s; ld.shared.b32 ${d}, [%m]; bar.sync 0;`);
  }
}
