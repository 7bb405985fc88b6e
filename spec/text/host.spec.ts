/** Code of hosts for Metal: Objective-C that a compiler takes, over declarations of what it uses, and slots as in the reflection. */
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { cli } from '../support/cli.ts';
import { exampleText } from '../support/examples.ts';
import { need } from '../support/need.ts';

const test = suite('text/host');

const many = `.version 7.8\n.target sm_80\n.address_size 64\n.visible .global .align 4 .u32 counts[2] = {3, 4};\n.extern .shared .align 4 .b8 room[];
.visible .entry many(.param .u64 self, .param .align 8 .b8 pair[16], .param .f64 x, ${Array.from({ length: 30 }, (_, i) => `.param .u16 n${i}`).join(', ')}) .reqntid 32, 2
{ .reg .b32 r, s; .reg .b64 o; .reg .f64 d; .reg .pred p; ld.param.u64 o, [self]; ld.param.u32 r, [pair+4]; ld.global.u32 s, [counts+4];
add.u32 r, r, s; st.shared.u32 [room], r; setp.eq.u32 p, r, 9; @p trap; ld.param.f64 d, [x]; st.global.f64 [o], d; ld.param.u16 r, [n7]; st.global.u32 [o+8], r; ret; }`;

const hostOf = async (ptx: string, emit: string): Promise<string> => {
  const { code, out, err } = await cli(['build', 'k.ptx', '--emit', emit, '--target', 'macos15', '-o', '-'], { 'k.ptx': ptx });
  assert.is(code, 0, err);
  return out;
};

const headers = {
  'Foundation/Foundation.h':
    '#define nil ((id)0)\ntypedef unsigned long NSUInteger;\n#include <stdint.h>\n@interface NSObject @end\n@interface NSString : NSObject @end\n@interface NSConstantString : NSString @end\n@interface NSError : NSObject @end\n',
  'Metal/Metal.h': `typedef struct { NSUInteger width, height, depth; } MTLSize;
@protocol MTLBuffer @end
@protocol MTLFunction @end
@protocol MTLComputePipelineState @end
@protocol MTLDevice
- (id<MTLComputePipelineState>)newComputePipelineStateWithFunction:(id<MTLFunction>)function error:(NSError **)error;
@end
@protocol MTLLibrary
@property (readonly) id<MTLDevice> device;
- (id<MTLFunction>)newFunctionWithName:(NSString *)name;
@end
@protocol MTLComputeCommandEncoder
- (void)setComputePipelineState:(id<MTLComputePipelineState>)state;
- (void)setBuffer:(id<MTLBuffer>)buffer offset:(NSUInteger)offset atIndex:(NSUInteger)index;
- (void)setBytes:(const void *)bytes length:(NSUInteger)length atIndex:(NSUInteger)index;
- (void)setThreadgroupMemoryLength:(NSUInteger)length atIndex:(NSUInteger)index;
- (void)dispatchThreadgroups:(MTLSize)groups threadsPerThreadgroup:(MTLSize)threads;
@end\n`,
};

need(test, ['clang-14'], 'a compiler takes the Objective-C', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'cumetal-'));
  try {
    for (const [path, text] of Object.entries(headers)) {
      mkdirSync(join(folder, path, '..'), { recursive: true });
      writeFileSync(join(folder, path), text);
    }
    for (const ptx of [exampleText('reduce'), many]) {
      writeFileSync(join(folder, 'k.m'), await hostOf(ptx, 'host:objc'));
      const words = [
        '-fsyntax-only',
        '-fobjc-arc',
        '-fobjc-runtime=macosx',
        '-x',
        'objective-c',
        '-Wall',
        '-Werror',
        '-Wno-unused-function',
        '-I',
        folder,
        join(folder, 'k.m'),
      ];
      const { status, stderr } = spawnSync('clang-14', [
        ...words,
        '-Wno-objc-root-class',
        '-Wno-unused-const-variable',
        '-Wno-unused-variable',
      ]);
      assert.is(status, 0, String(stderr));
    }
  } finally {
    rmSync(folder, { recursive: true });
  }
});

test('Swift has a parameter for each argument, hidden memory, and the limits of a block', async () => {
  const text = await hostOf(many, 'host');
  assert.match(text, /^public struct ManyKernel \{$/m);
  assert.match(
    text,
    /encode\(to encoder: MTLComputeCommandEncoder, grid: MTLSize, block: MTLSize, sharedBytes: Int, self_1: MTLBuffer, self_1Offset: Int = 0, pair: \[UInt8\], x: Double, n0: UInt16/,
  );
  assert.match(text, /A block has 32 x 2 x 1 threads\./);
  assert.match(text, /initialVariables = "AwAAAAQAAAA="/);
  assert.match(text, /faults: 4 bytes of zeros; then 0, or the number of a reason: `trap` was executed/);
  // All values share a slot behind the buffer; the alignment of PTX's parameters is kept.
  assert.match(text, /encoder\.setBytes\(values, length: values\.count, index: 1\)/);
  assert.match(text, /withUnsafeBytes\(of: &x\) \{ values\.replaceSubrange\(16\.\.<24, with: \$0\) \}/);
  assert.is(text.split('{').length, text.split('}').length);
});

test('code for the CPU device has no host', async () => {
  const { code, err } = await cli(['build', 'k.ptx', '--emit', 'host', '--target', 'cpu', '-o', '-'], { 'k.ptx': exampleText('saxpy') });
  assert.is(code, 3);
  assert.match(err, /CM2090.*compiled for the CPU device/);
});

test.run();
