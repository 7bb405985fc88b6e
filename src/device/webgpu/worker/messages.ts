/** What the device asks of the worker that has the GPU, and what it answers. */

/** The words that both sides share: the number of the last answer, and its length in bytes. */
export const control = { answered: 0, length: 1, words: 2 } as const;
/** Bytes of an answer. */
export const answerBytes = 1 << 16;

export type Ask =
  /** The GPU of a page, or that of a package with the address `from`. */
  | { readonly ask: 'open'; readonly from: string | undefined }
  /** The arena gets a size, and keeps its contents. */
  | { readonly ask: 'arena'; readonly bytes: number }
  | { readonly ask: 'write'; readonly offset: number; readonly bytes: Uint8Array }
  | { readonly ask: 'clear'; readonly offset: number; readonly size: number }
  | { readonly ask: 'read'; readonly offset: number; readonly into: SharedArrayBuffer }
  | {
      readonly ask: 'program';
      readonly id: number;
      readonly code: string;
      readonly entry: string;
      readonly constants: Readonly<Record<string, number>>;
      readonly table: Uint8Array | undefined;
    }
  | { readonly ask: 'forget'; readonly id: number }
  | {
      readonly ask: 'launch';
      readonly id: number;
      /** The words of the launch, without the first block of a dispatch, which is at `placeAt`, in bytes. */
      readonly words: Uint8Array;
      readonly placeAt: number;
      readonly grid: readonly [number, number, number];
      /** Blocks of a dispatch along an axis. */
      readonly most: number;
    };

/** A message to the worker; `number` of one that wants an answer. */
export type Message = Ask & { readonly number?: number | undefined };
/** The first message: memory for answers. */
export interface Start {
  readonly control: SharedArrayBuffer;
  readonly answer: SharedArrayBuffer;
}

/** The GPU that a worker has opened. */
export interface Opened {
  readonly name: string;
  readonly limits: Readonly<Record<string, number>>;
}

export type Answer =
  | { readonly isGood: true; readonly opened?: Opened; readonly ms?: number }
  /** `lost`: the GPU takes no more work. */
  | { readonly isGood: false; readonly why: string; readonly notes?: readonly string[]; readonly isLost?: boolean };
