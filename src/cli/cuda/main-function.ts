/** Whether a source is a whole program: it has a function `main`. */

/** Comments, literals and raw strings, which may contain anything. */
const skipped = /\/\/[^\n]*|\/\*[\s\S]*?\*\/|R"([^()\\\s]{0,16})\([\s\S]*?\)\1"|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'/g;
const main = /(?:\b(?:int|auto|void|signed)\s+|^\s*)main\s*\(/m;

export const hasMain = (text: string): boolean => text.includes('main') && main.test(text.replace(skipped, ' '));
