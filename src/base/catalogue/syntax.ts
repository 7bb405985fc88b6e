/** CM10xx: the text is not PTX. */
import { entries } from './entry.ts';

export const syntax = entries({
  CM1001: {
    severity: 'error',
    title: 'syntax error',
    message: 'expected {expected}, found {found}',
    page: 'The text does not match any PTX statement. The caret marks the place where parsing stopped.',
  },
  CM1002: {
    severity: 'error',
    title: 'unexpected directive',
    message: 'unexpected directive `{name}`',
    page: 'A statement that starts with a dot is a directive or a declaration. The directive is unknown or not allowed in this context: directives such as `.entry` are outside of functions, and `.reg` is inside.',
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
    message: 'this string is not terminated on its line',
    page: 'A string ends with a quotation mark on the line where it starts. There are no escape sequences.',
  },
  CM1005: {
    severity: 'error',
    title: 'unterminated comment',
    message: 'this comment is not terminated',
    page: 'A comment that starts with `/*` ends at the next `*/`. Comments do not nest.',
  },
  CM1006: {
    severity: 'error',
    title: 'unclosed brace',
    message: '{what} is not closed before {found}',
    page: 'Each opening brace of a body, a scope or a section requires a closing brace. The file ends, or the next function starts, before it. The caret marks the last possible place of the brace, or an earlier closing brace whose indentation does not match.',
  },
  CM1007: {
    severity: 'error',
    title: 'stray brace',
    message: 'unexpected `}`',
    page: 'No body, scope or section is open here. An earlier `}` may be superfluous.',
  },
  CM1008: {
    severity: 'error',
    title: 'integer too large',
    message: '`{text}` does not fit in 64 bits',
    page: 'PTX integer constants have 64 bits.',
  },
  CM1009: {
    severity: 'error',
    title: 'statement too large',
    message: 'this statement is too {what}: {count}, and the limit is {limit}',
    page: 'The parser limits the length and the nesting of a statement, so that damaged files cannot exhaust memory. Lists of initial values are unlimited.',
  },
  CM1010: {
    severity: 'error',
    title: 'repeated qualifier',
    message: '`{name}` is repeated',
    page: 'A declaration has at most one alignment, one vector size and one list of attributes; a module has one `.version` and one `.address_size`.',
  },
  CM1011: {
    severity: 'error',
    title: 'malformed version',
    message: '`{text}` is not a PTX version',
    help: 'write a major and a minor number, as in `.version 8.4`',
    page: 'The `.version` directive specifies the version of the PTX language, such as 8.4.',
  },
  CM1014: {
    severity: 'error',
    title: 'too many syntax errors',
    message: 'more than {count} statements are not PTX; the rest of the file is not read',
    page: 'A text with this many syntax errors is not PTX. The first errors are reported, and the rest of the text is skipped.',
  },
  CM1015: {
    severity: 'error',
    title: 'module too large',
    message: 'the module has more than {limit} {what}',
    help: 'split the module into several',
    page: 'The number of statements of a module, and that of the elements in its initial values, are limited, so that a file cannot exhaust the memory of the compiler. The limits are above the largest modules in the libraries of NVIDIA.',
  },
  CM1013: {
    severity: 'error',
    title: 'premature closing brace',
    message: 'this `}` closes {what} before its end',
    help: 'remove it, or add the matching `{`',
    page: 'Instructions or labels follow the brace that closes a function, but they are only allowed in a body. The parser reads them as the rest of that function.',
  },
  CM1012: {
    severity: 'error',
    title: 'number too large',
    message: '`{text}` is too large',
    help: 'counts, extents, alignments and file positions are at most 2^53 - 1',
    page: 'Counts, extents, alignments and the numbers of directives are limited to 2^53 - 1, far beyond the memory of any machine.',
  },
});
