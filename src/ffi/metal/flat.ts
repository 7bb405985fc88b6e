/** The flat functions of shim.c, one row each, with their types for `bun:ffi`. Every way to Metal provides them, with or without C. */
import type { Functions, TypeName } from '../types.ts';

export type { Pointer, TypeName } from '../types.ts';
export { cText } from '../types.ts';

/** The result of `cm_abi`; incremented with every change of a function. */
export const abi = 2;

const p = 'ptr';
const u = 'u64';
const none = 'void';

/** Arguments and result of each function, in bun:ffi's type names. */
export const flatTypes = {
  cm_abi: { args: [], returns: 'u32' },
  cm_error_code: { args: [], returns: 'i64' },
  cm_error_domain: { args: [], returns: 'cstring' },
  cm_error_text: { args: [], returns: 'cstring' },
  cm_release: { args: [p], returns: none },
  cm_set_label: { args: [p, p], returns: none },
  cm_pause: { args: ['u32'], returns: none },
  cm_device: { args: [], returns: p },
  cm_device_name: { args: [p, p, 'u32'], returns: 'u32' },
  cm_device_facts: { args: [p, p], returns: none },
  cm_supports_family: { args: [p, 'i64'], returns: 'u32' },
  cm_queue: { args: [p, u], returns: p },
  cm_library: { args: [p, p, u], returns: p },
  cm_library_source: { args: [p, p, u], returns: p },
  cm_library_count: { args: [p], returns: u },
  cm_function: { args: [p, p], returns: p },
  cm_pipeline: { args: [p, p], returns: p },
  cm_pipeline_facts: { args: [p, p], returns: none },
  cm_buffer: { args: [p, u, u], returns: p },
  cm_buffer_over: { args: [p, p, u, u], returns: p },
  cm_buffer_contents: { args: [p], returns: p },
  cm_buffer_address: { args: [p], returns: u },
  cm_commands: { args: [p], returns: p },
  cm_compute: { args: [p], returns: p },
  cm_blit: { args: [p], returns: p },
  cm_end: { args: [p], returns: none },
  cm_commit: { args: [p], returns: none },
  cm_status: { args: [p], returns: 'u32' },
  cm_wait: { args: [p], returns: none },
  cm_outcome: { args: [p, p], returns: 'u32' },
  cm_on_complete: { args: [p, p], returns: none },
  cm_set_pipeline: { args: [p, p], returns: none },
  cm_set_buffer: { args: [p, p, u, u], returns: none },
  cm_set_bytes: { args: [p, p, u, u], returns: none },
  cm_set_threadgroup_memory: { args: [p, u, u], returns: none },
  cm_use: { args: [p, p, u], returns: none },
  cm_dispatch: { args: [p, p, p], returns: none },
  cm_copy: { args: [p, p, u, p, u, u], returns: none },
  cm_fill: { args: [p, p, u, u, 'u32'], returns: none },
  cm_event: { args: [p], returns: p },
  cm_event_value: { args: [p], returns: u },
  cm_event_set: { args: [p, u], returns: none },
  cm_event_wait: { args: [p, u, u], returns: 'u32' },
  cm_signal: { args: [p, p, u], returns: none },
  cm_await: { args: [p, p, u], returns: none },
  cm_capture_start: { args: [p, p], returns: 'u32' },
  cm_capture_stop: { args: [], returns: none },
} as const satisfies Record<string, { readonly args: readonly TypeName[]; readonly returns: TypeName }>;

export type Flat = Functions<typeof flatTypes>;
