/**
 * Text of unknown origin for terminals and pages. Names and source lines come from files, and their control characters could move the
 * cursor, change colors or the title of a window, or make a line read in another order than it is stored.
 * Source: ECMA-48 (C0 and C1 controls); Unicode Standard Annex 9, "Directional Formatting Characters"; CVE-2021-42574.
 */

/** C0 and C1 controls with DEL, directional formatting characters, and the separators of lines and paragraphs. */
const unsafe = String.raw`\u0000-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069`;
const inLine = new RegExp(`[${unsafe}]`, 'g');
const inText = new RegExp(`(?![\\n\\t])[${unsafe}]`, 'g');

/** One line: each unsafe character, line ends and tabs included, becomes U+FFFD. */
export const printable = (text: string): string => text.replace(inLine, '\ufffd');

/** Several lines: line feeds and tabs stay. */
export const printableText = (text: string): string => text.replace(inText, '\ufffd');

/** JSON text: each unsafe character, which is inside a string, becomes an escape of the same meaning. */
export const printableJson = (json: string): string =>
  json.replace(inText, (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`);
