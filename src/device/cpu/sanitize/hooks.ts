/**
 * The hooks of an instrumented compilation, which the rules of memory, regions, meetings and the schedule call. Nothing of it is
 * there in a plain one.
 */
import type { InstOf, Value, Variable } from '../../../ir/index.ts';
import type { Code } from '../../../wasm/index.ts';
import type { SanitizeKind } from '../../device.ts';
import type { Meeting, Region } from '../compile/regions.ts';
import type { Values } from '../compile/values.ts';
import type { Sites } from './sites.ts';

/** What hooks need of the emitter of a region. */
export interface Writer {
  readonly code: Code;
  readonly values: Pick<Values, 'push' | 'scratch'>;
  free(value: Value): void;
  window(space: Variable['space']): void;
}

export interface Sanitizer {
  readonly kinds: ReadonlySet<SanitizeKind>;
  readonly sites: Sites;
  /** Makes the address on the stack an index at which the lane of an access may be done; `pushValue` gives what is stored. */
  place(e: Writer, inst: AccessInst, value: Value, lane: number, pushValue?: () => void): void;
  /** Says that memory changed where what stands at the index in a local is not what an atomic found. */
  changed(e: Writer, type: 'i32' | 'i64' | 'f32' | 'f64', index: number, old: number): void;
  fence(e: Writer): void;
  members(e: Writer, inst: InstOf<'members'>, value: Value): void;
  /** At the start of a region's function, where all threads of the block run it. */
  regionStart(code: Code, region: Region): void;
  /** The thread in a local goes on. */
  threadStart(code: Code, thread: number): void;
  blockStart(code: Code): void;
  /** Every thread of the block waits or is gone. */
  release(code: Code): void;
  /** A warp from `base` on has come together: those of the mask. */
  met(code: Code, meeting: Meeting, locals: MeetingLocals): void;
}

export type AccessInst = InstOf<'load'> | InstOf<'store'> | InstOf<'atomic'> | InstOf<'cas'>;

export interface MeetingLocals {
  readonly base: number;
  readonly last: number;
  readonly mask: number;
  /** Free to be used. */
  readonly thread: number;
}
