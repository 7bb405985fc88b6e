/** Random LLVM functions with features beyond what PTX needs: LLVM's code and the CPU device have equal results. */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { airLibrary, airModule } from '../support/air-text.ts';
import { launchMetallib } from '../support/launch.ts';
import { scratch, tool } from '../support/llvm.ts';
import { need } from '../support/need.ts';
import { randomFunction } from '../support/random-llvm.ts';

const test = suite('raised as LLVM runs it');
const keep = scratch();

const inputs: readonly (readonly [x: bigint, y: bigint])[] = [
  [0n, 0n],
  [1n, 2n ** 64n - 1n],
  [2n ** 63n, 2n ** 63n - 1n],
  [0x0123456789abcdefn, 0xfedcba9876543210n],
  [0x8000000080000000n, 0x7fffffff7fffffffn],
  [0x00ff00ff00ff00ffn, 13n],
  [0xdeadbeefcafebaben, 0x123n],
  [41n, 0xffffffff00000000n],
];

/** Results by LLVM 14: a program that prints the result for each input. */
function byLlvm(text: string): bigint[] {
  const calls = inputs
    .map(
      ([x, y], i) => `  %r${i} = call i64 @f(i64 ${x}, i64 ${y})
  call i32 (i8*, ...) @printf(i8* getelementptr ([6 x i8], [6 x i8]* @format, i64 0, i64 0), i64 %r${i})`,
    )
    .join('\n');
  const program = `@format = constant [6 x i8] c"%llu\\0A\\00"
declare i32 @printf(i8*, ...)
${text}
define i32 @main() {
${calls}
  ret i32 0
}
`;
  const path = keep('program.ll', new TextEncoder().encode(program));
  return tool('lli-14', [path]).toString().trim().split('\n').map(BigInt);
}

function byDevice(text: string): bigint[] {
  const pointer = { type: 'i64 addrspace(1)*', kind: 'air.buffer' };
  const body = `  %wide = zext i32 %p3 to i64
  %ax = getelementptr i64, i64 addrspace(1)* %p1, i64 %wide
  %ay = getelementptr i64, i64 addrspace(1)* %p2, i64 %wide
  %x = load i64, i64 addrspace(1)* %ax
  %y = load i64, i64 addrspace(1)* %ay
  %r = call i64 @f(i64 %x, i64 %y)
  %to = getelementptr i64, i64 addrspace(1)* %p0, i64 %wide
  store i64 %r, i64 addrspace(1)* %to`;
  const module = airModule([pointer, pointer, pointer, { type: 'i32', kind: 'air.thread_position_in_grid' }], body, text);
  const given = [0, 1].map((k) => BigUint64Array.from(inputs.map((pair) => pair[k]!)));
  const args = [new BigUint64Array(inputs.length), ...given];
  const [after] = launchMetallib(airLibrary(module), { kernel: 'k', blocks: 1, threads: inputs.length, args });
  return [...new BigUint64Array(after!.slice().buffer)];
}

const count = Number(process.env.RAISED_FUNCTIONS ?? 40);
for (let seed = 1; seed <= count; seed++)
  need(test, ['lli-14', 'llvm-as-14'], `function ${seed}`, () => {
    const text = randomFunction(seed);
    assert.equal(byDevice(text), byLlvm(text));
  });

test.run();
