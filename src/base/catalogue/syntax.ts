import { entries } from './entry.ts';

/** CM10xx: the text is not PTX. */
export const syntax = entries({
  CM1001: {
    severity: 'error',
    title: 'syntax error',
    message: 'expected {expected}, found {found}',
    page: 'The statement does not have the shape of any PTX statement. The caret stands where reading had to stop.',
  },
});
