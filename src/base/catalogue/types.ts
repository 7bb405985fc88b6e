/** The words about names and types of PTX. */
import { entries } from './entry.ts';

/** CM11xx: names, registers, labels, types of PTX; CM21xx: versions and targets; CM22xx: lints. */
export const types = entries({
  CM1101: {
    severity: 'error',
    title: 'undeclared name',
    message: '`{name}` is not declared',
    page: 'A register, variable or label must be declared in this scope or one around it before it can be an operand.',
  },
  CM1102: {
    severity: 'error',
    title: 'unknown opcode',
    message: '`{name}` is not an instruction of PTX',
    page: 'The first word of a statement is an opcode of the PTX manual, a directive that starts with a dot, or a label that ends with a colon.',
  },
  CM1103: {
    severity: 'error',
    title: 'modifier',
    message: '`.{modifier}` cannot stand here in `{instruction}`',
    page: 'Each instruction has its own modifiers, in a fixed order. The word is no modifier of this instruction, or stands at the wrong place.',
  },
  CM1104: {
    severity: 'error',
    title: 'incomplete instruction',
    message: '`{instruction}` is not complete: one of {expected} must follow',
    page: 'A modifier that the instruction cannot do without, its type mostly, is missing.',
  },
  CM1105: {
    severity: 'error',
    title: 'operand count',
    message: '`{form}` takes {wanted} operands, and {given} are given',
    page: 'Each form of an instruction has a fixed number of operands; a few may be left out at the end.',
  },
  CM1106: {
    severity: 'error',
    title: 'kind of operand',
    message: '`{operand}` must be {wanted}, and is {given}',
    page: 'The operand is of a kind that cannot stand here: a constant where a register is written, a value where an address in brackets belongs, a name of something else.',
  },
  CM1107: {
    severity: 'error',
    title: 'type of operand',
    message: '`{operand}` is of type .{have}, and {form} wants .{want}',
    page: 'A register must have the size of the operand type, and floats and integers do not mix: only bit types (`.b32`) stand for both. Loads, stores and conversions take wider registers.',
  },
  CM1109: {
    severity: 'error',
    title: 'declared twice',
    message: '`{name}` is declared twice in this scope',
    page: 'Names of registers, variables and labels are unique within a pair of braces.',
  },
  CM1120: {
    severity: 'error',
    title: 'no such entry',
    message: 'the file has no entry named `{name}`',
    page: 'Only functions declared with `.entry` and a body are kernels.',
  },
});
