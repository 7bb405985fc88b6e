/** What the page and its worker say to each other. */

/** To the worker. */
export type Order =
  /** Check a text, and show what it becomes. `number` is that of the answer. */
  | { readonly kind: 'show'; readonly number: number; readonly text: string; readonly view: string }
  /** What is known of the word at an offset. */
  | { readonly kind: 'hover'; readonly number: number; readonly text: string; readonly offset: number }
  /** Launch the kernel as its comment lines say, on the CPU device. */
  | { readonly kind: 'run'; readonly number: number; readonly text: string }
  /** Launch it on the GPU of the page too, and compare. */
  | { readonly kind: 'compare'; readonly number: number; readonly text: string };

/** A diagnostic for the margin and the list. Lines are from 1 on; 0 without a place. */
export interface Finding {
  readonly line: number;
  readonly column: number;
  readonly severity: 'error' | 'warning' | 'note';
  readonly code: string;
  readonly message: string;
}

/** From the worker. */
export type Answer =
  | {
      readonly kind: 'shown';
      readonly number: number;
      readonly findings: readonly Finding[];
      /** Undefined where the text does not compile for the view; the findings of that are in `findings`. */
      readonly view: { readonly text: string; readonly lines: readonly number[] } | undefined;
      readonly milliseconds: number;
    }
  | { readonly kind: 'hovered'; readonly number: number; readonly markdown: string | undefined }
  | {
      readonly kind: 'ran';
      readonly number: number;
      /** The report as the command line prints it. */
      readonly output: string;
      /** Faults of the sanitizer and of the launch. */
      readonly findings: readonly Finding[];
      /** By line: executions of its instructions by warps. */
      readonly heat: readonly (readonly [line: number, warps: number])[];
      readonly isFine: boolean;
    }
  | { readonly kind: 'failed'; readonly number: number; readonly why: string };
