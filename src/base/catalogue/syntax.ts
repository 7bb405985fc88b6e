/** CM10xx: the text is not PTX. */
import { entries } from './entry.ts';

export const syntax = entries({
  CM1001: {
    severity: 'error',
    title: 'syntax error',
    message: 'expected {expected}, found {found}',
    page: 'The statement does not have the shape of any PTX statement. The caret stands where reading had to stop.',
  },
  CM1002: {
    severity: 'error',
    title: 'unknown directive',
    message: '`{name}` is not a directive that can stand here',
    page: 'A statement that starts with a dotted word is a directive or a declaration. This word starts neither at this place: directives such as `.entry` stand outside of functions, and `.reg` stands inside.',
  },
  CM1003: {
    severity: 'error',
    title: 'malformed number',
    message: '`{text}` is not a number',
    page: 'Integers are decimal, `0x` hexadecimal, `0` octal or `0b` binary, with an optional `U`. Floats are decimal, or exact bits: `0f` and 8 hexadecimal digits, `0d` and 16. No other suffix may follow.',
  },
  CM1004: {
    severity: 'error',
    title: 'unterminated string',
    message: 'this string does not end on its line',
    page: 'A string ends with a quotation mark on the line where it starts. There are no escapes.',
  },
  CM1005: {
    severity: 'error',
    title: 'unterminated comment',
    message: 'this comment is never closed',
    page: 'A comment that starts with `/*` ends at the next `*/`. Comments do not nest.',
  },
  CM1006: {
    severity: 'error',
    title: 'unclosed brace',
    message: '{what} is not closed before {found}',
    page: 'Each brace that opens a body, a scope or a section needs its closing brace. The file ends, or the next function starts, before it. The caret stands where the brace belongs at the latest; where a brace before it stands further left than the one it closes, the caret stands there.',
  },
  CM1007: {
    severity: 'error',
    title: 'stray brace',
    message: 'this `}` closes nothing',
    page: 'No body, scope or section is open here. A `}` before it may be one too many.',
  },
  CM1008: {
    severity: 'error',
    title: 'integer too large',
    message: '`{text}` does not fit in 64 bits',
    page: 'Integer constants of PTX have 64 bits.',
  },
  CM1009: {
    severity: 'error',
    title: 'statement too large',
    message: 'this statement is too {what} to be read: {count}, and the limit is {limit}',
    page: 'The parser bounds the length and the nesting of one statement, so that damaged files cannot exhaust memory. Lists of initial values are not bounded.',
  },
  CM1010: {
    severity: 'error',
    title: 'repeated qualifier',
    message: '`{name}` is given twice',
    page: 'A declaration has at most one alignment, one vector size and one list of attributes; a module has one `.version` and one `.address_size`.',
  },
  CM1011: {
    severity: 'error',
    title: 'malformed version',
    message: '`{text}` is not a PTX version',
    help: 'write a major and a minor number, as in `.version 8.4`',
    page: 'The version directive names the version of the PTX language, such as 8.4.',
  },
  CM1013: {
    severity: 'error',
    title: 'brace too early',
    message: 'this `}` closes {what} before its end',
    help: 'take it out, or add the `{` that belongs to it',
    page: 'Instructions or labels follow the brace that closes a function, and can only stand in a body. What follows is read as the rest of that function.',
  },
  CM1012: {
    severity: 'error',
    title: 'count too large',
    message: '`{text}` is more than can be counted here',
    help: 'counts, extents, alignments and places in files are at most 2^53 - 1',
    page: 'Counts, extents, alignments and the numbers of directives are read exactly up to 2^53 - 1, far above what any machine has room for.',
  },
});
