/**
 * Functions in AIR: a kernel that calls functions with loops, early returns, local memory and pointers, as compilers emit them without
 * inlining. The CPU device and the independent oracle have the results of the same arithmetic here.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { raiseModule, targets } from '../../src/air/index.ts';
import { Diagnostics } from '../../src/base/diagnostic.ts';
import { type Module, readModule, writeModule } from '../../src/bitcode/index.ts';
import { writeMetallib } from '../../src/metallib/index.ts';
import { launchMetallib } from '../support/launch.ts';
import { assembled, scratch } from '../support/llvm.ts';
import { need } from '../support/need.ts';
import { launchOracle, oracleTools } from '../support/oracle.ts';

const test = suite('oracle/functions');
const folder = mkdtempSync(join(tmpdir(), 'cumetal-spec-'));
test.after(() => rmSync(folder, { recursive: true, force: true }));
const keep = scratch();

const head = `target datalayout = "e-p:64:64:64-i1:8:8-i8:8:8-i16:16:16-i32:32:32-i64:64:64-f32:32:32-f64:64:64-v16:16:16-v24:32:32-v32:32:32-v48:64:64-v64:64:64-v96:128:128-v128:128:128-v192:256:256-v256:256:256-v512:512:512-v1024:1024:1024-n8:16:32"
target triple = "air64-apple-macosx14.0.0"
`;
const tail = `
!air.version = !{!0}
!air.language_version = !{!1}
!air.kernel = !{!2}
!0 = !{i32 2, i32 6, i32 0}
!1 = !{!"Metal", i32 3, i32 1, i32 0}
!2 = !{void (i32 addrspace(1)*, i32)* @k, !3, !4}
!3 = !{}
!4 = !{!5, !6}
!5 = !{i32 0, !"air.buffer", !"air.location_index", i32 0, i32 1, !"air.read_write", !"air.address_space", i32 1, !"air.arg_type_size", i32 4, !"air.arg_type_align_size", i32 4, !"air.arg_type_name", !"uint", !"air.arg_name", !"out"}
!6 = !{i32 1, !"air.thread_position_in_threadgroup", !"air.arg_type_name", !"uint", !"air.arg_name", !"tid"}
`;

const functions = `
define internal i32 @steps(i32 %n) {
start:
  %none = icmp ule i32 %n, 1
  br i1 %none, label %early, label %loop
early:
  ret i32 0
loop:
  %x = phi i32 [ %n, %start ], [ %next, %loop ]
  %count = phi i32 [ 0, %start ], [ %more, %loop ]
  %half = lshr i32 %x, 1
  %triple = mul i32 %x, 3
  %up = add i32 %triple, 1
  %bit = and i32 %x, 1
  %odd = icmp ne i32 %bit, 0
  %next = select i1 %odd, i32 %up, i32 %half
  %more = add i32 %count, 1
  %done = icmp eq i32 %next, 1
  br i1 %done, label %end, label %loop
end:
  ret i32 %more
}
define internal void @put(i32 addrspace(1)* %to, i32 %v) {
  %own = alloca i32, align 4
  %old = load i32, i32 addrspace(1)* %to, align 4
  store i32 %v, i32* %own, align 4
  %back = load i32, i32* %own, align 4
  %sum = add i32 %old, %back
  store i32 %sum, i32 addrspace(1)* %to, align 4
  ret void
}
define internal i32 @both(i32 %n) {
  %m = add i32 %n, 7
  %a = call i32 @steps(i32 %n)
  %b = call i32 @steps(i32 %m)
  %shifted = shl i32 %b, 16
  %r = or i32 %a, %shifted
  ret i32 %r
}
`;

const kernel = `
define void @k(i32 addrspace(1)* %out, i32 %tid) {
  %odd = and i32 %tid, 1
  %is = icmp ne i32 %odd, 0
  %at = zext i32 %tid to i64
  %to = getelementptr i32, i32 addrspace(1)* %out, i64 %at
  %v = call i32 @both(i32 %tid)
  call void @put(i32 addrspace(1)* %to, i32 %v)
  br i1 %is, label %again, label %end
again:
  call void @put(i32 addrspace(1)* %to, i32 1000000)
  br label %end
end:
  ret void
}
`;

/** LLVM's bitcode of a text, read by our reader. */
function moduleOf(text: string): Module {
  const diagnostics = new Diagnostics();
  const module = readModule(assembled(keep('functions.ll', new TextEncoder().encode(text))), diagnostics);
  assert.equal(diagnostics.list, []);
  return module!;
}

function metallibOf(text: string): Uint8Array {
  const bitcode = writeModule(moduleOf(text));
  return writeMetallib({
    version: targets.macos14.container,
    platform: 'macos',
    os: targets.macos14.os,
    functions: [{ name: 'k', type: 'kernel', airVersion: [2, 6], metalVersion: [3, 1], bitcode }],
  });
}

/** The number of Collatz steps to 1. */
function steps(n: number): number {
  let count = 0;
  for (let x = n; x > 1; count++) x = x % 2 === 0 ? x / 2 : 3 * x + 1;
  return count;
}

need(test, oracleTools, 'nested calls with loops and early returns, and local memory per call', () => {
  const metallib = metallibOf(head + functions + kernel + tail);
  const before = Uint32Array.from({ length: 64 }, (_, i) => 5 * i);
  const expected = before.map((old, i) => old + (steps(i) | (steps(i + 7) << 16)) + (i % 2) * 1_000_000);
  const [after] = launchMetallib(metallib, { kernel: 'k', blocks: 1, threads: 64, args: [before.slice()] });
  assert.equal(new Uint32Array(after!.buffer, after!.byteOffset, 64), expected);
  const args = [new Uint8Array(before.slice().buffer)];
  const run = launchOracle(folder, metallib, { kernel: 'k', grid: [1], block: [64], args, sharedBytes: undefined, order: 'rev' });
  assert.is(run.complaints, '');
  assert.equal(new Uint32Array(run.after[0]!.slice().buffer), expected);
});

const whyRefused = (text: string): string => {
  const diagnostics = new Diagnostics();
  assert.equal(raiseModule(moduleOf(text), diagnostics), []);
  return diagnostics.list.map((d) => `${d.code} ${d.message}`).join();
};

const calling = (name: string): string => `
define void @k(i32 addrspace(1)* %out, i32 %tid) {
  %v = call i32 @${name}(i32 %tid)
  store i32 %v, i32 addrspace(1)* %out, align 4
  ret void
}
`;

need(test, ['llvm-as-14'], 'recursive functions, and call graphs of exponential size, are refused by name', () => {
  const round = `
define internal i32 @a(i32 %n) {
  %r = call i32 @b(i32 %n)
  ret i32 %r
}
define internal i32 @b(i32 %n) {
  %r = call i32 @a(i32 %n)
  ret i32 %r
}
`;
  assert.match(whyRefused(head + round + calling('a') + tail), /^CM4053 .*the function `a`, which calls itself/);
  const doubling = Array.from({ length: 40 }, (_, i) => {
    const [one, two] = i === 39 ? ['add i32 %n, 1', 'add i32 %n, 2'] : [`call i32 @f${i + 1}(i32 %n)`, `call i32 @f${i + 1}(i32 %n)`];
    return `define internal i32 @f${i}(i32 %n) {\n  %a = ${one}\n  %b = ${two}\n  %c = add i32 %a, %b\n  ret i32 %c\n}\n`;
  });
  assert.match(whyRefused(head + doubling.join('') + calling('f0') + tail), /^CM4053 .*more than 1000000 instructions/);
});

test.run();
