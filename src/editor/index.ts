/**
 * Services for editors over PTX texts: what is wrong, what a word means, where it is declared. Offsets go in and out; this room knows no
 * protocol and no page. Start at `document.ts`.
 */
export { adviceOn } from './advice.ts';
export { type Completion, type Completions, completionsAt } from './complete.ts';
export { type Cost, costsAt } from './cost.ts';
export { type Edit, type Focus, PtxDocument } from './document.ts';
export { type Hover, hoverAt } from './hover.ts';
export type { Meaning, Mention } from './names.ts';
export { definitionOf, type Found, mentionsOf, nameAt, renameable, renamed } from './navigate.ts';
export { type OutlineItem, outlineOf } from './outline.ts';
export { type Token, type TokenKind, tokenKinds, tokensIn } from './tokens.ts';
