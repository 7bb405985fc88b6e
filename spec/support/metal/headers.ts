/**
 * Facts of the public headers of macOS about the classes of a compute host: selectors with the types of their results and arguments, as
 * `method_getTypeEncoding` spells them (without receiver and selector). The fake Metal implements these only, and the messages of our
 * bindings are compared with them.
 * Source: the headers of Foundation, objc, dispatch and Metal, as JuliaGPU/Metal.jl's generated `lib/mtl/libmtl.jl` and its `@objc` calls
 * have them (properties, getters, argument types), and Apple's reference of MTLBlitCommandEncoder, MTLSharedEvent and MTLCaptureManager.
 */

/** A letter or word of a type encoding. */
export type Encoding = 'v' | '@' | 'Q' | 'q' | 'd' | 'B' | 'C' | '*' | '^v' | '^@' | '@?' | '{MTLSize}' | '{NSRange}';

export interface ClassFacts {
  readonly parent?: string;
  /** By selector, a `+` before those of the class itself: the result, then the arguments, with a blank between. */
  readonly methods: Readonly<Record<string, string>>;
}

export const classes: Readonly<Record<string, ClassFacts>> = {
  NSObject: { methods: { retain: '@', release: 'v', autorelease: '@', '+new': '@' } },
  NSString: { parent: 'NSObject', methods: { '+stringWithUTF8String:': '@ *', UTF8String: '*', length: 'Q' } },
  NSArray: { parent: 'NSObject', methods: { count: 'Q', 'objectAtIndex:': '@ Q' } },
  NSError: { parent: 'NSObject', methods: { domain: '@', code: 'q', localizedDescription: '@' } },
  NSURL: { parent: 'NSObject', methods: { '+fileURLWithPath:': '@ @', path: '@' } },
  OS_dispatch_data: { parent: 'NSObject', methods: {} },
  MTLDevice: {
    parent: 'NSObject',
    methods: {
      name: '@',
      registryID: 'Q',
      hasUnifiedMemory: 'B',
      maxThreadsPerThreadgroup: '{MTLSize}',
      maxThreadgroupMemoryLength: 'Q',
      maxBufferLength: 'Q',
      recommendedMaxWorkingSetSize: 'Q',
      currentAllocatedSize: 'Q',
      'supportsFamily:': 'B q',
      newCommandQueue: '@',
      'newCommandQueueWithMaxCommandBufferCount:': '@ Q',
      'newLibraryWithData:error:': '@ @ ^@',
      'newLibraryWithSource:options:error:': '@ @ @ ^@',
      'newComputePipelineStateWithFunction:error:': '@ @ ^@',
      'newBufferWithLength:options:': '@ Q Q',
      'newBufferWithBytesNoCopy:length:options:deallocator:': '@ ^v Q Q @?',
      newSharedEvent: '@',
    },
  },
  MTLCommandQueue: { parent: 'NSObject', methods: { commandBuffer: '@', 'setLabel:': 'v @', label: '@' } },
  MTLLibrary: {
    parent: 'NSObject',
    methods: { functionNames: '@', 'newFunctionWithName:': '@ @', 'setLabel:': 'v @', label: '@' },
  },
  MTLFunction: { parent: 'NSObject', methods: { name: '@', 'setLabel:': 'v @', label: '@' } },
  MTLComputePipelineState: {
    parent: 'NSObject',
    methods: {
      maxTotalThreadsPerThreadgroup: 'Q',
      threadExecutionWidth: 'Q',
      staticThreadgroupMemoryLength: 'Q',
      // Read-only: the value of a pipeline comes from its descriptor.
      label: '@',
    },
  },
  MTLBuffer: {
    parent: 'NSObject',
    methods: { contents: '^v', length: 'Q', gpuAddress: 'Q', storageMode: 'Q', 'setLabel:': 'v @', label: '@' },
  },
  MTLCommandBuffer: {
    parent: 'NSObject',
    methods: {
      computeCommandEncoder: '@',
      blitCommandEncoder: '@',
      'addCompletedHandler:': 'v @?',
      'encodeSignalEvent:value:': 'v @ Q',
      'encodeWaitForEvent:value:': 'v @ Q',
      commit: 'v',
      waitUntilCompleted: 'v',
      status: 'Q',
      error: '@',
      GPUStartTime: 'd',
      GPUEndTime: 'd',
      kernelStartTime: 'd',
      kernelEndTime: 'd',
      'setLabel:': 'v @',
      label: '@',
    },
  },
  MTLCommandEncoder: { parent: 'NSObject', methods: { endEncoding: 'v', 'setLabel:': 'v @', label: '@' } },
  MTLComputeCommandEncoder: {
    parent: 'MTLCommandEncoder',
    methods: {
      'setComputePipelineState:': 'v @',
      'setBuffer:offset:atIndex:': 'v @ Q Q',
      'setBytes:length:atIndex:': 'v ^v Q Q',
      'setThreadgroupMemoryLength:atIndex:': 'v Q Q',
      'useResource:usage:': 'v @ Q',
      'dispatchThreadgroups:threadsPerThreadgroup:': 'v {MTLSize} {MTLSize}',
    },
  },
  MTLBlitCommandEncoder: {
    parent: 'MTLCommandEncoder',
    methods: {
      'copyFromBuffer:sourceOffset:toBuffer:destinationOffset:size:': 'v @ Q @ Q Q',
      'fillBuffer:range:value:': 'v @ {NSRange} C',
    },
  },
  MTLSharedEvent: {
    parent: 'NSObject',
    methods: {
      signaledValue: 'Q',
      'setSignaledValue:': 'v Q',
      'waitUntilSignaledValue:timeoutMS:': 'B Q Q',
      'setLabel:': 'v @',
      label: '@',
    },
  },
  MTLCaptureManager: {
    parent: 'NSObject',
    methods: {
      '+sharedCaptureManager': '@',
      'supportsDestination:': 'B q',
      'startCaptureWithDescriptor:error:': 'B @ ^@',
      stopCapture: 'v',
      isCapturing: 'B',
    },
  },
  MTLCompileOptions: { parent: 'NSObject', methods: { 'setFastMathEnabled:': 'v B', 'setLanguageVersion:': 'v Q' } },
  MTLCaptureDescriptor: {
    parent: 'NSObject',
    methods: { 'setCaptureObject:': 'v @', 'setDestination:': 'v q', 'setOutputURL:': 'v @' },
  },
};

/** A method as some class has it: the result first. */
export interface Method {
  readonly owner: string;
  readonly selector: string;
  readonly isOfClass: boolean;
  readonly types: readonly Encoding[];
}

export const methods: readonly Method[] = Object.entries(classes).flatMap(([owner, facts]) =>
  Object.entries(facts.methods).map(([name, types]) => ({
    owner,
    selector: name.replace('+', ''),
    isOfClass: name.startsWith('+'),
    types: types.split(' ') as Encoding[],
  })),
);
