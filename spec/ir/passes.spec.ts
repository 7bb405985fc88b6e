import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { cleanupCfg, cse, dce, type Kernel, printKernel, runPasses, standardPasses } from '../../src/ir/index.ts';
import { assertGives, assertSound, kernelOf, kernelText, normalText } from '../support/ir-text.ts';

const test = suite('ir/passes');

const gives = (name: string, pass: (kernel: Kernel) => boolean, before: string, after: string): void =>
  test(name, () => assertGives(pass, before, after));

// ── cse ──

gives(
  'equal expressions are computed once, commuted ones too',
  cse,
  `b0:
    %0 = param ptr.global {index: 0}
    %1 = sreg i32 {name: tid.x}
    %2 = sreg i32 {name: tid.y}
    %3 = sreg i32 {name: tid.x}
    %4 = add i32 %1, %2
    %5 = add i32 %2, %3
    %6 = sub i32 %1, %2
    %7 = sub i32 %2, %1
    %8 = icmp i1 %1, %2 {pred: slt}
    %9 = icmp i1 %2, %1 {pred: sgt}
    %10 = icmp i1 %2, %1 {pred: slt}
    %11 = select i32 %8, %4, %5
    %12 = select i32 %9, %6, %7
    %13 = select i32 %10, %11, %12
    store %0, %13 {align: 4, volatile: false}
    ret`,
  `b0:
    %0 = param ptr.global {index: 0}
    %1 = sreg i32 {name: tid.x}
    %2 = sreg i32 {name: tid.y}
    %4 = add i32 %1, %2
    %6 = sub i32 %1, %2
    %7 = sub i32 %2, %1
    %8 = icmp i1 %1, %2 {pred: slt}
    %10 = icmp i1 %2, %1 {pred: slt}
    %11 = select i32 %8, %4, %4
    %12 = select i32 %8, %6, %7
    %13 = select i32 %10, %11, %12
    store %0, %13 {align: 4, volatile: false}
    ret`,
);

gives(
  'types and attributes tell expressions apart',
  cse,
  `b0:
    %0 = const i32 1
    %1 = const i64 1
    %2 = const i32 1
    %3 = vec2 v2.i32 %0, %2
    %4 = extract i32 %3 {lane: 0}
    %5 = extract i32 %3 {lane: 1}
    ret`,
  `b0:
    %0 = const i32 1
    %1 = const i64 1
    %3 = vec2 v2.i32 %0, %0
    %4 = extract i32 %3 {lane: 0}
    %5 = extract i32 %3 {lane: 1}
    ret`,
);

gives(
  'a dominating block serves those under it, a sibling does not',
  cse,
  `b0:
    %0 = sreg i32 {name: tid.x}
    %1 = add i32 %0, %0
    %2 = icmp i1 %0, %1 {pred: eq}
    condbr %2, b1, b2
  b1:
    %3 = add i32 %0, %0
    %4 = mul i32 %3, %0
    br b3(%4)
  b2:
    %5 = mul i32 %0, %1
    br b3(%5)
  b3(%6: i32):
    %7 = mul i32 %1, %0
    %8 = add i32 %7, %6
    ret`,
  `b0:
    %0 = sreg i32 {name: tid.x}
    %1 = add i32 %0, %0
    %2 = icmp i1 %0, %1 {pred: eq}
    condbr %2, b1, b2
  b1:
    %4 = mul i32 %1, %0
    br b3(%4)
  b2:
    %5 = mul i32 %0, %1
    br b3(%5)
  b3(%6: i32):
    %7 = mul i32 %1, %0
    %8 = add i32 %7, %6
    ret`,
);

gives(
  'loads merge where nothing is ever written, and not where they are volatile',
  cse,
  `b0:
    %0 = variable ptr.constant {name: table}
    %1 = param ptr.global {index: 0}
    %2 = load i32 %0 {align: 4, volatile: false}
    %3 = load i32 %0 {align: 4, volatile: false}
    %4 = load f32 %0 {align: 4, volatile: false}
    %5 = load i32 %0 {align: 4, volatile: true}
    %6 = load i32 %0 {align: 4, volatile: true}
    %7 = load i32 %1 {align: 4, volatile: false}
    %8 = load i32 %1 {align: 4, volatile: false}
    %9 = vec4 v4.i32 %2, %3, %5, %6
    %10 = vec2 v2.i32 %7, %8
    ret`,
  `b0:
    %0 = variable ptr.constant {name: table}
    %1 = param ptr.global {index: 0}
    %2 = load i32 %0 {align: 4, volatile: false}
    %4 = load f32 %0 {align: 4, volatile: false}
    %5 = load i32 %0 {align: 4, volatile: true}
    %6 = load i32 %0 {align: 4, volatile: true}
    %7 = load i32 %1 {align: 4, volatile: false}
    %8 = load i32 %1 {align: 4, volatile: false}
    %9 = vec4 v4.i32 %2, %2, %5, %6
    %10 = vec2 v2.i32 %7, %8
    ret`,
);

// ── dce ──

gives(
  'what threads tell each other goes where nobody listens; what they wait for stays',
  dce,
  `b0:
    %0 = sreg i32 {name: laneid}
    %1 = shuffle i32 %0, %0
    %2 = const f32 0x00000000
    %3 = vec2 v2.f32 %2, %2
    %4 = matmul v2.f32 %3, %3, %3
    syncwarp
    ret`,
  `b0:
    syncwarp
    ret`,
);

gives(
  'what nothing needs goes; stores, barriers and volatile loads stay with what they need',
  dce,
  `b0:
    %0 = param ptr.global {index: 0}
    %1 = sreg i32 {name: tid.x}
    %2 = sreg i32 {name: tid.y}
    %3 = add i32 %2, %2
    %4 = load i32 %0 {align: 4, volatile: false}
    %5 = load i32 %0 {align: 4, volatile: true}
    %6 = mul i32 %4, %3
    barrier
    store %0, %1 {align: 4, volatile: false}
    ret`,
  `b0:
    %0 = param ptr.global {index: 0}
    %1 = sreg i32 {name: tid.x}
    %5 = load i32 %0 {align: 4, volatile: true}
    barrier
    store %0, %1 {align: 4, volatile: false}
    ret`,
);

gives(
  'parameters that only feed each other go with their arguments',
  dce,
  `b0:
    %0 = param ptr.global {index: 0}
    %1 = const i32 0
    %2 = const i32 1
    br b1(%1, %1, %2)
  b1(%3: i32, %4: i32, %5: i32):
    %6 = add i32 %4, %2
    %7 = add i32 %3, %5
    %8 = icmp i1 %6, %1 {pred: eq}
    condbr %8, b2(%7), b3
  b2(%9: i32):
    br b1(%9, %6, %9)
  b3:
    store %0, %6 {align: 4, volatile: false}
    ret`,
  `b0:
    %0 = param ptr.global {index: 0}
    %1 = const i32 0
    %2 = const i32 1
    br b1(%1)
  b1(%4: i32):
    %6 = add i32 %4, %2
    %8 = icmp i1 %6, %1 {pred: eq}
    condbr %8, b2, b3
  b2:
    br b1(%6)
  b3:
    store %0, %6 {align: 4, volatile: false}
    ret`,
);

// ── cleanup-cfg ──

gives(
  'what cannot be reached goes and the rest is renumbered',
  cleanupCfg,
  `b0:
    %0 = sreg i32 {name: tid.x}
    %1 = icmp i1 %0, %0 {pred: ult}
    condbr %1, b3, b4
  b1:
    br b2
  b2:
    br b3
  b3:
    barrier
    ret
  b4:
    ret`,
  `b0:
    %0 = sreg i32 {name: tid.x}
    %1 = icmp i1 %0, %0 {pred: ult}
    condbr %1, b1, b2
  b1:
    barrier
    ret
  b2:
    ret`,
);

gives(
  'a straight line becomes one block, parameters their arguments',
  cleanupCfg,
  `b0 "first":
    %0 = param ptr.global {index: 0}
    %1 = sreg i32 {name: tid.x}
    br b1(%1)
  b1(%2: i32):
    %3 = add i32 %2, %1
    br b2(%3, %2)
  b2(%4: i32, %5: i32):
    %6 = mul i32 %4, %5
    store %0, %6 {align: 4, volatile: false}
    ret @10:13`,
  `b0 "first":
    %0 = param ptr.global {index: 0}
    %1 = sreg i32 {name: tid.x}
    %3 = add i32 %1, %1
    %6 = mul i32 %3, %1
    store %0, %6 {align: 4, volatile: false}
    ret @10:13`,
);

gives(
  'edges skip blocks that only jump on, permuting arguments at once',
  cleanupCfg,
  `b0:
    %0 = param ptr.global {index: 0}
    %1 = sreg i32 {name: tid.x}
    %2 = sreg i32 {name: tid.y}
    %3 = icmp i1 %1, %2 {pred: ult}
    condbr %3, b1(%1, %2), b3(%1, %1)
  b1(%4: i32, %5: i32):
    br b2(%5, %4)
  b2(%6: i32, %7: i32):
    br b3(%7, %6)
  b3(%8: i32, %9: i32):
    %10 = sub i32 %8, %9
    store %0, %10 {align: 4, volatile: false}
    ret`,
  `b0:
    %0 = param ptr.global {index: 0}
    %1 = sreg i32 {name: tid.x}
    %2 = sreg i32 {name: tid.y}
    %3 = icmp i1 %1, %2 {pred: ult}
    condbr %3, b1(%1, %2), b1(%1, %1)
  b1(%8: i32, %9: i32):
    %10 = sub i32 %8, %9
    store %0, %10 {align: 4, volatile: false}
    ret`,
);

gives(
  'an empty block stays where its parameter is used after it',
  cleanupCfg,
  `b0:
    %0 = param ptr.global {index: 0}
    %1 = sreg i32 {name: tid.x}
    br b1(%1)
  b1(%2: i32):
    br b2
  b2:
    %3 = add i32 %2, %1
    %4 = icmp i1 %3, %1 {pred: ult}
    condbr %4, b1(%3), b3
  b3:
    store %0, %2 {align: 4, volatile: false}
    ret`,
  `b0:
    %0 = param ptr.global {index: 0}
    %1 = sreg i32 {name: tid.x}
    br b1(%1)
  b1(%2: i32):
    %3 = add i32 %2, %1
    %4 = icmp i1 %3, %1 {pred: ult}
    condbr %4, b1(%3), b2
  b2:
    store %0, %2 {align: 4, volatile: false}
    ret`,
);

gives(
  'a branch whose edges end up equal is a jump',
  cleanupCfg,
  `b0:
    %0 = sreg i32 {name: tid.x}
    %1 = icmp i1 %0, %0 {pred: ult}
    condbr %1, b1, b2
  b1:
    br b3
  b2:
    br b3
  b3:
    barrier
    ret`,
  `b0:
    %0 = sreg i32 {name: tid.x}
    %1 = icmp i1 %0, %0 {pred: ult}
    barrier
    ret`,
);

gives(
  'a loop stays out of the entry block',
  cleanupCfg,
  `b0:
    br b1
  b1:
    barrier
    br b1`,
  `b0:
    br b1
  b1:
    barrier
    br b1`,
);

test('endless loops of empty blocks stay endless, and settle', () => {
  const kernel = kernelOf(kernelText('b0:\nbr b1\nb1:\nbr b2\nb2:\nbr b3\nb3:\nbr b1'));
  for (let turn = 0; turn < 3 && cleanupCfg(kernel); turn++) assertSound(kernel);
  assert.is(printKernel(kernel), normalText('b0:\nbr b1\nb1:\nbr b1'));
});

// ── all together ──

test('passes repeat until nothing is left to do', () => {
  const kernel = kernelOf(
    kernelText(`b0:
    %0 = param ptr.global {index: 0}
    %1 = const i32 1
    %2 = const i32 1
    %3 = icmp i1 %1, %2 {pred: eq}
    condbr %3, b1(%1), b2
  b1(%4: i32):
    %5 = sub i32 %4, %2
    %6 = icmp i1 %5, %1 {pred: eq}
    condbr %6, b2, b3(%5)
  b2:
    br b3(%2)
  b3(%7: i32):
    store %0, %7 {align: 4, volatile: false}
    ret`),
  );
  runPasses(kernel, standardPasses);
  assertSound(kernel);
  assert.is(
    printKernel(kernel),
    normalText(`b0:
    %0 = param ptr.global {index: 0}
    %7 = const i32 0
    store %0, %7 {align: 4, volatile: false}
    ret`),
  );
});

test('locations follow their instructions', () => {
  const kernel = kernelOf(
    kernelText(`b0:
    %0 = param ptr.global {index: 0} @1:2
    %1 = const i32 3 @3:4
    %2 = add i32 %1, %1 @5:6
    store %0, %2 {align: 4, volatile: false} @7:8
    ret @9:10`),
  );
  runPasses(kernel, standardPasses);
  assert.is(
    printKernel(kernel),
    normalText(`b0:
    %0 = param ptr.global {index: 0} @1:2
    %2 = const i32 6 @5:6
    store %0, %2 {align: 4, volatile: false} @7:8
    ret @9:10`),
  );
});

test.run();
