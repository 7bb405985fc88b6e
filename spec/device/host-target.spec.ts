/** The target of the running system: the versions of Darwin are those that Apple's releases of macOS report. */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { hostTarget } from '../../src/device/host-target.ts';

const test = suite('device/host-target');

test('a Mac has the newest target that its system loads', () => {
  const releases = {
    '21.6.0': 'macos13',
    '22.1.0': 'macos13',
    '22.6.0': 'macos13',
    '23.0.0': 'macos14',
    '23.6.0': 'macos14',
    '24.0.0': 'macos15',
    '24.6.0': 'macos15',
    '25.0.0': 'macos26',
    '26.1.0': 'macos26',
  };
  for (const [release, target] of Object.entries(releases)) assert.is(hostTarget({ platform: 'darwin', release }), target, release);
});

test('another system has none', () => {
  assert.is(hostTarget({ platform: 'linux', release: '25.0.0' }), undefined);
  assert.is(hostTarget({ platform: 'win32', release: '10.0.22631' }), undefined);
  assert.is(hostTarget({ platform: 'darwin', release: 'unknown' }), undefined);
  if (process.platform !== 'darwin') assert.is(hostTarget(), undefined);
  else assert.match(hostTarget()!, /^macos(13|14|15|26)$/);
});

test.run();
