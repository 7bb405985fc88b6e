/** Statements of random CUDA C++ programs: they end, and change variables and arrays of their function alone. */
import { condition, element, expression } from './expressions.ts';
import { allTypes, type Callee, type Draw, integers, newScope, type Scope, type Type, times, types } from './scope.ts';

/** Types of variables: those of 32 bits twice as often. */
const declaredTypes: readonly Type[] = [...allTypes, 'u32', 'i32', 'f32'];

type Statement = (scope: Scope, depth: number) => string[] | undefined;

const indented = (lines: readonly string[]) => lines.map((line) => `  ${line}`);

/** Statements whose variables end with them. */
function body(scope: Scope, count: number, depth: number): string[] {
  const before = scope.variables;
  scope.variables = [...before];
  const lines = indented(statements(scope, count, depth));
  scope.variables = before;
  return lines;
}

export const statements = (scope: Scope, count: number, depth: number): string[] => times(count, () => statement(scope, depth)).flat();

const declare: Statement = (scope) => {
  const type = scope.draw.of(declaredTypes);
  const name = `v${scope.names++}`;
  const line = `${type} ${name} = ${expression(scope, type, 4)};`;
  scope.variables.push({ name, type });
  return [line];
};

const assign: Statement = (scope) => {
  const assignable = scope.variables.filter(({ isCounter }) => !isCounter);
  if (assignable.length === 0) return undefined;
  const { name, type } = scope.draw.of(assignable);
  return [`${name} = ${expression(scope, type, 4)};`];
};

const store: Statement = (scope) =>
  scope.arrays.length === 0 ? undefined : [`${element(scope, 2)} ${scope.draw.of(['=', '+=', '^='])} ${expression(scope, 'u32', 3)};`];

const branch: Statement = (scope, depth) => {
  const { draw } = scope;
  const lines = [`if (${condition(scope, 2)}) {`, ...body(scope, draw.between(1, 4), depth - 1)];
  if (draw.chance(0.5)) lines.push('} else {', ...body(scope, draw.between(1, 4), depth - 1));
  return [...lines, '}'];
};

const loop: Statement = (scope, depth) => {
  const { draw } = scope;
  const counter = { name: `k${scope.names++}`, type: 'u32', isCounter: true } as const;
  const bound = draw.chance(0.5) ? String(draw.between(1, 9)) : `(${expression(scope, 'u32', 1)} & 7)`;
  const before = scope.variables;
  scope.variables = [...before, counter];
  const inside = indented(statements(scope, draw.between(1, 5), depth - 1));
  if (draw.chance(0.3)) inside.push(`  if (${condition(scope, 1)}) ${draw.of(['break', 'continue'])};`);
  inside.push(...indented(statements(scope, draw.between(0, 2), depth - 1)));
  scope.variables = before;
  return [`for (u32 ${counter.name} = 0; ${counter.name} < ${bound}; ${counter.name}++) {`, ...inside, '}'];
};

const choose: Statement = (scope, depth) => {
  const { draw } = scope;
  const values = times(8, (value) => value).filter(() => draw.chance(0.5));
  const cases = values.flatMap((value) => [
    `case ${value}: {`,
    ...body(scope, draw.between(1, 3), depth - 1),
    draw.chance(0.5) ? '} break;' : '}',
  ]);
  return [`switch (${expression(scope, 'u32', 2)} & 7) {`, ...cases, 'default: break;', '}'];
};

const simple: readonly (readonly [number, Statement])[] = [
  [40, declare],
  [20, assign],
  [10, store],
];
const nested: readonly (readonly [number, Statement])[] = [
  [12, branch],
  [12, loop],
  [6, choose],
];

function statement(scope: Scope, depth: number): string[] {
  const kinds = depth > 0 ? [...simple, ...nested] : simple;
  return scope.draw.weighted(kinds)(scope, depth) ?? declare(scope, depth)!;
}

/** Some functions, each of which may call those before it, and their text. */
export function someFunctions(draw: Draw): { readonly callees: Callee[]; readonly lines: string[] } {
  const callees: Callee[] = [];
  const lines: string[] = [];
  for (let i = draw.below(4); i > 0; i--) {
    const callee = { name: `f${callees.length}`, params: times(draw.between(1, 4), () => draw.of(allTypes)), result: draw.of(integers) };
    const named = callee.params.map((type, k) => ({ name: `p${k}`, type }));
    const scope = newScope(draw, [...named], [...callees]);
    const head = `${draw.of(['CALLED', 'SHARED_CODE'])} ${callee.result} ${callee.name}`;
    lines.push(`${head}(${named.map(({ type, name }) => `${type} ${name}`).join(', ')}) {`);
    lines.push(...indented(statements(scope, draw.between(1, 5), 2)));
    lines.push(`  return ${expression(scope, callee.result, 3)};`, '}');
    callees.push(callee);
  }
  return { callees, lines };
}

/** The bits of a value as an unsigned integer; those of all NaNs are the same. */
export const bitsOf = (type: Type, value: string): string => (types[type].isFloat ? `bits_${type}(${value})` : `(u64)${value}`);
