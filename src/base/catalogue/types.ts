import { entries } from './entry.ts';

/** CM11xx: names, registers, labels, types of PTX; CM21xx: versions and targets; CM22xx: lints. */
export const types = entries({
  CM1101: {
    severity: 'error',
    title: 'undeclared name',
    message: '`{name}` is not declared',
    page: 'A register, variable or label must be declared in this scope or one around it before it can be an operand.',
  },
});
