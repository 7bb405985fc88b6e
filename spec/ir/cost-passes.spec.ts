import { suite } from 'uvu';
import { flattenBranches, hoistInvariants, type Kernel } from '../../src/ir/index.ts';
import { assertGives } from '../support/ir-text.ts';

const test = suite('ir/cost passes');

const gives = (name: string, pass: (kernel: Kernel) => boolean, before: string, after: string): void =>
  test(name, () => assertGives(pass, before, after));
const keeps = (name: string, pass: (kernel: Kernel) => boolean, text: string): void => gives(name, pass, text, text);

// ── loop-invariant motion ──

gives(
  'what every turn computes alike stands in front of the loop, with the constants it needs and no others',
  hoistInvariants,
  `b0:
    %0 = sreg i32 {name: tid.x}
    br b1(%0)
  b1(%1: i32):
    %2 = const i32 7
    %3 = mul i32 %0, %2
    %4 = const i32 1
    %5 = sub i32 %1, %4
    %6 = xor i32 %5, %3
    %7 = const i32 0
    %8 = icmp i1 %6, %7 {pred: eq}
    condbr %8, b2, b1(%6)
  b2:
    ret`,
  `b0:
    %0 = sreg i32 {name: tid.x}
    %2 = const i32 7
    %3 = mul i32 %0, %2
    br b1(%0)
  b1(%1: i32):
    %4 = const i32 1
    %5 = sub i32 %1, %4
    %6 = xor i32 %5, %3
    %7 = const i32 0
    %8 = icmp i1 %6, %7 {pred: eq}
    condbr %8, b2, b1(%6)
  b2:
    ret`,
);

gives(
  'out of two loops what neither changes, out of the inner one what the outer one changes; each chain in order',
  hoistInvariants,
  `b0:
    %0 = sreg i32 {name: tid.x}
    br b1(%0)
  b1(%1: i32):
    br b2(%1)
  b2(%2: i32):
    %3 = mul i32 %0, %0
    %4 = add i32 %3, %0
    %5 = add i32 %1, %4
    %6 = xor i32 %2, %5
    %7 = icmp i1 %6, %0 {pred: eq}
    condbr %7, b3, b2(%6)
  b3:
    %8 = icmp i1 %6, %1 {pred: slt}
    condbr %8, b1(%6), b4
  b4:
    ret`,
  `b0:
    %0 = sreg i32 {name: tid.x}
    %3 = mul i32 %0, %0
    %4 = add i32 %3, %0
    br b1(%0)
  b1(%1: i32):
    %5 = add i32 %1, %4
    br b2(%1)
  b2(%2: i32):
    %6 = xor i32 %2, %5
    %7 = icmp i1 %6, %0 {pred: eq}
    condbr %7, b3, b2(%6)
  b3:
    %8 = icmp i1 %6, %1 {pred: slt}
    condbr %8, b1(%6), b4
  b4:
    ret`,
);

gives(
  'a loop that is entered from a branch gets a block in front of it',
  hoistInvariants,
  `b0:
    %0 = sreg i32 {name: tid.x}
    %1 = icmp i1 %0, %0 {pred: slt}
    condbr %1, b1(%0), b2
  b1(%2: i32):
    %3 = mul i32 %0, %0
    %4 = xor i32 %2, %3
    %5 = icmp i1 %4, %0 {pred: eq}
    condbr %5, b2, b1(%4)
  b2:
    ret`,
  `b0:
    %0 = sreg i32 {name: tid.x}
    %1 = icmp i1 %0, %0 {pred: slt}
    condbr %1, b3(%0), b2
  b1(%2: i32):
    %4 = xor i32 %2, %3
    %5 = icmp i1 %4, %0 {pred: eq}
    condbr %5, b2, b1(%4)
  b2:
    ret
  b3(%6: i32):
    %3 = mul i32 %0, %0
    br b1(%6)`,
);

gives(
  'a division leaves a loop that always comes to it',
  hoistInvariants,
  `b0:
    %0 = sreg i32 {name: tid.x}
    br b1(%0)
  b1(%1: i32):
    %2 = udiv i32 %0, %0
    %3 = xor i32 %1, %2
    %4 = icmp i1 %3, %0 {pred: eq}
    condbr %4, b2, b1(%3)
  b2:
    ret`,
  `b0:
    %0 = sreg i32 {name: tid.x}
    %2 = udiv i32 %0, %0
    br b1(%0)
  b1(%1: i32):
    %3 = xor i32 %1, %2
    %4 = icmp i1 %3, %0 {pred: eq}
    condbr %4, b2, b1(%3)
  b2:
    ret`,
);

keeps(
  'a division stays where a turn may pass it by: the loop may end before it',
  hoistInvariants,
  `b0:
    %0 = sreg i32 {name: tid.x}
    br b1(%0)
  b1(%1: i32):
    %2 = icmp i1 %1, %0 {pred: ult}
    condbr %2, b2, b3
  b2:
    %3 = udiv i32 %0, %0
    %4 = xor i32 %1, %3
    br b1(%4)
  b3:
    ret`,
);

keeps(
  'loads, shuffles and clocks stay, and so does an address that accesses add up by themselves',
  hoistInvariants,
  `b0:
    %0 = param ptr.global {index: 0}
    %1 = sreg i32 {name: tid.x}
    br b1(%1)
  b1(%2: i32):
    %3 = const i64 16
    %4 = ptradd ptr.global %0, %3
    %5 = load i32 %4 {align: 4, volatile: false}
    %6 = shuffle i32 %1, %1
    %7 = clock i64 {name: counter}
    %8 = trunc i32 %7
    %9 = xor i32 %5, %6
    %10 = xor i32 %8, %9
    %11 = icmp i1 %10, %2 {pred: eq}
    condbr %11, b2, b1(%10)
  b2:
    ret`,
);

// ── if-conversion ──

gives(
  'a branch around a few instructions becomes a choice',
  flattenBranches,
  `b0:
    %0 = sreg i32 {name: tid.x}
    %1 = sreg i32 {name: tid.y}
    %2 = param ptr.global {index: 0}
    %3 = icmp i1 %0, %1 {pred: slt}
    condbr %3, b1, b2(%0)
  b1:
    %4 = add i32 %0, %1
    %5 = xor i32 %4, %1
    br b2(%5)
  b2(%6: i32):
    store %2, %6 {align: 4, volatile: false}
    ret`,
  `b0:
    %0 = sreg i32 {name: tid.x}
    %1 = sreg i32 {name: tid.y}
    %2 = param ptr.global {index: 0}
    %3 = icmp i1 %0, %1 {pred: slt}
    %4 = add i32 %0, %1
    %5 = xor i32 %4, %1
    %7 = select i32 %3, %5, %0
    br b2(%7)
  b1:
    ret
  b2(%6: i32):
    store %2, %6 {align: 4, volatile: false}
    ret`,
);

gives(
  'branches in branches, from the inside out, with parameters of arms; what both ways bring alike is no choice',
  flattenBranches,
  `b0:
    %0 = sreg i32 {name: tid.x}
    %1 = sreg i32 {name: tid.y}
    %2 = param ptr.global {index: 0}
    %3 = icmp i1 %0, %1 {pred: slt}
    %4 = icmp i1 %0, %1 {pred: eq}
    condbr %3, b1(%1), b4(%0, %1)
  b1(%5: i32):
    condbr %4, b2, b3
  b2:
    %6 = add i32 %5, %0
    br b4(%6, %1)
  b3:
    %7 = sub i32 %5, %0
    br b4(%7, %1)
  b4(%8: i32, %9: i32):
    %10 = add i32 %8, %9
    store %2, %10 {align: 4, volatile: false}
    ret`,
  `b0:
    %0 = sreg i32 {name: tid.x}
    %1 = sreg i32 {name: tid.y}
    %2 = param ptr.global {index: 0}
    %3 = icmp i1 %0, %1 {pred: slt}
    %4 = icmp i1 %0, %1 {pred: eq}
    %6 = add i32 %1, %0
    %7 = sub i32 %1, %0
    %11 = select i32 %4, %6, %7
    %12 = select i32 %3, %11, %0
    br b4(%12, %1)
  b1(%5: i32):
    ret
  b2:
    ret
  b3:
    ret
  b4(%8: i32, %9: i32):
    %10 = add i32 %8, %9
    store %2, %10 {align: 4, volatile: false}
    ret`,
);

const guarded = (body: string): string => `b0:
    %0 = sreg i32 {name: tid.x}
    %1 = param ptr.global {index: 0}
    %2 = param ptr.global {index: 1}
    %3 = icmp i1 %0, %0 {pred: slt}
    condbr %3, b1, b2(%0)
  b1:
${body}
    br b2(%9)
  b2(%10: i32):
    store %1, %10 {align: 4, volatile: false}
    ret`;

keeps('a load is never run where the source does not run it', flattenBranches, guarded('    %9 = load i32 %2 {align: 4, volatile: false}'));
keeps('nor is what the warp does together', flattenBranches, guarded('    %9 = shuffle i32 %0, %0'));
keeps('a division costs more than the branch', flattenBranches, guarded('    %9 = udiv i32 %0, %0'));
keeps(
  'so do doubles, which are computed in software',
  flattenBranches,
  guarded(`    %4 = uitofp f64 %0
    %5 = fadd f64 %4, %4
    %9 = fptoui i32 %5`),
);
keeps(
  'addresses are not chosen between: they may be of different buffers',
  flattenBranches,
  `b0:
    %0 = sreg i32 {name: tid.x}
    %1 = param ptr.global {index: 0}
    %2 = param ptr.global {index: 1}
    %3 = icmp i1 %0, %0 {pred: slt}
    condbr %3, b1(%1), b1(%2)
  b1(%4: ptr.global):
    store %4, %0 {align: 4, volatile: false}
    ret`,
);
keeps(
  'a way that is a turn of a loop stays one',
  flattenBranches,
  `b0:
    %0 = sreg i32 {name: tid.x}
    br b1(%0)
  b1(%1: i32):
    %2 = add i32 %1, %0
    %3 = icmp i1 %2, %0 {pred: slt}
    condbr %3, b1(%2), b2
  b2:
    br b1(%1)`,
);

test.run();
