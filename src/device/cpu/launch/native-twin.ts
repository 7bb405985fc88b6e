/**
 * Native code in the place of a kernel's WebAssembly, for the same blocks and with the same results. To compile it takes longer than most
 * launches, so that it is made when launches of the code have taken as long. Later launches run it, unless it turns out to be slower.
 */
import type { NativeMode } from '../../device.ts';
import { canRunNative } from '../native/mode.ts';

/** Milliseconds that the compiler takes to load and to compile a module, and for each byte of the module. */
const [compileMs, compileMsPerByte] = [50, 0.004];
/** Launches of native code, and their milliseconds, after which it is known whether it is faster; and by how much WebAssembly has to be. */
const [minLaunches, minMs, margin] = [4, 4, 1.1];

/** How long launches of one code took. */
interface Times {
  launches: number;
  ms: number;
  /** The least milliseconds for a unit of blocks. */
  each: number;
}

const noTimes = (): Times => ({ launches: 0, ms: 0, each: Number.POSITIVE_INFINITY });

/** The module that native code is made of, which has other lane groups than the one that runs. */
export interface NativeSource<T> {
  readonly bytes: number;
  /** Compiles it; undefined where it has anything that native code cannot have. */
  compile(): T | undefined;
}

/** The native code of a kernel, as launches have code. */
export class NativeTwin<T> {
  readonly #make: () => NativeSource<T> | undefined;
  #bytes: number;
  #source: NativeSource<T> | undefined;
  #code: T | undefined;
  #state: 'unmade' | 'made' | 'none' = 'unmade';
  readonly #own = noTimes();
  readonly #native = noTimes();
  #isCompared = false;

  /** `bytes` is the length of the module that runs; `make` makes the one for native code. */
  constructor(bytes: number, make: () => NativeSource<T> | undefined) {
    this.#bytes = bytes;
    this.#make = make;
  }

  /** Milliseconds that the code is expected to take to compile, by the module that runs or, once `prepare` was called, by its own; 0 where it is made. */
  get expectedMs(): number {
    return this.#state === 'unmade' ? compileMs + compileMsPerByte * this.#bytes : 0;
  }

  /** The module of the code. */
  source(): NativeSource<T> | undefined {
    this.prepare();
    return this.#source;
  }

  /** Makes the module of the code, which takes a small part of the time; without a module there is no code. */
  prepare(): void {
    this.#attempt(false, () => {
      this.#source ??= this.#make();
      if (this.#source) this.#bytes = this.#source.bytes;
      else this.#state = 'none';
    });
  }

  /** Whether there may be native code which is not known to be slower. */
  get isPossible(): boolean {
    return this.#state !== 'none' && canRunNative();
  }

  /** Whether launches have taken so long that the code is worth compiling, or it is compiled. */
  isDue(): boolean {
    if (!this.isPossible || this.#own.ms < this.expectedMs) return false;
    this.prepare();
    return this.isPossible && this.#own.ms >= this.expectedMs;
  }

  /** The code, compiled at the first call; undefined without any, also if the compiler throws, unless it is wanted in any case. */
  code(isWanted = false): T | undefined {
    this.#attempt(isWanted, () => {
      this.#source ??= this.#make();
      this.#code = this.#source?.compile();
      this.#source = undefined;
      this.#state = this.#code ? 'made' : 'none';
    });
    return this.#code;
  }

  /** Does a step of the compilation. A mistake of the compiler leaves launches with WebAssembly, unless native code is wanted in any case. */
  #attempt(isWanted: boolean, act: () => void): void {
    if (this.#state !== 'unmade' || !this.isPossible) return;
    try {
      act();
    } catch (error) {
      this.#state = 'none';
      if (isWanted) throw error;
    }
  }

  /** Records a launch, by native code or by WebAssembly. */
  note(isNative: boolean, ms: number, units: number): void {
    const times = isNative ? this.#native : this.#own;
    times.launches++;
    times.ms += ms;
    times.each = Math.min(times.each, ms / Math.max(1, units));
    const { launches, ms: nativeMs, each } = this.#native;
    if (this.#isCompared || launches < minLaunches || nativeMs < minMs) return;
    this.#isCompared = true;
    if (each <= margin * this.#own.each) return;
    this.#state = 'none';
    this.#code = undefined;
  }
}

/** The code that runs a launch: native code if that is wanted always, or has become worth it. */
export function chosenCode<T extends { readonly twin?: NativeTwin<T> | undefined }>(code: T, mode: NativeMode): T {
  const { twin } = code;
  if (!twin || mode === 'never' || (mode === 'auto' && !twin.isDue())) return code;
  return twin.code(mode === 'always') ?? code;
}
