/**
 * Native code in the place of a kernel's WebAssembly, for the same blocks and with the same results. To compile it takes longer than most
 * launches, so that it is made when launches of the code have taken as long. Later launches run it, unless it turns out to be slower. Code that an
 * earlier process has made runs from the first launch on.
 */
import type { NativeMode } from '../../device.ts';
import { canRunNative } from '../native/mode.ts';

/** Milliseconds that the compiler takes to load and to compile a module, and for each byte of the module. */
const [compileMs, compileMsPerByte] = [50, 0.008];
/** The part of that which is worth it in this process, where later ones have the code as well. */
const sharedPart = 0.5;
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

/**
 * What is known of the speed of native code. It is used wherever there is some; or blocks of one launch were slower, so that another launch has to try;
 * or launches were slower, so that it is not used at all.
 */
export type Standing = 'used' | 'doubtful' | 'slower';

/** What outlives the process of native code. */
export interface NativeMemory<T> {
  /** What an earlier process has found out and made; undefined without any. */
  recall(): { readonly standing: Standing; readonly code: T | undefined } | undefined;
  keep(standing: Standing, code: T | undefined): void;
}

/** The native code of a kernel, as launches have code. */
export class NativeTwin<T> {
  readonly #make: () => NativeSource<T> | undefined;
  readonly #memory: NativeMemory<T> | undefined;
  #bytes: number;
  #source: NativeSource<T> | undefined;
  #code: T | undefined;
  #state: 'unmade' | 'made' | 'none' = 'unmade';
  #standing: Standing = 'used';
  #isRecalled = false;
  readonly #own = noTimes();
  readonly #native = noTimes();
  #isCompared = false;

  /** `bytes` is the length of the module that runs; `make` makes the one for native code. */
  constructor(bytes: number, make: () => NativeSource<T> | undefined, memory?: NativeMemory<T>) {
    this.#bytes = bytes;
    this.#make = make;
    this.#memory = memory;
  }

  /** Milliseconds that launches take before code is compiled. */
  get #usualMs(): number {
    return (this.#memory ? sharedPart : 1) * (compileMs + compileMsPerByte * this.#bytes);
  }

  /**
   * Milliseconds that the code is expected to take to compile, as far as this process has to pay for it: by the module that runs or, once `prepare` was
   * called, by its own; 0 where it is made, and infinite without any.
   */
  get expectedMs(): number {
    if (!this.isPossible) return Number.POSITIVE_INFINITY;
    return this.#state === 'made' ? 0 : this.#usualMs;
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
    this.#recall();
    return this.#state !== 'none' && this.#standing !== 'slower' && canRunNative();
  }

  /** Whether launches have taken so long that the code is worth compiling, or it is compiled. */
  isDue(): boolean {
    this.#recall();
    if (this.#state === 'made' && this.#standing === 'used') return true;
    // What the processor can do is asked last: short launches do without the answer.
    if (this.#own.ms < this.#usualMs || !this.isPossible) return false;
    this.prepare();
    return this.isPossible && this.#own.ms >= this.#usualMs;
  }

  /**
   * The code, compiled at the first call; undefined without any, also if the compiler throws, unless it is wanted in any case. Then it is there also if
   * it is known to be slower.
   */
  code(isWanted = false): T | undefined {
    this.#attempt(isWanted, () => {
      this.#source ??= this.#make();
      this.#code = this.#source?.compile();
      this.#source = undefined;
      this.#state = this.#code ? 'made' : 'none';
      if (this.#code && this.#standing !== 'slower') this.#memory?.keep(this.#standing, this.#code);
    });
    return this.#code;
  }

  /** Does a step of the compilation. A mistake of the compiler leaves launches with WebAssembly, unless native code is wanted in any case. */
  #attempt(isWanted: boolean, act: () => void): void {
    this.#recall();
    if (this.#state !== 'unmade' || !(isWanted ? canRunNative() : this.isPossible)) return;
    try {
      act();
    } catch (error) {
      this.#state = 'none';
      if (isWanted) throw error;
    }
  }

  /** Takes what an earlier process has left. */
  #recall(): void {
    if (this.#isRecalled) return;
    this.#isRecalled = true;
    const known = this.#memory?.recall();
    if (!known) return;
    this.#standing = known.standing;
    this.#code = known.code;
    if (this.#code) this.#state = 'made';
  }

  #note(standing: Standing): void {
    if (standing === this.#standing) return;
    this.#standing = standing;
    this.#memory?.keep(standing, standing === 'slower' ? undefined : this.#code);
  }

  /** Records whether the code was faster for some blocks of a launch. */
  noteTrial(isFaster: boolean): void {
    this.#note(isFaster ? 'used' : 'doubtful');
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
    // Launches of one process are compared: another one may have had other threads, or another load of the machine.
    if (this.#own.launches === 0) return;
    const isSlower = each > margin * this.#own.each;
    this.#note(isSlower ? 'slower' : 'used');
    if (!isSlower) return;
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
