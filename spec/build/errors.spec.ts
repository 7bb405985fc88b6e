/** What is wrong with a kernel is said at its line of TypeScript, in every runtime. */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import {
  bf16,
  blockReduce,
  breakLoop,
  constant,
  f16,
  f32,
  f64,
  globalIndex,
  inline,
  kernel,
  loadA,
  loadB,
  loadTile,
  local,
  loop,
  printf,
  ptr,
  s8,
  s32,
  shared,
  sharedTile,
  u8,
  u32,
  type Value,
  when,
} from '../../src/build/index.ts';
import { CumetalError, Device } from '../../src/index.ts';

const test = suite('build/errors');

const parameters = { x: ptr(f32), n: u32 } as const;
type Body = Parameters<typeof kernel<typeof parameters>>[2];

/** The line of this file that calls it. */
function here(): number {
  const frame = new Error('here').stack!.split('\n')[2]!;
  return Number(/errors\.spec\.ts:(\d+)/.exec(frame)![1]);
}

function failureOf(run: () => unknown): CumetalError {
  try {
    run();
  } catch (error) {
    if (error instanceof CumetalError) return error;
    throw error;
  }
  throw new Error('there is no error');
}

/** The code and the line of what a body has wrong. */
function faultOf(body: Body): readonly [code: string, line: number | undefined] {
  const { diagnostics } = failureOf(() => kernel('wrong', parameters, body));
  const { code, file, labels } = diagnostics[0]!;
  assert.match(file!.path, /errors\.spec\.ts$/);
  return [code, file!.position(labels[0]!.span.start).line];
}

test('CM5084: an operation outside of a kernel', () => {
  assert.is(failureOf(() => globalIndex()).code, 'CM5084');
  assert.is(failureOf(() => when(undefined as never, () => {})).code, 'CM5084');
});

test('CM5085: constants that the type does not have', () => {
  const wrong: [number | bigint, (n: Value<'u32'>) => void][] = [
    [-1, (n) => n.add(-1)],
    [2 ** 32, (n) => n.add(2 ** 32)],
    [1.5, (n) => n.add(1.5)],
    [0.5, () => shared(f32, 2).at(0.5)],
    [Number.NaN, () => shared(f32, 2).at(Number.NaN)],
    [256, () => constant(u8, 256)],
  ];
  for (const [value, use] of wrong) {
    const failure = failureOf(() => kernel('wrong', parameters, ({ n }) => use(n)));
    assert.is(failure.code, 'CM5085', String(value));
  }
  const line = here() + 1;
  const body: Body = ({ n }) => void n.add(-1);
  assert.equal(faultOf(body), ['CM5085', line]);
});

test('CM5086: operands of another type, where TypeScript was overruled', () => {
  const line = here() + 1;
  const body: Body = ({ n, x }) => void n.add(x.at(0) as never);
  assert.equal(faultOf(body), ['CM5086', line]);
  assert.is(failureOf(() => kernel('wrong', parameters, ({ n }) => void n.add('1' as never))).code, 'CM5086');
});

test('CM5087: values that leave their branch, their loop or their kernel', () => {
  let kept: Value<'u32'> | undefined;
  const outside = (run: (n: Value<'u32'>) => void): string =>
    failureOf(() =>
      kernel('wrong', parameters, ({ n }) => {
        run(n);
        kept!.add(1);
      }),
    ).code;
  const keep = (value: Value<'u32'>): void => {
    kept = value.mul(3);
  };
  assert.is(
    outside((n) => when(n.gt(1), () => keep(n))),
    'CM5087',
  );
  assert.is(
    outside((n) =>
      when(
        n.gt(1),
        () => {},
        () => keep(n),
      ),
    ),
    'CM5087',
  );
  assert.is(
    outside((n) => loop(0, n, 1, keep)),
    'CM5087',
  );
  kernel('right', parameters, ({ n }) => keep(n));
  assert.is(failureOf(() => kernel('wrong', parameters, () => void kept!.add(1))).code, 'CM5087');
});

test('CM5088: arguments that no kernel can have', () => {
  const wrong: Body[] = [
    () => breakLoop(),
    () => void shared(f32, 0),
    () => void shared(f32, [2, 1.5]),
    () => void shared(f32, 2, { name: '2 tiles' }),
    () => void [shared(f32, 2, { name: 'tile' }), shared(f32, 2, { name: 'tile' })],
    ({ n }) => loop(0, n, 0, () => {}),
    ({ n }) => printf('%d %d', n),
    ({ n }) => void shared(f32, [2, 2]).in(...([n] as unknown as [number, number])),
    ({ x }) => void x.at(0).get().to(bf16, { round: 'rm' }),
    () => void loadA('f16', sharedTile(f16, 8, 16), 0, 0),
    () => void loadA('f16', sharedTile(f16, 16, 16), 0, 8),
    () => void loadB('f16', sharedTile(f16, 8, 16), 0, 0, { transposed: true }),
    () => void loadA('f16', sharedTile(f16, 16, 16, { pad: 2 }), 0, 0),
    () => void loadA('f16', sharedTile(f16, 16, 32), 0, 4),
    () => void loadB('s8', sharedTile(s8, 8, 16), 0, 0),
    ({ x }) => void x.at(0).get().to(f16, { sat: true }),
    ({ x }) =>
      void x
        .at(0)
        .get()
        .to(f16)
        .div(3, { mode: 'rz' as never }),
    ({ x }) =>
      void x
        .at(0)
        .get()
        .to(bf16)
        .sqrt({ mode: 'rp' as never }),
    ({ n }) => void n.add(1, { sat: true } as never),
    ({ n }) => void n.to(s32).mul(2, { sat: true } as never),
    ({ n }) => void n.min(1, { ftz: true } as never),
    ({ n }) => void n.lt(1, { unordered: true } as never),
    ({ x }) =>
      void x
        .at(0)
        .get()
        .to(bf16)
        .add(1, { round: 'rz' } as never),
    ({ x }) =>
      void x
        .at(0)
        .get()
        .to(f64)
        .neg({ ftz: true } as never),
    ({ x }) => void inline('add.u32 %0, %1, %2;', [u32], [x.at(0).get()]),
  ];
  for (const body of wrong) assert.is(failureOf(() => kernel('wrong', parameters, body)).code, 'CM5088', String(body));
  assert.is(failureOf(() => kernel('a name', parameters, () => {})).code, 'CM5088');
  assert.is(failureOf(() => kernel('wrong', { 'a name': u32 }, () => {})).code, 'CM5088');
  assert.is(failureOf(() => kernel('wrong', parameters, () => {}, { block: [64, 32] as [number, number] })).code, 'CM5088');
});

test('CM5089: text that is no PTX', () => {
  const line = here() + 1;
  const body: Body = () => void inline('add.u32 %%a %%b', []);
  assert.equal(faultOf(body), ['CM5089', line]);
});

test('what the checker says is at the line of TypeScript, with the instruction', () => {
  const line = here() + 1;
  const body: Body = ({ n }) => void inline('add.u33 %0, %1, %1;', [u32], [n]);
  const failure = failureOf(() => kernel('wrong', parameters, body));
  const { code, file, labels } = failure.diagnostics[0]!;
  const { start, end } = labels[0]!.span;
  assert.equal([code, file!.position(start).line, file!.text.slice(start, end)], ['CM1103', line, 'u33']);
  assert.match(failure.message, /errors\.spec\.ts:\d+:\d+: /);
});

test('a newer architecture than the target is an error at the line that needs it', () => {
  const line = here() + 1;
  const body: Body = ({ x }) => x.at(0).set(x.at(0).get().tanh());
  const { diagnostics } = failureOf(() => kernel('old', parameters, body, { target: 'sm_70' }));
  const { code, file, labels } = diagnostics[0]!;
  assert.equal([code, file!.position(labels[0]!.span.start).line], ['CM2111', line]);
  assert.is(kernel('new', parameters, body).target, 'sm_75');
  assert.match(kernel('newer', parameters, body, { target: 'sm_90' }).ptx, /\.version 7\.8\n\.target sm_90\n/);
});

test('the sanitizer names the line of TypeScript', async () => {
  const line = here() + 1;
  const body: Body = ({ x, n }) => void x.at(n).set(1);
  const device = Device.open('cpu', { print: false });
  const made = kernel('outside', parameters, body);
  made.module(device, { compile: { target: 'cpu', sanitize: true } });
  const sanitize = { kinds: new Set(['memory'] as const), source: made.source };
  const args = { x: device.allocate('f32', 4), n: 4 };
  const { warnings } = await made.launch(device, { grid: 1, block: 1, args, watch: { sanitize } }).ended();
  assert.equal(
    warnings.map(({ code, notes }) => [code, notes.some((note) => note.includes(`errors.spec.ts:${line}`))]),
    [['CM6101', true]],
  );
  device.close();
});

test('CM5020: blocks that a function of the kernel was not made for', () => {
  const device = Device.open('cpu', { print: false });
  const x = device.allocate('f32', 1);
  const codeOf = (run: () => unknown): string => {
    const { code, diagnostics } = failureOf(run);
    assert.match(diagnostics[0]!.file!.path, /errors\.spec\.ts$/);
    return code;
  };
  const total = (threads: number, value: Value<'f32'>): Value<'f32'> => blockReduce(value, (a, b) => a.add(b), { threads, identity: 0 });
  const reduced = kernel('reduced', parameters, ({ x }) => x.at(0).set(total(64, constant(f32, 1))));
  for (const block of [32, 128, [32, 2]] as const)
    assert.is(
      codeOf(() => reduced.launch(device, { grid: 1, block, args: { x, n: 1 } })),
      'CM5020',
    );
  reduced.launch(device, { grid: 1, block: 64, args: { x, n: 1 } });
  const tiled = kernel('tiled', parameters, ({ x, n }) => {
    const tile = sharedTile(f32, 16, 16);
    loadTile(tile, { pointer: x, rows: n, columns: n }, 0, 0, { threads: 64, thread: globalIndex() });
  });
  assert.is(
    codeOf(() => tiled.launch(device, { grid: 1, block: 32, args: { x, n: 1 } })),
    'CM5020',
  );
  tiled.launch(device, { grid: 1, block: 96, args: { x, n: 1 } });
  const twice: Body = ({ x }) => x.at(0).set(total(64, total(128, constant(f32, 1))));
  assert.is(failureOf(() => kernel('twice', parameters, twice)).code, 'CM5088');
  const once: Body = ({ x }) => x.at(0).set(total(64, constant(f32, 1)));
  assert.is(failureOf(() => kernel('once', parameters, once, { block: 128 })).code, 'CM5020');
  device.close();
});

test('a variable keeps its value where another one is set to it', () => {
  const { ptx } = kernel('variables', parameters, ({ x, n }) => {
    const count = local(u32, n);
    const before = count.get();
    count.set(0);
    x.at(before).set(0);
  });
  assert.match(ptx, /mov\.b32 (%r\d+), %r\d+;[\s\S]*mul\.wide\.u32 %rd\d+, \1, 4;/);
});

test.run();
