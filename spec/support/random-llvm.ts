/**
 * Random LLVM functions, `i64 @f(i64, i64)`: integers of odd widths, vectors, structs, memory and branches, without poison or undefined
 * values, so that every implementation gives the same result.
 */

/** Numbers from 0 to below n, the same for the same seed. Source: Marsaglia, "Xorshift RNGs". */
function generator(seed: number): (n: number) => number {
  let state = (seed * 2654435761 + 88172645) >>> 0 || 1;
  return (n) => {
    state ^= state << 13;
    state >>>= 0;
    state ^= state >>> 17;
    state ^= state << 5;
    state >>>= 0;
    return state % n;
  };
}

const widths = [1, 8, 13, 16, 24, 32, 33, 48, 64];
const vectors = ['<2 x i32>', '<3 x i16>', '<4 x i8>', '<2 x float>', '<8 x i8>', '<4 x i16>'];
const struct = '{ i16, <2 x i32>, [3 x i16], float }';
const overflow = ['sadd', 'uadd', 'ssub', 'usub', 'smul', 'umul'];

const partsOf = (type: string): { count: number; element: string } => {
  const [, count, element] = /^<(\d+) x (\w+)>$/.exec(type) ?? [];
  return { count: Number(count ?? 1), element: element ?? type };
};
const widthOf = (type: string): number => Number(/^i(\d+)$/.exec(type)?.[1] ?? 32);
const splat = (type: string, value: number | string): string => {
  const { count, element } = partsOf(type);
  return type === element ? String(value) : `<${Array(count).fill(`${element} ${value}`).join(', ')}>`;
};

/** The text of a function with its declarations. */
export function randomFunction(seed: number, steps = 60): string {
  const pick = generator(seed);
  const one = <T>(list: readonly T[]): T => list[pick(list.length)]!;
  const lines: string[] = [];
  const declared = new Set<string>();
  const values = new Map<string, string[]>([['i64', ['%x', '%y']]]);
  let names = 0;
  const put = (type: string, text: string): string => {
    const name = `%v${names++}`;
    lines.push(`  ${name} = ${text}`);
    values.set(type, [...(values.get(type) ?? []), name]);
    return name;
  };
  const call = (type: string, name: string, args: string): string => {
    declared.add(`declare ${type} @${name}(${args.replace(/ [%-]?[\w.]+(?=,|$)/g, '').replace(/(<[^>]*>) <[^>]*>/g, '$1')})`);
    return put(type, `call ${type} @${name}(${args})`);
  };
  const any = (type: string): string => {
    const known = values.get(type);
    if (known && pick(8) > 0) return one(known);
    return make(type);
  };
  const int = (): string => `i${one(widths)}`;
  const wide = (): string => `i${one(widths.slice(1))}`;

  /** A value of a type from one of 64 bits. */
  function make(type: string): string {
    const from = one(values.get('i64')!);
    if (type === 'i64') return from;
    if (type === 'float') return put(type, `sitofp i24 ${make('i24')} to float`);
    if (type === struct) return filled();
    if (!type.startsWith('<')) return put(type, `trunc i64 ${from} to ${type}`);
    const { count, element } = partsOf(type);
    let last = 'undef';
    for (let i = 0; i < count; i++)
      last = put(i === count - 1 ? type : 'partial', `insertelement ${type} ${last}, ${element} ${any(element)}, i32 ${i}`);
    return last;
  }

  /** A struct of which every part is set. */
  function filled(): string {
    const parts = ['i16', '<2 x i32>', 'i16', 'i16', 'i16', 'float'].map((type) => [type, any(type)] as const);
    const paths = ['0', '1', '2, 0', '2, 1', '2, 2', '3'];
    let last = 'undef';
    parts.forEach(([type, value], i) => {
      last = put(i === 5 ? struct : 'partial', `insertvalue ${struct} ${last}, ${type} ${value}, ${paths[i]}`);
    });
    return last;
  }

  const intOrVector = (): string => (pick(3) === 0 ? one(vectors.filter((v) => !v.includes('float'))) : wide());
  const rows: (() => unknown)[] = [
    () => {
      const type = intOrVector();
      put(type, `${one(['add', 'sub', 'mul', 'and', 'or', 'xor'])} ${type} ${any(type)}, ${any(type)}`);
    },
    () => {
      const type = intOrVector();
      const odd = put(type, `or ${type} ${any(type)}, ${splat(type, 1)}`);
      put(type, `${one(['udiv', 'urem'])} ${type} ${any(type)}, ${odd}`);
    },
    () => {
      const type = intOrVector();
      const half = put(type, `lshr ${type} ${any(type)}, ${splat(type, 1)}`);
      const odd = put(type, `or ${type} ${half}, ${splat(type, 1)}`);
      put(type, `${one(['sdiv', 'srem'])} ${type} ${any(type)}, ${odd}`);
    },
    () => {
      const type = intOrVector();
      const count = put(type, `urem ${type} ${any(type)}, ${splat(type, widthOf(partsOf(type).element))}`);
      put(type, `${one(['shl', 'lshr', 'ashr'])} ${type} ${any(type)}, ${count}`);
    },
    () => {
      const type = int();
      put('i1', `icmp ${one(['eq', 'ne', 'slt', 'sle', 'sgt', 'sge', 'ult', 'ule', 'ugt', 'uge'])} ${type} ${any(type)}, ${any(type)}`);
    },
    () => {
      const type = one(vectors.filter((v) => !v.includes('float')));
      const { count } = partsOf(type);
      const mask = put('mask', `icmp ${one(['eq', 'slt', 'ugt'])} ${type} ${any(type)}, ${any(type)}`);
      put(type, `select <${count} x i1> ${mask}, ${type} ${any(type)}, ${type} ${any(type)}`);
      if (count === 8) put('i8', `bitcast <8 x i1> ${mask} to i8`);
    },
    () => {
      const type = one([int(), ...vectors, struct, 'float']);
      put(type, `select i1 ${any('i1')}, ${type} ${any(type)}, ${type} ${any(type)}`);
    },
    () => {
      const [from, to] = [wide(), wide()];
      if (widthOf(from) === widthOf(to)) return;
      put(to, `${widthOf(from) > widthOf(to) ? 'trunc' : one(['zext', 'sext'])} ${from} ${any(from)} to ${to}`);
    },
    () => put('float', `${one(['sitofp', 'uitofp'])} ${one(['i8', 'i16', 'i32', 'i33', 'i64'].map((t) => `${t} ${any(t)}`))} to float`),
    () => {
      const type = one(['float', '<2 x float>']);
      put(type, `${one(['fadd', 'fsub', 'fmul', 'fdiv', 'frem'])} ${type} ${any(type)}, ${any(type)}`);
    },
    () => put('i1', `fcmp ${one(['oeq', 'one', 'olt', 'ule', 'ord', 'ugt', 'une', 'uno'])} float ${any('float')}, ${any('float')}`),
    () => put('float', `fneg float ${any('float')}`),
    () => {
      const type = one(['i8', 'i16', 'i32', 'i64']);
      call(type, `llvm.fpto${one(['s', 'u'])}i.sat.${type}.f32`, `float ${any('float')}`);
    },
    () => {
      const type = one(vectors);
      const { count, element } = partsOf(type);
      const index = pick(2) === 0 ? String(pick(count)) : put('i32', `urem i32 ${any('i32')}, ${count}`);
      put(element, `extractelement ${type} ${any(type)}, i32 ${index}`);
      put(type, `insertelement ${type} ${any(type)}, ${element} ${any(element)}, i32 ${index}`);
    },
    () => {
      const type = one(vectors);
      const { count } = partsOf(type);
      const mask = Array.from({ length: count }, () => `i32 ${pick(2 * count)}`).join(', ');
      put(type, `shufflevector ${type} ${any(type)}, ${type} ${any(type)}, <${count} x i32> <${mask}>`);
    },
    () => {
      const [from, to] = one([
        ['<2 x i32>', 'i64'],
        ['<4 x i8>', 'i32'],
        ['<3 x i16>', 'i48'],
        ['i32', '<4 x i8>'],
        ['i64', '<4 x i16>'],
        ['<8 x i8>', '<2 x i32>'],
        ['i48', '<3 x i16>'],
      ] as const);
      put(to, `bitcast ${from} ${any(from)} to ${to}`);
    },
    () => {
      const [type, path] = one([
        ['i16', '0'],
        ['<2 x i32>', '1'],
        ['i16', '2, 1'],
        ['float', '3'],
      ] as const);
      put(type, `extractvalue ${struct} ${any(struct)}, ${path}`);
      put(struct, `insertvalue ${struct} ${any(struct)}, ${type} ${any(type)}, ${path}`);
    },
    () => {
      const type = one(['i8', 'i16', 'i32', 'i64', '<2 x i32>']);
      const suffix = type === '<2 x i32>' ? 'v2i32' : type;
      const two = `${type} ${any(type)}, ${type} ${any(type)}`;
      call(type, `llvm.${one(['sadd.sat', 'uadd.sat', 'ssub.sat', 'usub.sat', 'smin', 'smax', 'umin', 'umax'])}.${suffix}`, two);
      call(type, `llvm.${one(['fshl', 'fshr'])}.${suffix}`, `${two}, ${type} ${any(type)}`);
      call(type, `llvm.${one(['ctpop', 'bitreverse'])}.${suffix}`, `${type} ${any(type)}`);
      call(type, `llvm.${one(['ctlz', 'cttz', 'abs'])}.${suffix}`, `${type} ${any(type)}, i1 false`);
    },
    () => {
      const type = one(['i8', 'i16', 'i32', 'i64']);
      const pair = call(`{ ${type}, i1 }`, `llvm.${one(overflow)}.with.overflow.${type}`, `${type} ${any(type)}, ${type} ${any(type)}`);
      put(type, `extractvalue { ${type}, i1 } ${pair}, 0`);
      put('i1', `extractvalue { ${type}, i1 } ${pair}, 1`);
    },
    () => {
      const place = `%m${names++}`;
      lines.unshift(`  ${place} = alloca ${struct}`);
      lines.push(`  store ${struct} ${any(struct)}, ${struct}* ${place}`);
      const index = put('i64', `urem i64 ${any('i64')}, 3`);
      const at = put('pointer', `getelementptr ${struct}, ${struct}* ${place}, i64 0, i32 2, i64 ${index}`);
      put('i16', `load i16, i16* ${at}`);
      lines.push(`  store i16 ${any('i16')}, i16* ${at}`);
      const vector = put('pointer', `getelementptr ${struct}, ${struct}* ${place}, i64 0, i32 1`);
      put('<2 x i32>', `load <2 x i32>, <2 x i32>* ${vector}`);
      put(struct, `load ${struct}, ${struct}* ${place}`);
    },
    () => {
      const at = names++;
      const type = one([wide(), struct, '<3 x i16>']);
      const [first, second, third] = [any(type), any(type), any(type)];
      const key = put('i8', `and i8 ${any('i8')}, 3`);
      lines.push(`  switch i8 ${key}, label %d${at} [ i8 1, label %a${at}\n    i8 2, label %b${at} ]`);
      for (const block of ['a', 'b', 'd']) lines.push(`${block}${at}:\n  br label %j${at}`);
      lines.push(`j${at}:`);
      put(type, `phi ${type} [ ${first}, %a${at} ], [ ${second}, %b${at} ], [ ${third}, %d${at} ]`);
    },
  ];
  for (let i = 0; i < steps; i++) one(rows)();
  // A hash of all values: all NaNs are equal.
  let sum = 'i64 0'.slice(4);
  const mix = (value: string): void => {
    const turned = put('hash', `mul i64 ${sum}, 6364136223846793005`);
    sum = put('hash', `xor i64 ${turned}, ${value}`);
  };
  for (const [type, known] of values) {
    if (!/^i\d+$|^float$/.test(type)) continue;
    for (const value of known.slice(-4)) {
      if (type === 'i64') mix(value);
      else if (type === 'float') {
        const bits = put('hash', `bitcast float ${value} to i32`);
        const is = put('hash', `fcmp ord float ${value}, ${value}`);
        mix(put('hash', `zext i32 ${put('hash', `select i1 ${is}, i32 ${bits}, i32 7`)} to i64`));
      } else mix(put('hash', `zext ${type} ${value} to i64`));
    }
  }
  return `${[...declared].join('\n')}\ndefine internal i64 @f(i64 %x, i64 %y) {\n${lines.join('\n')}\n  ret i64 ${sum}\n}\n`;
}
