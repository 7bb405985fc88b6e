/**
 * Random programs like those of `random-ptx.ts`, but of values of which much is known: constants as operands, results of few bits, small ranges, floats made of
 * integers, comparisons with constants. What analyses of bits, ranges and places of floats conclude decides the code here, where the registers of
 * `random-ptx.ts` are loaded and nothing is known of them. Each program has a twin that loads its constants, which has to give the same.
 */
import { splitMix64 } from '../../src/runtime/rand.ts';
import {
  bytesLeft,
  bytesOf,
  type Counts,
  type DataKind,
  declared,
  floatOf,
  inputWords,
  isGuardable,
  type Kind,
  letters,
  nans,
  registerOf,
  type ScalarForm,
  statementsOf,
  tailOf,
} from './random-ptx.ts';

const counts: Counts = { b16: 8, b32: 12, b64: 6, pred: 4 };
/** Bytes that a thread leaves. */
export const narrowBytes = bytesLeft(counts);

/** A program, and what its twin loads. */
export interface NarrowProgram {
  readonly ptx: string;
  readonly constants: readonly bigint[];
}

/** The program of a number; its constants are in the code, or loaded. */
export function narrowProgram(seed: number, forms: readonly ScalarForm[], constants: 'known' | 'loaded'): NarrowProgram {
  return new Maker(seed, forms).program(constants === 'known');
}

/** Forms for which knowing an operand matters most, and some of the video instructions; half of the instructions are of these. */
const isPlanned = ({ ptx }: ScalarForm): boolean =>
  (!ptx.startsWith('v') || ptx.length % 7 === 0) &&
  /^(mad|mul24|mad24|bfi|bfe|shf|szext|fns|prmt|lop3|dp[24]a|sad|slct|min|max|clz|popc|bfind|brev|cvt|add\.(sat|r)|sub\.(sat|r)|mul\.(sat|r|hi)|fma|div|rem|rcp|sqrt|copysign|abs|neg|cnot|bmsk|v)/.test(
    ptx,
  );

const singles = [
  0x3f800000, 0xbf800000, 0x40000000, 0x3f000000, 0x4b000000, 0x4b400000, 0x33800000, 0x7f7fffff, 0x7f800000, 0xff800000, 0x00800000,
  0x80000000, 0, 1, 0x007fffff, 0x3dcccccd, 0x3fb8aa3b, 0x5f000000, 0x1f000000, 0x7fc00000, 0x42f60000, 0x4f800000, 0xcf000000, 0x2f800000,
].map(BigInt);
const floats: Readonly<Record<16 | 32 | 64, readonly bigint[]>> = {
  16: [0x3c00n, 0xbc00n, 0x4000n, 0x7bffn, 0x7c00n, 0xfc00n, 0x8000n, 0x0400n, 0x3f80n, 0x7f80n],
  32: singles,
  64: [
    ...[0x3ff0000000000000n, 0xbff0000000000000n, 0x4000000000000000n, 0x3fe0000000000000n, 0x4330000000000000n, 0x7ff0000000000000n],
    ...[0xfff0000000000000n, 0x8000000000000000n, 1n, 0x0010000000000000n, 0x7fefffffffffffffn, 0x3ca0000000000000n, 0x41f0000000000000n],
  ],
};

/** The registers that an instruction which narrows has to choose from; `g` is a guard. */
interface Choice {
  readonly [name: string]: string;
}

class Maker {
  readonly #draw: () => bigint;
  readonly #forms: readonly ScalarForm[];
  readonly #planned: readonly ScalarForm[];
  readonly #lines: (string | { readonly bits: number; readonly index: number })[] = [];
  readonly #constants: { readonly bits: number; readonly value: bigint }[] = [];
  #labels = 0;
  #depth = 0;

  constructor(seed: number, forms: readonly ScalarForm[]) {
    this.#draw = splitMix64(BigInt(seed) * 0x1_0000_0003n + 991n);
    this.#forms = forms;
    this.#planned = forms.filter(isPlanned);
  }

  program(isKnown: boolean): NarrowProgram {
    this.#head();
    const steps = 10 + this.#pick(24);
    for (let i = 0; i < steps; i++) this.#step();
    for (const line of tailOf(counts)) this.#emit(line);
    const lines = this.#lines.map((line) => {
      if (typeof line === 'string') return line;
      const { bits, index } = line;
      const name = `%k${bits}_${index}`;
      return isKnown
        ? `mov.b${bits} ${name}, 0x${this.#constants[index]!.value.toString(16)};`
        : `ld.global.b${bits} ${name}, [%kb+${8 * index}];`;
    });
    const text = [
      '.version 9.0\n.target sm_90\n.address_size 64',
      '.visible .entry fuzz(.param .u64 pin, .param .u64 pout, .param .u64 pk)\n{',
      declared(counts),
      this.#constants.map(({ bits }, i) => `.reg .b${bits} %k${bits}_${i};`).join(' '),
      '.reg .pred %done; .reg .b32 %n, %m, %me, %s, %t; .reg .b64 %in, %out, %at, %kb; .reg .b32 %c<8>; .reg .b16 %t16;',
      '.local .align 16 .b8 lo[64]; .shared .align 16 .b8 sh[2048];',
      ...lines,
      '}\n',
    ];
    return { ptx: text.join('\n'), constants: this.#constants.map(({ value }) => value) };
  }

  #pick(count: number): number {
    return Number(this.#draw() % BigInt(count));
  }

  #of<T>(...list: readonly T[]): T {
    return list[this.#pick(list.length)]!;
  }

  #any(kind: Kind): string {
    return `%${letters[kind]}${this.#pick(counts[kind])}`;
  }

  #emit(line: string): void {
    this.#lines.push(line);
  }

  /** A number at an edge, of few bits, or any. */
  #value(bits: 16 | 32 | 64): bigint {
    const mask = (1n << BigInt(bits)) - 1n;
    const below = (count: number): bigint => (1n << BigInt(this.#pick(count))) - 1n;
    const ways = [
      () => BigInt(this.#pick(5)),
      () => -BigInt(1 + this.#pick(4)),
      () => below(bits + 1),
      () => 1n << BigInt(this.#pick(bits)),
      () => mask ^ below(bits),
      () => this.#of(...floats[bits]),
      () => BigInt(this.#pick(200)),
      () => {
        const width = 8 * (1 + this.#pick(bits / 8));
        return this.#draw() & ((1n << BigInt(width)) - 1n);
      },
      () => this.#draw(),
    ];
    return ways[this.#pick(ways.length)]!() & mask;
  }

  /** A register with a constant. */
  #constant(bits: 16 | 32 | 64, value = this.#value(bits)): string {
    const index = this.#constants.push({ bits, value }) - 1;
    this.#lines.push({ bits, index });
    return `%k${bits}_${index}`;
  }

  #operand(kind: Kind): string {
    if (kind === 'pred') return this.#any(kind);
    return this.#pick(3) === 0 ? this.#constant((8 * bytesOf(kind)) as 16 | 32 | 64) : this.#any(kind);
  }

  /** Every register starts as a word of the input. */
  #head(): void {
    this.#emit('ld.param.u64 %in, [pin]; ld.param.u64 %out, [pout]; ld.param.u64 %kb, [pk];');
    this.#emit('mov.u32 %me, %tid.x;');
    this.#emit(`mad.lo.u32 %n, %me, ${2 * this.#pick(16) + 4}, ${4 * this.#pick(200)};`);
    let at = 0;
    for (const kind of ['b16', 'b32', 'b64'] as const)
      for (let i = 0; i < counts[kind]; i++) {
        const place = `add.u32 %m, %n, ${at}; and.b32 %m, %m, ${4 * inputWords - 8}; cvt.u64.u32 %at, %m; add.u64 %at, %at, %in;`;
        this.#emit(`${place} ld.global.${kind} %${letters[kind]}${i}, [%at];`);
        at += Math.max(4, bytesOf(kind));
      }
    for (let i = 0; i < counts.pred; i++) this.#emit(`setp.lt.s32 %p${i}, %r${i}, %r${i + 4};`);
  }

  #step(): void {
    const kind = this.#pick(24);
    if (kind < 8) this.#scalar();
    else if (kind < 17) this.#narrow();
    else if (kind < 19) this.#branch();
    else if (kind < 20) this.#loop();
    else if (kind < 21) this.#memory();
    else if (kind < 22) this.#compare();
    else this.#float();
  }

  #withoutNan(d: string, type: keyof typeof nans): string {
    return `setp.nan.${type} %done, ${d}, ${d}; selp.${registerOf[type]} ${d}, ${nans[type]}, ${d}, %done;`;
  }

  #guard(): string {
    return this.#pick(5) === 0 ? `@${this.#of('', '!')}${this.#any('pred')} ` : '';
  }

  #scalar(): void {
    const forms = this.#pick(2) ? this.#planned : this.#forms;
    const form = forms[this.#pick(forms.length)]!;
    const d = this.#any(form.result as Kind);
    const names: Record<string, string> = { d, done: '%done' };
    form.operands.forEach((kind, i) => {
      names['abcefg'[i]!] = this.#operand(kind as Kind);
    });
    if (this.#pick(12) === 0 && form.operands.length > 1 && form.operands[0] === form.operands[1]) names.b = names.a!;
    const statements = statementsOf(form, names);
    const float = floatOf(form);
    const guard = statements.length === 1 && isGuardable(form) ? this.#guard() : '';
    if (float) statements.push(this.#withoutNan(d, float));
    this.#emit(guard + statements.join(' '));
  }

  /** Makes a value of few bits or of a small range. */
  #narrow(): void {
    const [d, a, g] = [this.#any('b32'), this.#any('b32'), this.#guard()];
    const [d64, d16, a64, a16] = [this.#any('b64'), this.#any('b16'), this.#any('b64'), this.#any('b16')];
    const ways = [...this.#ofWords({ d, a, g, d64, a16 }), ...this.#ofWide({ d, a, g, d64, d16, a64, a16 })];
    this.#emit(ways[this.#pick(ways.length)]!());
  }

  #ofWords({ d, a, g, d64, a16 }: Choice): (() => string)[] {
    const word = (value?: bigint): string => this.#constant(32, value);
    const places = (): string => word(BigInt(this.#pick(36)));
    const by = (op: string, other: string): string => `${g}${op} ${d}, ${a}, ${other};`;
    return [
      () => by('and.b32', word()),
      () => by('shr.u32', places()),
      () => by('shr.s32', places()),
      () => by('shl.b32', places()),
      () => `cvt.u8.u32 %t16, ${a}; cvt.u32.u8 ${d}, %t16;`,
      () => `cvt.s8.s32 %t16, ${a}; cvt.s32.s8 ${d}, %t16;`,
      () => `${g}cvt.u32.u16 ${d}, ${a16};`,
      () => `${g}cvt.s32.s16 ${d}, ${a16};`,
      () => by('min.u32', word()),
      () => {
        const [least, most] = [word(), word()];
        return `max.s32 ${d}, ${a}, ${least}; min.s32 ${d}, ${d}, ${most};`;
      },
      () => by('rem.u32', word(BigInt(1 + this.#pick(1000)))),
      () => by('add.u32', word()),
      () => by('mul.lo.u32', word()),
      () => {
        const factor = word();
        return `mul.wide.${this.#of('u', 's')}32 ${d64}, ${a}, ${factor};`;
      },
      () => {
        const [place, length] = [places(), places()];
        return `bfe.${this.#of('u', 's')}32 ${d}, ${a}, ${place}, ${length};`;
      },
    ];
  }

  #ofWide({ d, a, g, d64, d16, a64, a16 }: Choice): (() => string)[] {
    const ofBoth = (bits: 16 | 64, ops: readonly string[], [to, from]: readonly [string, string]): string => {
      const other = this.#constant(bits);
      return `${g}${this.#of(...ops)} ${to}, ${from}, ${other};`;
    };
    const wide = [d64!, a64!] as const;
    return [
      () => `${g}cvt.${this.#of('u64.u32', 's64.s32')} ${d64}, ${a};`,
      () => ofBoth(64, ['and.b64', 'or.b64', 'xor.b64'], wide),
      () => {
        const places = this.#constant(32, BigInt(this.#pick(68)));
        return `${g}${this.#of('shl.b64', 'shr.u64', 'shr.s64')} ${d64}, ${a64}, ${places};`;
      },
      () => ofBoth(64, ['add.u64', 'sub.s64', 'mul.lo.u64', 'min.s64', 'max.u64'], wide),
      () => `mov.b32 ${d}, %tid.x; add.u32 ${d}, ${d}, ${this.#pick(5)};`,
      () => {
        const [x, y] = [this.#constant(32), this.#constant(32)];
        return `selp.b32 ${d}, ${x}, ${y}, ${this.#any('pred')};`;
      },
      () => {
        const other = this.#constant(32);
        return `lop3.b32 ${d}, ${a}, ${other}, ${this.#any('b32')}, ${this.#pick(256)};`;
      },
      () => ofBoth(16, ['and.b16', 'or.b16', 'add.u16', 'mul.lo.u16', 'min.s16', 'max.u16', 'sub.s16'], [d16!, a16!]),
      () => {
        const order = this.#constant(32, BigInt(this.#pick(0x8000)));
        return `prmt.b32 ${d}, ${a}, ${this.#any('b32')}, ${order};`;
      },
      () => `mov.b64 ${d64}, {${a}, ${this.#any('b32')}}; shr.u64 ${d64}, ${d64}, ${this.#pick(40)};`,
      () => `mov.b64 {${d}, %t}, ${a64}; mov.b32 {%t16, ${d16}}, ${a};`,
      () => {
        const [other, places] = [this.#constant(32), this.#constant(32, BigInt(this.#pick(36)))];
        return `shf.${this.#of('l', 'r')}.${this.#of('wrap', 'clamp')}.b32 ${d}, ${a}, ${other}, ${places};`;
      },
      () => {
        const other = this.#constant(32);
        return `add.cc.u32 ${d}, ${a}, ${other}; addc.u32 ${this.#any('b32')}, ${this.#any('b32')}, 0;`;
      },
    ];
  }

  #float(): void {
    const [d, a, w, v] = [this.#any('b32'), this.#any('b32'), this.#any('b64'), this.#any('b64')];
    const rounding = (): string => this.#of('rn', 'rz', 'rm', 'rp');
    const flush = this.#of('', '.ftz');
    const single = (): string => this.#constant(32, this.#of(...singles));
    const f32 = (text: string): string => `${text}; ${this.#withoutNan(d, 'f32')}`;
    const f64 = (text: string): string => `${text}; ${this.#withoutNan(w, 'f64')}`;
    const toInteger = (): string => this.#of('rni', 'rzi', 'rmi', 'rpi');
    const withSingle = (op: string) => (): string => {
      const other = single();
      return f32(`${op}.${rounding()}${flush}.f32 ${d}, ${a}, ${other}`);
    };
    const ways = [
      () => `cvt.${rounding()}.f32.${this.#of('u32', 's32')} ${d}, ${a};`,
      () => {
        // Drawn as for the others, though the only rounding is none.
        rounding();
        return `cvt.rn.f64.${this.#of('u32', 's32')} ${w}, ${a};`;
      },
      withSingle('mul'),
      withSingle('add'),
      () => {
        const [factor, addend] = [single(), single()];
        return f32(`fma.${rounding()}${flush}.f32 ${d}, ${a}, ${factor}, ${addend}`);
      },
      () => {
        const other = single();
        return f32(`${this.#of('min', 'max')}${flush}.f32 ${d}, ${a}, ${other}`);
      },
      () => `cvt.${toInteger()}${flush}.${this.#of('u32', 's32')}.f32 ${d}, ${a};`,
      () => f32(`cvt.${toInteger()}${flush}.f32.f32 ${d}, ${a}`),
      () => f64(`cvt${flush}.f64.f32 ${w}, ${a}`),
      () => f32(`cvt.${rounding()}${flush}.f32.f64 ${d}, ${v}`),
      () => {
        const other = this.#constant(64);
        return f64(`${this.#of('add', 'mul', 'div')}.${rounding()}.f64 ${w}, ${v}, ${other}`);
      },
      () => {
        const other = single();
        // A choice among one draws, too: the recorded programs are made so.
        const op = `${this.#of('div')}.${rounding()}${flush}.f32`;
        return f32(`${op} ${d}, ${this.#pick(2) ? `${a}, ${other}` : `${other}, ${a}`}`);
      },
    ];
    this.#emit(ways[this.#pick(ways.length)]!());
  }

  #compare(): void {
    const wide = [
      ...(['u32', 's32'] as const).map((type) => [type, 'b32'] as const),
      ...(['u64', 's64'] as const).map((type) => [type, 'b64'] as const),
      ...(['u16', 's16'] as const).map((type) => [type, 'b16'] as const),
    ];
    const [type, kind] = this.#of<readonly [string, DataKind]>(...wide, ['f32', 'b32'], ['f64', 'b64']);
    const ofFloats = ['lt', 'le', 'gt', 'ge', 'eq', 'ne', 'ltu', 'leu', 'gtu', 'geu', 'equ', 'neu', 'num', 'nan'];
    const ops = type.startsWith('f') ? ofFloats : ofFloats.slice(0, 6);
    const other = this.#constant((8 * bytesOf(kind)) as 16 | 32 | 64);
    const op = this.#of(...ops);
    // As above.
    this.#pick(3);
    this.#emit(`setp.${op}.${type} ${this.#any('pred')}, ${this.#any(kind)}, ${other};`);
  }

  #inside(count: number): void {
    this.#depth++;
    for (let i = 0; i < count; i++) this.#depth > 3 ? this.#narrow() : this.#step();
    this.#depth--;
  }

  #branch(): void {
    if (this.#pick(2)) this.#compare();
    const [otherwise, end] = [`L${this.#labels++}`, `L${this.#labels++}`];
    this.#emit(`@${this.#of('', '!')}${this.#any('pred')} bra ${otherwise};`);
    this.#inside(1 + this.#pick(4));
    const hasElse = this.#pick(2) === 0;
    if (hasElse) this.#emit(`bra ${end};`);
    this.#emit(`${otherwise}:`);
    if (hasElse) {
      this.#inside(1 + this.#pick(4));
      this.#emit(`${end}:`);
    }
  }

  /** Counts up or down by constant steps, or as often as a register says, four times at most. */
  #loop(): void {
    const [top, end] = [`L${this.#labels++}`, `L${this.#labels++}`];
    const counter = `%c${this.#depth}`;
    const how = this.#pick(3);
    const [step, from, to] = [this.#of(1, 1, 2, 3, 5), this.#pick(6), this.#pick(14)];
    if (how === 0) this.#emit(`and.b32 ${counter}, ${this.#any('b32')}, 3;`);
    else {
      const start = this.#constant(32, BigInt(how === 1 ? from : to));
      this.#emit(`mov.b32 ${counter}, ${start};`);
    }
    this.#emit(`${top}:`);
    if (this.#pick(2)) this.#emit(`mov.b32 ${this.#any('b32')}, ${counter};`);
    this.#inside(1 + this.#pick(3));
    if (this.#pick(3) === 0) this.#emit(`@${this.#any('pred')} bra ${end};`);
    if (how === 1) {
      const last = this.#constant(32, BigInt(to));
      const less = this.#of('lt.u32', 'lt.s32', 'le.s32');
      this.#emit(`add.u32 ${counter}, ${counter}, ${step}; setp.${less} %done, ${counter}, ${last}; @%done bra ${top};`);
    } else {
      this.#emit(`sub.u32 ${counter}, ${counter}, ${how === 0 ? 1 : step}; setp.ge.s32 %done, ${counter}, 0; @%done bra ${top};`);
    }
    this.#emit(`${end}:`);
  }

  /** Loads and stores of parts of what was stored, at places that are known or not, some of them guarded. */
  #memory(): void {
    const isShared = this.#pick(2) === 0;
    const [space, size] = isShared ? (['shared', 32] as const) : (['local', 64] as const);
    this.#emit(isShared ? 'mul.lo.u32 %t, %me, 32; mov.u32 %s, sh; add.u32 %s, %s, %t;' : 'mov.u32 %s, lo;');
    for (let i = 0; i < size / 8; i++) this.#emit(`st.${space}.b64 [%s+${8 * i}], ${this.#any('b64')};`);
    // The count is drawn again each time.
    for (let i = 0; i < 1 + this.#pick(3); i++) this.#access(space, size);
    if (this.#pick(2)) this.#emit(`ld.${space}.v2.b32 {${this.#any('b32')}, %t}, [%s+${8 * this.#pick(size / 8)}];`);
  }

  #access(space: 'shared' | 'local', size: number): void {
    const type = this.#of('u8', 's8', 'u16', 's16', 'b32', 'b64');
    const bytes = Number(type.slice(1)) / 8;
    const kind: DataKind = bytes === 8 ? 'b64' : bytes === 4 ? 'b32' : this.#of('b16', 'b32');
    const known = this.#pick(2) ? `[%s+${bytes * this.#pick(size / bytes)}]` : undefined;
    if (known === undefined) this.#emit(`and.b32 %m, ${this.#any('b32')}, ${size - bytes}; add.u32 %m, %m, %s;`);
    const place = known ?? '[%m]';
    if (this.#pick(2)) this.#emit(`${this.#guard()}st.${space}.${type} ${place}, ${this.#any(kind)};`);
    else this.#emit(`${this.#guard()}ld.${space}.${type} ${this.#any(kind)}, ${place};`);
  }
}
