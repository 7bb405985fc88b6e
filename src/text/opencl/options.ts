/** The options that a program is built with: exact quotients and roots. */
export const openclOptions = '-cl-fp32-correctly-rounded-divide-sqrt';
