/**
 * Records with fixups. One walk writes the records of all functions of a module; an operand that refers to something without a number
 * yet is a fixup, which `fillIn` resolves once there are numbers. A second walk would take as long as the first.
 */

export interface Tape {
  /** For each record its code, its number of operands, and the operands, of 32 bits each. */
  words: Int32Array;
  length: number;
  /** The start of the record that operands are put into. */
  start: number;
  /** Fixups, two numbers each: the index of a word, and what it refers to: an index and, in the lowest bits, one of `references`. */
  fixups: Int32Array;
  fixupCount: number;
}

/** Kinds of fixups. Before, the word of a distance holds the number of instruction values in front of it. */
export const references = {
  /** The distance back to a value of the function's list. */
  value: 0,
  /** The same with a sign. */
  signedValue: 1,
  /** The id of a value of the list. */
  id: 2,
  /** The id of the instruction whose number is in the word. */
  instruction: 3,
  type: 4,
  attributes: 5,
  /** The distance back to metadata of the module. */
  metadata: 6,
  /** The same to metadata of the function. */
  localMetadata: 7,
  /** The id of metadata of the module, plus 1. */
  node: 8,
} as const;
const referenceBits = 4;

/** Estimates of the words and fixup numbers of a record; both lists grow. */
const wordsPerInstruction = 6;
const fixupsPerInstruction = 4;
const headWords = 2;

/** An empty tape with room for a number of instructions. */
export function tapeFor(instructions: number): Tape {
  return {
    words: new Int32Array(wordsPerInstruction * instructions + 64),
    length: headWords,
    start: 0,
    fixups: new Int32Array(fixupsPerInstruction * instructions + 64),
    fixupCount: 0,
  };
}

const larger = (list: Int32Array): Int32Array => {
  const made = new Int32Array(list.length * 2);
  made.set(list);
  return made;
};

/** Puts an operand of the record that `endOperands` ends; returns its index. */
export function put(tape: Tape, word: number): number {
  if (tape.length + headWords > tape.words.length) tape.words = larger(tape.words);
  tape.words[tape.length] = word;
  return tape.length++;
}

/** Makes a record of the operands that were put. */
export function endOperands(tape: Tape, code: number): void {
  const { words, start, length } = tape;
  words[start] = code;
  words[start + 1] = length - start - headWords;
  tape.start = length;
  tape.length = length + headWords;
  if (tape.length > words.length) tape.words = larger(words);
}

/** Adds a fixup. */
export function refer(tape: Tape, at: number, reference: number, index: number): void {
  if (tape.fixupCount === tape.fixups.length) tape.fixups = larger(tape.fixups);
  tape.fixups[tape.fixupCount++] = at;
  tape.fixups[tape.fixupCount++] = (index << referenceBits) | reference;
}

/** The numbers that fixups resolve to, by index. */
export interface Numbers {
  /** Ids of the values in the function's list. */
  readonly ids: Int32Array;
  /** The id of the first instruction. */
  readonly first: number;
  readonly types: Int32Array;
  readonly attributes: Int32Array;
  metadataId(index: number): number;
  /** The id of the function's first local metadata. */
  readonly firstLocal: number;
}

/** Resolves a range of fixups. */
export function fillIn({ words, fixups }: Tape, from: number, to: number, numbers: Numbers): void {
  const { ids, first, types, attributes } = numbers;
  for (let i = from; i < to; i += 2) {
    const at = fixups[i]!;
    const index = fixups[i + 1]! >> referenceBits;
    const here = first + words[at]!;
    switch (fixups[i + 1]! & ((1 << referenceBits) - 1)) {
      case references.value:
        words[at] = here - ids[index]!;
        break;
      case references.signedValue:
        words[at] = 2 * (here - ids[index]!);
        break;
      case references.id:
        words[at] = ids[index]!;
        break;
      case references.instruction:
        words[at] = here;
        break;
      case references.type:
        words[at] = types[index]!;
        break;
      case references.attributes:
        words[at] = attributes[index]!;
        break;
      case references.metadata:
        words[at] = here - numbers.metadataId(index);
        break;
      case references.localMetadata:
        words[at] = here - numbers.firstLocal - index;
        break;
      case references.node:
        words[at] = numbers.metadataId(index) + 1;
    }
  }
}
