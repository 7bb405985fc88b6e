/**
 * Records that wait for numbers. What the functions of a module say is put down in one walk; where it refers to what has no number
 * yet, the place is kept, and filled in once there is one. A second walk would take as long as the first.
 */

export interface Tape {
  /** Of each record its code, how many operands it has, and these, as 32 bits each. */
  words: Int32Array;
  length: number;
  /** Where the record starts that operands are put into. */
  start: number;
  /** In turn where a word stands and what it is to be: an index and, in the lowest bits, one of `references`. */
  places: Int32Array;
  placed: number;
}

/** What a word is to be. The word is the number of values of instructions in front of it where a distance counts from there. */
export const references = {
  /** The distance back to a value of the function's list. */
  value: 0,
  /** The same with a sign. */
  signedValue: 1,
  /** The id of a value of the list. */
  id: 2,
  /** The id of the instruction whose number the word is. */
  instruction: 3,
  type: 4,
  attributes: 5,
  /** The distance back to metadata of the module. */
  metadata: 6,
  /** The same to metadata of the function. */
  localMetadata: 7,
  /** The id of metadata of the module, with 1 added. */
  node: 8,
} as const;
const referenceBits = 4;

/** Words and places of a record and of its operands, about; both lists grow. */
const wordsEach = 6;
const placesEach = 4;
const headWords = 2;

/** An empty tape for so many instructions. */
export function tapeFor(instructions: number): Tape {
  return {
    words: new Int32Array(wordsEach * instructions + 64),
    length: headWords,
    start: 0,
    places: new Int32Array(placesEach * instructions + 64),
    placed: 0,
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

/** Says what a word is to be. */
export function refer(tape: Tape, at: number, reference: number, index: number): void {
  if (tape.placed === tape.places.length) tape.places = larger(tape.places);
  tape.places[tape.placed++] = at;
  tape.places[tape.placed++] = (index << referenceBits) | reference;
}

/** Numbers by the indices of references. */
export interface Numbers {
  /** Of the values in the function's list. */
  readonly ids: Int32Array;
  /** The id of the first instruction. */
  readonly first: number;
  readonly types: Int32Array;
  readonly attributes: Int32Array;
  metadataId(index: number): number;
  /** The id of the function's first own metadata. */
  readonly firstLocal: number;
}

/** Fills in the words of some places. */
export function fillIn({ words, places }: Tape, from: number, to: number, numbers: Numbers): void {
  const { ids, first, types, attributes } = numbers;
  for (let i = from; i < to; i += 2) {
    const at = places[i]!;
    const index = places[i + 1]! >> referenceBits;
    const here = first + words[at]!;
    switch (places[i + 1]! & ((1 << referenceBits) - 1)) {
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
