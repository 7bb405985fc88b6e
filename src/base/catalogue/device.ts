import { entries } from './entry.ts';

/** CM60xx: devices. */
export const device = entries({
  CM6001: {
    severity: 'error',
    title: 'no such device here',
    message: 'device `{name}` is not on this machine',
    help: '`cumetal devices` lists what is here',
    page: 'The device asked for needs hardware, a driver or an operating system that this machine does not have.',
  },
});
