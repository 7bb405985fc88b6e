/** The part of WebGPU's interface that the worker uses. Source: W3C, WebGPU, the interface definitions. */

export interface Gpu {
  requestAdapter(options?: object): Promise<GpuAdapter | null>;
}

export interface GpuAdapter {
  readonly limits: Readonly<Record<string, number>>;
  readonly info?: { readonly vendor: string; readonly architecture: string; readonly device: string; readonly description: string };
  requestDevice(options: { readonly requiredLimits: Readonly<Record<string, number>> }): Promise<GpuDevice>;
}

export interface GpuError {
  readonly message: string;
}

export interface GpuDevice {
  readonly queue: GpuQueue;
  readonly limits: Readonly<Record<string, number>>;
  readonly lost: Promise<{ readonly message: string; readonly reason?: string }>;
  createBuffer(options: { readonly size: number; readonly usage: number }): GpuBuffer;
  createBindGroupLayout(options: object): object;
  createPipelineLayout(options: object): object;
  createBindGroup(options: object): object;
  createShaderModule(options: { readonly code: string }): GpuShader;
  createComputePipelineAsync(options: object): Promise<object>;
  createCommandEncoder(): GpuEncoder;
  pushErrorScope(kind: 'validation' | 'out-of-memory' | 'internal'): void;
  popErrorScope(): Promise<GpuError | null>;
  destroy(): void;
}

export interface GpuShader {
  getCompilationInfo(): Promise<{
    readonly messages: readonly { readonly type: string; readonly message: string; readonly lineNum: number }[];
  }>;
}

export interface GpuQueue {
  writeBuffer(buffer: GpuBuffer, offset: number, bytes: Uint8Array): void;
  submit(commands: readonly object[]): void;
  onSubmittedWorkDone(): Promise<void>;
}

export interface GpuBuffer {
  readonly size: number;
  mapAsync(mode: number): Promise<void>;
  getMappedRange(): ArrayBuffer;
  unmap(): void;
  destroy(): void;
}

export interface GpuEncoder {
  clearBuffer(buffer: GpuBuffer, offset: number, size: number): void;
  copyBufferToBuffer(from: GpuBuffer, at: number, to: GpuBuffer, toAt: number, size: number): void;
  beginComputePass(): GpuPass;
  finish(): object;
}

export interface GpuPass {
  setPipeline(pipeline: object): void;
  setBindGroup(index: number, group: object): void;
  dispatchWorkgroups(x: number, y: number, z: number): void;
  end(): void;
}

/** Bits of `GPUBufferUsage` and `GPUMapMode`. */
export const usage = { mapRead: 1, copySource: 4, copyTarget: 8, storage: 0x80 } as const;
export const mapRead = 1;
/** `GPUShaderStage.COMPUTE`. */
export const computeStage = 4;
